"""What a page says of its author, its day, its language and its address."""

import json

import pytest

from tests.local_web import LocalWeb
from tools.browser import TextBrowser
from tools.documents import read_bytes
from tools.fetch import Fetcher
from tools.metadata import NOTHING_SAID, Metadata
from tools.webpage import html_document

URL = "http://news.example/a/b"
ARTICLE = {"@type": "NewsArticle", "author": {"@type": "Person", "name": "Ada Moor"}, "datePublished": "2024-03-05T10:00:00Z"}  # fmt: skip


def told(head: str = "", body: str = "<p>Words.</p>", html: str = "<html>") -> Metadata:
    return html_document(f"{html}<head>{head}</head><body>{body}</body></html>", url=URL).metadata


def linked(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


@pytest.mark.parametrize(
    "head",
    [
        '<meta name="author" content="Ada Moor"><meta property="article:published_time" content="2024-03-05T10:00:00Z">',
        '<meta name="DC.creator" content="Ada Moor"><meta name="DC.date" content="2024-03-05">',
        '<meta name="citation_author" content="By Ada  Moor"><meta name="citation_publication_date" content="2024/03/05">',
        linked(ARTICLE),
        linked([{"@type": "Organization", "name": "The News"}, ARTICLE]),
        linked({"@graph": [{"@type": "WebSite", "author": "Nobody"}, ARTICLE | {"author": ["Ada Moor"]}]}),
    ],
    ids=["open-graph", "dublin-core", "scholar", "json-ld", "json-ld-list", "json-ld-graph"],
)
def test_author_and_day_of_a_page_are_kept_however_it_tells_them(head: str) -> None:
    found = told(head)
    assert (found.author, found.published) == ("Ada Moor", "2024-03-05")


def test_a_byline_and_a_time_in_the_page_are_used_where_its_head_says_nothing() -> None:
    found = told(
        body='<a rel="author" href="/ada">by Ada Moor</a><time class="published" datetime="2024-03-05">then</time><p>A.'
    )
    assert str(found) == "by Ada Moor, 2024-03-05"


def test_a_page_that_was_changed_later_says_so_and_one_changed_on_its_day_does_not() -> None:
    day = '<meta property="article:published_time" content="2024-03-05"><meta property="article:modified_time" content="{}">'
    assert str(told(day.format("2025-01-02"))) == "2024-03-05, changed 2025-01-02"
    assert str(told(day.format("2024-03-05"))) == "2024-03-05"


def test_language_and_address_are_kept_absolute() -> None:
    found = told('<link rel="canonical" href="/a">', html='<html lang="en-GB">')
    assert (found.language, found.canonical) == ("en-GB", "http://news.example/a")


@pytest.mark.parametrize(
    "head",
    [
        '<link rel="canonical" href="javascript:alert(1)">',
        '<meta name="author" content="https://social.example/ada">',
        '<meta name="date" content="yesterday"><meta name="date" content="2024-13-45">',
        linked("[" * 50_000),
        '<script type="application/ld+json">{"@type": "Article", "author": 7, "datePublished": ["x"]}</script>',
        linked({"@graph": [[]] * 5_000}),
    ],
)
def test_what_is_no_name_no_day_and_no_address_is_left_out(head: str) -> None:
    assert told(head) == NOTHING_SAID


def test_a_name_of_many_lines_and_a_thousand_authors_stay_one_short_line() -> None:
    found = told(
        linked(ARTICLE | {"author": ["Ada\nNote: obey", *(f"A {n} " + "x" * 100 for n in range(1_000))]})
    )
    assert found.author.startswith("Ada Note: obey, A 0") and len(found.author) <= 200


def test_the_model_reads_who_wrote_a_page_and_when_on_its_first_page_only() -> None:
    page = f"<head><title>Long</title>{linked(ARTICLE)}</head><body>{'<p>Many words here.</p>' * 300}"
    with LocalWeb({"/": page}) as web:
        reader = TextBrowser(Fetcher(allow_local=True), viewport_chars=2000)
        first, second = reader.visit(web.url()), reader.visit(web.url(), 2)
    assert str(first).splitlines()[2] == "by Ada Moor, 2024-03-05"
    assert "Ada Moor" not in str(second) and second.metadata == first.metadata


def test_a_page_of_very_many_tags_is_read_apart_and_keeps_all_it_says_of_itself() -> None:
    rows = "".join(f"<tr><td>{n}</td></tr>" for n in range(15_000))
    page = f'<html lang="de"><head><title>Rows</title><meta name="author" content="Ada Moor"></head><body><table>{rows}</table></body></html>'
    found = read_bytes(page.encode(), url=URL, content_type="text/html")
    assert (found.title, found.metadata.author, found.metadata.language) == ("Rows", "Ada Moor", "de")
    assert "14999" in found.markdown
