"""The live web's nasty behaviours, one test for each: 14 to 25, status codes, redirects and manners."""

import json
import threading
import time
from email.utils import formatdate

import pytest

from tests.local_web import Answer, LocalWeb, Request
from tools.browser import TextBrowser
from tools.errors import FetchError, Refused
from tools.fetch import Fetcher, FetchLimits
from tools.ledger import Attempt, CachedPage
from tools.manners import Manners
from tools.pace import Pace
from tools.robots import Robots, RobotsFile, RobotsMode


class Notes:
    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.read: list[str] = []

    def attempt(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def snapshot(self, url: str, title: str, text: str) -> None:
        self.read.append(url)

    def listed(self, url: str, title: str, snippet: str) -> None: ...


class Cache(dict[str, CachedPage]):
    def put(self, url: str, page: CachedPage) -> None:
        self[url] = page


def fetcher(**rest: object) -> Fetcher:
    return Fetcher(allow_local=True, **rest)  # type: ignore[arg-type]


def failure(url: str, get: Fetcher | None = None) -> FetchError:
    with pytest.raises(FetchError) as caught:
        (get or fetcher()).get(url)
    assert "\n" not in str(caught.value)
    return caught.value


def test_14_a_redirect_loop_ends_and_shows_its_chain() -> None:
    with LocalWeb(lambda request: Answer(302, {"Location": f"{request.path}x"})) as web:
        error = failure(web.url("/a"))
        assert "/a -> " in str(error)
        assert len(web.requests) == 11


def test_15_after_a_redirect_address_links_and_title_are_those_of_the_end() -> None:
    routes = {
        "/old/page": Answer(301, {"Location": "/new/place/"}),
        "/new/place/": "<title>New</title><body><p>See <a href=more>more</a>.",
    }
    with LocalWeb(routes) as web:
        page = TextBrowser(fetcher()).visit(web.url("/old/page"))
        assert (page.url, page.title) == (web.url("/new/place/"), "New")
        assert page.links[0].url == web.url("/new/place/more")


def test_16_a_refresh_at_once_is_a_redirect_and_a_late_one_a_link() -> None:
    routes = {
        "/meta": '<meta http-equiv="refresh" content="0; url=/end"><p>wait',
        "/header": Answer(headers={"Refresh": "1;url=/meta"}, body="<p>wait"),
        "/late": '<meta http-equiv="refresh" content="30; url=/end"><p>read me first',
        "/end": "<p>the end",
        "/loop": '<meta http-equiv="refresh" content="0; url=/pool">',
        "/pool": '<meta http-equiv="refresh" content="0; url=/loop">',
    }
    notes = Notes()
    with LocalWeb(routes) as web:
        got = fetcher(ledger=notes).get(web.url("/header"))
        assert (got.url, got.content) == (web.url("/end"), b"<p>the end")
        assert notes.attempts[0].hops == (web.url("/header"), web.url("/meta"), web.url("/end"))
        late = fetcher().get(web.url("/late"))
        assert b"read me first" in late.content
        assert late.note == f"after 30 s it goes on to {web.url('/end')}"
        assert "only leads from one address to the next" in str(failure(web.url("/loop")))


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://example.org/", "data:text/html,hi", "javascript:alert(1)"]
)
def test_17_a_redirect_to_another_scheme(target: str) -> None:
    with LocalWeb({"/": Answer(302, {"Location": target}), "/m": f'<meta http-equiv=refresh content="0;url={target}">'}) as web:  # fmt: skip
        for path in ("/", "/m"):
            assert isinstance(failure(web.url(path)), Refused)


def test_18_a_redirect_that_is_relative_or_not_ascii_and_its_fragment() -> None:
    routes = {
        "/a/b": Answer(302, {"Location": "../ü x?q=ä"}),
        "/%C3%BC%20x?q=%C3%A4": "<p>there",
        "/keeps": Answer(302, {"Location": "/end"}),
        "/names": Answer(302, {"Location": "/end#two"}),
        "/end": "<p>end",
    }
    with LocalWeb(routes) as web:
        assert fetcher().get(web.url("/a/b")).content == b"<p>there"
        assert fetcher().get(web.url("/keeps#one")).fragment == "one"
        assert fetcher().get(web.url("/names#one")).fragment == "two"


@pytest.mark.parametrize("status", [404, 410])
def test_19_a_page_that_is_gone_says_its_status_first_and_where_to_look(status: int) -> None:
    with LocalWeb({"/": Answer(status, body="<h1>Nothing here")}) as web:
        error = failure(web.url())
        assert f"answered {status}" in str(error)
        assert "archived copy" in str(error)


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [(403, {"cf-mitigated": "challenge"}, "<title>Just a moment...</title>"), (503, {"Retry-After": "0"}, "<title>Just a moment...</title>"),
     (403, {}, "<script src='https://ct.captcha-delivery.com/c.js'></script>"), (200, {}, "<title>Robot Check</title>Type the letters"),
     (202, {"x-amzn-waf-action": "challenge"}, "<script></script>"), (403, {}, "<html><title>Access Denied</title>Reference&#32;&#35;18")],
)  # fmt: skip
def test_20_a_bot_wall_is_named_and_asked_once_only(status: int, headers: dict[str, str], body: str) -> None:
    with LocalWeb({"/": Answer(status, headers, body)}) as web:
        assert "is behind a" in str(failure(web.url()))
        assert len(web.requests) == 1


def test_21_retry_after_is_obeyed_once_under_a_cap() -> None:
    asked: list[float] = []
    stopped = fetcher(limits=FetchLimits(total_seconds=300, retry_after_seconds=200))

    def busy(request: Request) -> Answer:
        asked.append(time.monotonic())
        if request.path == "/stop":
            stopped.cancel.set()
            return Answer(429, {"Retry-After": "100"})
        once = request.path == "/once" and len(asked) > 1
        wait = {"/long": "3600", "/date": formatdate(time.time() + 1, usegmt=True)}.get(request.path, "0")
        return Answer(body="<p>here") if once else Answer(429, {"Retry-After": wait})

    with LocalWeb(busy) as web:
        assert fetcher().get(web.url("/once")).content == b"<p>here"
        asked.clear()
        assert "429" in str(failure(web.url("/always")))
        assert len(asked) == 2
        asked.clear()
        assert "asks to wait (3600)" in str(failure(web.url("/long")))
        assert len(asked) == 1
        asked.clear()
        failure(web.url("/date"))
        assert len(asked) == 2
        asked.clear()
        failure(web.url("/stop"), stopped)
        assert len(asked) == 1


@pytest.mark.parametrize("status", [401, 402, 407])
def test_22_a_login_or_payment_is_named_by_its_status(status: int) -> None:
    with LocalWeb({"/": Answer(status)}) as web:
        assert "login or payment" in str(failure(web.url()))


def test_22_a_login_page_with_status_200_and_a_paywall_are_named() -> None:
    form = "<form><input name=u><input type=Password name=p><button>Go</button></form>"
    routes = {
        "/paper": Answer(302, {"Location": "/login?next=/paper"}),
        "/login": f"<title>Journal</title><body>{form}",
        "/titled": f"<title>Sign in – Journal</title><body>{form}",
        "/article": f"<title>How to log in safely</title><body><p>{'A long article about passwords. ' * 60}</p>{form}",
        "/shop": f"<title>Flowers</title><body><p>Roses 3 euros.</p>{form}",
        "/paid": '<script type="application/ld+json">{"isAccessibleForFree": "False"}</script><body><p>The beginning.',
    }
    with LocalWeb(routes) as web:
        assert "a form to log in" in str(failure(web.url("/paper")))
        assert "a form to log in" in str(failure(web.url("/titled")))
        for path in ("/article", "/shop"):
            assert fetcher().get(web.url(path)).note == ""
        assert "not free to read" in fetcher().get(web.url("/paid")).note


@pytest.mark.parametrize(
    "page",
    ["<title>404 - Acme</title><body><h1>Oops</h1>", "<title>Page not found | Acme</title><body>Try the search.", "<title>Acme</title><body><h1>This page doesn’t exist</h1>",
     "<title>Acme</title><h1>Not Found</h1>", "<meta charset=utf-8><title>Страница не найдена</title><body>Увы.", "<title>Seite nicht gefunden</title><body>Schade."],
)  # fmt: skip
def test_23_a_soft_404_is_shown_but_is_no_evidence(page: str) -> None:
    notes, cache = Notes(), Cache()
    with LocalWeb({"/": page}) as web:
        shown = TextBrowser(fetcher(ledger=notes, cache=cache), ledger=notes).visit(web.url())
    assert "not there, although its status is 200" in shown.note
    assert (dict(cache), notes.read) == ({}, [])


@pytest.mark.parametrize(
    "page",
    [f"<title>HTTP 404 - Wikipedia</title><body><p>{'The status code 404 is an error. ' * 60}", "<title>Area 404</title><h1>The band</h1><body>A band.",
     "<title>Lost and found office</title><body>Not found your bag?"],
)  # fmt: skip
def test_23_a_page_about_missing_things_is_no_soft_404(page: str) -> None:
    with LocalWeb({"/": page.replace("Area 404", "Area 405")}) as web:
        assert fetcher().get(web.url()).note == ""


def test_24_206_304_300_and_an_early_hint() -> None:
    def hinted(request: Request) -> None:
        request.connection.sendall(
            b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage"
        )

    routes = {
        "/206": Answer(206, {"Content-Range": "bytes 0-3/9"}, "part"),
        "/304": Answer(304),
        "/300": Answer(300, body="<p>choose <a href=/a>one</a>"),
        "/300to": Answer(300, {"Location": "/206"}),
        "/103": hinted,
    }
    with LocalWeb(routes) as web:  # type: ignore[arg-type]
        assert "only a part" in fetcher().get(web.url("/206")).note
        assert b"choose" in fetcher().get(web.url("/300")).content
        assert fetcher().get(web.url("/300to")).url == web.url("/206")
        assert fetcher().get(web.url("/103")).content == b"page"
        with pytest.raises(FetchError, match="empty answer \\(status 304\\)"):
            TextBrowser(fetcher()).visit(web.url("/304"))


RULES = """
User-agent: Other
Disallow: /

User-agent: *
User-agent: Friend
Disallow: /private
Allow: /private/open$
Disallow: /*.pdf$ # no papers
Disallow: /caf%C3%A9
"""


@pytest.mark.parametrize(
    ("mode", "path", "reads"),
    [("off", "/private/x", ""), ("warn", "/private/x", "robots.txt"), ("warn", "/public", ""), ("obey", "/public", "")],
)  # fmt: skip
def test_25_robots_txt_is_read_as_the_setting_says(mode: RobotsMode, path: str, reads: str) -> None:
    cache = Cache()
    with LocalWeb(lambda r: Answer(body=RULES) if r.path == "/robots.txt" else "<p>page") as web:
        get = fetcher(manners=Manners(robots=Robots(mode)), cache=cache)
        for _ in range(2):
            got = get.get(web.url(path))
            assert (got.content, reads in got.note, bool(got.note)) == (b"<p>page", True, bool(reads))
        asked = [request.path for request in web.requests]
    assert asked == ([] if mode == "off" else ["/robots.txt"]) + [path]


def test_25_robots_txt_obeyed_keeps_a_page_unread_and_says_why() -> None:
    with LocalWeb(lambda r: Answer(body=RULES) if r.path == "/robots.txt" else "<p>page") as web:
        error = failure(web.url("/private/x"), fetcher(manners=Manners(robots=Robots("obey"))))
        assert "robots.txt asks programs not to" in str(error)
        assert [request.path for request in web.requests] == ["/robots.txt"]
    with LocalWeb(lambda r: Answer(503) if r.path == "/robots.txt" else "<p>page") as web:
        assert "robots.txt" in str(failure(web.url("/x"), fetcher(manners=Manners(robots=Robots("obey")))))
        assert fetcher(manners=Manners(robots=Robots("warn"))).get(web.url("/x")).note == ""


@pytest.mark.parametrize(
    ("agent", "target", "forbidden"),
    [("Friend", "/private/", True), ("Nobody", "/private/open", False), ("Nobody", "/private/open/x", True), ("Other", "/x", True),
     ("Friend", "/a/b.pdf", True), ("Friend", "/a/b.pdf?x", False), ("Friend", "/café/", True), ("Friend", "/", False), ("Other", "/robots.txt", False)],
)  # fmt: skip
def test_25_the_longest_rule_of_robots_txt_decides(agent: str, target: str, forbidden: bool) -> None:
    assert RobotsFile(RULES, agent).forbids(target) is forbidden


def test_a_host_is_asked_at_a_polite_pace_by_all_sessions_together() -> None:
    with LocalWeb(lambda request: Answer(body="<p>x", seconds=0.1)) as web:
        slow = Manners(pace=Pace(seconds=0.15))
        started = time.monotonic()
        for _ in range(3):
            fetcher(manners=slow).get(web.url())
        assert time.monotonic() - started >= 0.3
        one = Manners(pace=Pace(together=1))
        started = time.monotonic()
        threads = [threading.Thread(target=fetcher(manners=one).get, args=(web.url(),)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert time.monotonic() - started >= 0.3
        late = fetcher(manners=Manners(pace=Pace(seconds=60)), limits=FetchLimits(total_seconds=0.3))
        late.get(web.url())
        assert "too many others" in str(failure(web.url(), late))


def available(web: LocalWeb, stamp: str) -> Answer:
    closest = {"available": True, "url": f"http://127.0.0.1:{web.port}/web/{stamp}/http://x.example/", "timestamp": stamp, "status": "200"}  # fmt: skip
    return Answer(
        headers={"Content-Type": "application/json"},
        body=json.dumps({"url": "x", "archived_snapshots": {"closest": closest}}),
    )


@pytest.mark.parametrize("status", [403, 429])
def test_a_page_that_is_not_given_is_read_from_the_archive_if_the_setting_says_so(status: int) -> None:
    notes = Notes()

    def site(request: Request) -> Answer | str:
        if request.path.startswith("/wayback/available"):
            return available(web, "20210305101112")
        return "<p>the copy" if request.path.startswith("/web/20210305101112if_/") else Answer(status)

    with LocalWeb(site) as web:
        failure(web.url("/page"))
        manners = Manners(archive=True, archive_home=web.url())
        got = fetcher(manners=manners, ledger=notes).get(web.url("/page"))
        assert got.content == b"<p>the copy"
        assert (
            got.note
            == f"the site itself answered {status}: this is the Internet Archive's copy of 5 March 2021"
        )
        original = notes.attempts[-1]
        assert (original.url, original.status, original.replaced_by) == (web.url("/page"), status, got.url)
        assert [a.url for a in notes.attempts[:-1]][-1] == got.url


def test_a_page_without_a_copy_in_the_archive_keeps_its_own_error() -> None:
    def site(request: Request) -> Answer | str:
        if request.path.startswith("/wayback/available"):
            return '{"archived_snapshots": {}}'
        return "[]" if request.path.startswith("/cdx/") else Answer(403)

    with LocalWeb(site) as web:
        assert "403" in str(
            failure(web.url("/p"), fetcher(manners=Manners(archive=True, archive_home=web.url())))
        )
        assert len(web.requests) == 3
