"""The questions about the library are scored by what a run ended with and how, and the command fails below its mark."""

from typing import Any

import pytest
from rich.console import Console

from agent.events import Outcome
from evals.library import QUESTIONS, Answered, ask_library, figures
from evals.library import main as library_main
from evals.questions import Question, load_questions
from evals.results import Key, Result
from tests.agent_world import MARS, MakeWorld, answer, step
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply

pytestmark = pytest.mark.slow

MOONS = Question("moons", "How many moons does Mars have?", "2", ("two",), example=True)
DAY = Question("day", "How long is a day on Venus?", "243", ())


def test_an_answer_is_right_only_when_the_run_was_closed_with_it(world: MakeWorld) -> None:
    app = world(
        reply("Ready."),  # what the warming gets
        step("I look.", "print(web_search('Mars moons'))"),
        answer("two", (MARS, "Mars has two moons")),
        reply("It lasts 243 days."),
        reply("It lasts 243 days."),
    )
    moons, day = answered = ask_library(app.services, [MOONS, DAY], Console(quiet=True))
    assert (moons.right, moons.held, moons.sourced) == (True, True, True)
    assert (day.right, day.held, day.result.outcome) == (False, True, Outcome.PARTIAL)
    shown = {figure.name: figure.ours for figure in figures(answered)}
    assert shown["right of 2"] == 1 and shown["right, closed or not"] == 2
    assert shown["right of the 1 on the page"] == 1


def test_every_accepted_answer_of_the_library_is_accepted_and_no_answer_to_another_question() -> None:
    questions = load_questions(QUESTIONS)
    for question in questions:
        for choice in question.answers:
            assert Answered(question, _closed(choice)).right, choice
        wrong = [other.answer for other in questions if other is not question]
        assert not any(Answered(question, _closed(text)).right for text in wrong), question.id


@pytest.mark.parametrize(("text", "code"), [("55", 0), ("56", 1)])
def test_the_command_fails_when_too_few_are_right(
    text: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def always(body: dict[str, Any]) -> Answer:
        return reply(f"That is it.\n```python\nfinal_answer({text!r})\n```\n")

    with ScriptedEndpoint(always) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        assert library_main(["--only", "golden-record"]) == code
    shown = capsys.readouterr().out
    assert f"{1 - code} of 1 right" in shown and text in shown


def test_a_question_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        library_main(["--only", "atlantis"])
    assert "there is no question 'atlantis'" in capsys.readouterr().err


def _closed(text: str) -> Result:
    key = Key("research", "", "", "", 0, "")
    return Result(key, text, Outcome.ANSWERED, "", 0, 0, False, 0.0, 1)
