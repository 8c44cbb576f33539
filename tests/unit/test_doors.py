"""What comes in from outside: calls that the page never makes, bodies without end, and other pages in the same browser."""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from ui.doors import Doors, Uploads
from ui.launch import names_of

LOCAL = names_of("127.0.0.1", ["Desk.example"])
MB = 1_000_000


async def _reading(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that reads all that is sent, and says how much that was."""
    size = 0
    async for chunk in Request(scope, receive).stream():
        size += len(chunk)
    await PlainTextResponse(str(size))(scope, receive, send)


def test_it_is_known_which_pages_listen_and_no_longer(tmp_path: Path) -> None:
    listening: Counter[str] = Counter()
    heard = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        heard.append(dict(listening))
        await PlainTextResponse("")(scope, receive, send)

    doors = Doors(app, uploads(tmp_path), listening=listening)
    asked(doors, "GET", "/gradio_api/queue/data?session_hash=a1")
    assert heard == [{"a1": 1}] and not listening


def uploads(folder: Path, most: int = 10 * MB, spare: int = 0) -> Uploads:
    return Uploads(folder, most, spare)


def asked(
    doors: Doors, method: str, path: str, body: int = 0, *, told: bool = True, **headers: str
) -> httpx.Response:
    """The answer to a request. `body`: bytes sent; `told`: whether its length is told before."""

    async def drops() -> AsyncIterator[bytes]:
        for _ in range(body // 1000):
            yield bytes(1000)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(doors)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:7860") as client:
            return await client.request(
                method, path, content=bytes(body) if told else drops(), headers=headers
            )

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/config",
        "/theme.css",
        "/assets/index-1a2b.js",
        "/static/img/logo.svg",
        "/gradio_api/info",
        "/gradio_api/queue/join",
        "/gradio_api/queue/data",
        "/gradio_api/upload",
        "/gradio_api/upload_progress",
        "/gradio_api/heartbeat/abc",
        "/gradio_api/file=/tmp/gradio/a/b.csv",
        "/gradio_api/call/research",
        "/gradio_api/call/research/1a2b",
        "/gradio_api/call/v2/research/1a2b",
        "/gradio_api/run/research",
    ],
)
def test_what_the_page_and_scripts_ask_for_is_answered(tmp_path: Path, path: str) -> None:
    assert asked(Doors(_reading, uploads(tmp_path), LOCAL), "GET", path).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/dev/reload",
        "/gradio_api/process_recording",
        "/gradio_api/component_server",
        "/gradio_api/proxy=http://127.0.0.1/",
        "/gradio_api/deep_link",
        "/gradio_api/vibe-code",
        "/gradio_api/runs",
        "/gradio_api/stream/x",
        "/gradio_api/call/other",
        "/custom_component/x/y/z/w",
        "/monitoring",
        "/openapi.json",
        "/login",
        "/config/../login",
        "/config\n",
    ],
)
def test_doors_of_gradio_that_nobody_needs_are_closed(tmp_path: Path, path: str) -> None:
    answer = asked(Doors(_reading, uploads(tmp_path)), "POST", path.replace("\n", "%0a"))
    assert answer.status_code == 404 and answer.text == "There is nothing here: open the page at /."


@pytest.mark.parametrize("told", [True, False], ids=["told", "without its length"])
def test_a_call_of_hundreds_of_megabytes_is_not_read_into_memory(tmp_path: Path, told: bool) -> None:
    doors = Doors(_reading, uploads(tmp_path))
    answer = asked(doors, "POST", "/gradio_api/queue/join", 9 * MB, told=told)
    assert answer.status_code == 413 and "send less" in answer.text
    assert asked(doors, "POST", "/gradio_api/queue/join", 7 * MB, told=told).text == str(7 * MB)


@pytest.mark.parametrize("told", [True, False], ids=["told", "without its length"])
def test_uploads_never_fill_the_disk(tmp_path: Path, told: bool) -> None:
    assert asked(
        Doors(_reading, uploads(tmp_path)), "POST", "/gradio_api/upload", 9 * MB, told=told
    ).is_success
    much = Doors(_reading, uploads(tmp_path, most=5 * MB))
    assert asked(much, "POST", "/gradio_api/upload", 9 * MB, told=told).status_code == 413
    full = Doors(_reading, uploads(tmp_path, spare=1 << 62))
    answer = asked(full, "POST", "/gradio_api/upload/", MB, told=told)
    assert answer.status_code == 507 and "ask without one" in answer.text
    assert asked(full, "POST", "/gradio_api/queue/join", MB, told=told).is_success


def test_what_a_cut_upload_leaves_is_removed_and_nothing_else(tmp_path: Path) -> None:
    kept = [tmp_path / "tmpnew", tmp_path / "1a2b" / "tmpold.csv"]
    left = tmp_path / "tmpold"
    for path in (*kept, left):
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    for path in (left, kept[1]):
        os.utime(path, (0, time.time() - 3600))
    asked(Doors(_reading, uploads(tmp_path)), "POST", "/gradio_api/upload", 1000)
    assert not left.exists() and all(path.exists() for path in kept)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7860", "127.0.0.1.evil.example", "[", "", "0.0.0.0"]
)
def test_a_page_of_the_web_that_calls_this_machine_by_its_own_name_is_refused(
    tmp_path: Path, host: str
) -> None:
    answer = asked(Doors(_reading, uploads(tmp_path), LOCAL), "GET", "/config", host=host)
    assert answer.status_code == 421 and "HOST_NAMES" in answer.text


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://localhost.evil.example", "http://["]
)
def test_another_page_in_the_same_browser_can_send_nothing(tmp_path: Path, origin: str) -> None:
    doors = Doors(_reading, uploads(tmp_path), LOCAL)
    assert asked(doors, "POST", "/gradio_api/upload", 1000, origin=origin).status_code == 403


@pytest.mark.parametrize(
    "host", ["localhost:7860", "127.0.0.1", "[::1]:7860", "app.localhost", "desk.EXAMPLE"]
)
def test_the_names_of_this_machine_and_those_of_the_setting_are_answered(tmp_path: Path, host: str) -> None:
    doors = Doors(_reading, uploads(tmp_path), LOCAL)
    assert asked(doors, "POST", "/gradio_api/upload", 1000, host=host, origin=f"http://{host}").is_success


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "desk.example"])
def test_a_page_that_others_reach_answers_under_any_name(tmp_path: Path, host: str) -> None:
    doors = Doors(_reading, uploads(tmp_path), names_of(host, []))
    answer = asked(doors, "POST", "/gradio_api/upload", 1000, host="a.hf.space", origin="https://b.example")
    assert answer.is_success
