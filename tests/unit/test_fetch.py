"""The fetcher against servers that answer well, badly, slowly or never."""

import gzip
import socket
import ssl
import threading
import zlib
from pathlib import Path

import brotli
import pytest
from backports import zstd
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.local_web import Answer, LocalWeb, Request
from tests.local_web_tls import certificate
from tools.errors import FetchError
from tools.fetch import Fetcher, FetchLimits
from tools.ledger import Attempt, CachedPage

FAST = FetchLimits(connect_seconds=1, silence_seconds=0.3, total_seconds=0.5)


class Notes:
    """A ledger that keeps everything."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []

    def attempt(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def snapshot(self, url: str, title: str, text: str) -> None: ...
    def listed(self, url: str, title: str, snippet: str) -> None: ...


def fetcher(**changes: object) -> Fetcher:
    limits = FetchLimits(**{"connect_seconds": 2, "silence_seconds": 2, "total_seconds": 5, **changes})  # type: ignore[arg-type]
    return Fetcher(limits=limits, allow_local=True)


def failure(get: Fetcher, url: str) -> FetchError:
    with pytest.raises(FetchError) as caught:
        get.get(url)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_page_is_read_with_its_type_and_address_after_redirects() -> None:
    routes = {
        "/old": Answer(301, {"Location": "/neu?q=ä b#top"}),
        "/neu?q=%C3%A4%20b": Answer(
            headers={"Content-Type": "Text/HTML; Charset=utf-8"}, body="<p>hello</p>"
        ),
    }
    with LocalWeb(routes) as web:
        got = fetcher().get(web.url("/old"))
        assert got.url == web.url("/neu?q=%C3%A4%20b")
        assert (got.status, got.media_type, got.content, got.note) == (200, "text/html", b"<p>hello</p>", "")


def test_a_redirect_loop_ends_with_its_chain() -> None:
    with LocalWeb({"/a": Answer(302, {"Location": "/b"}), "/b": Answer(302, {"Location": "/a"})}) as web:
        assert "/a -> " in str(failure(fetcher(), web.url("/a")))
        assert len(web.requests) == 11


def test_a_page_that_refreshes_to_another_is_followed_and_one_that_reloads_itself_is_shown() -> None:
    routes = {
        "/in": '<!-- <meta http-equiv=refresh content="0;url=/no"> --><META content="0;URL=/out" http-equiv="Refresh">',
        "/out": '<meta http-equiv="refresh" content="0"><meta http-equiv="refresh" content="0;url=/out"><p>here',
        "/later": '<meta http-equiv="refresh" content="60;url=/out"><p>stay',
    }
    with LocalWeb(routes) as web:
        assert fetcher().get(web.url("/in")).url == web.url("/out")
        assert b"stay" in fetcher().get(web.url("/later")).content


@pytest.mark.parametrize(
    ("status", "says"),
    [(404, "404 Not Found: the page is not there"), (403, "403 Forbidden"), (500, "500 Internal Server Error"), (401, "login"),
     (429, "too many requests"), (503, "503"), (410, "410 Gone"), (418, "418"), (599, "599")],
)  # fmt: skip
def test_an_http_error_is_named_with_its_status(status: int, says: str) -> None:
    with LocalWeb({"/": Answer(status, body="<h1>Sorry</h1>")}) as web:
        error = failure(fetcher(), web.url())
        assert says in str(error)
        assert error.status == status


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        ({"cf-mitigated": "challenge"}, "<title>Just a moment...</title>", 403),
        ({}, "<html><title>Just a moment...</title><script>/cdn-cgi/", 503),
        ({}, "<script src='https://ct.captcha-delivery.com/c.js'></script>", 403),
        ({}, "<title>Robot Check</title>Enter the characters", 200),
    ],
)
def test_a_bot_wall_is_named_and_not_shown_as_the_page(
    headers: dict[str, str], body: str, status: int
) -> None:
    with LocalWeb({"/": Answer(status, headers, body)}) as web:
        assert "is behind a" in str(failure(fetcher(), web.url()))


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzip.compress(b"hello " * 50, mtime=0)),
        ("gzip", gzip.compress(b"hello " * 20, mtime=0) + gzip.compress(b"hello " * 30, mtime=0)),
        ("x-gzip", gzip.compress(b"hello " * 50, mtime=0)),
        ("deflate", zlib.compress(b"hello " * 50)),
        ("deflate", zlib.compress(b"hello " * 50)[2:-4]),
        ("br", brotli.compress(b"hello " * 50)),
        ("zstd", zstd.compress(b"hello " * 50)),
        ("gzip, br", brotli.compress(gzip.compress(b"hello " * 50, mtime=0))),
        ("gzip", b"hello " * 50),
        ("identity", b"hello " * 50),
    ],
)
def test_each_content_coding_is_undone_and_a_false_one_ignored(coding: str, body: bytes) -> None:
    with LocalWeb({"/": Answer(headers={"Content-Encoding": coding}, body=body)}) as web:
        assert fetcher().get(web.url()).content == b"hello " * 50


def test_a_coding_that_nobody_asked_for_is_named() -> None:
    with LocalWeb({"/": Answer(headers={"Content-Encoding": "lzma9"}, body=b"x")}) as web:
        assert "lzma9" in str(failure(fetcher(), web.url()))


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "gzip, gzip"])
def test_a_decompression_bomb_stops_at_the_cap_with_the_prefix_kept(coding: str) -> None:
    zeros = b"0" * 10_000_000
    bomb = {"gzip": gzip.compress, "br": lambda b: brotli.compress(b, quality=1), "zstd": zstd.compress}.get(
        coding
    )
    body = bomb(zeros) if bomb else gzip.compress(gzip.compress(zeros))
    with LocalWeb({"/": Answer(headers={"Content-Encoding": coding}, body=body)}) as web:
        got = fetcher(decoded_bytes=1_000_000).get(web.url())
        assert "only the first" in got.note
        assert 0 < len(got.content) <= 1_000_000


def test_an_endless_body_stops_at_the_cap() -> None:
    def endless(request: Request) -> None:
        request.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            request.connection.sendall(b"more and more " * 5000)

    with LocalWeb({"/": endless}) as web:
        got = fetcher(wire_bytes=300_000).get(web.url())
        assert 300_000 <= len(got.content) < 500_000
        assert "only the first" in got.note


def test_a_drip_of_one_byte_at_a_time_ends_with_the_prefix_kept() -> None:
    with LocalWeb({"/": Answer(body=[b"<p>", *[b"x"] * 20_000], pause=0.05)}) as web:
        got = Fetcher(limits=FAST, allow_local=True).get(web.url())
        assert got.content.startswith(b"<p>")
        assert "too slow" in got.note


def test_a_server_that_never_answers_is_left_in_time() -> None:
    with LocalWeb({"/": Answer(seconds=200)}) as web:
        assert "did not answer in time" in str(failure(Fetcher(limits=FAST, allow_local=True), web.url()))


def test_slow_redirects_share_one_clock() -> None:
    with LocalWeb(lambda request: Answer(302, {"Location": f"{request.path}x"}, seconds=0.2)) as web:
        assert "in time" in str(failure(Fetcher(limits=FAST, allow_local=True), web.url("/")))


@pytest.mark.parametrize("answer", [Answer(seconds=200), Answer(body=[b"x"] * 10_000, pause=0.05)])
def test_a_stop_ends_a_fetch_at_once(answer: Answer) -> None:
    with LocalWeb({"/": answer}) as web:
        get = fetcher()
        threading.Timer(0.2, get.cancel.set).start()
        assert "stopped" in str(failure(get, web.url()))


def test_a_connection_that_is_cut_shows_what_came() -> None:
    with LocalWeb({"/": Answer(body="<p>half", length=5000)}) as web:
        got = fetcher().get(web.url())
        assert got.content == b"<p>half"
        assert "cut" in got.note


@pytest.mark.parametrize(
    "raw",
    [b"ICY 200 OK\r\n\r\nhi", b"<html>no header at all", b"HTTP/1.1 abc OK\r\n\r\n", b"SSH-2.0-OpenSSH_9\r\n", b"",
     b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000 + b"\r\n\r\n",
     b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n"],
)  # fmt: skip
def test_an_answer_that_is_no_proper_http_gets_one_sentence(raw: bytes) -> None:
    def send(request: Request) -> None:
        request.connection.sendall(raw)

    with LocalWeb({"/": send}) as web:
        failure(fetcher(), web.url())


def test_a_port_where_nobody_listens_gets_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert "refused" in str(failure(fetcher(), f"http://127.0.0.1:{port}/"))


def test_a_name_that_does_not_resolve_gets_one_sentence() -> None:
    assert "does not resolve" in str(failure(fetcher(), "http://no-such-name.invalid/"))


@pytest.mark.parametrize("status", [200, 204])
def test_an_empty_answer_is_no_error_of_the_wire(status: int) -> None:
    with LocalWeb({"/": Answer(status)}) as web:
        assert fetcher().get(web.url()).content == b""


def test_a_film_of_gigabytes_is_refused_before_its_body() -> None:
    with LocalWeb(
        {"/": Answer(headers={"Content-Type": "video/mp4"}, body=[b"x"], length=3_000_000_000)}
    ) as web:
        assert "3,000 MB of video/mp4" in str(failure(fetcher(), web.url()))


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("attachment; filename*=UTF-8''t%C3%A4ble%20one.csv; filename=x.csv", "täble one.csv"),
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ("attachment; filename=C:\\temp\\a.csv", "a.csv"),
        ("inline", "data"),
    ],
)
def test_the_name_of_a_download_is_used_without_any_folder(header: str, name: str) -> None:
    with LocalWeb({"/data": Answer(headers={"Content-Disposition": header}, body="x")}) as web:
        assert fetcher().get(web.url("/data")).filename == name


def test_a_certificate_that_nobody_vouches_for_or_that_expired_is_named(tmp_path: Path) -> None:
    with LocalWeb({"/": "secret"}, tls=certificate(tmp_path, 30)) as web:
        assert "certificate is not valid (self-signed" in str(failure(fetcher(), web.url(host="localhost")))
    with LocalWeb({"/": "secret"}, tls=certificate(tmp_path, -1)) as web:
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        get = Fetcher(allow_local=True, ssl_context=trusting)
        assert "certificate has expired" in str(failure(get, web.url(host="localhost")))


def test_tls_checks_the_name_that_was_asked_for_not_the_number(tmp_path: Path) -> None:
    with LocalWeb({"/": "page"}, tls=certificate(tmp_path, 30)) as web:
        get = Fetcher(
            allow_local=True, ssl_context=ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        )
        assert get.get(web.url(host="localhost")).content == b"page"
        assert "certificate is not valid" in str(failure(get, web.url(host="127.0.0.1")))


def test_every_attempt_is_written_down_and_good_pages_are_kept() -> None:
    class Cache(dict[str, CachedPage]):
        def put(self, url: str, page: CachedPage) -> None:
            self[url] = page

    notes, cache = Notes(), Cache()
    with LocalWeb({"/": "hello", "/cut": Answer(body="half", length=99)}) as web:
        get = Fetcher(allow_local=True, ledger=notes, cache=cache, limits=FAST)
        assert [get.get(web.url(p)).cached for p in ("/#a", "/#b", "/cut", "/cut")] == [
            False,
            True,
            False,
            False,
        ]
        failure(get, web.url("/none"))
        failure(get, "file:///etc/passwd")
        assert [request.path for request in web.requests] == ["/", "/cut", "/cut", "/none"]
    assert [(a.status, a.bytes, a.cached, bool(a.error)) for a in notes.attempts] == [
        (200, 5, False, False), (200, 5, True, False), (200, 4, False, True), (200, 4, False, True),
        (404, 0, False, True), (None, 0, False, True),
    ]  # fmt: skip


def test_many_fetches_at_once_each_get_their_own_page() -> None:
    with LocalWeb(lambda request: f"<p>{request.path}</p>") as web:
        get = fetcher()
        got: dict[int, bytes] = {}
        threads = [
            threading.Thread(target=lambda n=n: got.update({n: get.get(web.url(f"/{n}")).content}))
            for n in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == {n: f"<p>/{n}</p>".encode() for n in range(40)}


@settings(max_examples=40, deadline=None)
@given(
    head=st.sampled_from([b"HTTP/1.1 200 OK", b"HTTP/1.0 302 Found", b"HTTP/1.1 404 x", b"HTTP/2 200", b"GET / HTTP/1.1", b""]),
    headers=st.lists(
        st.sampled_from(
            [b"Location: http://[", b"Location: \xff\xfe", b"Location: //", b"Content-Encoding: gzip", b"Content-Encoding: br,zstd",
             b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Transfer-Encoding: chunked", b"Refresh: 0;url=http:///",
             b"Content-Type: \x00", b"Content-Disposition: filename*=UTF-8''%", b"Refresh: 0", b"Connection: upgrade", b": x"]
        ),
        max_size=4,
    ),
    body=st.binary(max_size=200),
)  # fmt: skip
@example(head=b"HTTP/1.0 302 Found", headers=[b"Location: http://["], body=b"")
def test_no_answer_of_a_server_makes_the_fetcher_fail_in_any_other_way(
    head: bytes, headers: list[bytes], body: bytes
) -> None:
    def send(request: Request) -> None:
        request.connection.sendall(b"\r\n".join([head, *headers, b"", body]))

    with LocalWeb({"/": send}) as web:
        try:
            fetcher(total_seconds=1).get(web.url())
        except FetchError as error:
            assert "\n" not in str(error)
