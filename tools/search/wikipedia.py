"""Wikipedia's own search: the beginning of each article and the passage that matched."""

import html
import re
from typing import Any

from tools.errors import SearchError
from tools.fetch import Fetcher
from tools.search.api import ask
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

_ENGLISH = "https://en.wikipedia.org/"


def is_for_wikipedia(query: str, filters: Filters) -> bool:
    """Whether it makes sense to ask Wikipedia: no site is asked for, or this one."""
    return not filters.site or filters.site == "wikipedia.org" or filters.site.endswith(".wikipedia.org")


class WikipediaSearch:
    """Searches one Wikipedia through its public API."""

    name = "wikipedia"
    local = False
    filters: frozenset[Filter] = frozenset({"site", "language"})

    def __init__(self, fetcher: Fetcher, *, home: str = _ENGLISH) -> None:
        """`home`: the Wikipedia to search unless another language is asked for, such as https://de.wikipedia.org/."""
        self._fetcher = fetcher
        self.home = home.rstrip("/") + "/"

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` articles. Raises SearchError."""
        asked = {
            "action": "query", "format": "json", "formatversion": "2", "list": "search", "srsearch": query[:300],
            "srlimit": limit, "generator": "search", "gsrsearch": query[:300], "gsrlimit": limit,
            "prop": "extracts|info", "inprop": "url", "exintro": 1, "explaintext": 1, "exlimit": limit, "exchars": 300,
        }  # fmt: skip
        home = self.home
        if filters.site.endswith(".wikipedia.org"):
            home = f"https://{filters.site}/"
        elif filters.language and home == _ENGLISH:
            home = f"https://{filters.language}.wikipedia.org/"
        answer = ask(self._fetcher, f"{home}w/api.php", asked)
        if not isinstance(answer, dict) or "error" in answer:
            raise SearchError("Wikipedia refused the search.")
        try:
            return _results(answer.get("query") or {}, self.name)
        except (KeyError, TypeError, AttributeError) as error:
            raise SearchError("Wikipedia answered in a form that is not known here.") from error


def _results(found: dict[str, Any], provider: str) -> list[SearchResult]:
    passages = {row["title"]: _plain(row.get("snippet", "")) for row in found.get("search", [])}
    pages = sorted(found.get("pages", []), key=lambda page: page.get("index", 0))
    results = []
    for page in pages:
        beginning = " ".join((page.get("extract") or "").split())
        passage = passages.get(page["title"], "")
        if passage and passage[:40] not in beginning:
            beginning = f"{beginning} … {passage}" if beginning else passage
        results.append(SearchResult(page["title"], page["fullurl"], beginning, provider))
    return results


def _plain(snippet: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", snippet)).split())
