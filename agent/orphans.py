"""Runs that a crash of the app left without an end: each gets one, with what it had found."""

from collections.abc import Iterable

from agent.answer import read_but_not_quoted
from agent.events import (
    Event,
    Outcome,
    ReplyRestarted,
    RunEnded,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    Usage,
)
from agent.processes import lives
from agent.store import Store


def end_orphans(store: Store, reason: str) -> int:
    """Close the log of every run whose process is gone; how many there were. `reason`: one sentence."""
    orphans = [run for run in store.open_runs() if not lives(run.process)]
    for run in orphans:
        events = [event for _, event in store.events(run.id)]
        steps = [event for event in events if isinstance(event, StepEnded)]
        end = RunEnded(
            outcome=Outcome.FAILED,
            answer=_last_thought(events),
            sources=tuple(read_but_not_quoted(store.snapshots(run.id))),
            reason=reason,
            seconds=max(0.0, run.last - run.started),  # the clock may have been set back
            usage=sum((step.usage for step in steps), Usage()),
            steps=len(steps),
        )
        store.append(run.id, end)
    return len(orphans)


def _last_thought(events: Iterable[Event]) -> str:
    last = thought = ""
    for event in events:
        if isinstance(event, StepStarted | ReplyRestarted):
            thought = ""
        elif isinstance(event, ThoughtWritten):
            thought += event.text
            last = thought.strip() or last
    return last
