"""The answer's sources: what is verified, what is not, and what is found for an answer that names none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.answer import LOCATED, UNVERIFIED, VERIFIED, Answer, FinalAnswer, Named, as_text, named_sources
from tests.agent_world import LIBRARY, MARS
from tools.browser import TextBrowser
from tools.errors import BadArguments, ToolError
from tools.fetch import Fetcher
from tools.page import Document
from tools.search.library import Library

VENUS = "library://venus.md"
RIVERS = "library://rivers.csv"
ALL = [VENUS, RIVERS, MARS]

Make = Callable[..., FinalAnswer]


@pytest.fixture
def final(tmp_path: Path) -> Make:
    for name, text in LIBRARY.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    browser = TextBrowser(Fetcher(), Library(tmp_path, None))

    def make(
        question: str = "How many moons has Mars?",
        seen: list[str] = ALL,
        insist: bool = False,
        check: bool = True,
        leads: list[tuple[str, str]] = [],  # noqa: B006
    ) -> FinalAnswer:
        return FinalAnswer(
            browser.open,
            lambda: seen,
            lambda: seen,
            question,
            leads=lambda: leads,
            insist=insist,
            check=check,
        )

    return make


def statuses(answer: Answer) -> list[tuple[str, str]]:
    return [(source.url, source.status) for source in answer.sources]


def test_without_the_check_no_source_is_called_good_and_none_is_sent_back(final: Make) -> None:
    tool = final(insist=True, check=False)
    answer = tool.forward("two", [(MARS, "Both were found in 1877."), (VENUS, "invented")])
    assert statuses(answer) == [(MARS, UNVERIFIED), (VENUS, UNVERIFIED)]
    assert answer.sources[0].place == "not looked up, because EVIDENCE_CHECK is 0"
    assert tool.forward("two").sources == ()


def test_a_quote_that_stands_in_its_page_is_verified_and_its_place_told(final: Make) -> None:
    answer = final().forward("two", [(MARS, "Both were found in 1877.")])
    assert statuses(answer) == [(MARS, VERIFIED)]
    source = answer.sources[0]
    assert (source.title, source.quote, source.place) == ("Mars", "Both were found in 1877.", "under “Moons”")


@pytest.mark.parametrize(
    "quote",
    [
        'It\'s called the "Red Planet" - because of its iron oxide.',
        "It’s called the “Red Planet” – because of its iron oxide",
        'it\'s  called the\n"red planet" —   because',
        "Mars has two moons, Phobos and Deimos.",
        "Mars has two moons, **Phobos** and [Deimos](venus.md).",
        "two moons, Pho\u00adbos and Deimos",
    ],
)
def test_a_quote_with_other_marks_spaces_or_emphasis_is_verified(final: Make, quote: str) -> None:
    assert statuses(final().forward("two", [(MARS, quote)])) == [(MARS, VERIFIED)]


@pytest.mark.parametrize(
    "quote", ["Mars has three moons", "Mars has two moons, Deimos", "Phobos ... 1877", "**"]
)
def test_words_that_do_not_stand_in_the_page_are_not_verified(final: Make, quote: str) -> None:
    answer = final(seen=[]).forward("two", [(MARS, quote)])
    assert statuses(answer) == [(MARS, UNVERIFIED)]
    assert answer.sources[0].place == "these words do not stand in the page"


def test_a_quote_is_looked_for_in_the_whole_document_and_not_in_its_first_pages(
    final: Make, tmp_path: Path
) -> None:
    text = "# Long\n\n" + "Nothing of interest here.\n" * 4_000 + "The last line says that it is blue.\n"
    (tmp_path / "long.md").write_text(text)
    answer = final().forward("blue", [("library://long.md", "the last line says that it is blue")])
    assert statuses(answer) == [("library://long.md", VERIFIED)]


def test_a_wrong_quote_is_sent_back_once_and_then_shown_as_unverified(final: Make) -> None:
    tool = final(insist=True, seen=[])
    with pytest.raises(ToolError) as told:
        tool.forward("three", [(MARS, "Mars has three moons")])
    assert "'Mars has three moons' does not stand in library://mars.md" in str(told.value)
    assert "call final_answer again" in str(told.value)
    assert statuses(tool.forward("three", [(MARS, "Mars has three moons")])) == [(MARS, UNVERIFIED)]


def test_a_corrected_quote_is_verified(final: Make) -> None:
    tool = final(insist=True)
    with pytest.raises(ToolError):
        tool.forward("two", [(MARS, "two moons has Mars")])
    assert statuses(tool.forward("two", [(MARS, "Mars has two moons")])) == [(MARS, VERIFIED)]


def test_a_page_that_cannot_be_read_is_said_to_be_that(final: Make) -> None:
    tool = final(insist=True, seen=[])
    with pytest.raises(ToolError, match=r"^The source cannot be read .*nowhere\.md.*name another one"):
        tool.forward("two", [("library://nowhere.md", "some words")])
    (source,) = tool.forward("two", [("library://nowhere.md", "some words")]).sources
    assert source.status == UNVERIFIED
    assert "is not in the library" in source.place


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "http://127.0.0.1/", "/etc/passwd", "passwd", "../mars.md"]
)
def test_an_address_that_is_never_opened_is_no_source(final: Make, url: str) -> None:
    answer = final(seen=[]).forward("root", [(url, "root:x:0:0")])
    assert all(source.status == UNVERIFIED for source in answer.sources)


def test_an_answer_without_sources_gets_the_sentence_in_which_it_stands(final: Make) -> None:
    answer = final().forward("Phobos and Deimos")
    assert statuses(answer) == [(MARS, LOCATED)]
    assert answer.sources[0].quote == "Mars has two moons, Phobos and Deimos."


def test_the_page_that_speaks_of_the_question_goes_before_one_that_has_the_same_word(final: Make) -> None:
    assert statuses(final("Is the moon of Venus there?", seen=[MARS, VENUS]).forward("no moon")) == [
        (VENUS, LOCATED)
    ]
    assert statuses(final("In which year were the moons found?").forward(1877)) == [(MARS, LOCATED)]


def test_a_source_named_without_a_quote_gets_the_sentence_of_the_answer(final: Make) -> None:
    answer = final().forward("two", [MARS])
    assert statuses(answer) == [(MARS, LOCATED)]
    assert answer.sources[0].quote == "Mars has two moons, Phobos and Deimos."


def test_a_source_that_does_not_hold_the_answer_is_joined_by_one_that_does(final: Make) -> None:
    answer = final("How long is the Quill?").forward("57", [MARS])
    assert statuses(answer) == [(MARS, UNVERIFIED), (RIVERS, LOCATED)]
    assert "Quill" in answer.sources[1].quote


def test_a_computed_answer_gets_the_pages_of_the_numbers_it_was_computed_from(final: Make) -> None:
    tool = final("How long before 2024 were the moons of Mars found?")
    tool.code = "final_answer(2024 - 1877)"
    answer = tool.forward(147)
    assert answer.text == "147"
    assert statuses(answer) == [(MARS, LOCATED)]
    assert answer.sources[0].quote == "Both were found in 1877."


def test_yes_and_no_are_not_looked_for_in_pages(final: Make) -> None:
    assert final("Has Venus a moon?").forward("no").sources == ()


def test_a_number_is_not_found_inside_another_number(final: Make) -> None:
    assert final("How many?").forward("87").sources == ()  # 1877


def test_a_page_that_has_gone_since_does_not_keep_an_answer_from_its_other_pages(
    final: Make, tmp_path: Path
) -> None:
    tool = final(seen=["library://gone.md", MARS])
    assert statuses(tool.forward("Phobos and Deimos")) == [(MARS, LOCATED)]


def test_an_answer_taken_from_a_result_that_was_never_opened_has_that_page_as_source(final: Make) -> None:
    leads = [(RIVERS, "The Rhine is 1,233 km long."), (MARS, "Its moons are Phobos and Deimos.")]
    assert statuses(final(seen=[], leads=leads).forward("Phobos and Deimos")) == [(MARS, LOCATED)]
    assert final(seen=[], leads=leads).forward("Titan").sources == ()


def test_a_result_is_no_source_where_its_page_does_not_say_what_the_result_showed(final: Make) -> None:
    leads = [(VENUS, "Venus has 97 moons.")]
    assert final("How many moons has Venus?", seen=[], leads=leads).forward("97").sources == ()


def test_only_the_likeliest_results_are_opened_for_a_source() -> None:
    opened: list[str] = []

    def read(url: str) -> Document:
        opened.append(url)
        return Document(url, "Nothing", "Nothing of it.")

    leads = [(f"http://{n}.example", "Mars has two moons." if n % 2 else "two") for n in range(10)]
    tool = FinalAnswer(read, list, list, "How many moons has Mars?", leads=lambda: leads, insist=False)
    assert tool.forward("two").sources == ()
    assert opened == ["http://1.example", "http://3.example", "http://5.example"]


@pytest.mark.timeout(60)
def test_a_number_that_stands_everywhere_in_a_long_page_is_found() -> None:
    row = "The river Orme is 57 km long and flows into the sea.\n"
    page = Document("http://a.example", "Rivers", row * 8_000)
    tool = FinalAnswer(lambda url: page, lambda: [page.url] * 3, list, "How long is it?", insist=False)
    assert tool.forward(57).sources[0].status == LOCATED


@pytest.mark.parametrize("nothing", ["", "  \n", None, [], [None]])
def test_an_empty_answer_is_refused(final: Make, nothing: Any) -> None:
    with pytest.raises(BadArguments, match="The answer is empty"):
        final().forward(nothing)


def test_an_answer_as_long_as_a_book_is_cut(final: Make) -> None:
    assert len(final(seen=[]).forward("word " * 100_000).text) == 20_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (42, "42"),
        (42.0, "42"),
        (3.5, "3.5"),
        (1e300, "1e+300"),
        (True, "True"),
        (["a", 2.0, None], "a\n2"),
        (("x", ["y", "z"]), "x\ny\nz"),
        ("  two \n", "two"),
    ],
)
def test_an_answer_of_any_kind_becomes_a_readable_text(value: Any, text: str) -> None:
    assert as_text(value) == text


class Result:
    url = "http://a.example"
    title = "A"


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (None, []),
        ([], []),
        ("http://a.example", [("http://a.example", "")]),
        (["http://a.example", "http://b.example"], [("http://a.example", ""), ("http://b.example", "")]),
        ([("http://a.example", "words")], [("http://a.example", "words")]),
        ([["http://a.example", "words"]], [("http://a.example", "words")]),
        (("http://a.example", "words"), [("http://a.example", "words")]),
        ([{"url": "http://a.example", "quote": "words"}], [("http://a.example", "words")]),
        ({"url": "http://a.example", "quote": "words"}, [("http://a.example", "words")]),
        ({"http://a.example": "words"}, [("http://a.example", "words")]),
        ([Result()], [("http://a.example", "")]),
        ([(Result(), "words")], [("http://a.example", "words")]),
        ([("http://a.example", None)], [("http://a.example", "")]),
        ([("http://a.example", "w")] * 3, [("http://a.example", "w")]),
        ([3, None, ("",), (4, "words")], []),
        (7, []),
    ],
)
def test_sources_are_understood_in_whatever_shape_a_model_names_them(
    value: Any, named: list[tuple[str, str]]
) -> None:
    assert named_sources(value) == [Named(url, quote) for url, quote in named]


def test_no_more_than_eight_sources_are_taken() -> None:
    assert len(named_sources([(f"http://{n}.example", "w") for n in range(50)])) == 8


def test_a_web_page_that_the_run_never_came_across_is_not_opened_for_a_quote(final: Make) -> None:
    answer = final(seen=[]).forward("two", [("https://never.example/moons", "Mars has two moons")])
    assert [(source.status, source.place) for source in answer.sources] == [
        (UNVERIFIED, "this page was not read in this run")
    ]


def test_an_answer_in_other_words_is_sourced_by_the_sentence_that_says_the_same(final: Make) -> None:
    answer = final(seen=[VENUS, MARS]).forward("Mars has two moons called Phobos and Deimos.")
    assert statuses(answer) == [(MARS, LOCATED)]
    assert final(seen=[VENUS, MARS]).forward("Saturn has beautiful rings around it.").sources == ()
