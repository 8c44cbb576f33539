"""Search: one file a provider, one chain."""

from tools.search.results import Filters, SearchProvider, SearchResult, SearchResults

__all__ = ["Filters", "SearchProvider", "SearchResult", "SearchResults"]
