"""An embedded server that dies is started again for the next question."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.events import Outcome, RunEnded, ThoughtWritten
from agent.run import Run
from agent.services import Services, build_services
from agent.session import Session
from agent.settings import Settings
from evals.scorer import accepts

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SEARCH", "library")
    services = build_services(Settings(_env_file=None))
    yield services
    services.close()


def kill(services: Services) -> None:
    embedded = services.endpoint.embedded
    assert embedded is not None and embedded.pid is not None
    os.kill(embedded.pid, signal.SIGKILL)


def ending(services: Services, run: Run) -> RunEnded:
    assert run.wait(250), "the run does not end"
    end = services.store.events(run.id)[-1][1]
    assert isinstance(end, RunEnded)
    return end


def test_a_model_server_that_was_killed_is_there_again_for_the_next_question(services: Services) -> None:
    kill(services)
    embedded = services.endpoint.embedded
    assert embedded is not None
    while embedded.alive:
        time.sleep(0.05)
    model, _, _ = services.model()
    assert embedded.alive
    assert model.generate([{"role": "user", "content": "Say yes."}], max_tokens=3).content


def test_a_model_server_killed_under_load_costs_its_runs_alone(services: Services) -> None:
    sessions = [Session(services), Session(services)]
    try:
        runs = [session.ask("How many moons does Mars have?") for session in sessions]
        while not any(isinstance(event, ThoughtWritten) for _, event in services.store.events(runs[0].id)):
            time.sleep(0.02)
        kill(services)
        hit = [ending(services, run) for run in runs]
        assert any(end.reason.startswith("The model's server on this machine was ended") for end in hit), hit
        again = ending(services, sessions[0].ask("How many moons does Mars have?"))
        assert again.outcome is Outcome.ANSWERED, again.reason
        assert accepts(again.answer, ("2", "two")), again.answer
    finally:
        for session in sessions:
            session.close()
