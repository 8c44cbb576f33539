"""The chat as a projection of a run's events: what a visitor reads at each moment."""

from typing import Any

import gradio as gr
import pytest

from agent.events import (
    CodeRun,
    CodeWritten,
    Event,
    FigureShown,
    Notice,
    Outcome,
    OutputPrinted,
    ReasoningWritten,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    Source,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    ToolEnded,
    ToolStarted,
    Usage,
)
from tests.recorded_run import RUN
from ui.chat import Transcript, transcript
from ui.clip import OUTPUT_CHARS, TEXT_CHARS, Clip

STARTED = RunStarted("Why?", "model", "library", "1 full")


def ended(
    outcome: Outcome = Outcome.ANSWERED, answer: str = "Because.", reason: str = "", **more: Any
) -> RunEnded:
    return RunEnded(outcome, answer, more.get("sources", ()), reason, 3.0, Usage(), 1)


def texts(events: list[Event]) -> list[str]:
    return [str(message.content) for message in transcript(events)]


def steps(messages: list[gr.ChatMessage]) -> list[gr.ChatMessage]:
    return [message for message in messages if "id" in message.metadata]


def test_a_finished_run_shows_each_step_as_one_closed_line_and_the_answer_outside() -> None:
    messages = transcript(RUN, "r1")
    assert [step.metadata["title"] for step in steps(messages)] == [
        "Step 1 · searched, 5 results · 2.1 s",
        "Step 2 · read 2 pages · 4.8 s",
        "Step 3 · went wrong · 1.2 s",
        "Step 4 · answered · 3.0 s",
    ]
    assert {step.metadata["status"] for step in steps(messages)} == {"done"}
    assert messages[0].role == "user"
    answer, sources, ending = (message for message in messages[-3:])
    assert not answer.metadata and "opened in 1741" in str(answer.content)
    assert "✓ “was opened in 1741”, page 1" in str(sources.content)
    assert "unverified “the iron bridge of 1893”" in str(sources.content)
    assert "Answered · 4 steps · 12 s" in str(ending.content)


def test_inside_a_step_thought_code_calls_output_figure_and_error_come_in_this_order() -> None:
    happened = [
        OutputPrinted(1, "printed early"),
        FigureShown(1, "aWdub3Jl"),
        ToolStarted(1, 1, "web_search", "rivers"),
        CodeRun(1, "web_search('rivers')"),
        ThoughtWritten(1, "I search."),
        ToolEnded(1, 1, False, 0.2, "no provider answers"),
        StepEnded(1, 1.0, Usage(), "searched", "ToolError: no provider answers."),
    ]
    children = [
        m
        for m in transcript([STARTED, StepStarted(1), *happened], "r")
        if m.metadata.get("parent_id") == "r-1"
    ]
    starts = [
        "I search.",
        "```python",
        "| ",
        "```text",
        "![figure](data:image/png;base64,",
        "**Error** ToolError",
    ]
    assert [str(c.content).startswith(start) for c, start in zip(children, starts, strict=True)] == [True] * 6
    assert "0.2 s ✗" in str(children[2].content)


def test_code_that_streams_in_is_a_closed_block_at_every_moment_and_the_code_that_ran_takes_its_place() -> (
    None
):
    script = Transcript()
    script.add(StepStarted(1))
    for piece in ("x =", " 1\npri", "nt(x)"):
        script.add(CodeWritten(1, piece))
        code = str(script.messages()[-1].content)
        assert code.startswith("```python\nx =") and code.endswith("\n```")
    assert script.messages()[0].metadata["title"] == "Step 1 · writing code"
    script.add(CodeRun(1, "x = 1\nprint(x)\n# whole"))
    assert [m.content for m in script.messages()[1:]] == ["```python\nx = 1\nprint(x)\n# whole\n```"]


def test_code_that_was_written_but_not_run_says_so() -> None:
    events = [StepStarted(1), CodeWritten(1, "x = ("), StepEnded(1, 1.0, Usage(), "", "The reply was cut.")]
    assert "This code was not run." in texts(events)[1]


def test_reasoning_is_open_while_it_is_all_there_is_and_closed_once_the_thought_begins() -> None:
    script = Transcript()
    for event in (StepStarted(1), ReasoningWritten(1, "hm")):
        script.add(event)
    assert script.messages()[1].metadata["status"] == "pending"
    script.add(ThoughtWritten(1, "I search."))
    assert script.messages()[1].metadata == {"parent_id": "run-1", "title": "Reasoning", "status": "done"}


def test_what_turned_out_to_be_reasoning_moves_out_of_the_thought_and_the_code() -> None:
    events = [
        StepStarted(1),
        ThoughtWritten(1, "Hm, "),
        CodeWritten(1, "x = 1"),
        ReplyRestarted(1),
        ThoughtWritten(1, "I search."),
    ]
    assert texts(events)[1:] == ["Hm, x = 1", "I search."]


def test_a_wait_is_one_line_that_counts_and_goes_when_the_work_goes_on() -> None:
    events: list[Event] = [
        StepStarted(1),
        Notice("Waking up, 10 s so far."),
        Notice("Waking up, 20 s so far."),
    ]
    assert [t for t in texts(events) if "Waking" in t] == ["<small>Waking up, 20 s so far.</small>"]
    assert not [t for t in texts([*events, ThoughtWritten(1, "I")]) if "Waking" in t]
    between: list[Event] = [STARTED, Notice("10 s."), Notice("20 s.")]
    assert texts(between) == ["Why?", "<small><i>20 s.</i></small>"]


@pytest.mark.parametrize(
    ("outcome", "reason", "said"),
    [
        (Outcome.PARTIAL, "the time is over", "Partial answer: the time is over · 1 step · 3 s"),
        (Outcome.STOPPED, "", "Stopped by you · 1 step · 3 s"),
        (
            Outcome.FAILED,
            "nothing answers at the endpoint",
            "No answer: nothing answers at the endpoint · 1 step · 3 s",
        ),
    ],
)
def test_an_ending_says_how_it_ended_and_no_step_is_left_waiting(
    outcome: Outcome, reason: str, said: str
) -> None:
    messages = transcript([STARTED, StepStarted(1), ThoughtWritten(1, "I"), ended(outcome, "", reason)])
    assert said in str(messages[-1].content)
    assert steps(messages)[0].metadata["status"] == "done"
    assert "not finished" in steps(messages)[0].metadata["title"]


def test_only_a_run_without_a_full_answer_offers_to_ask_again() -> None:
    assert transcript([STARTED, ended(Outcome.FAILED, "", "x")])[-1].options == [
        {"value": "Why?", "label": "Ask again"}
    ]
    assert not transcript([STARTED, ended()])[-1].options


def test_a_number_in_the_answer_leads_to_its_source_and_shows_the_quoted_words() -> None:
    sources = (
        Source("https://a.example/", "A", 'the "old" one', "verified"),
        Source("library://b.md", "B", "a `b", "verified"),
        Source("library://c.md", "C", "", "located"),
    )
    assert texts([ended(answer="Yes [1], no [2], [3], [4], `list[1]`.", sources=sources)])[0] == (
        'Yes [\\[1\\]](https://a.example/ "the &quot;old&quot; one"), '
        'no <abbr title="a &#96;b">\\[2\\]</abbr>, [3], [4], <code>list\\[1\\]</code>.'
    )


def test_hostile_text_of_every_kind_of_event_stays_text() -> None:
    bad = "<script>alert(1)</script>![x](http://spy.example/)"
    source = Source(f"https://x.example/{bad}", bad, bad, "verified", bad)
    events = [
        RunStarted(bad, bad, bad, bad, (bad,)),
        Notice(bad),
        StepStarted(1),
        ReasoningWritten(1, bad),
        ThoughtWritten(1, bad),
        ToolStarted(1, 1, bad, bad),
        ToolEnded(1, 1, True, 0.1, bad),
        StepEnded(1, 1.0, Usage(), bad, bad),
        ended(Outcome.PARTIAL, bad, bad, sources=(source,)),
    ]
    for message in transcript(events):
        for text in (str(message.content), message.metadata.get("title", "")):
            assert "<script" not in text
            assert "![" not in text.replace("\\!", "").replace("!\\", "")


def test_output_of_a_megabyte_keeps_the_page_small_and_shows_its_beginning_and_its_end() -> None:
    script = Transcript()
    script.add(StepStarted(1))
    script.add(OutputPrinted(1, "begin "))
    for _ in range(1000):
        script.add(OutputPrinted(1, "x" * 1000))
    script.add(OutputPrinted(1, " end"))
    shown = str(script.messages()[-1].content)
    assert len(shown) < OUTPUT_CHARS + 200
    assert shown.startswith("```text\nbegin x") and shown.endswith(" end\n```")
    hidden = 1_000_010 - (
        len(shown) - len("```text\n\n```") - len("\n\n… 996,010 characters are not shown here …\n\n")
    )
    assert f"… {hidden:,} characters are not shown here …" in shown


def test_a_thought_of_eighty_thousand_tokens_costs_no_more_a_look_than_one_of_two_thousand() -> None:
    script, clip = Transcript(), Clip(TEXT_CHARS)
    script.add(StepStarted(1))
    for _ in range(80_000):
        script.add(ThoughtWritten(1, "word "))
        clip.add("word ")
    assert len(str(script.messages()[1].content)) < TEXT_CHARS + 100
    assert len(clip._head) + len(clip._tail) <= TEXT_CHARS / len("word ") + 1


def test_steps_that_are_over_are_not_rendered_again() -> None:
    script = Transcript()
    for event in RUN[:12]:
        script.add(event)
    before = script.messages()
    for event in RUN[12:20]:
        script.add(event)
    assert all(old is new for old, new in zip(before, script.messages(), strict=False))


def test_an_answer_without_a_source_says_so() -> None:
    said = [str(message.content) for message in transcript([STARTED, ended()])]
    assert any("No source was found for this answer." in text for text in said)
    source = Source("library://a", "A", "Because", "verified", "")
    said = [str(message.content) for message in transcript([STARTED, ended(sources=(source,))])]
    assert not any("No source was found" in text for text in said)
