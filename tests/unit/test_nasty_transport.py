"""The live web's nasty behaviours, one test for each: 1 to 13, what can go wrong on the wire."""

import gzip
import socket
import ssl
import zlib
from pathlib import Path

import brotli
import pytest
from backports import zstd

from tests.local_web import Answer, LocalWeb, Request
from tests.local_web_tls import certificate
from tools.browser import TextBrowser
from tools.errors import FetchError
from tools.fetch import Fetcher, FetchLimits

pytestmark = pytest.mark.slow

GREEK = "Καλημέρα κόσμε, αυτό είναι ένα κείμενο."


def fetcher(**changes: float) -> Fetcher:
    limits = FetchLimits(**{"connect_seconds": 2, "silence_seconds": 2, "total_seconds": 5, **changes})  # type: ignore[arg-type]
    return Fetcher(limits=limits, allow_local=True)


def text_of(answer: Answer) -> str:
    with LocalWeb({"/": answer}) as web:
        return TextBrowser(Fetcher(allow_local=True)).visit(web.url()).text


def failure(url: str, get: Fetcher | None = None) -> str:
    with pytest.raises(FetchError) as caught:
        (get or fetcher()).get(url)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def raw(*pieces: bytes) -> object:
    def send(request: Request) -> None:
        for piece in pieces:
            request.connection.sendall(piece)

    return send


@pytest.mark.parametrize(
    ("header", "meta", "coding"),
    [("", "", "utf-8"), ("", "<meta charset=iso-8859-7>", "iso8859-7"), ("; charset=windows-1253", "", "cp1253"),
     ("", "<meta http-equiv=content-type content='text/html; charset=utf-8'>", "utf-8"), ("", "", "utf-16")],
)  # fmt: skip
def test_01_no_charset_or_one_in_meta_only(header: str, meta: str, coding: str) -> None:
    body = f"<html><head>{meta}</head><body><p>{GREEK}</p></body></html>".encode(coding)
    assert GREEK in text_of(Answer(headers={"Content-Type": f"text/html{header}"}, body=body))


def test_02_a_header_charset_that_contradicts_the_bytes_and_one_bad_byte() -> None:
    wrong = Answer(headers={"Content-Type": "text/html; charset=iso-8859-1"}, body=f"<p>{GREEK}".encode())
    assert GREEK in text_of(wrong)
    bad = Answer(body=f"<p>{GREEK * 5}".encode() + b"\xff<p>end")
    assert GREEK in text_of(bad)
    assert "\ufffd" in text_of(bad)


def test_03_utf_16_with_a_mark_and_an_xml_declaration() -> None:
    assert GREEK in text_of(
        Answer(headers={"Content-Type": "text/html"}, body=f"<p>{GREEK}".encode("utf-16"))
    )
    xml = f'<?xml version="1.0" encoding="iso-8859-7"?><html><body><p>{GREEK}</p></body></html>'
    assert GREEK in text_of(
        Answer(headers={"Content-Type": "application/xhtml+xml"}, body=xml.encode("iso8859-7"))
    )


@pytest.mark.parametrize(
    ("coding", "body"),
    [("gzip", gzip.compress(b"<p>hello", mtime=0)), ("deflate", zlib.compress(b"<p>hello")), ("deflate", zlib.compress(b"<p>hello")[2:-4]),
     ("br", brotli.compress(b"<p>hello")), ("zstd", zstd.compress(b"<p>hello")), ("gzip, br", brotli.compress(gzip.compress(b"<p>hello", mtime=0)))],
)  # fmt: skip
def test_04_every_content_coding_and_stacked_ones(coding: str, body: bytes) -> None:
    assert text_of(Answer(headers={"Content-Encoding": coding}, body=body)) == "hello"


def test_05_content_encoding_gzip_over_a_plain_body() -> None:
    assert text_of(Answer(headers={"Content-Encoding": "gzip"}, body="<p>hello")) == "hello"


def test_06_a_decompression_bomb() -> None:
    answer = Answer(headers={"Content-Encoding": "gzip"}, body=gzip.compress(b"0" * 5_000_000))
    with LocalWeb({"/": answer}) as web:
        got = fetcher(decoded_bytes=200_000).get(web.url())
    assert (len(got.content), "only the first" in got.note) == (200_000, True)


def test_07_an_endless_chunked_body_and_a_drip_of_single_bytes() -> None:
    def endless(request: Request) -> None:
        request.connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            request.connection.sendall(b"2710\r\n" + b"x" * 10_000 + b"\r\n")

    with LocalWeb({"/": endless, "/drip": Answer(body=[b"x"] * 10_000, pause=0.1)}) as web:
        got = fetcher(wire_bytes=100_000).get(web.url())
        assert len(got.content) < 300_000
        assert "only the first" in got.note
        drip = fetcher(total_seconds=2).get(web.url("/drip"))
        assert (drip.content[:1], "too slow" in drip.note) == (b"x", True)


def test_08_a_content_length_longer_than_the_body() -> None:
    with LocalWeb({"/": Answer(body="<p>half", length=900)}) as web:
        page = TextBrowser(fetcher()).visit(web.url())
    assert (page.text, "only the beginning arrived" in page.note) == ("half", True)


@pytest.mark.parametrize(
    ("status", "says"), [(204, "empty answer (status 204)"), (200, "empty answer (status 200)"), (500, "500")]
)
def test_09_an_empty_answer(status: int, says: str) -> None:
    with LocalWeb({"/": Answer(status)}) as web, pytest.raises(FetchError) as caught:
        TextBrowser(fetcher()).visit(web.url())
    assert says in str(caught.value)


def test_10_a_giant_header_a_bad_status_line_tls_over_nothing_no_name_no_server() -> None:
    routes = {
        "/": raw(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000 + b"\r\n\r\n"),
        "/status": raw(b"HTTP/1.1 yes OK\r\n\r\n"),
    }
    with LocalWeb(routes) as web:  # type: ignore[arg-type]
        assert "not proper HTTP" in failure(web.url())
        assert "not proper HTTP" in failure(web.url("/status"))
        failure(web.url().replace("http:", "https:"))
    assert "does not resolve" in failure("http://nowhere.invalid/")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert "refused" in failure(f"http://127.0.0.1:{port}/")


def test_11_no_first_byte_in_time_and_one_quick_retry_of_a_lost_connection() -> None:
    with LocalWeb({"/": Answer(seconds=3)}) as web:
        assert "did not answer in time" in failure(web.url(), fetcher(silence_seconds=0.2))
        assert len(web.requests) == 1
    lost: list[int] = []

    def once(request: Request) -> str | None:
        lost.append(1)
        return "<p>here" if len(lost) > 1 else None

    with LocalWeb({"/": once}) as web:
        assert fetcher().get(web.url()).content == b"<p>here"
    with LocalWeb({"/": raw()}) as web:  # type: ignore[dict-item]
        failure(web.url())
        assert len(web.requests) == 2


@pytest.mark.parametrize(
    "answer", [b"ICY 200 OK\r\n\r\nnoise", b"<p>no header", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhi\r\n"]
)  # fmt: skip
def test_12_http_0_9_icy_and_bad_chunks(answer: bytes) -> None:
    with LocalWeb({"/": raw(answer)}) as web:  # type: ignore[dict-item]
        assert "not proper HTTP" in failure(web.url())


def test_13_a_certificate_that_expired_or_that_nobody_vouches_for(tmp_path: Path) -> None:
    with LocalWeb({"/": "secret"}, tls=certificate(tmp_path, 30)) as web:
        assert "certificate is not valid (self-signed" in failure(web.url(host="localhost"))
    with LocalWeb({"/": "secret"}, tls=certificate(tmp_path, -1)) as web:
        trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
        get = Fetcher(allow_local=True, ssl_context=trusting)
        assert "certificate has expired" in failure(web.url(host="localhost"), get)
