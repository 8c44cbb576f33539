"""Google's results through Serper."""

from tools.fetch import Fetcher
from tools.search.api import ask, rows, words
from tools.search.google import tbs, with_site
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult


class SerperSearch:
    """Searches with a key of serper.dev."""

    name = "serper"
    local = False
    filters: frozenset[Filter] = frozenset({"site", "dates", "language"})

    def __init__(self, fetcher: Fetcher, key: str, *, home: str = "https://google.serper.dev/") -> None:
        self._fetcher = fetcher
        self._key = key
        self.home = home

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results, Google's own answer box first. Raises SearchError."""
        body = {"q": with_site(query, filters), "num": max(limit, 10)}
        if filters.language:
            body["hl"] = filters.language
        if limits := tbs(filters):
            body["tbs"] = limits
        found = ask(self._fetcher, f"{self.home}search", headers={"X-API-KEY": self._key}, body=body)
        organic = rows(found.get("organic")) if isinstance(found, dict) else []
        box = rows([found.get("answerBox")]) if isinstance(found, dict) else []
        results = [
            SearchResult(
                words(row.get("title")) or str(row["link"]),
                str(row["link"]),
                words(row.get("answer") or row.get("snippet")),
                self.name,
                date=words(row.get("date"), 40),
            )
            for row in [*box, *organic]
            if str(row.get("link", "")).startswith(("http://", "https://"))
        ]
        return results[:limit]
