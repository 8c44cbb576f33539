"""Keyless web search through ddgs, which asks several engines."""

from datetime import date

from tools.errors import SearchError
from tools.search.google import with_site
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

_RANGES = ((1, "d"), (7, "w"), (31, "m"), (366, "y"))
# Where a language is not called like the country that the engines know it by.
_COUNTRIES = {
    "ar": "xa", "cs": "cz", "da": "dk", "el": "gr", "en": "us", "et": "ee", "he": "il", "hi": "in", "ja": "jp", "ko": "kr", "nb": "no",
    "sv": "se", "uk": "ua", "vi": "vn", "zh": "cn",
}  # fmt: skip


class WebSearch:
    """Searches the web without a key."""

    name = "web"
    local = False
    home = "https://html.duckduckgo.com/"
    filters: frozenset[Filter] = frozenset({"site"})

    def __init__(
        self, *, backend: str = "duckduckgo,brave,mojeek,yahoo", timeout: int = 3, proxy: str | None = None
    ) -> None:
        """`backend`: ddgs's names of engines. `timeout`: seconds for each. `proxy`: the address of one to go through."""
        self._backend = backend
        self._timeout = timeout
        self._proxy = proxy

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results. Raises SearchError."""
        # Its many engines take their time to import.
        from tools.search.keyless import DDGSException, KeylessEngines

        asked = KeylessEngines(proxy=self._proxy, timeout=self._timeout)
        try:
            found = asked.text(
                with_site(query, filters),
                max_results=limit,
                backend=self._backend,
                region=_region(filters.language),
                timelimit=_range(filters.after),
            )
        except DDGSException as error:
            if asked.answered:
                return []
            reasons = "; ".join(asked.refused) or " ".join(str(error).split())
            raise SearchError(f"no engine answered ({reasons[:160]}): try later.") from error
        return [
            SearchResult(
                row.get("title") or row["href"],
                row["href"],
                " ".join((row.get("body") or "").split())[:400],
                self.name,
            )
            for row in found
            if row.get("href", "").startswith(("http://", "https://"))
        ]


def _region(language: str) -> str:
    """How the engines call the region of a language, which they prefer and do not insist on."""
    return f"{_COUNTRIES.get(language, language)}-{language}" if language else "us-en"


def _range(after: date | None) -> str | None:
    """The narrowest of the engines' time ranges that reaches back to a day."""
    days = (date.today() - after).days if after else None
    return next((name for most, name in _RANGES if days is not None and days <= most), None)
