"""The run as a terminal tells it."""

import io
from contextlib import suppress
from pathlib import Path

import pytest
from rich.console import Console

from agent.events import (
    CodeRun,
    Outcome,
    OutputPrinted,
    RunEnded,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    Usage,
)
from tests.agent_world import MakeWorld, answer
from tests.recorded_run import RUN
from ui.terminal import EXIT_CODES, Narrator, OutputLost, ask


def told(events: list) -> tuple[str, str, Outcome | None]:
    steps, answer = io.StringIO(), io.StringIO()
    narrator = Narrator(Console(file=steps, width=100), Console(file=answer, width=100))
    outcome = narrator.tell(events)
    return steps.getvalue(), answer.getvalue(), outcome


def test_the_steps_go_to_one_place_and_the_answer_alone_to_the_other() -> None:
    steps, answer, outcome = told(RUN)
    assert outcome is Outcome.ANSWERED
    for line in (
        "Step 2",
        "I look for a list of the bridges over the Orme.",
        "for page in pages:",
        "visit_page orme.example/quill → Quill Bridge, page 1 of 1  0.4 s ✓",
        "Old Stone Bridge     1741",
        "read 2 pages · 4.8 s",
        "NameError: name 'oldest' is not defined (line 1).",
        "The endpoint is busy; it is asked again in 2 s.",
        "Answered · 4 steps · 9,356 tokens · 12 s",
    ):
        assert line in steps
    assert answer.splitlines()[0].startswith("The Old Stone Bridge, opened in 1741 [1], is the oldest")
    assert "[1] Old Stone Bridge https://orme.example/old-stone ✓ “was opened in 1741”" in answer
    assert "[2] Quill Bridge https://orme.example/quill unverified" in answer
    assert "Step" not in answer


def test_a_page_cannot_move_the_cursor_or_rename_the_window() -> None:
    bad = "\x1b]0;owned\x07\x1b[2J\x9b31mred\rover\u202eturned\u2066"
    events = [
        StepStarted(1),
        ThoughtWritten(1, bad),
        CodeRun(1, "print('\u202ex')"),
        OutputPrinted(1, bad),
        StepEnded(1, 1.0, Usage(), bad, bad),
        RunEnded(Outcome.PARTIAL, bad, (), bad, 1.0, Usage(), 1),
    ]
    for text in told(events)[:2]:
        assert not set("\x1b\x07\x9b\r\u202e\u2066") & set(text)
    assert r"print('\u202ex')" in told(events)[0]


def test_a_link_of_an_answer_shows_where_it_leads() -> None:
    shown = io.StringIO()
    narrator = Narrator(Console(file=io.StringIO()), Console(file=shown, force_terminal=True, width=100))
    text = "See [your bank](file:///etc/passwd) and ![a](http://spy.example/x.png)."
    narrator.tell([RunEnded(Outcome.ANSWERED, text, (), "", 1.0, Usage(), 1)])
    assert "\x1b]8" not in shown.getvalue() and "file:///etc/passwd" in shown.getvalue()


@pytest.mark.parametrize(
    ("outcome", "code", "said"),
    [
        (Outcome.FAILED, 1, "No answer: the endpoint is down"),
        (Outcome.STOPPED, 130, "Stopped: the endpoint is down"),
    ],
)
def test_a_run_without_an_answer_says_why_in_one_line_and_is_a_failure_to_the_shell(
    outcome: Outcome, code: int, said: str
) -> None:
    steps, answer, got = told([RunEnded(outcome, "", (), "the endpoint is down", 1.0, Usage(), 0)])
    assert got is outcome and EXIT_CODES[outcome] == code
    assert [line for line in steps.splitlines() if line] == [f"{said} · 0 steps · 0 tokens · 1 s"]
    assert answer == ""


def test_an_answer_that_cannot_be_written_is_an_error_in_one_sentence(world: MakeWorld) -> None:
    app = world(answer("two"))
    with Path("/dev/full").open("w") as full:
        narrator = Narrator(Console(file=io.StringIO()), Console(file=full))
        with pytest.raises(OutputLost, match=r"^The run cannot be told here \(No space left on device\): "):
            ask(app.services, "How many moons has Mars?", narrator)
        with suppress(OSError):
            full.close()
