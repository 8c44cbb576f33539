"""The agents that are compared: each is asked a question and gives a Result.

`research` is ours, through a session and a run as a visitor has it. `stock` is
smolagents' CodeAgent as it comes: its own prompt, its own interpreter. Both get
the same model, greedy, with the same longest reply, the same tools over the
same search and pages, and the same number of steps. `bare` is that model alone.
"""

import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent.events import Outcome, RunEnded, StepEnded, Usage
from agent.services import Services
from agent.session import Session
from evals import bare, stock
from evals.budget import Halt, Watch, unwatched
from evals.leaks import leaks
from evals.questions import Question
from evals.results import Key, Result, fingerprint
from evals.trace import blocked, trace_of_events
from evals.watcher import LOOK_SECONDS


class Ask(Protocol):
    def __call__(
        self,
        services: Services,
        question: str,
        key: Key,
        *,
        files: Sequence[Path] = (),
        watch: Watch = unwatched,
    ) -> Result:
        """The answer to one question, in a session of its own. `watch` is asked meanwhile whether to go on."""


class Warm(Protocol):
    def __call__(self, services: Services) -> None:
        """Let the model's server read the prompt that all questions begin with."""


@dataclass(frozen=True)
class Side:
    """One agent that can be asked. `code`: what makes its answers what they are."""

    name: str
    ask: Ask
    warm: Warm
    code: tuple[Path | str, ...]

    def key(self, services: Services, question: Question, world: str, repeat: int = 0) -> Key:
        """Under which the answer to that question is kept."""
        steps, model = services.settings.max_steps, services.endpoint.name
        return Key(self.name, question.id, world, model, steps, self.fingerprint(), repeat)

    def fingerprint(self) -> str:
        """The state of the side's code."""
        return _fingerprint(self.code)


# Of the code that this process has loaded, whatever is saved to the files meanwhile.
_fingerprint = functools.cache(fingerprint)


def ask_research(
    services: Services, question: str, key: Key, *, files: Sequence[Path] = (), watch: Watch = unwatched
) -> Result:
    """Our agent's answer, through a session and a run as a visitor has it. Raises errors under RunError."""
    session = Session(services)
    began = time.monotonic()
    halt: Halt | None = None
    try:
        run = session.ask(question, files)
        try:
            seen, usage = 0, Usage()
            while not run.wait(LOOK_SECONDS):
                if services.store.last_seq(run.id) > seen:
                    new = services.store.events(run.id, seen)
                    seen = new[-1][0]
                    usage = sum((e.usage for _, e in new if isinstance(e, StepEnded)), usage)
                if halt is None and (halt := watch(usage)):
                    run.stop()
            seconds = time.monotonic() - began
        finally:
            run.stop()
            run.wait(5)
    finally:
        session.close()
    events = [event for _, event in services.store.events(run.id)]
    end = events[-1]
    assert isinstance(end, RunEnded)
    halt = halt if end.outcome is Outcome.STOPPED else None
    return Result(
        key=key,
        answer=end.answer,
        outcome=end.outcome,
        reason=halt.reason if halt else end.reason,
        prompt_tokens=end.usage.prompt_tokens,
        completion_tokens=end.usage.completion_tokens,
        estimated=end.usage.estimated,
        seconds=seconds,
        steps=end.steps,
        sources=tuple(f"{source.status} {source.url}" for source in end.sources),
        trace=trace_of_events(events),
        blocked=blocked(services.store.attempts(run.id)),
        leaks=leaks(services.store, run.id, question, key.question),
        interrupted=halt is not None and halt.interrupted,
    )


def warm_research(services: Services) -> None:
    session = Session(services)
    session.warm(1)
    session.close()


SIDES = {
    side.name: side
    for side in (
        Side("research", ask_research, warm_research, (Path("agent"), Path("tools"), Path("lock"))),
        Side("bare", bare.ask_bare, bare.warm_bare, (Path("agent/model"), Path("evals/bare.py"))),
        Side("stock", stock.ask_stock, stock.warm_stock, (Path("agent/model"), Path("tools"), stock.VERSION)),
    )
}
