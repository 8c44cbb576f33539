"""Whoever can reach the app sends its API what the page never sends: it answers in a sentence and keeps its log short."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scripted_endpoint import ScriptedEndpoint
from tests.ui.conftest import bare_environment, free_port, scripted, start

pytestmark = pytest.mark.ui

SECRET = "tgi-secret-of-the-host-1b2c"
VISITORS_WORDS = "words-of-a-visitor-that-no-log-needs"
PASSWD = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
CLIMB = {"path": "../../../../etc/passwd", "meta": {"_type": "gradio.FileData"}}
DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]

WRONG: list[Any] = [
    [],
    [None],
    [7],
    [VISITORS_WORDS],
    ["\ud800"],
    [[VISITORS_WORDS]],
    [{"text": 5, "files": "no list"}],
    [{"text": VISITORS_WORDS, "files": [PASSWD]}],
    [{"text": VISITORS_WORDS, "files": [CLIMB]}],
    [{"text": VISITORS_WORDS, "files": [{"path": "http://127.0.0.1:1/x", "url": "file:///etc/passwd"}]}],
    [{"files": []}],
    [DEEP],
    ["x" * 1_000_000],
    [VISITORS_WORDS] * 50,
]
PICKED: list[Any] = [
    None,
    7,
    VISITORS_WORDS,
    [],
    {},
    {"index": 0},
    {"value": 5},
    {"value": {"text": []}},
    PASSWD,
]


@dataclass
class Served:
    url: str
    log: Path
    read: int = 0

    def logged(self) -> str:
        """What the app has logged since it was asked the last time."""
        text = self.log.read_text()[self.read :]
        self.read += len(text)
        return text


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder, port = tmp_path_factory.mktemp("app"), free_port()
    log = folder / "log"
    with ScriptedEndpoint(scripted, token=SECRET) as endpoint, log.open("w") as errors:
        variables = {"PORT": str(port), "TGI_URL": endpoint.url, "TGI_TOKEN": SECRET}
        app = start(bare_environment(folder), "app.py", stderr=errors, **variables)
        while "is at http" not in log.read_text():
            assert app.poll() is None, log.read_text()
            time.sleep(0.05)
        served = Served(f"http://127.0.0.1:{port}", log)
        served.logged()
        yield served
        app.terminate()
        app.communicate(timeout=60)


def outcome(client: httpx.Client, session: str) -> str:
    """What the caller is told of a call that was queued."""
    with client.stream("GET", "/gradio_api/queue/data", params={"session_hash": session}) as stream:
        for line in stream.iter_lines():
            message = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
            if message.get("msg") in ("process_completed", "unexpected_error", "close_stream"):
                return json.dumps(message)
    return ""


def test_a_forged_call_gets_a_sentence_and_leaves_one_line_in_the_log(served: Served) -> None:
    told, calls = [], 0
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        functions = [each["id"] for each in client.get("/config").json()["dependencies"]]
        forged = [(function, data, None) for function in functions for data in WRONG]
        forged += [(function, [], picked) for function in functions for picked in PICKED]
        for function, data, picked in forged:
            calls += 1
            session = f"forged{calls}"
            body = {"data": data, "fn_index": function, "session_hash": session, "event_data": picked}
            joined = client.post(
                "/gradio_api/queue/join",
                content=json.dumps({**body, "trigger_id": 1}),
                headers={"Content-Type": "application/json"},
            )
            told.append(outcome(client, session) if joined.is_success else joined.text)
        alive = client.post("/gradio_api/call/research", json={"data": [" "]})
        assert alive.is_success
    log = served.logged()
    assert "Traceback" not in log, log[:3000]
    lines = log.splitlines()
    assert lines
    assert len(lines) <= calls and all(len(line) < 200 for line in lines), log[:3000]
    for kept in (SECRET, VISITORS_WORDS, "root:", "/etc/passwd"):
        assert kept not in log
    for text in told:
        assert "Traceback" not in text and SECRET not in text and "root:" not in text
        assert "site-packages" not in text and str(served.log.parent) not in text, text


ODD_REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", "/gradio_api/queue/join", b"{"),
    ("POST", "/gradio_api/queue/join", {}),
    ("POST", "/gradio_api/queue/join", []),
    ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": 999, "session_hash": "x"}),
    ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": -1, "session_hash": "x"}),
    ("POST", "/gradio_api/queue/join", {"data": [], "fn_index": "a", "session_hash": "x"}),
    ("POST", "/gradio_api/run/predict", {"data": []}),
    ("POST", "/gradio_api/run/research", {"data": []}),
    ("POST", "/gradio_api/run/research", {"data": [None]}),
    ("POST", "/gradio_api/api/research", {"data": [{"a": 1}]}),
    ("POST", "/gradio_api/call/research", {"data": []}),
    ("POST", "/gradio_api/call/nothing", {"data": []}),
    ("POST", "/gradio_api/call/v2/nothing", {}),
    ("POST", "/gradio_api/call/v2/research", {"wrong": 1}),
    ("POST", "/gradio_api/component_server", {"data": 1}),
    ("POST", "/gradio_api/component_server", {"data": 1, "component_id": 1, "session_hash": "x", "fn_name": "x"}),
    ("POST", "/gradio_api/component_server", {"data": 1, "component_id": 9999, "session_hash": "x", "fn_name": "__init__"}),
    ("POST", "/gradio_api/cancel", {"session_hash": "x", "fn_index": 1, "event_id": "x"}),
    ("POST", "/gradio_api/reset", {"event_id": "x"}),
    ("POST", "/gradio_api/upload", b"no form"),
    ("GET", "/gradio_api/queue/data?session_hash=nobody", None),
    ("GET", "/gradio_api/call/research/nothing", None),
    ("GET", "/gradio_api/file=/etc/passwd", None),
    ("GET", "/gradio_api/file=../../../../etc/passwd", None),
    ("GET", "/gradio_api/file=app.py", None),
    ("GET", "/gradio_api/proxy=http://127.0.0.1:1/", None),
    ("GET", "/gradio_api/stream/x/y/z/playlist.m3u8", None),
    ("GET", "/gradio_api/upload_progress?upload_id=x", None),
    ("GET", "/static/../../app.py", None),
    ("GET", "/custom_component/x/y/z/../../../app.py", None),
    ("GET", "/gradio_api/info?all_endpoints=x", None),
    ("GET", "/theme.css?x=%ff%fe", None),
    ("GET", "/?run=%ff%00%f0", None),
]  # fmt: skip


def test_odd_requests_get_short_answers_and_no_file_of_the_host(served: Served) -> None:
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        for method, path, body in ODD_REQUESTS:
            content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            text = ""
            with suppress(httpx.TransportError):  # a stream that never begins is cut
                text = client.request(
                    method, path, content=content, headers={"Content-Type": "application/json"}
                ).text
            assert "Traceback" not in text and "root:" not in text and SECRET not in text, (path, text[:500])
            assert "site-packages" not in text and "load_settings" not in text, (path, text[:500])
        assert client.get("/").status_code == 200
    log = served.logged()
    assert not re.search(r"Traceback|File \"", log), log[:3000]
    assert 0 < len(log.splitlines()) <= len(ODD_REQUESTS) and SECRET not in log


def test_pages_that_follow_a_run_by_the_dozen_do_not_keep_its_visitor_from_stopping_it(
    served: Served,
) -> None:
    with httpx.Client(base_url=served.url, trust_env=False, timeout=30) as client:
        functions = {each["api_name"]: each["id"] for each in client.get("/config").json()["dependencies"]}

        def begin(name: str, data: list[Any], session: str) -> None:
            body = {"data": data, "fn_index": functions[name], "session_hash": session, "trigger_id": 1}
            assert client.post("/gradio_api/queue/join", json=body).is_success

        begin("_ask", [{"text": "Answer slowly.", "files": []}], "owner")
        run = json.loads(outcome(client, "owner"))["output"]["data"][3]
        for number in range(60):
            begin("_show", [run], f"follower{number}")
        begin("_stop_run", [], "owner")
        assert json.loads(outcome(client, "owner"))["success"]
        begin("_show", [run], "owner")
        assert "Stopped by you" in outcome(client, "owner")
    served.logged()
