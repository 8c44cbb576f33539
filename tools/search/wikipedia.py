"""Wikipedia's own search: the beginning of each article and the passage that matched."""

import html
import json
import re
from typing import Any
from urllib.parse import urlencode

from tools.errors import FetchError, SearchError
from tools.fetch import Fetcher
from tools.search.results import SearchResult


class WikipediaSearch:
    """Searches one Wikipedia through its public API."""

    name = "wikipedia"
    local = False

    def __init__(self, fetcher: Fetcher, *, home: str = "https://en.wikipedia.org/") -> None:
        """`home`: the Wikipedia to search, such as https://de.wikipedia.org/."""
        self._fetcher = fetcher
        self.home = home.rstrip("/") + "/"

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """At most `limit` articles. Raises SearchError."""
        asked = {
            "action": "query", "format": "json", "formatversion": "2", "list": "search", "srsearch": query[:300],
            "srlimit": limit, "generator": "search", "gsrsearch": query[:300], "gsrlimit": limit,
            "prop": "extracts|info", "inprop": "url", "exintro": 1, "explaintext": 1, "exlimit": limit, "exchars": 300,
        }  # fmt: skip
        try:
            answer = json.loads(self._fetcher.get(f"{self.home}w/api.php?{urlencode(asked)}").content)
        except FetchError as error:
            raise SearchError(str(error)) from error
        except ValueError as error:
            raise SearchError("Wikipedia answered something that is not its API's JSON.") from error
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
