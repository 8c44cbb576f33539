"""Tavily, which gives longer passages than other engines."""

from typing import Any

from tools.fetch import Fetcher
from tools.search.api import ask, rows, words
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

_MOST = 20
_LONGEST_QUERY = 400


class TavilySearch:
    """Searches with a key of Tavily."""

    name = "tavily"
    local = False
    filters: frozenset[Filter] = frozenset({"site", "dates"})

    def __init__(self, fetcher: Fetcher, key: str, *, home: str = "https://api.tavily.com/") -> None:
        self._fetcher = fetcher
        self._key = key
        self.home = home

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results. Raises SearchError."""
        body: dict[str, Any] = {"query": query[:_LONGEST_QUERY], "max_results": min(limit, _MOST)}
        if filters.site:
            body["include_domains"] = [filters.site]
        if filters.after:
            body["start_date"] = f"{filters.after:%Y-%m-%d}"
        if filters.before:
            body["end_date"] = f"{filters.before:%Y-%m-%d}"
        found = ask(
            self._fetcher, f"{self.home}search", headers={"Authorization": f"Bearer {self._key}"}, body=body
        )
        results = [
            SearchResult(
                words(row.get("title")) or str(row["url"]),
                str(row["url"]),
                words(row.get("content"), 800),
                self.name,
                date=words(row.get("published_date"), 40),
            )
            for row in rows(found.get("results") if isinstance(found, dict) else None)
            if str(row.get("url", "")).startswith(("http://", "https://"))
        ]
        return results[:limit]
