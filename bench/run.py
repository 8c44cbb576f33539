"""What a visitor waits for: the first sign of life, the first word of the model, and the end after Stop."""

import statistics
import time

from agent.events import CodeWritten, Event, RunEnded, StepStarted, ThoughtWritten
from agent.services import Services
from agent.session import Session
from bench.stage import Stage
from evals.figures import Figure
from evals.sides import warm_research
from evals.stage import library_services

_TICK = 0.002
_PATIENCE = 300.0
QUESTIONS = (
    "Which river flows through the capital of Hungary?",
    "How many moons does Mars have?",
    "Who built the first lighthouse on the Eddystone Rocks?",
    "Which element was named after the planet Uranus?",
    "In which year was the Brooklyn Bridge opened?",
)


def measure(stage: Stage) -> list[Figure]:
    """Medians of five questions, each in a session of its own, once the app is warm."""
    with library_services(stage.settings, stage.console) as services:
        warm_research(services)
        waits = [_waits(services, question) for question in QUESTIONS]
    event, word, end = (statistics.median(column) for column in zip(*waits, strict=True))
    slowest = max(wait[1] for wait in waits)
    return [
        Figure("first event after the question", event, "s", aim="within 0.5 s"),
        Figure("first word of the model", word, "s", aim="within 3 s", note=f"slowest {slowest:.1f} s"),
        Figure("end after Stop", end, "s", aim="within 0.2 s"),
    ]


def _waits(services: Services, question: str) -> tuple[float, float, float]:
    """Seconds to the first event that the question caused, to the first word, and from Stop to the end."""
    session = Session(services)
    began = time.perf_counter()
    run = session.ask(question)
    try:
        event = _until(services, run.id, (StepStarted,)) - began
        word = _until(services, run.id, (ThoughtWritten, CodeWritten)) - began
        stopped = time.perf_counter()
        run.stop()
        return event, word, _until(services, run.id, (RunEnded,)) - stopped
    finally:
        run.stop()
        run.wait(10)
        session.close()


def _until(services: Services, run_id: str, kinds: tuple[type[Event], ...]) -> float:
    """The time at which the log has an event of these kinds, or the run's end."""
    seen, deadline = 0, time.perf_counter() + _PATIENCE
    while time.perf_counter() < deadline:
        news = services.store.events(run_id, seen)
        if any(isinstance(event, (*kinds, RunEnded)) for _, event in news):
            return time.perf_counter()
        seen += len(news)
        time.sleep(_TICK)
    raise TimeoutError(f"the run told none of {', '.join(kind.__name__ for kind in kinds)}")
