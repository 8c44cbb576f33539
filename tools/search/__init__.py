"""Search: one file a provider, one chain."""

from tools.search.results import SearchProvider, SearchResult, SearchResults

__all__ = ["SearchProvider", "SearchResult", "SearchResults"]
