"""Google's results through SerpAPI."""

from tools.errors import SearchError
from tools.fetch import Fetcher
from tools.search.api import ask, rows, words
from tools.search.google import tbs, with_site
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult


class SerpApiSearch:
    """Searches with a key of SerpAPI, which it takes in the address only."""

    name = "serpapi"
    local = False
    filters: frozenset[Filter] = frozenset({"site", "dates", "language"})

    def __init__(self, fetcher: Fetcher, key: str, *, home: str = "https://serpapi.com/") -> None:
        self._fetcher = fetcher
        self._key = key
        self.home = home

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results. Raises SearchError."""
        params: dict[str, str | int] = {
            "engine": "google",
            "q": with_site(query, filters),
            "num": max(limit, 10),
            "api_key": self._key,
        }
        if filters.language:
            params["hl"] = filters.language
        if limits := tbs(filters):
            params["tbs"] = limits
        found = ask(self._fetcher, f"{self.home}search.json", params)
        if not isinstance(found, dict):
            raise SearchError("it answered in a form that is not known here.")
        # "No results" comes as an error of a search that succeeded.
        state = (
            (found.get("search_metadata") or {}).get("status")
            if isinstance(found.get("search_metadata"), dict)
            else ""
        )
        if "error" in found and state != "Success":
            raise SearchError(f"it could not search ({words(found['error'], 160).rstrip('.')}).")
        results = [
            SearchResult(
                words(row.get("title")) or str(row["link"]),
                str(row["link"]),
                words(row.get("snippet")),
                self.name,
                date=words(row.get("date"), 40),
            )
            for row in rows(found.get("organic_results"))
            if str(row.get("link", "")).startswith(("http://", "https://"))
        ]
        return results[:limit]
