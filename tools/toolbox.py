"""The tools of one session, as the agent's code calls them.

Their descriptions go into every prompt, so they are short. They forgive the
ways in which models get a call slightly wrong, and a failure says what to do.
"""

from typing import Any

from smolagents import Tool

from tools.address import shown
from tools.arguments import address_of, number_of, words_of
from tools.browser import TextBrowser
from tools.ledger import Attempt
from tools.page import Link, Page
from tools.search.asked import filters_of
from tools.search.chain import SearchChain
from tools.search.results import NO_FILTERS, Filters, SearchResults


def toolbox(
    search: SearchChain, browser: TextBrowser, results: int = 5, *, every: bool = False
) -> list[Tool]:
    """The tools that search with `search` and read with `browser`, which is the session's own.

    `results`: how many results a search gives. `every`: those too that a small
    model does better without.
    """
    few = [
        FilteredSearch(search, browser, results) if every else WebSearch(search, browser, results),
        VisitPage(browser),
        PageUp(browser),
        PageDown(browser),
        FindOnPage(browser),
        FindNext(browser),
        InspectFile(browser),
    ]
    if not every:
        return few
    looking = [Screenshot(browser)] if browser.sees else []
    return [*few, PageLinks(browser), PageTables(browser), FindArchived(browser), Download(browser), *looking]


class WebSearch(Tool):  # type: ignore[misc]
    """Searches the web and the library."""

    name = "web_search"
    description = (
        "Searches the web and the library. Gives a list of results, each with .title, .url and .snippet."
    )
    inputs: dict[str, dict[str, Any]] = {"query": {"type": "any", "description": "a few words to search for"}}  # noqa: RUF012
    output_type = "array"

    def __init__(self, search: SearchChain, browser: TextBrowser, results: int) -> None:
        super().__init__()
        self._search = search
        self._browser = browser
        self._results = results

    def forward(self, query: Any) -> SearchResults:
        return self._results_for(query, NO_FILTERS)

    def _results_for(self, query: Any, filters: Filters) -> SearchResults:
        words = words_of(query, "query", "web_search('height of Mount Everest')")
        results = self._search.search(words, self._results, filters)
        if (ledger := self._browser.ledger) is not None:
            for result in results:
                ledger.listed(result.url, result.title, result.snippet)
            for url, why in results.closed.items():
                error = f"{shown(url)} was found and is not shown: {why}."
                ledger.attempt(Attempt(url, url, None, "", 0, 0.0, error=error))
        return results

    def summary(self, result: SearchResults) -> str:
        return f"{len(result)} result{'s' * (len(result) != 1)}" if result else "nothing found"


class FilteredSearch(WebSearch):
    """The same with filters."""

    inputs: dict[str, dict[str, Any]] = {  # noqa: RUF012
        **WebSearch.inputs,
        "site": {"type": "any", "description": "only this site, such as 'nasa.gov'", "nullable": True},
        "after": {
            "type": "any",
            "description": "published on this day or later, YYYY-MM-DD",
            "nullable": True,
        },
        "before": {"type": "any", "description": "published on this day or earlier", "nullable": True},
        "language": {"type": "any", "description": "two letters, such as 'de'", "nullable": True},
    }

    def forward(
        self, query: Any, site: Any = None, after: Any = None, before: Any = None, language: Any = None
    ) -> SearchResults:
        return self._results_for(query, filters_of(site, after, before, language))


class _PageTool(Tool):  # type: ignore[misc]
    """A tool that gives a page. Not itself offered to an agent."""

    name = "page_tool"
    description = ""
    inputs: dict[str, dict[str, Any]] = {}  # noqa: RUF012
    output_type = "object"

    def __init__(self, browser: TextBrowser) -> None:
        super().__init__()
        self._browser = browser

    def forward(self) -> Page:
        raise NotImplementedError

    def summary(self, result: Page) -> str:
        place = f", page {result.page} of {result.pages}" if result.pages > 1 else ""
        return f"{result.title or result.url}{place}"


class VisitPage(_PageTool):
    name = "visit_page"
    description = "Reads a page by its address. Gives an object with .text, .links, .tables (DataFrames), .page, .pages and .metadata (.author, .published, .modified, .language, .canonical)."
    inputs = {  # noqa: RUF012
        "url": {"type": "any", "description": "address, or a search result"},
        "page": {"type": "any", "description": "page number of a long document", "nullable": True},
    }

    def forward(self, url: Any, page: Any = 1) -> Page:  # type: ignore[override]
        return self._browser.visit(address_of(url), number_of(page))


class PageUp(_PageTool):
    name = "page_up"
    description = "The page before, of the document visited last."

    def forward(self) -> Page:
        return self._browser.page_up()


class PageDown(_PageTool):
    name = "page_down"
    description = "The next page of the document visited last."

    def forward(self) -> Page:
        return self._browser.page_down()


class FindOnPage(_PageTool):
    name = "find_on_page_ctrl_f"
    description = "Finds words anywhere in the document visited last and gives the passage around them."
    inputs = {"search_string": {"type": "any", "description": "words to find; * stands for anything"}}  # noqa: RUF012

    def forward(self, search_string: Any) -> Page:  # type: ignore[override]
        return self._browser.find(words_of(search_string, "search_string", "find_on_page_ctrl_f('height')"))

    def summary(self, result: Page) -> str:
        return result.note.split(";")[0] or super().summary(result)


class FindNext(FindOnPage):
    name = "find_next"
    description = "The next match of the last find."
    inputs: dict[str, dict[str, Any]] = {}  # noqa: RUF012

    def forward(self) -> Page:  # type: ignore[override]
        return self._browser.find_next()


class InspectFile(_PageTool):
    name = "inspect_file_as_text"
    description = "Reads an attached file (text, HTML, PDF, Office, CSV, mail, pictures, recordings, archives: 'bundle.zip/inner/file.csv' is a file in one). Gives the same object as visit_page."
    inputs = {  # noqa: RUF012
        "file_path": {"type": "any", "description": "the file's name"},
        "question": {"type": "any", "description": "what to find in it", "nullable": True},
    }

    def forward(self, file_path: Any, question: Any = None) -> Page:  # type: ignore[override]
        name = words_of(file_path, "file_path", "inspect_file_as_text('data.csv')")
        return self._browser.visit_file(name, "" if question is None else str(question))


class PageLinks(_PageTool):
    name = "page_links"
    description = "All links (.text, .url) of the document visited last, or those with the words."
    inputs = {"words": {"type": "any", "description": "words in a link", "nullable": True}}  # noqa: RUF012
    output_type = "array"

    def forward(self, words: Any = None) -> list[Link]:  # type: ignore[override]
        return self._browser.links(str(words or ""))

    def summary(self, result: list[Link]) -> str:  # type: ignore[override]
        return f"{len(result)} link{'s' * (len(result) != 1)}"


class PageTables(_PageTool):
    name = "page_tables"
    description = "All tables (DataFrames) of the document visited last."
    output_type = "array"

    def forward(self) -> list[Any]:  # type: ignore[override]
        return self._browser.tables()

    def summary(self, result: list[Any]) -> str:  # type: ignore[override]
        return f"{len(result)} table{'s' * (len(result) != 1)}"


class FindArchived(_PageTool):
    name = "find_archived_url"
    description = "The Internet Archive's copy of a page closest to a date (YYYY-MM-DD)."
    inputs = {  # noqa: RUF012
        "url": {"type": "any", "description": "the page's own address"},
        "date": {"type": "any", "description": "a day, a month or a year", "nullable": True},
    }

    def forward(self, url: Any, date: Any = None) -> Page:  # type: ignore[override]
        return self._browser.visit_archived(address_of(url), str(date or ""))


class Screenshot(_PageTool):
    name = "screenshot"
    description = "Looks at a page as a browser shows it (charts, maps, layout) and answers a question about it. Gives a text."
    inputs = {  # noqa: RUF012
        "url": {"type": "any", "description": "the page's address"},
        "question": {"type": "any", "description": "what to look for", "nullable": True},
    }
    output_type = "string"

    def forward(self, url: Any, question: Any = None) -> str:  # type: ignore[override]
        return self._browser.look(address_of(url), str(question or ""))

    def summary(self, result: str) -> str:  # type: ignore[override]
        return f"{len(result):,} characters about how it looks"


class Download(_PageTool):
    name = "download"
    description = (
        "Saves a file of the web; gives its name, for inspect_file_as_text now and open() in the next step."
    )
    inputs = {"url": {"type": "any", "description": "the file's address"}}  # noqa: RUF012
    output_type = "string"

    def forward(self, url: Any) -> str:  # type: ignore[override]
        return self._browser.download(address_of(url))

    def summary(self, result: str) -> str:  # type: ignore[override]
        return result
