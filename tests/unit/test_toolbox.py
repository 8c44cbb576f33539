"""The tools as an agent's code calls them, rightly and slightly wrongly."""

from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from smolagents import Tool

from tests.local_web import LocalWeb
from tools.browser import TextBrowser
from tools.errors import BadArguments, DocumentError, ToolError
from tools.fetch import Fetcher
from tools.ledger import Attempt
from tools.search.asked import filters_of
from tools.search.chain import SearchChain
from tools.search.library import Library
from tools.search.results import Filters
from tools.toolbox import toolbox


class Notes:
    def __init__(self) -> None:
        self.shown: list[str] = []

    def attempt(self, attempt: Attempt) -> None: ...
    def snapshot(self, url: str, title: str, text: str) -> None: ...
    def listed(self, url: str, title: str, snippet: str) -> None:
        self.shown.append(url)


class Handed(str):
    """A result that comes back from the box: its text, with fields."""

    url: str

    def __new__(cls, text: str, url: str) -> "Handed":
        self = super().__new__(cls, text)
        self.url = url
        return self


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Tool]:
    (tmp_path / "docs").mkdir()
    (tmp_path / "files").mkdir()
    (tmp_path / "docs" / "mars.md").write_text(
        "# Mars\n\nMars has two moons.\n\n" + "More about Mars here. " * 100
    )
    (tmp_path / "files" / "data.csv").write_text("a,b\n1,2\n")
    library = Library(tmp_path / "docs", None)
    browser = TextBrowser(Fetcher(allow_local=True), library, Notes(), 1000, tmp_path / "files")
    return {tool.name: tool for tool in toolbox(SearchChain([library]), browser)}


@pytest.fixture
def every(tools: dict[str, Tool]) -> dict[str, Tool]:
    search, browser = tools["web_search"]._search, tools["visit_page"]._browser
    return {tool.name: tool for tool in toolbox(search, browser, every=True)}


def test_the_tools_are_those_of_the_contract_and_their_descriptions_are_short(tools: dict[str, Tool]) -> None:
    assert list(tools) == [
        "web_search", "visit_page", "page_up", "page_down", "find_on_page_ctrl_f", "find_next", "inspect_file_as_text",
    ]  # fmt: skip
    words = sum(
        len(f"{t.name} {t.description} {[i['description'] for i in t.inputs.values()]}".split())
        for t in tools.values()
    )
    assert words < 170


def test_a_search_lists_what_it_shows(tools: dict[str, Tool]) -> None:
    results = tools["web_search"]("moons of Mars")
    assert results[0].url == "library://mars.md"
    assert tools["web_search"].summary(results) == "1 result"
    assert tools["web_search"].summary(tools["web_search"]("zzzz")) == "nothing found"
    assert tools["web_search"]._browser.ledger.shown == ["library://mars.md"]


@pytest.mark.parametrize(
    "url",
    ["library://mars.md", " <library://mars.md> ", "[Mars](library://mars.md)", ["library://mars.md"], {"url": "library://mars.md", "title": "Mars"},
     SimpleNamespace(url="library://mars.md"), [SimpleNamespace(url="library://mars.md")], "1. Mars — library://mars.md\n   Mars has two moons", Handed("the whole text", "library://mars.md"), "mars", "Mars.md", "'library://mars.md'"],
)  # fmt: skip
def test_a_page_is_visited_however_its_address_is_handed_over(tools: dict[str, Tool], url: Any) -> None:
    page = tools["visit_page"](url)
    assert (page.title, page.page) == ("Mars", 1)
    assert tools["visit_page"].summary(page) == f"Mars, page 1 of {page.pages}"


@pytest.mark.parametrize("url", [None, "", 7, [], {"title": "Mars"}, object()])
def test_what_is_no_address_gets_one_sentence(tools: dict[str, Tool], url: Any) -> None:
    with pytest.raises(BadArguments, match="visit_page"):
        tools["visit_page"](url)


def test_pages_are_turned_and_searched(tools: dict[str, Tool]) -> None:
    first = tools["visit_page"]("library://mars.md", page="1")
    assert tools["page_down"]() == tools["visit_page"]("library://mars.md", 2)
    assert tools["page_up"]() == first
    found = tools["find_on_page_ctrl_f"]("TWO moons")
    assert tools["find_on_page_ctrl_f"].summary(found) == "match 1 of 1 for 'TWO moons'"
    assert tools["find_next"]().text == found.text
    with pytest.raises(BadArguments, match="number"):
        tools["visit_page"]("library://mars.md", "second")


def test_an_attached_file_is_read_with_a_question_or_without(tools: dict[str, Tool]) -> None:
    assert tools["inspect_file_as_text"]("data.csv").tables[0]["a"].sum() == 1
    assert "| 1 | 2 |" in tools["inspect_file_as_text"]("/elsewhere/data.csv", question="What is b?").text
    with pytest.raises(DocumentError, match=r"attached are data\.csv"):
        tools["inspect_file_as_text"]("/etc/passwd")


def test_every_failure_of_a_tool_is_one_sentence_that_the_model_can_use(tools: dict[str, Tool]) -> None:
    with LocalWeb({}) as web:
        for url in (
            "Venus",
            "venus.md",
            "file:///etc/passwd",
            web.url("/none"),
            "library://venus.md",
            "http://no-such-name.invalid",
        ):
            with pytest.raises(ToolError) as caught:
                tools["visit_page"](url)
            assert "\n" not in str(caught.value)
            assert str(caught.value).endswith(".")


def test_a_large_model_gets_more_tools_and_a_small_one_does_not(
    tools: dict[str, Tool], every: dict[str, Tool]
) -> None:
    assert list(every) == [*tools, "page_links", "page_tables", "find_archived_url", "download"]
    assert list(tools["web_search"].inputs) == ["query"]
    assert list(every["web_search"].inputs) == ["query", "site", "after", "before", "language"]


def test_links_tables_and_files_of_a_page_are_handed_over(every: dict[str, Tool]) -> None:
    page = "<title>T</title><body><p><a href=/d.csv>Data</a> <a href=/o>Other</a><table><tr><th>n<th>m<tr><td>7<td>9</table>"
    with LocalWeb({"/": page, "/d.csv": "n\n8\n"}) as web:
        every["visit_page"](web.url())
        links = every["page_links"]("data")
        assert ([link.url for link in links], len(every["page_links"]())) == ([web.url("/d.csv")], 2)
        assert every["page_links"].summary(links) == "1 link"
        assert int(every["page_tables"]()[0]["n"][0]) == 7
        name = every["download"](links[0])
        assert (name, int(every["inspect_file_as_text"](name).tables[0]["n"][0])) == ("d.csv", 8)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (("https://www.NASA.gov/moon", None, None, None), Filters("nasa.gov")),
        (
            ("site:nasa.gov", "2024", "2024", "DE"),
            Filters("nasa.gov", date(2024, 1, 1), date(2024, 12, 31), "de"),
        ),
        ((None, "2024-02", "2024-02", ""), Filters("", date(2024, 2, 1), date(2024, 2, 29))),
        (
            (None, "20240203", date(2024, 12, 5), "en-US"),
            Filters("", date(2024, 2, 3), date(2024, 12, 5), "en"),
        ),
    ],
)
def test_filters_are_understood_as_models_write_them(given: tuple[Any, ...], meant: Filters) -> None:
    assert filters_of(*given) == meant


@pytest.mark.parametrize(
    "given", [("not a site", None, None, None), (None, "soon", None, None), (None, None, "2024-13", None), (None, None, None, "1!")]
)  # fmt: skip
def test_a_filter_that_makes_no_sense_gets_one_sentence(
    every: dict[str, Tool], given: tuple[Any, ...]
) -> None:
    with pytest.raises(BadArguments):
        every["web_search"]("moons", *given)
