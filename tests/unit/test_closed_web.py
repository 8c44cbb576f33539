"""A closed web is read like any web, through the guarded fetcher, and only its own pages are found."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.closed_web import ClosedWeb
from evals.questions import BadQuestions, load_questions
from tools.browser import TextBrowser
from tools.errors import FetchError, Refused
from tools.fetch import Fetcher
from tools.search.chain import SearchChain

PAGES = [
    {
        "title": "Quill Bridge",
        "text": "The Quill Bridge is a bridge over the Orme.\n\nIt was opened in 1741.",
    },
    {"title": "Orme", "text": "The Orme is a river, 41 km long & <cold>."},
    {"title": "Orme", "text": "Orme is also a village of 300 people."},
    {"title": "../../1º Caf&quot;é / \u2032?", "text": "A café whose name no file can have."},
]


def written(path: Path, rows: list[dict[str, str]]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return path


@pytest.fixture
def web(tmp_path: Path) -> Iterator[ClosedWeb]:
    with ClosedWeb(written(tmp_path / "pages.jsonl", PAGES)) as web:
        yield web


def test_what_is_found_can_be_read_over_the_wire(web: ClosedWeb) -> None:
    browser = TextBrowser(Fetcher(allow_local=True))
    for query, words in [
        ("Quill Bridge opened", "opened in 1741"),
        ("Orme river", "41 km long & <cold>"),
        ("Orme village", "300 people"),
        ("café", "no file can have"),
    ]:
        found = SearchChain([web], mode="library").search(query, 3)
        assert words in found[0].snippet
        assert found[0].url.startswith(web.address)
        page = browser.visit(found[0].url)
        assert page.title == found[0].title
        assert words in page.text.replace("\\", "")


def test_two_pages_of_one_name_are_both_kept(web: ClosedWeb) -> None:
    assert len({result.url for result in web.search("Orme", 5) if result.title == "Orme"}) == 2


def test_nothing_is_found_that_is_not_there(web: ClosedWeb) -> None:
    assert web.search("volcano", 5) == []
    with pytest.raises(FetchError) as error:
        Fetcher(allow_local=True).get(f"{web.address}volcano.html")
    assert error.value.status == 404


def test_a_closed_web_is_as_private_as_any_local_address(web: ClosedWeb) -> None:
    with pytest.raises(Refused):
        Fetcher().get(web.address)


def test_a_closed_web_that_was_closed_is_gone(tmp_path: Path) -> None:
    web = ClosedWeb(written(tmp_path / "pages.jsonl", PAGES))
    address = web.address
    web.close()
    with pytest.raises(FetchError):
        Fetcher(allow_local=True).get(address)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "pages.jsonl is empty"),
        ('{"title": "A", "text": "a"}\n{"title": "B"', "Line 2 of pages.jsonl is no JSON"),
        ('{"title": "A"}', "Line 1 of pages.jsonl has no text under 'text'"),
        ("[1, 2]", "Line 1 of pages.jsonl has no text under 'title'"),
    ],
)
def test_a_bad_file_of_pages_is_named_with_its_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "pages.jsonl").write_text(content, "utf-8")
    with pytest.raises(BadQuestions, match=said):
        ClosedWeb(tmp_path / "pages.jsonl")


def test_a_missing_file_of_questions_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadQuestions, match=r"questions.jsonl cannot be read \(.*\): check the path"):
        load_questions(tmp_path / "questions.jsonl")
