"""Brave's own index."""

from datetime import date

from tools.fetch import Fetcher
from tools.search.api import ask, rows, words
from tools.search.google import with_site
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

_MOST = 20
_LONGEST_QUERY = 400


class BraveSearch:
    """Searches with a key of Brave's Search API."""

    name = "brave"
    local = False
    filters: frozenset[Filter] = frozenset({"site", "dates", "language"})

    def __init__(self, fetcher: Fetcher, key: str, *, home: str = "https://api.search.brave.com/") -> None:
        self._fetcher = fetcher
        self._key = key
        self.home = home

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results. Raises SearchError."""
        params: dict[str, str | int] = {
            "q": with_site(query, filters)[:_LONGEST_QUERY],
            "count": min(limit, _MOST),
            "text_decorations": "false",
            "extra_snippets": "true",
        }
        if filters.language:
            params["search_lang"] = filters.language
        if filters.after or filters.before:
            first, last = filters.after or date(1990, 1, 1), filters.before or date.today()
            params["freshness"] = f"{first:%Y-%m-%d}to{last:%Y-%m-%d}"
        found = ask(
            self._fetcher,
            f"{self.home}res/v1/web/search",
            params,
            headers={"X-Subscription-Token": self._key},
        )
        web = found.get("web") if isinstance(found, dict) else None
        results = [
            SearchResult(
                words(row.get("title")) or str(row["url"]),
                str(row["url"]),
                words(
                    " … ".join(
                        map(str, [row.get("description") or "", *(row.get("extra_snippets") or [])[:2]])
                    )
                ),
                self.name,
                date=words(row.get("page_age"), 10),
            )
            for row in rows(web.get("results") if isinstance(web, dict) else None)
            if str(row.get("url", "")).startswith(("http://", "https://"))
        ]
        return results[:limit]
