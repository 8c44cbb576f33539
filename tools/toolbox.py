"""The tools of one session, as the agent's code calls them.

Their descriptions go into every prompt, so they are short. They forgive the
ways in which models get a call slightly wrong, and a failure says what to do.
"""

import re
from typing import Any

from smolagents import Tool

from tools.browser import TextBrowser
from tools.errors import BadArguments
from tools.page import Page
from tools.search.chain import SearchChain
from tools.search.results import SearchResults

_ADDRESS = re.compile(r"\b(?:https?|library)://[^\s<>\"']+")


def toolbox(search: SearchChain, browser: TextBrowser, results: int = 5) -> list[Tool]:
    """The tools that search with `search` and read with `browser`, which is the session's own.

    `results`: how many results a search gives.
    """
    return [
        WebSearch(search, browser, results),
        VisitPage(browser),
        PageUp(browser),
        PageDown(browser),
        FindOnPage(browser),
        FindNext(browser),
        InspectFile(browser),
    ]


class WebSearch(Tool):  # type: ignore[misc]
    """Searches the web and the library."""

    name = "web_search"
    description = (
        "Searches the web and the library. Gives a list of results, each with .title, .url and .snippet."
    )
    inputs = {"query": {"type": "any", "description": "a few words to search for"}}  # noqa: RUF012
    output_type = "array"

    def __init__(self, search: SearchChain, browser: TextBrowser, results: int) -> None:
        super().__init__()
        self._search = search
        self._browser = browser
        self._results = results

    def forward(self, query: Any) -> SearchResults:
        results = self._search.search(
            _words(query, "query", "web_search('height of Mount Everest')"), self._results
        )
        if (ledger := self._browser.ledger) is not None:
            for result in results:
                ledger.listed(result.url, result.title, result.snippet)
        return results

    def summary(self, result: SearchResults) -> str:
        return f"{len(result)} result{'s' * (len(result) != 1)}" if result else "nothing found"


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
    description = "Reads a page by its address. Gives an object with .text, .links, .tables (DataFrames), .page and .pages."
    inputs = {  # noqa: RUF012
        "url": {"type": "any", "description": "address, or a search result"},
        "page": {"type": "any", "description": "page number of a long document", "nullable": True},
    }

    def forward(self, url: Any, page: Any = 1) -> Page:  # type: ignore[override]
        return self._browser.visit(_address(url), _number(page))


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
        return self._browser.find(_words(search_string, "search_string", "find_on_page_ctrl_f('height')"))

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
    description = "Reads an attached file (text, HTML, PDF, Office, CSV, mail, archives: 'bundle.zip/inner/file.csv' is a file in one). Gives the same object as visit_page."
    inputs = {  # noqa: RUF012
        "file_path": {"type": "any", "description": "the file's name"},
        "question": {"type": "any", "description": "words to find in it", "nullable": True},
    }

    def forward(self, file_path: Any, question: Any = None) -> Page:  # type: ignore[override]
        name = _words(file_path, "file_path", "inspect_file_as_text('data.csv')")
        return self._browser.visit_file(name, "" if question is None else str(question))


def _words(value: Any, name: str, example: str) -> str:
    """The text that was meant by a string, a list of strings, or a number."""
    if isinstance(value, list | tuple) and value:
        value = " ".join(str(item) for item in value) if all(isinstance(v, str) for v in value) else value[0]
    if isinstance(value, str | int | float) and str(value).strip():
        return str(value).strip()
    raise BadArguments(f"{name} must be a text that is not empty: call it as {example}.")


def _address(value: Any) -> str:
    """The address that was meant: text, a result, a link, a Markdown link, or a list that starts with one."""
    for _ in range(3):
        if isinstance(value, list | tuple) and value:
            value = value[0]
        elif isinstance(value, dict) and ("url" in value or "href" in value):
            value = value.get("url") or value.get("href")
        elif isinstance(getattr(value, "url", None), str):
            value = value.url
    if not isinstance(value, str) or not value.strip():
        raise BadArguments(
            "url must be an address or a search result: call it as visit_page(results[0].url)."
        )
    text = value.strip().strip("<>\"'`")
    if text.endswith(")") and "](" in text:
        return text[text.rindex("](") + 2 : -1]
    named = _ADDRESS.search(text)
    return named[0] if named and len(text.split()) > 1 else text


def _number(value: Any) -> int:
    try:
        return int(1 if value is None else value)
    except (TypeError, ValueError):
        raise BadArguments(f"page must be a number, not {value!r}: call it as visit_page(url, 2).") from None
