"""Keyless web search through ddgs, which asks several engines."""

from tools.errors import SearchError
from tools.search.google import with_site
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult


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
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException

        try:
            found = DDGS(proxy=self._proxy, timeout=self._timeout).text(
                with_site(query, filters), max_results=limit, backend=self._backend
            )
        except DDGSException as error:
            if "No results" in str(error):
                return []
            raise SearchError(f"{' '.join(str(error).split())[:120]}") from error
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
