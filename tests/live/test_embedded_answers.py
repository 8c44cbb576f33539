"""The embedded model answers real questions about the sample library, as on a fresh machine."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.events import Outcome, RunEnded
from agent.sandbox.level import NO_CODE, SMALL, Level
from agent.sandbox.pool import BoxPool
from agent.services import Services, build_services
from agent.session import Session
from agent.settings import PROJECT, Settings
from evals.library import QUESTIONS
from evals.questions import Question, load_questions
from evals.scorer import accepts

# An answer takes seconds on a machine of its own, and minutes on one that is busy.
pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

EXAMPLES = [question for question in load_questions(QUESTIONS) if question.example]
# These say where the model's file is; no other variable may change what is answered.
KEPT = {"CACHE_DIR", "EMBEDDED_GGUF"}


@pytest.fixture(scope="module", autouse=True)
def as_on_a_fresh_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    ours = {name.upper() for name in Settings.model_fields} - KEPT
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper() in ours]:
            patch.delenv(name)
        patch.setenv("DATA_DIR", str(tmp_path_factory.mktemp("data")))
        patch.setenv("SEARCH", "library")
        yield


@pytest.fixture(scope="module")
def services(as_on_a_fresh_machine: None) -> Iterator[Services]:
    services = build_services(Settings(_env_file=None))
    assert services.endpoint.embedded is not None
    yield services
    services.close()


def answered(services: Services, question: str) -> RunEnded:
    session = Session(services)
    try:
        run = session.ask(question)
        assert run.wait(800), "the run does not end"
        end = services.store.events(run.id)[-1][1]
        assert isinstance(end, RunEnded)
        return end
    finally:
        session.close()


@pytest.mark.parametrize("question", EXAMPLES, ids=lambda question: question.id)
def test_an_example_of_the_page_is_answered_right_with_a_checked_source(
    services: Services, question: Question
) -> None:
    end = answered(services, question.question)
    assert end.outcome is Outcome.ANSWERED, end.reason
    assert accepts(end.answer, question.answers), end.answer
    assert any(source.status in ("verified", "located") for source in end.sources), end.sources
    assert end.usage.prompt_tokens > 0 and not end.usage.estimated


@pytest.mark.parametrize("level", [SMALL, NO_CODE], ids=str)
def test_a_question_is_answered_at_the_weaker_levels_too(services: Services, level: Level) -> None:
    usual, services.pool = services.pool, BoxPool(level)
    try:
        end = answered(services, "How many moons does Mars have?")
    finally:
        services.pool.close()
        services.pool = usual
    assert end.outcome is Outcome.ANSWERED, end.reason
    assert accepts(end.answer, ("2", "two")), end.answer


def test_the_page_has_four_examples() -> None:
    assert len(EXAMPLES) == 4


def test_a_question_in_the_terminal_is_answered_on_standard_output() -> None:
    command = [sys.executable, "-m", "ui.terminal", "How many moons does Mars have?"]
    done = subprocess.run(command, cwd=Path(PROJECT), capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr
    answer = done.stdout.partition("[1]")[0]
    assert accepts(answer, ("2", "two")), done.stdout
    assert "Step 1" in done.stderr and "Traceback" not in done.stderr
