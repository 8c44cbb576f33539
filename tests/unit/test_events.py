"""The facts of a run: written down and read again, whatever text they carry."""

import dataclasses
import time
from pathlib import Path
from typing import get_args

import pytest

from agent.events import (
    CodeWritten,
    Event,
    Notice,
    Outcome,
    OutputPrinted,
    RunEnded,
    Source,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    Usage,
    from_json,
    to_json,
)
from agent.run import EventWriter
from agent.store import Store
from tests.agent_world import until
from tests.recorded_run import RUN


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "research.sqlite")


def test_every_kind_of_event_comes_back_as_it_was_written() -> None:
    source = Source("https://a.example", "A", "some words", "verified", "at the top")
    samples = {
        int: 3, float: 1.5, str: "one\n“two” \U0001f680", bool: True, Usage: Usage(5, 2, True),
        Outcome: Outcome.PARTIAL, tuple[Source, ...]: (source,), tuple[str, ...]: ("a.pdf",),
    }  # fmt: skip
    for kind in get_args(Event):
        event = kind(**{field.name: samples[field.type] for field in dataclasses.fields(kind)})
        assert from_json(to_json(event)) == event


def test_half_a_character_from_the_model_neither_stops_the_log_nor_its_readers(store: Store) -> None:
    store.create_run("r", "?")
    store.append("r", ThoughtWritten(1, "cut \ud83d"))
    assert store.events("r") == [(1, ThoughtWritten(1, "cut ?"))]


@pytest.mark.parametrize("text", ['{"kind": "Nonsense"}', "{}", '{"kind": "StepStarted", "step": "x"}', "["])
def test_what_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text)


def test_token_by_token_text_becomes_few_events_and_none_of_it_is_lost(store: Store) -> None:
    store.create_run("r", "?")
    write = EventWriter(store, "r")
    began = time.monotonic()
    for number in range(1000):
        write(ThoughtWritten(1, f"{number} "))
    write(CodeWritten(1, "print(1)"))
    write(StepStarted(2))
    seconds = time.monotonic() - began
    events = [event for _, event in store.events("r")]
    assert "".join(e.text for e in events if isinstance(e, ThoughtWritten)) == "".join(
        f"{n} " for n in range(1000)
    )
    assert events[-2:] == [CodeWritten(1, "print(1)"), StepStarted(2)]
    assert len(events) <= 4 + seconds / 0.1


def test_the_first_piece_of_text_is_shown_at_once(store: Store) -> None:
    store.create_run("r", "?")
    EventWriter(store, "r")(ThoughtWritten(1, "I"))
    assert store.events("r") == [(1, ThoughtWritten(1, "I"))]


def test_text_is_shown_soon_though_nothing_follows_it(store: Store) -> None:
    store.create_run("r", "?")
    write = EventWriter(store, "r")
    for text in ("loading", " 1", " 2"):
        write(OutputPrinted(1, text))
    until(lambda: "".join(event.text for _, event in store.events("r")) == "loading 1 2")
    assert store.events("r")[0] == (1, OutputPrinted(1, "loading"))


def test_texts_of_two_kinds_or_two_steps_are_never_joined(store: Store) -> None:
    store.create_run("r", "?")
    write = EventWriter(store, "r")
    events = [
        ThoughtWritten(1, "a"),
        CodeWritten(1, "b"),
        OutputPrinted(1, "c"),
        OutputPrinted(2, "d"),
        Notice("e"),
    ]
    for event in events:
        write(event)
    assert [event for _, event in store.events("r")] == events


def test_a_recorded_run_survives_the_store(store: Store) -> None:
    store.create_run("r", "?")
    for event in RUN:
        store.append("r", event)
    assert [event for _, event in store.events("r")] == list(RUN)
    assert any(isinstance(event, StepEnded) for event in RUN)
    assert isinstance(RUN[-1], RunEnded)
