"""The model's server on this machine is killed while it works: what the run that was hit says, and the next one."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.events import Notice, Outcome, ThoughtWritten
from agent.model import embedded
from agent.model.embedded import EmbeddedServer
from agent.services import Endpoint
from agent.settings import PROJECT
from tests.agent_world import App, MakeWorld, Told, until

pytestmark = pytest.mark.slow

QUESTION = "How many moons has Mars?"
LOST = "The model's server on this machine was ended while it worked"

# Writes without end the first time that it is started, and answers after that.
CHILD = f"""
import sys
sys.path.insert(0, {str(PROJECT)!r})
from pathlib import Path
from tests.scripted_endpoint import ScriptedEndpoint, reply
again = Path(__file__).with_name("again")
text, delay = ("word " * 5000, 0.02)
if again.exists():
    text, delay = "It is two.\\n```python\\nfinal_answer('two')\\n```\\n", 0
again.touch()
with ScriptedEndpoint(lambda body: reply(text, delay=delay), flavour="llama.cpp") as endpoint:
    print(endpoint.url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EmbeddedServer]:
    (tmp_path / "child.py").write_text(CHILD)
    monkeypatch.setattr(embedded, "_CHILD", tmp_path / "child.py")
    server = EmbeddedServer(tmp_path / "x.gguf")
    yield server
    server.close()


@pytest.fixture
def app(world: MakeWorld, server: EmbeddedServer) -> App:
    app = world()
    app.services.endpoint = Endpoint(server.start(20), None, None, server)
    return app


def writes(app: App, run_id: str) -> bool:
    return any(isinstance(event, ThoughtWritten) for _, event in app.services.store.events(run_id))


def kill(server: EmbeddedServer) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)


def waits(told: Told) -> list[str]:
    return [notice.text for notice in told.all(Notice)]


def test_a_run_whose_model_was_killed_says_so_at_once_and_the_next_one_is_answered(
    app: App, server: EmbeddedServer
) -> None:
    run = app.session.ask(QUESTION)
    until(lambda: writes(app, run.id))
    kill(server)
    hit = app.told(run, 5)
    assert hit.end.outcome is Outcome.FAILED
    assert hit.end.reason.startswith(LOST) and hit.end.reason.count(".") == 1
    assert "asking again" not in str(waits(hit))
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.ANSWERED
    assert waits(told) == ["The model's server on this machine is started again, which takes some seconds."]
    assert waits(app.ask(QUESTION)) == []


def test_visitors_who_were_hit_together_start_one_server_together(app: App, server: EmbeddedServer) -> None:
    first, second = app.sessions.open(), app.sessions.open()
    runs = [first.ask(QUESTION), second.ask(QUESTION)]
    until(lambda: all(writes(app, run.id) for run in runs))
    kill(server)
    for run in runs:
        assert app.told(run, 5).end.reason.startswith(LOST)
    again = [first.ask(QUESTION), second.ask(QUESTION)]
    assert [app.told(run).end.outcome for run in again] == [Outcome.ANSWERED] * 2
    assert server.alive


def test_a_run_of_the_server_that_was_killed_is_told_though_another_runs_by_now(
    app: App, server: EmbeddedServer
) -> None:
    url = app.services.endpoint.url
    assert server.gone(url) == ""
    kill(server)
    until(lambda: not server.alive)
    assert server.gone(url).startswith(LOST)
    assert server.start(20) != url
    assert server.gone(url).startswith(LOST) and server.gone(app.services.endpoint.url)
