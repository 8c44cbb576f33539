"""A SearXNG of your own, which asks many engines."""

from datetime import date

from tools.errors import SearchError
from tools.fetch import Fetcher
from tools.search.api import ask, rows, words
from tools.search.google import with_site
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

_RANGES = ((1, "day"), (31, "month"), (366, "year"))


class SearxngSearch:
    """Searches through one instance, whose settings must allow the format json."""

    name = "searxng"
    local = False
    filters: frozenset[Filter] = frozenset({"site", "language"})

    def __init__(self, fetcher: Fetcher, home: str) -> None:
        """`home`: the instance's address; it may be a private one, so `fetcher` must open such."""
        self._fetcher = fetcher
        self.home = home.rstrip("/") + "/"

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results. Raises SearchError, also when every engine behind it failed."""
        params: dict[str, str] = {"q": with_site(query, filters), "format": "json"}
        if filters.language:
            params["language"] = filters.language
        if filters.after and (span := _range(filters.after)):
            params["time_range"] = span
        try:
            found = ask(self._fetcher, f"{self.home}search", params)
        except SearchError as error:
            if "does not accept the key" in str(error):
                raise SearchError(
                    "it does not give JSON (403): add json under search.formats in its settings.yml.",
                    error.rest,
                ) from error
            raise
        results = [
            SearchResult(
                words(row.get("title")) or str(row["url"]),
                str(row["url"]),
                words(row.get("content")),
                self.name,
                date=words(row.get("publishedDate"), 10),
            )
            for row in rows(found.get("results") if isinstance(found, dict) else None)
            if str(row.get("url", "")).startswith(("http://", "https://"))
        ]
        silent = found.get("unresponsive_engines") if isinstance(found, dict) else None
        if not results and isinstance(silent, list) and silent:
            named = ", ".join(str(each[0]) for each in silent if isinstance(each, list) and each)
            raise SearchError(f"none of its engines answered ({named[:120]}).", 60.0)
        return results[:limit]


def _range(after: date) -> str:
    """The narrowest of its time ranges that reaches back to a day; empty when none does."""
    days = (date.today() - after).days
    return next((name for most, name in _RANGES if days <= most), "")
