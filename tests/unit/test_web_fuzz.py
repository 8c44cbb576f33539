"""Whatever a server sends, what looks at it answers or raises its own error, and soon."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.anchors import place_of
from tools.archive import closest_copy, day
from tools.errors import ToolError
from tools.find import FoldedText
from tools.page import Document
from tools.response import filename_of, refresh_of, retry_after
from tools.robots import RobotsFile
from tools.shell import is_shell, shell_document, ways_out
from tools.walls import is_behind_paywall, is_login, says_not_found, wall_of

PIECES = st.lists(
    st.sampled_from(
        ["<script type=application/ld+json>", "</script>", '{"a": [1, "words and more words"]}', "<script id=__NEXT_DATA__>", "window.__DATA__ = ", "<title>404", "</title>",
         "<h1 id=x>Not found</h1>", "<input type=password>", "sign in", "<a name=y>", "<p>some words</p>", "<!--", "\0", "\ud83d", "<" * 50, "é", "{" * 30, "[" * 30, "<link rel=alternate type=rss href='http://['>"]
    ),
    max_size=12,
).map("".join)  # fmt: skip
QUICK = settings(max_examples=60, deadline=None)


@QUICK
@given(PIECES, st.text(max_size=30))
def test_a_page_is_looked_at_without_a_failure(page: str, fragment: str) -> None:
    content = page.encode("utf-8", "replace")
    wall_of(200, {}, content)
    is_login("http://a.example/login", content)
    is_behind_paywall(content)
    says_not_found(content)
    refresh_of({}, "text/html", content)
    is_shell("", page)
    shell_document(Document("http://a.example/", "", ""), page)
    ways_out(page, "http://a.example/")
    for place in ("x", "y", f":~:text={fragment}", fragment):
        found = place_of(place, page, FoldedText(page), page)
        assert found is None or 0 <= found < len(page)


@QUICK
@given(st.text(max_size=60), st.text(max_size=60))
def test_headers_and_robots_txt_are_read_without_a_failure(text: str, other: str) -> None:
    headers = {"refresh": text, "retry-after": text, "content-disposition": f"attachment; filename*={text}"}
    refresh_of(headers, "text/html", b"")
    retry_after(headers)
    assert "/" not in filename_of(headers, "http://a.example/x")
    RobotsFile(f"User-agent: *\nDisallow: {text}\nAllow: {other}*{text}$", "Me").forbids(f"/{other}")


@QUICK
@given(st.binary(max_size=80) | st.sampled_from([b'{"archived_snapshots": {"closest": {"available": 1, "url": 5}}}', b'[[1], ["2010", null]]']), st.text(max_size=12))  # fmt: skip
def test_the_archive_answers_or_fails_in_its_own_words(body: bytes, when: str) -> None:
    for act in (
        lambda: closest_copy("http://a.example/", "", lambda url: body, "https://archive.org/"),
        lambda: day(when),
    ):
        try:
            act()
        except ToolError as error:
            assert str(error).endswith(".")


@pytest.mark.parametrize(
    "body",
    ["0;x" + " " * 99_000 + "y", "<" * 300_000, "<script>" * 40_000, "<!--" * 60_000, "javascript " * 30, "<a id=x>" * 30_000, '<script type=application/json>["' + "<" * 200_000 + '"]</script>'],
)  # fmt: skip
@pytest.mark.timeout(30)
def test_no_page_or_header_keeps_the_reader_busy(body: str) -> None:
    refresh_of({"refresh": body}, "text/html", body.encode())
    says_not_found(f"<title>404</title>{body}".encode())
    is_shell(body[:399], f"<script>{body}")
    shell_document(Document("", "", ""), body)
    place_of("x", body[:1000], FoldedText(body[:1000]), body)
