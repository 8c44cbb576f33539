"""arXiv's papers, through its public API."""

import re
from urllib.parse import urlencode

from lxml import etree

from tools.errors import FetchError, SearchError
from tools.fetch import Fetcher
from tools.search.api import failed
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult
from tools.search.words import terms_of

_ATOM = {"a": "http://www.w3.org/2005/Atom"}
_ABOUT_PAPERS = re.compile(r"(?i)\b(arxiv|preprints?|papers?|publications?|abstract)\b")
_FORM_WORDS = frozenset({"arxiv", "preprint", "preprints", "paper", "papers", "abstract"})


def is_about_papers(query: str, filters: Filters) -> bool:
    """Whether it makes sense to ask arXiv: the site is asked for, or the words speak of papers."""
    return filters.site == "arxiv.org" or (not filters.site and bool(_ABOUT_PAPERS.search(query)))


class ArxivSearch:
    """Searches titles, authors and abstracts."""

    name = "arxiv"
    local = False
    filters: frozenset[Filter] = frozenset({"site", "dates"})

    def __init__(self, fetcher: Fetcher, *, home: str = "https://export.arxiv.org/") -> None:
        """`fetcher`: one that keeps the pace that arXiv asks for, a request in three seconds."""
        self._fetcher = fetcher
        self.home = home

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` papers. Raises SearchError."""
        words = [term[0] for term in terms_of(query)]
        words = [word for word in words if word not in _FORM_WORDS] or words
        asked = " AND ".join(f'all:"{word}"' for word in words[:10])
        if filters.after or filters.before:
            first = f"{filters.after:%Y%m%d}0000" if filters.after else "199101010000"
            last = f"{filters.before:%Y%m%d}2359" if filters.before else "299912312359"
            asked += f" AND submittedDate:[{first} TO {last}]"
        params = {"search_query": asked, "max_results": limit, "sortBy": "relevance"}
        try:
            answer = self._fetcher.call(f"{self.home}api/query?{urlencode(params)}")
        except FetchError as error:
            raise SearchError(str(error)) from error
        if answer.status not in (200, 400):
            raise failed(answer, "")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            feed = etree.fromstring(answer.content, parser)
        except etree.XMLSyntaxError as error:
            raise SearchError("it answered something that is not its API's XML.") from error
        entries = feed.xpath("//a:entry", namespaces=_ATOM)
        for entry in entries:
            if "/api/errors" in _text(entry, "id"):
                raise SearchError(f"it did not take the request ({_text(entry, 'summary')[:160]}).", 0.0)
        return [_paper(entry, self.name) for entry in entries if "/abs/" in _text(entry, "id")][:limit]


def _paper(entry: etree._Element, provider: str) -> SearchResult:
    authors = [
        " ".join(str(name).split()) for name in entry.xpath("a:author/a:name/text()", namespaces=_ATOM)
    ]
    shown = ", ".join(authors[:4]) + (" et al." if len(authors) > 4 else "")
    url = _text(entry, "id").replace("http://", "https://", 1)
    snippet = f"{shown}. {_text(entry, 'summary')[:500]}" if shown else _text(entry, "summary")[:500]
    return SearchResult(_text(entry, "title"), url, snippet, provider, date=_text(entry, "published")[:10])


def _text(entry: etree._Element, name: str) -> str:
    return " ".join(str(entry.xpath(f"string(a:{name})", namespaces=_ATOM)).split())
