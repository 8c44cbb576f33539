"""The far end of an evaluation on several machines says why it cannot be used, and asks as one process does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from agent.errors import EndpointUnreachable
from agent.events import Outcome
from agent.services import Services
from agent.settings import Settings
from evals.budget import Halt
from evals.questions import Question
from evals.ray_worker import Worker
from evals.sides import SIDES
from tests.agent_world import App, MakeWorld, answer, step

SIDE = replace(SIDES["research"], warm=lambda services: None)
MakeWorker = Callable[..., Worker]


@pytest.fixture
def app(world: MakeWorld, request: pytest.FixtureRequest) -> App:
    script = getattr(request, "param", (step("I look.", "print(open('note.txt').read())"), answer("here")))
    return world(*script, prompt_profile="compact")


@pytest.fixture
def worker(app: App) -> MakeWorker:
    """Makes workers on the services of `app`."""

    @contextmanager
    def services(settings: Settings, console: Console, work: Path | None) -> Iterator[Services]:
        yield app.services

    def make(model: str = "", code: str = "") -> Worker:
        known = app.services.endpoint.capabilities().name
        return Worker(services, app.services.settings, SIDE, model or known, code or SIDE.fingerprint())

    return make


def test_a_worker_with_another_model_or_other_code_is_not_used(worker: MakeWorker) -> None:
    assert worker().problem() == ""
    assert "meets the model" in worker(model="other").problem()
    assert "another state of the code" in worker(code="other").problem()


def test_a_worker_whose_machine_cannot_open_the_services_says_why(app: App) -> None:
    @contextmanager
    def services(settings: Settings, console: Console, work: Path | None) -> Iterator[Services]:
        raise EndpointUnreachable("Nothing answers at 10.0.0.9: start it.")
        yield app.services

    worker = Worker(services, app.services.settings, SIDE, "model", "code")
    assert worker.problem().endswith(": Nothing answers at 10.0.0.9: start it.")


def test_attachments_come_as_content_and_one_that_could_not_be_read_fails_its_question(
    app: App, worker: MakeWorker
) -> None:
    key = SIDE.key(app.services, Question("q", "Which?", "here"), "web")
    result = worker().ask(1, "Which?", key, [("note.txt", b"here")])
    assert (result.answer, result.outcome, result.steps) == ("here", Outcome.ANSWERED, 2)
    assert "here" in result.trace[0]
    lost = worker().ask(2, "Which?", key, [("gone.txt", None)])
    assert lost.outcome is Outcome.FAILED and "gone.txt cannot be read" in lost.reason


@pytest.mark.parametrize("app", [[step("I wait.", "import time\ntime.sleep(20)")]], indirect=True)
def test_a_question_that_is_halted_from_afar_ends(app: App, worker: MakeWorker) -> None:
    key = SIDE.key(app.services, Question("q", "Which?", "here"), "web")
    one = worker()
    one.halt(3, Halt("The evaluation ended before the answer.", interrupted=True))
    result = one.ask(3, "Which?", key, [])
    assert result.interrupted
