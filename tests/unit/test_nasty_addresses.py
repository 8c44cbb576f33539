"""The live web's nasty behaviours, one test for each: 26 to 29, addresses that lead inside or astray."""

import select
import socket
import ssl
import threading
from pathlib import Path

import pytest

from tests.local_web import Answer, LocalWeb, Request
from tests.local_web_tls import certificate
from tools.address import parse_address
from tools.browser import TextBrowser
from tools.errors import DocumentError, FetchError, Refused
from tools.fetch import Fetcher
from tools.manners import Manners
from tools.proxy import Proxy, parse_proxy
from tools.resolve import resolve
from tools.robots import Robots


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "[::1]", "[fc00::1]",
     "[fe80::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "metadata.google.internal"],
)  # fmt: skip
def test_26_an_address_of_this_machine_or_network(host: str) -> None:
    with pytest.raises(Refused):
        Fetcher().get(f"http://{host}/")


def test_26_every_hop_is_checked_by_its_resolved_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first hop is let through by name, as a public site would be; the second is this machine."""
    with LocalWeb({"/": Answer(302, {"Location": "http://inner.example:8080/"})}) as web:
        monkeypatch.setattr("tools.address.PORTS", frozenset({web.port, 8080}))
        monkeypatch.setattr(
            "tools.connection.resolve",
            lambda address, **rest: (
                ["127.0.0.1"] if address.host == "public.example" else resolve(address, **rest)
            ),
        )
        inner = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.1.2.3", 8080))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: inner)
        with pytest.raises(Refused, match=r"inner\.example is a private"):
            Fetcher().get(web.url(host="public.example"))


def test_27_a_name_that_changes_its_number_after_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = iter(["93.184.216.34", "127.0.0.1"])
    opened: list[str] = []

    def connect(self: socket.socket, where: tuple[str, int]) -> int:
        opened.append(where[0])
        return 111

    monkeypatch.setattr(
        socket, "getaddrinfo", lambda h, p, **k: [(socket.AF_INET, 1, 6, "", (next(numbers), p))]
    )
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    with pytest.raises(FetchError):
        Fetcher().get("http://rebinding.example/")
    assert set(opened) == {"93.184.216.34"}


def test_27_a_name_with_a_public_and_a_private_number(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(socket.AF_INET, 1, 6, "", (number, 80)) for number in ("93.184.216.34", "10.0.0.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: both)
    with pytest.raises(Refused):
        resolve(
            parse_address("http://mixed.example/"), allow_local=False, seconds=1, cancel=threading.Event()
        )


def test_28_a_file_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    reader = TextBrowser(Fetcher(allow_local=True), files_dir=tmp_path / "files")
    for url in (f"file://{tmp_path}/secret.txt", str(tmp_path / "secret.txt"), "../secret.txt", "secret.txt"):
        with pytest.raises((Refused, DocumentError)):
            reader.visit(url)
        with pytest.raises((Refused, DocumentError)):
            reader.visit_file(url)


def test_29_user_and_password_line_breaks_backslashes_homographs_and_ports() -> None:
    assert parse_address("http://user:pass@example.org/").url == "http://example.org/"
    assert parse_address("http://example.org/a\r\nHost: evil").target == "/aHost:%20evil"
    assert parse_address("http://evil.example\\@example.org/").host == "evil.example"
    assert parse_address("https://аpple.com/").url == "https://xn--pple-43d.com/"
    for port in (22, 25, 6379, 8443):
        with pytest.raises(Refused, match=f"port {port} is not one for web pages"):
            parse_address(f"http://example.org:{port}/")
    assert parse_address("https://example.org:8443/", ports=frozenset({8443})).port == 8443
    with pytest.raises(Refused, match="443, 8080, 8443"):
        Fetcher(manners=Manners(ports=frozenset({8443}))).get("http://example.org:22/")


def tunnel(request: Request, web: LocalWeb) -> None:
    """What a proxy does with CONNECT, whatever number it is asked for: it leads to `web`."""
    near = request.connection
    near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    with socket.create_connection(("127.0.0.1", web.port)) as far:
        while True:
            for ready in select.select([near, far], [], [], 5)[0]:
                if not (heard := ready.recv(65536)):
                    return
                (far if ready is near else near).sendall(heard)


def test_through_a_proxy_the_address_that_was_checked_is_the_one_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = socket.getaddrinfo
    public = [(socket.AF_INET, 1, 6, "", ("93.184.216.34", 80))]
    with (
        LocalWeb({"/page": "<p>through the proxy"}) as web,
        LocalWeb(lambda r: lambda q: tunnel(q, web)) as proxy,
    ):
        monkeypatch.setattr(
            socket, "getaddrinfo", lambda h, *a, **k: public if h == "site.example" else real(h, *a, **k)
        )
        where = parse_proxy(f"http://user:p%40ss@127.0.0.1:{proxy.port}")
        get = Fetcher(manners=Manners(proxy=where))
        assert get.get("http://site.example/page").content == b"<p>through the proxy"
        asked = proxy.requests[0]
        assert (asked.method, asked.path) == ("CONNECT", "93.184.216.34:80")
        assert asked.headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"
        assert web.requests[0].headers["host"] == "site.example"
        assert "proxy-authorization" not in web.requests[0].headers
        for url in ("http://127.0.0.1:8080/", "http://169.254.169.254/", "http://localhost/"):
            with pytest.raises(Refused):
                get.get(url)
        assert len(proxy.requests) == 1
        assert "p@ss" not in repr(where) + str(Manners(proxy=where))


def test_through_a_proxy_tls_goes_on_checking_the_name(tmp_path: Path) -> None:
    trusting = certificate(tmp_path, 30)
    with (
        LocalWeb({"/": "<p>page"}, tls=trusting) as web,
        LocalWeb(lambda r: lambda q: tunnel(q, web)) as proxy,
    ):
        get = Fetcher(
            allow_local=True,
            ssl_context=ssl.create_default_context(cafile=str(tmp_path / "cert.pem")),
            manners=Manners(proxy=Proxy("127.0.0.1", proxy.port)),
        )
        assert get.get(web.url(host="localhost")).content == b"<p>page"
        assert proxy.requests[0].path in (f"127.0.0.1:{web.port}", f"[::1]:{web.port}")
        with pytest.raises(FetchError, match="certificate is not valid"):
            get.get(web.url(host="127.0.0.1"))


@pytest.mark.parametrize(
    ("answer", "says"), [(Answer(407), "wants a name and password"), (Answer(403), "does not let the connection"), (lambda r: r.connection.sendall(b"hello\r\n\r\n"), "not HTTP")]
)  # fmt: skip
def test_a_proxy_that_gives_no_connection_is_named(answer: Answer, says: str) -> None:
    with LocalWeb(lambda r: answer) as proxy, pytest.raises(FetchError, match=says):
        Fetcher(allow_local=True, manners=Manners(proxy=Proxy("127.0.0.1", proxy.port))).get(
            "http://127.0.0.1/"
        )


def test_robots_txt_is_fetched_under_the_same_address_rules() -> None:
    private = Answer(302, {"Location": "http://169.254.169.254/robots.txt"})
    with LocalWeb(lambda r: private if r.path == "/robots.txt" else "<p>page") as web:
        got = Fetcher(allow_local=True, manners=Manners(robots=Robots("warn"))).get(web.url("/x"))
        assert got.content == b"<p>page"
        with pytest.raises(FetchError, match=r"robots\.txt"):
            Fetcher(allow_local=True, manners=Manners(robots=Robots("obey"))).get(web.url("/x"))
