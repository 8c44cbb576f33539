"""Addresses: what is opened, what is refused, and that no notation or redirect gets round it."""

import socket
import threading

import pytest

from tests.local_web import Answer, LocalWeb
from tools.address import Address, join, parse_address
from tools.errors import FetchError, Refused
from tools.fetch import Fetcher
from tools.resolve import resolve

LOCAL_NOTATIONS = [
    "http://127.0.0.1/", "http://127.0.0.1:8080/", "http://127.1/", "http://127.0.1/", "http://2130706433/",
    "http://0x7f000001/", "http://0x7f.1/", "http://0177.0.0.1/", "http://017700000001/", "http://0x7F.0x0.0x0.0x1/",
    "http://127.0.0.1./", "http://127.8.9.10/", "http://%31%32%37.0.0.1/", "http://１２７.０.０.１/", "http://①②⑦.0.0.1/",
    "http://127。0。0。1/", "http://0/", "http://0.0.0.0/", "http://localhost/", "http://LOCALHOST./", "http://a.localhost/",
    "http://user:pass@127.0.0.1/", "http://example.org@127.0.0.1/", "http://127.0.0.1\\@example.org/",
    "http:\\\\127.0.0.1/", "http:/127.0.0.1/", "http:127.0.0.1/", "ht\ntp://127.0.0.1/",
    "http://[::1]/", "http://[::]/", "http://[0:0:0:0:0:0:0:1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://[2001:0:0:0:0:0:80ff:fffe]/",
    "http://[fe80::1]/", "http://[fe80::1%25eth0]/", "http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[fec0::1]/",
    "http://[ff02::1]/", "http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.1/", "http://172.31.255.1/",
    "http://192.168.1.1/", "http://192.168.257/", "http://169.254.169.254/latest/meta-data/", "http://0xa9fea9fe/",
    "http://2852039166/", "http://[fd00:ec2::254]/", "http://100.64.0.1/", "http://100.100.100.200/",
    "http://168.63.129.16/", "http://192.0.0.192/", "http://192.0.2.1/", "http://198.18.0.1/", "http://224.0.0.1/",
    "http://240.0.0.1/", "http://255.255.255.255/", "http://metadata.google.internal/", "http://metadata/",
    "http://printer.local/", "http://db.internal/", "127.0.0.1", "127.0.0.1:8080/x", "localhost", "[::1]:8080",
]  # fmt: skip

OTHER = [
    "file:///etc/passwd", "FILE:/etc/passwd", "ftp://example.org/x", "gopher://example.org/", "data:text/html,hi",
    "javascript:alert(1)", "ws://example.org/", "about:blank", "view-source:http://example.org/", "mailto:a@example.org",
    "http://example.org:22/", "http://example.org:25/", "https://example.org:7860/", "http://example.org:99999/",
    "http://exa mple.org/", "http://", "http:///path", "https://.", "http://256.256.256.256/", "http://1.2.3.4.5/",
    "http://[::1/", "http://[::g]/", "http://exam_ple..org/", "http://a%00b.org/", "", "   ",
]  # fmt: skip


def refused(url: str) -> str:
    with pytest.raises(FetchError) as caught:
        address = parse_address(url)
        resolve(address, allow_local=False, seconds=2, cancel=threading.Event())
        pytest.fail(f"{url} would be opened as {address}")
    return str(caught.value)


@pytest.mark.parametrize("url", LOCAL_NOTATIONS)
def test_no_notation_of_a_private_address_is_opened(url: str) -> None:
    message = refused(url)
    assert "is not opened" in message or "not a valid address" in message
    assert message.count("\n") == 0


@pytest.mark.parametrize("url", OTHER)
def test_other_schemes_ports_and_nonsense_get_one_sentence(url: str) -> None:
    assert refused(url).endswith(".")


def test_an_address_without_scheme_is_read_as_https() -> None:
    assert parse_address("en.wikipedia.org/wiki/Mars").url == "https://en.wikipedia.org/wiki/Mars"
    assert parse_address(" <www.example.org> ").url == "https://www.example.org/"
    assert parse_address("//example.org/x?y=1").url == "https://example.org/x?y=1"


def test_a_file_name_is_sent_to_the_file_reader_and_words_to_the_search() -> None:
    assert "inspect_file_as_text" in refused("report.pdf")
    assert "inspect_file_as_text" in refused("/etc/passwd")
    assert "web_search" in refused("Mars")
    assert "web_search" in refused("height of Mount Everest")


def test_an_address_has_one_canonical_form() -> None:
    address = parse_address("HTTP://user:secret@Bücher.Example:80/straße?q=a b#part")
    assert address.url == "http://xn--bcher-kva.example/stra%C3%9Fe?q=a%20b"
    assert (address.fragment, address.port, address.host) == ("part", 80, "xn--bcher-kva.example")
    assert parse_address(address.url) == Address(address.url, "http", address.host, 80, address.target, "")


def test_a_name_with_a_public_and_a_private_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, 80)) for number in ("93.184.216.34", "10.0.0.7")
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: answers)
    assert "private" in refused("http://mixed.example/")


def test_a_name_that_changes_its_number_is_asked_once_and_connected_as_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LocalWeb({"/": "<p>inner page</p>"}) as web:
        numbers = iter(["93.184.216.34", "127.0.0.1", "127.0.0.1"])
        asked: list[str] = []

        def rebinding(host: str, port: int, **rest: object) -> list[object]:
            asked.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(numbers), port))]

        opened: list[str] = []

        def connect(self: socket.socket, where: tuple[str, int]) -> int:
            opened.append(where[0])
            return 111

        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        monkeypatch.setattr(socket.socket, "connect_ex", connect)
        with pytest.raises(FetchError):
            Fetcher().get("http://rebinding.example/")
        assert (asked, set(opened)) == (["rebinding.example"], {"93.184.216.34"})
        assert web.requests == []


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/", "http://0xa9fea9fe/", "//169.254.169.254/", "file:///etc/passwd",
        "ftp://127.0.0.1/", "javascript:alert(1)", "data:text/html,hi", "http://[fe80::1]/", "gopher://127.0.0.1/",
        "http://metadata.google.internal:99999/",
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["location", "refresh header", "meta refresh"])
def test_a_redirect_to_an_address_that_is_never_opened_is_refused(target: str, how: str) -> None:
    answer = {
        "location": Answer(302, {"Location": target}),
        "refresh header": Answer(200, {"Refresh": f"0; url={target}"}, "<p>moving"),
        "meta refresh": Answer(body=f'<meta http-equiv="refresh" content="0; URL=\'{target}\'"><p>moving'),
    }[how]
    with LocalWeb({"/": answer}) as web, pytest.raises(Refused):
        Fetcher(allow_local=True).get(web.url())


def test_a_redirect_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first hop is let through by name, as a public site would be; the second is this machine."""
    real = socket.getaddrinfo
    with LocalWeb({"/": Answer(302, {"Location": "http://127.0.0.1:8080/secret"})}) as web:
        monkeypatch.setattr("tools.address.PORTS", frozenset({web.port, 8080}))
        monkeypatch.setattr(
            "tools.connection.resolve",
            lambda address, **rest: (
                ["127.0.0.1"] if address.host == "public.example" else resolve(address, **rest)
            ),
        )
        with pytest.raises(Refused, match="this machine"):
            Fetcher().get(web.url(host="public.example"))
        assert [request.headers["host"] for request in web.requests] == [f"public.example:{web.port}"]
    assert socket.getaddrinfo is real


def test_a_redirect_to_another_port_of_the_same_host_carries_no_header_and_no_body_on() -> None:
    with LocalWeb({"/": "there"}) as other, LocalWeb({"/": Answer(307, {"Location": other.url()})}) as web:
        answer = Fetcher(allow_local=True).part(web.url(), {"x-key": "of the first"}, b"its words")
        assert answer.content == b"there"
        assert (web.requests[0].headers["x-key"], web.requests[0].body) == ("of the first", b"its words")
        assert (other.requests[0].headers.get("x-key"), other.requests[0].body) == (None, b"")


def test_links_of_library_documents_stay_in_the_library() -> None:
    assert join("library://space/mars.md", "../earth/mountains.html#x") == "library://earth/mountains.html#x"
    assert join("library://space/mars.md", "../../../etc/passwd") == "library://etc/passwd"
    assert join("library://mars.md", "https://example.org/a") == "https://example.org/a"
    assert join("https://example.org/a/b", "//other.example/c") == "https://other.example/c"
