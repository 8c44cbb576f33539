"""Pages that their scripts make, in the real Chromium; and what hostile ones get, which is nothing."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Error as RenderedError
from playwright.async_api import Page as Rendered
from playwright.sync_api import Page as Tab

from agent.checkup import rendered
from lock import landlock
from tests.agent_world import until
from tests.local_web import Answer, LocalWeb
from tests.unit.test_senses import said, sees, sent_picture
from tools.browser import TextBrowser
from tools.errors import FetchError, NotRendered, Refused
from tools.fetch import Fetched, Fetcher
from tools.ledger import Attempt, CachedPage
from tools.rendering.chromium import chromium_here
from tools.rendering.limits import RenderLimits
from tools.rendering.renderer import Renderer
from tools.search.chain import SearchChain
from tools.toolbox import toolbox

PROJECT = Path(__file__).resolve().parents[2]
NEEDS = "<noscript>You need to enable JavaScript to run this app.</noscript>"
SHELL = f"<!doctype html><title>Moons</title><link rel=stylesheet href=/s.css><div id=root></div>{NEEDS}<script src=/app.js></script>"
APP = """fetch("/moons.json").then(answer => answer.json()).then(moons => {
  document.getElementById("root").innerHTML = "<h1>Moons</h1><table><tr><th>Moon</th><th>km</th></tr>" +
    moons.map(each => `<tr><td>${each.name}</td><td>${each.km}</td></tr>`).join("") + "</table>"
})"""
JS = {"Content-Type": "text/javascript"}
MOONS = {
    "/": SHELL,
    "/app.js": Answer(200, JS, APP),
    "/moons.json": Answer(
        200,
        {"Content-Type": "application/json"},
        '[{"name": "Phobos", "km": 22}, {"name": "Deimos", "km": 12}]',
    ),
}
QUICK = RenderLimits(seconds=40, settle_seconds=6, idle_seconds=30, memory_bytes=1 << 30)


class Notes:
    """A ledger and a cache, as the store is one."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.pages: dict[str, CachedPage] = {}

    def attempt(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)

    def snapshot(self, url: str, title: str, text: str) -> None: ...
    def listed(self, url: str, title: str, snippet: str) -> None: ...
    def get(self, url: str) -> CachedPage | None:
        return self.pages.get(url)

    def put(self, url: str, page: CachedPage) -> None:
        self.pages[url] = page


def make_renderer(limits: RenderLimits) -> Renderer:
    executable = chromium_here()
    assert executable, "there is no Chromium here"
    return Renderer(executable, limits)


@pytest.fixture(scope="module")
def renderer() -> Iterator[Renderer]:
    renderer = make_renderer(QUICK)
    yield renderer
    renderer.close()


@pytest.fixture
def victim() -> Iterator[LocalWeb]:
    """A server on a private address that no page may reach."""
    with LocalWeb(lambda request: "<body>" if request.path == "/page" else Answer(200, JS, "1")) as web:
        yield web


def own(html: str) -> Fetched:
    return Fetched("http://site.example/", 200, "text/html", f"<!doctype html><body>{html}".encode())


def test_a_page_that_its_scripts_make_is_read_with_its_table(renderer: Renderer) -> None:
    with LocalWeb(MOONS) as web:
        page = TextBrowser(Fetcher(allow_local=True), renderer=renderer).visit(web.url())
    assert page.tables[0]["km"].tolist() == [22, 12]
    assert "scripts were run" in page.note
    assert "/s.css" not in [request.path for request in web.requests], "styles say nothing to read"


def test_without_chromium_such_a_page_says_that_it_needs_javascript() -> None:
    with LocalWeb(MOONS) as web, pytest.raises(FetchError, match="needs JavaScript"):
        TextBrowser(Fetcher(allow_local=True)).visit(web.url())


def test_a_rendered_page_is_rendered_once_for_all_visitors(renderer: Renderer) -> None:
    notes = Notes()
    with LocalWeb(MOONS) as web:
        for _ in range(2):
            fetcher = Fetcher(allow_local=True, cache=notes, ledger=notes)
            page = TextBrowser(fetcher, renderer=renderer).visit(web.url())
            assert "Deimos" in page.text
    assert [request.path for request in web.requests].count("/moons.json") == 1
    tried = {attempt.url.removeprefix(web.url()): attempt.status for attempt in notes.attempts}
    assert tried["moons.json"] == 200, "the ledger has what the page asked for"


def test_pages_of_one_address_with_different_routes_are_different_pages(renderer: Renderer) -> None:
    script = "document.body.append('This is the page about ' + location.hash.slice(2) + ' and its moons.')"
    with LocalWeb({"/": f"<body><script>{script}</script>"}) as web:
        browser = TextBrowser(Fetcher(allow_local=True), renderer=renderer)
        assert "about mars" in browser.visit(web.url("/#/mars")).text
        assert "about venus" in browser.visit(web.url("/#/venus")).text


def test_the_text_of_web_components_is_read(renderer: Renderer) -> None:
    script = "document.body.appendChild(document.createElement('x-moon')).attachShadow({mode: 'open'}).innerHTML = '<p>Phobos is 22 km wide.</p>'"
    visited = renderer.html(own(f"<script>{script}</script>"), Fetcher())
    assert "<p>Phobos is 22 km wide.</p>" in visited.result


def test_a_rendered_page_that_says_not_found_is_called_so(renderer: Renderer) -> None:
    script = "document.title = '404 - page not found'; document.body.innerHTML = '<h1>Page not found</h1>'"
    with LocalWeb({"/": f"<body><script>{script}</script>"}) as web:
        page = TextBrowser(Fetcher(allow_local=True), renderer=renderer).visit(web.url())
    assert "is not there" in page.note


def test_a_page_whose_scripts_never_end_is_read_from_its_data_and_the_next_one_is_rendered(
    renderer: Renderer,
) -> None:
    data = '{"@type": "Article", "headline": "Two moons of Mars were found in 1877"}'
    endless = f'<div></div><script type="application/ld+json">{data}</script><script>for (;;);</script>'
    with LocalWeb({**MOONS, "/endless": endless}) as web:
        browser = TextBrowser(Fetcher(allow_local=True), renderer=renderer)
        assert "found in 1877" in browser.visit(web.url("/endless")).text
        assert "Deimos" in browser.visit(web.url()).text
    with pytest.raises(NotRendered, match="could not be rendered"):
        renderer.html(own("<script>for (;;);</script>"), Fetcher())


BOMBS = {
    "arrays": "let kept = []; for (;;) kept.push(new Array(1e5).fill(Math.random()))",
    "text": "for (;;) document.body.append('x'.repeat(1e6) + Math.random())",
    "workers": "for (let i = 0; i < 20; i++) new Worker(URL.createObjectURL(new Blob(['let kept = []; for (;;) kept.push(new Uint8Array(1 << 20).fill(1))'])))",
    "canvases": "(async () => { for (let kept = [];;) { let c = document.createElement('canvas'); c.width = c.height = 8000; c.getContext('2d').fillRect(0, 0, 8000, 8000); kept.push(c); await new Promise(done => setTimeout(done)) } })()",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_memory_bomb_ends_at_the_cap_and_the_next_page_is_rendered(renderer: Renderer, bomb: str) -> None:
    seen = []

    async def measured(page: Rendered, limits: RenderLimits) -> None:
        for _ in range(20):
            await page.wait_for_timeout(100)
            chromium = renderer._chromium
            seen.append(chromium.memory() if chromium else 0)

    with contextlib.suppress(NotRendered):  # arrays and workers may end without their page
        renderer.visit(own(f"<script>{BOMBS[bomb]}</script>"), Fetcher(), measured)
    assert max(seen, default=0) < 2 * QUICK.memory_bytes
    assert (
        "<b>2</b>"
        in renderer.html(own("<script>document.write('<b>' + (1 + 1) + '</b>')</script>"), Fetcher()).result
    )


# What a page tries, and whether it takes another document's place while doing so.
ATTEMPTS = {
    "fetch": "fetch('/x')",
    "keepalive": "fetch('/x', {keepalive: true})",
    "xhr": "let x = new XMLHttpRequest(); x.open('GET', '/x'); x.send()",
    "post": "fetch('/x', {method: 'POST', body: 'secret'})",
    "image": "new Image().src = '/x'",
    "script": "document.head.appendChild(document.createElement('script')).src = '/x'",
    "style": "document.head.insertAdjacentHTML('beforeend', '<link rel=stylesheet href=/x>')",
    "preload": "document.head.insertAdjacentHTML('beforeend', '<link rel=preload as=script href=/x>')",
    "prefetch": "document.head.insertAdjacentHTML('beforeend', '<link rel=prefetch href=/x>')",
    "object": "document.body.insertAdjacentHTML('beforeend', '<object data=/x></object>')",
    "video": "document.body.insertAdjacentHTML('beforeend', '<video src=/x preload=auto></video>')",
    "frame": "document.body.insertAdjacentHTML('beforeend', '<iframe src=/x></iframe>')",
    "beacon": "navigator.sendBeacon('/x', 'secret')",
    "events": "new EventSource('/x')",
    "socket": "new WebSocket('ws://' + location.host + '/x')",
    "socket in a worker": "new Worker(URL.createObjectURL(new Blob(['new WebSocket(\"ws://' + location.host + '/x\")'])))",
    "worker": "new Worker('/x')",
    "shared worker": "new SharedWorker('/x')",
    "service worker": "navigator.serviceWorker.register('/x')",
    "window": "window.open('/x')",
    "download": "let a = document.createElement('a'); a.href = '/x'; a.download = 'x'; a.click()",
    "place": "location = '/x'",
    "refresh": "document.head.insertAdjacentHTML('beforeend', '<meta http-equiv=refresh content=\"0; url=/x\">')",
    "form": "document.body.innerHTML = '<form method=post action=/x></form>'; document.forms[0].submit()",
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_in_an_ordinary_browser_each_of_these_reaches_its_victim(
    page: Tab, victim: LocalWeb, attempt: str
) -> None:
    page.goto(victim.url("/page"))
    with contextlib.suppress(Exception):
        page.evaluate(f"() => {{ {ATTEMPTS[attempt]} }}")
    for _ in range(100):
        page.wait_for_timeout(100)
        if any(request.path == "/x" for request in victim.requests):
            return
    pytest.fail("it does not arrive")


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_a_rendered_page_gets_nothing_from_a_private_address_by(
    renderer: Renderer, victim: LocalWeb, attempt: str
) -> None:
    page = Fetched(
        victim.url("/page"),
        200,
        "text/html",
        f"<body>still here<script>{ATTEMPTS[attempt]}</script>".encode(),
    )
    visited = renderer.html(page, Fetcher())
    assert victim.requests == []
    assert "still here" in visited.result or attempt == "form"


def test_what_slips_past_the_route_of_a_page_has_no_network(renderer: Renderer, victim: LocalWeb) -> None:
    async def slip(page: Rendered, limits: RenderLimits) -> list[object]:
        await page.context.unroute_all()
        await page.evaluate(f"new WebSocket('ws://127.0.0.1:{victim.port}/')")
        ends = []
        for url in (victim.url("/x"), f"http://localhost:{victim.port}/x", "http://169.254.169.254/latest/"):
            ends.append(
                await page.evaluate(
                    "url => fetch(url, {mode: 'no-cors'}).then(() => 'came', () => 'failed')", url
                )
            )
        return ends

    page = Fetched(victim.url("/page"), 200, "text/html", b"<body>")
    assert renderer.visit(page, Fetcher(), slip).result == ["failed"] * 3
    assert victim.requests == []


def test_no_packet_of_a_call_between_browsers_leaves_the_machine(renderer: Renderer, page: Tab) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun:
        stun.bind(("127.0.0.1", 0))
        stun.settimeout(1)
        call = (
            f"let c = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{stun.getsockname()[1]}'}}]}});"
            "c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o))"
        )
        renderer.html(own(f"<script>{call}</script>"), Fetcher())
        with pytest.raises(TimeoutError):
            stun.recv(100)
        page.evaluate(f"() => {{ {call} }}")
        assert stun.recv(100), "an ordinary browser sends one"


@pytest.mark.parametrize(
    "url", ["file:///etc/hostname", "chrome://version", "view-source:file:///etc/hostname"]
)
def test_a_rendered_page_opens_no_file_of_the_machine(renderer: Renderer, url: str) -> None:
    script = f"document.body.insertAdjacentHTML('beforeend', '<iframe src=\"{url}\"></iframe>'); fetch('{url}').then(a => a.text()).then(t => document.body.append(t)); setTimeout(() => location = '{url}', 100)"

    async def frames(page: Rendered, limits: RenderLimits) -> str:
        texts = []
        for frame in page.frames:
            with contextlib.suppress(Exception):
                texts.append(await asyncio.wait_for(frame.content(), 1))
        return " ".join(texts)

    seen = renderer.visit(own(f"still here<script>{script}</script>"), Fetcher(), frames)
    assert seen.url == "http://site.example/"
    assert socket.gethostname() not in seen.result


@pytest.mark.skipif(landlock.version() == 0, reason="this kernel has no Landlock")
def test_chromium_itself_can_read_no_file_of_the_app(renderer: Renderer, page: Tab) -> None:
    async def open_file(page: Rendered, limits: RenderLimits) -> str:
        await page.context.unroute_all()
        try:
            await page.goto(f"file://{PROJECT}/README.md")
        except RenderedError as error:
            return error.message
        return await page.content()

    assert "ERR_" in renderer.visit(own("hello"), Fetcher(), open_file).result
    page.goto(f"file://{PROJECT}/README.md")
    assert "Open Deep Research" in page.content(), "an ordinary browser can"


def test_where_chromium_has_no_sandbox_it_runs_without_and_that_is_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    stand_in = folder / "chromium"
    stand_in.write_text(
        f'#!/bin/sh\ncase "$*" in *--no-sandbox*) exec {chromium_here()} "$@";; esac\n'
        'echo "FATAL: No usable sandbox!" >&2; exit 1\n'
    )
    stand_in.chmod(0o755)
    renderer = Renderer(stand_in, QUICK)
    try:
        assert "hello" in renderer.html(own("hello"), Fetcher()).result
        assert not renderer.sandboxed
        assert "no sandbox of its own" in caplog.text
    finally:
        renderer.close()
        shutil.rmtree(folder)


def test_the_doctor_says_how_pages_are_rendered(renderer: Renderer) -> None:
    good, told = rendered(renderer)
    assert "renders a page in" in told and "without network" in told
    assert good == ("in its own sandbox" in told)


def test_a_chromium_that_does_not_start_costs_one_sentence() -> None:
    renderer = Renderer(Path("/bin/false"), QUICK)
    try:
        with pytest.raises(NotRendered, match="could not be rendered"):
            renderer.html(own("hello"), Fetcher())
    finally:
        renderer.close()


def test_a_page_sends_nothing_but_to_its_own_site(renderer: Renderer) -> None:
    script = "fetch('http://localhost:PORT/', {method: 'POST', mode: 'no-cors', body: '1'}); fetch('/own', {method: 'POST', body: '{}'}); fetch('/own', {method: 'DELETE'})"
    with LocalWeb(lambda request: Answer(200, JS, "1")) as web:
        html = f"<script>{script.replace('PORT', str(web.port))}</script>"
        renderer.html(Fetched(web.url(), 200, "text/html", html.encode()), Fetcher(allow_local=True))
    assert [(request.method, request.path) for request in web.requests] == [("POST", "/own")]


def test_a_page_without_end_of_requests_is_read_at_the_cap() -> None:
    script = "let n = 0; setInterval(() => fetch('/' + n++).then(() => document.body.append(' asked')), 50)"
    renderer = make_renderer(RenderLimits(seconds=60, settle_seconds=6, requests=20))
    try:
        with LocalWeb(lambda request: "1") as web:
            page = Fetched(web.url(), 200, "text/html", f"<body><script>{script}</script>".encode())
            assert "asked" in renderer.html(page, Fetcher(allow_local=True)).result
        assert 10 < len(web.requests) <= 20
    finally:
        renderer.close()


def test_a_part_of_a_page_that_leads_to_another_scheme_is_refused() -> None:
    with LocalWeb({"/": Answer(302, {"Location": "file:///etc/passwd"})}) as web, pytest.raises(Refused):
        Fetcher(allow_local=True).part(web.url(), {})


def test_a_stopped_run_does_not_wait_for_a_page(renderer: Renderer) -> None:
    fetcher = Fetcher()
    threading.Timer(1, fetcher.cancel.set).start()
    with pytest.raises(FetchError, match="the run was stopped"):
        renderer.html(own("<script>for (;;);</script>"), fetcher)


def test_several_visitors_render_at_once(renderer: Renderer) -> None:
    with LocalWeb(MOONS) as web:
        texts = []

        def visit() -> None:
            texts.append(TextBrowser(Fetcher(allow_local=True), renderer=renderer).visit(web.url()).text)

        threads = [threading.Thread(target=visit) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(texts) == 4 and all("Deimos" in text for text in texts)


def test_a_picture_of_a_page_shows_its_colours(renderer: Renderer) -> None:
    import io

    from PIL import Image

    page = own("<style>body { background: rgb(0, 128, 0) }</style>green")
    with Image.open(io.BytesIO(renderer.picture(page, Fetcher()).result)) as picture:
        assert picture.convert("RGB").getpixel((900, 900)) == (0, 128, 0)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def group_of(renderer: Renderer) -> list[int]:
    """The processes of its Chromium, and the driver's."""
    chromium = renderer._chromium
    assert chromium
    return [int(folder.name) for folder in chromium._processes()] + [chromium._driver_pid]


def test_an_idle_chromium_is_closed_and_leaves_nothing_behind() -> None:
    folder = Path(tempfile.gettempdir())
    before = set(folder.glob("rendering-*"))
    renderer = make_renderer(RenderLimits(idle_seconds=1))
    try:
        renderer.html(own("hello"), Fetcher())
        processes = group_of(renderer)
        assert len(processes) > 3
        until(lambda: not any(map(alive, processes)))
        until(lambda: not set(folder.glob("rendering-*")) - before)
        assert "hello" in renderer.html(own("hello again"), Fetcher()).result
    finally:
        renderer.close()


def test_no_process_of_it_knows_a_secret_of_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    renderer = make_renderer(QUICK)
    try:
        renderer.html(own("hello"), Fetcher())
        for pid in group_of(renderer):
            with contextlib.suppress(ProcessLookupError, FileNotFoundError):
                assert b"hf_secret" not in Path(f"/proc/{pid}/environ").read_bytes()
    finally:
        renderer.close()


def test_an_app_that_is_killed_leaves_no_chromium(tmp_path: Path) -> None:
    program = """
import sys, time
from tests.ui.test_rendering import *
renderer = make_renderer(QUICK)
renderer.html(own("hello"), Fetcher())
print(*group_of(renderer), flush=True)
time.sleep(60)
"""
    env = {**os.environ, "PYTHONPATH": str(PROJECT)}
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=env) as app:
        assert app.stdout
        processes = [int(pid) for pid in app.stdout.readline().split()]
        app.send_signal(signal.SIGKILL)
    assert len(processes) > 3
    until(lambda: not any(map(alive, processes)))


def test_a_vision_model_is_shown_the_page_and_asked_the_question(renderer: Renderer) -> None:
    with LocalWeb({**MOONS, "/v1/chat/completions": said("A table of two moons.")}) as web:
        browser = TextBrowser(Fetcher(allow_local=True), renderer=renderer, senses=sees(web))
        tools = {tool.name: tool for tool in toolbox(SearchChain([]), browser, every=True)}
        assert tools["screenshot"](web.url(), "How many rows?") == "A table of two moons."
    _, words, picture = sent_picture(web.requests[-1])
    assert "How many rows?" in words and len(picture) > 1000
    assert "/s.css" in [request.path for request in web.requests], "a picture needs its styles"
