"""The text browser: pages, finding, attachments, and many readers at once."""

import json
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.local_web import Answer, LocalWeb, Request
from tools.browser import TextBrowser
from tools.errors import BadArguments, DocumentError, FetchError, Refused, ToolError
from tools.fetch import Fetcher
from tools.find import FoldedText
from tools.ledger import Attempt
from tools.manners import Manners
from tools.viewport import page_spans, window

LONG = "".join(
    f"<h2>Part {n}</h2><p>{'Words of part ' + str(n) + '. '} {'More words here. ' * 20}</p>"
    for n in range(40)
)


def browser(**rest: object) -> TextBrowser:
    return TextBrowser(Fetcher(allow_local=True), **rest)  # type: ignore[arg-type]


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("ab .\n字。#"), max_size=600) | st.text(max_size=300),
    st.integers(min_value=1, max_value=120),
)
def test_a_page_never_exceeds_its_limit_and_no_word_is_lost(text: str, limit: int) -> None:
    spans = page_spans(text, limit)
    assert all(0 <= end - start <= limit for start, end in spans)
    assert "".join(text[a:b] for a, b in spans).split() == text.split() or "".join(
        text[a:b] for a, b in spans
    ).replace(" ", "").replace("\n", "") == text.replace(" ", "").replace("\n", "")


def test_pages_are_cut_at_paragraphs_and_headings_where_there_are_any() -> None:
    text = "\n\n".join(f"Paragraph {n} ends here." for n in range(100))
    assert all(text[:end].endswith("here.") for _, end in page_spans(text, 500))


def test_a_long_page_is_read_page_by_page() -> None:
    with LocalWeb({"/": f"<title>Long</title><body>{LONG}"}) as web:
        reader = browser(viewport_chars=2000)
        first = reader.visit(web.url())
        assert (first.title, first.page, len(first.text) <= 2000) == ("Long", 1, True)
        assert str(first).startswith(f"Long (page 1 of {first.pages})\n{web.url()}")
        assert reader.page_down() == reader.visit(web.url(), 2)
        assert reader.page_up() == first
        with pytest.raises(BadArguments, match="first page"):
            reader.page_up()
        with pytest.raises(BadArguments, match=f"no page 99.*{first.pages} pages"):
            reader.visit(web.url(), 99)
        assert len(web.requests) == 1


def test_text_without_spaces_is_paged_by_characters() -> None:
    with LocalWeb({"/": f"<body><p>{'字' * 20_000}"}) as web:
        page = browser(viewport_chars=1000).visit(web.url())
        assert (page.pages, len(page.text)) == (20, 1000)


def test_find_searches_the_whole_document_and_goes_on() -> None:
    with LocalWeb({"/": f"<body>{LONG}"}) as web:
        reader = browser(viewport_chars=2000)
        reader.visit(web.url())
        found = reader.find("words OF part 33.")
        assert "Words of part 33." in found.text
        assert (found.page > 1, found.note) == (True, "match 1 of 1 for 'words OF part 33.'")
        assert reader.find_next() == found
        assert reader.find("Part 3*more").note.startswith("match 1 of 11")
        assert "match 2 of 11" in reader.find_next().note
        assert reader.page_up().page < found.page
        with pytest.raises(BadArguments, match="does not stand in"):
            reader.find("no such words")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a non\u00adbreaking hyphen", "nonbreaking"), ("ten\u00a0km away", "ten km"), ("the ﬁne print", "fine print"),
        ("Straße nach Köln", "STRASSE NACH KÖLN"), ("中文维基百科", "维基"), ("it’s “so”", 'it\'s "so"'),
        ("see [the **red** planet](https://e.org/(x)) now", "the red planet now"), ("line\nbreak", "line break"),
        ("1995–2005", "1995-2005"), ("x \u200e\u202bعربي", "عربي"), ("a\n\n| b | c |", "| b |"), ("47 km^2 wide", "47 km²"), ("10^24 kg", "10^24 kg"),
    ],
)  # fmt: skip
def test_find_folds_what_a_reader_does_not_see(text: str, wanted: str) -> None:
    assert FoldedText(text).find_all(wanted)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.text(max_size=20))
def test_find_never_fails_and_points_into_the_text(text: str, wanted: str) -> None:
    for start, end in FoldedText(text).find_all(wanted):
        assert 0 <= start < end <= len(text)


def test_many_visits_at_once_each_get_their_own_page() -> None:
    with LocalWeb(lambda request: f"<title>{request.path}</title><body><p>{request.path}") as web:
        reader = browser()
        wrong: list[str] = []

        def visit(number: int) -> None:
            for _ in range(5):
                page = reader.visit(web.url(f"/{number}"))
                if (page.title, page.text) != (f"/{number}", f"/{number}"):
                    wrong.append(page.title)

        threads = [threading.Thread(target=visit, args=(n,)) for n in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []


def test_only_attached_files_are_read_and_only_by_their_name(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "Data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "files" / "link.txt").symlink_to(tmp_path / "secret.txt")
    reader = browser(files_dir=tmp_path / "files")
    assert reader.visit_file("/somewhere/else/data.csv").text == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    assert reader.visit("Data.csv").tables[0]["b"].sum() == 2
    for name in ("../secret.txt", str(tmp_path / "secret.txt"), "secret.txt", "link.txt", "..", "."):
        with pytest.raises(DocumentError, match=r"attached are Data\.csv"):
            reader.visit_file(name)
    for url in (
        f"file://{tmp_path}/secret.txt",
        str(tmp_path / "secret.txt"),
        "file:Data.csv",
        "../secret.txt",
    ):
        with pytest.raises((Refused, DocumentError)):
            reader.visit(url)
    with pytest.raises(DocumentError, match="no file is attached"):
        browser().visit_file("x.pdf")


def test_a_long_attached_file_answers_a_question_with_its_passages(tmp_path: Path) -> None:
    filler = "Nothing of interest stands in this paragraph about the weather.\n\n" * 200
    (tmp_path / "report.txt").write_text(f"{filler}The budget of the harbour was 41 million.\n\n{filler}")
    page = browser(files_dir=tmp_path, viewport_chars=1000).visit_file(
        "report.txt", "What was the harbour's budget?"
    )
    assert "41 million" in page.text
    assert len(page.text) <= 1000
    assert "from all" in page.note


def test_a_page_that_says_nothing_says_why() -> None:
    routes = {
        "/empty": "",
        "/none": Answer(204),
        "/app": "<body><div id=root></div><script>render()</script>",
    }
    with LocalWeb(routes) as web:
        for path, says in (
            ("/empty", "empty answer"),
            ("/none", "status 204"),
            ("/app", "without running its scripts"),
        ):
            with pytest.raises(FetchError, match=says):
                browser().visit(web.url(path))


def test_what_is_missing_from_a_page_is_noted_on_it() -> None:
    with LocalWeb({"/": Answer(body="<body><p>half of it", length=9000)}) as web:
        page = browser().visit(web.url())
        assert "cut" in page.note
        assert "Note: " in str(page)


def test_what_was_read_is_written_down_once_in_plain_words() -> None:
    class Notes:
        def __init__(self) -> None:
            self.read: list[tuple[str, str, str]] = []

        def attempt(self, attempt: Attempt) -> None: ...
        def listed(self, url: str, title: str, snippet: str) -> None: ...
        def snapshot(self, url: str, title: str, text: str) -> None:
            self.read.append((url, title, text))

    notes = Notes()
    with LocalWeb({"/": "<title>T</title><body><p>The <b>red</b> <a href=/x>planet</a>."}) as web:
        reader = browser(ledger=notes)
        reader.visit(web.url("/#top"))
        reader.find("red")
        assert notes.read == [(web.url(), "T", "The red planet.")]


def test_a_reader_without_targets_still_has_the_links() -> None:
    with LocalWeb({"/": "<body><p>The <a href=/x>red planet</a>."}) as web:
        page = browser(show_targets=False).visit(web.url())
        assert (page.text, [link.url for link in page.links]) == ("The red planet.", [web.url("/x")])


def test_paging_or_finding_before_any_visit_says_what_to_do() -> None:
    for act in (lambda: browser().page_down(), lambda: browser().find("x"), lambda: browser().find_next()):
        with pytest.raises(ToolError, match="visit_page"):
            act()


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("ab .\n字\u0301क्षिم😀#"), min_size=1, max_size=900),
    st.integers(0, 900),
    st.integers(0, 400),
    st.integers(10, 200),
)
def test_the_passage_around_a_match_never_exceeds_its_limit(
    text: str, start: int, size: int, limit: int
) -> None:
    start = min(start, len(text) - 1)
    assert len(window(text, start, min(len(text), start + size), limit)) <= limit


def test_all_links_and_tables_of_a_document_are_at_hand_whatever_page_is_open() -> None:
    tables = "".join(f"<h2>T{n}</h2><table><tr><th>n<th>m<tr><td>{n}<td>{n * n}</table>{'<p>words</p>' * 60}" for n in range(9))  # fmt: skip
    with LocalWeb({"/": f"<body>{tables}<p><a href=/data.csv>Data set</a> <a href=/about>About</a>"}) as web:
        reader = browser(viewport_chars=500)
        assert reader.visit(web.url()).pages > 3
        assert [int(table["m"][0]) for table in reader.tables()] == [n * n for n in range(9)]
        assert [link.url for link in reader.links()] == [web.url("/data.csv"), web.url("/about")]
        assert [link.text for link in reader.links("csv")] == ["Data set"]


def closest(web: LocalWeb, stamp: str) -> Answer:
    snapshot = {"available": True, "url": f"http://127.0.0.1:{web.port}/web/{stamp}/http://x.example/a", "timestamp": stamp, "status": "200"}  # fmt: skip
    body = {"url": "x.example/a", "timestamp": "20100101", "archived_snapshots": {"closest": snapshot}}
    return Answer(headers={"Content-Type": "application/json"}, body=json.dumps(body))


def archive_reader(web: LocalWeb) -> TextBrowser:
    return TextBrowser(Fetcher(allow_local=True, manners=Manners(archive_home=web.url())))


def test_an_archived_page_is_the_closest_copy_without_the_archives_bar() -> None:
    def site(request: Request) -> Answer | str:
        if request.path.startswith("/wayback/available"):
            assert "url=http%3A%2F%2Fx.example%2Fa" in request.path
            assert "timestamp=20100601" in request.path
            return closest(web, "20100529083000")
        assert request.path == "/web/20100529083000if_/http://x.example/a"
        return "<title>Old</title><body><p>As it was."

    with LocalWeb(site) as web:
        page = archive_reader(web).visit_archived("http://x.example/a", "2010-06")
        assert (page.text, page.note) == ("As it was.", "this is the Internet Archive's copy of 29 May 2010")
        with pytest.raises(BadArguments, match="is not a date"):
            archive_reader(web).visit_archived("http://x.example/a", "last summer")


def test_a_copy_that_one_api_of_the_archive_forgot_is_found_through_the_other() -> None:
    def site(request: Request) -> Answer | str:
        if request.path.startswith("/wayback/available"):
            return '{"url": "x.example/a", "archived_snapshots": {}}'
        if request.path.startswith("/cdx/search/cdx"):
            assert "closest=20100601" in request.path
            return '[["timestamp","original"],\n["20100529083000","http://x.example/a"]]'
        return "<body><p>As it was."

    with LocalWeb(site) as web:
        assert archive_reader(web).visit_archived("http://x.example/a", "20100601").text == "As it was."


@pytest.mark.parametrize(
    ("answers", "says"),
    [(['{"archived_snapshots": {}}', "[]"], "has no copy"), (["<html>busy", "[]"], "in the form of its API"), (["[1]", "{}"], "has no copy"),
     (['{"archived_snapshots": {"closest": {"available": true, "url": "javascript:alert(1)"}}}', ""], "not known here"), (['{"archived_snapshots": []}', ""], "has no copy")],
)  # fmt: skip
def test_an_archive_without_a_copy_or_out_of_order_gets_one_sentence(answers: list[str], says: str) -> None:
    routes = {"/wayback/available": answers[0], "/cdx/search/cdx": answers[1]}
    with LocalWeb(routes) as web, pytest.raises(FetchError, match=says):
        archive_reader(web).visit_archived("http://x.example/a")


def test_a_download_stands_beside_the_attached_files_under_a_safe_name(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("mine")
    routes = {
        "/data.csv": Answer(headers={"Content-Type": "text/csv"}, body="a,b\n1,2\n"),
        "/get": Answer(headers={"Content-Disposition": 'attachment; filename="../.bash rc"'}, body="x"),
        "/api": Answer(headers={"Content-Type": "application/json"}, body="{}"),
        "/half": Answer(body="half", length=99),
        "/none": Answer(204),
    }
    with LocalWeb(routes) as web:
        reader = browser(files_dir=tmp_path)
        assert reader.download(web.url("/data.csv")) == "data-2.csv"
        assert reader.download(web.url("/data.csv")) == "data-2.csv"
        assert (tmp_path / "data.csv").read_text() == "mine"
        assert reader.visit_file("data-2.csv").tables[0]["b"].sum() == 2
        assert reader.download(web.url("/get")) == "bash rc.html"
        assert reader.download(web.url("/api")) == "api.json"
        for path, says in (("/half", "was not saved"), ("/none", "empty answer")):
            with pytest.raises(FetchError, match=says):
                reader.download(web.url(path))
        with pytest.raises(DocumentError, match="no folder"):
            browser().download(web.url("/api"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "api.json",
        "bash rc.html",
        "data-2.csv",
        "data.csv",
    ]
