"""The agents that are compared: each is asked a question and gives a Result.

`research` is ours, through a session and a run as a visitor has it. `stock` is
smolagents' CodeAgent as it comes: its own prompt, its own interpreter. Both get
the same model, greedy, with the same longest reply, the same tools over the
same search and pages, and the same number of steps.
"""

import functools
import importlib.metadata
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from smolagents import AgentError, AgentMaxStepsError, ChatMessage, CodeAgent, LogLevel
from smolagents.models import MessageRole

from agent.answer import as_text
from agent.events import Outcome, RunEnded, StepEnded, Usage
from agent.model.endpoint import EndpointModel
from agent.services import Services
from agent.session import Session
from evals.budget import Halt, Watch, unwatched
from evals.leaks import leaks
from evals.questions import Question
from evals.results import Key, Result, fingerprint
from evals.trace import trace_of_events, trace_of_memory
from tools.browser import TextBrowser
from tools.fetch import Fetcher
from tools.ledger import Attempt
from tools.toolbox import toolbox

# How often a run that goes on is looked at, in seconds.
_LOOK_SECONDS = 0.2
_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})
_STOCK_VERSION = importlib.metadata.version("smolagents")


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
            while not run.wait(_LOOK_SECONDS):
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


def blocked(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """The addresses that refused to be read: they want a login, a payment, a human or less traffic."""
    return tuple(f"{a.status} {a.final_url or a.url}" for a in attempts if a.status in _REFUSALS)


def warm_research(services: Services) -> None:
    session = Session(services)
    session.warm(1)
    session.close()


def ask_stock(
    services: Services, question: str, key: Key, *, files: Sequence[Path] = (), watch: Watch = unwatched
) -> Result:
    """The stock agent's answer; what it raises is a failed run. It is given no files."""
    run_id = secrets.token_urlsafe(16)
    agent = stock_agent(services, run_id)
    model: EndpointModel = agent.model
    began = time.monotonic()
    answer, outcome, reason = "", Outcome.FAILED, ""
    watcher = _Watcher(model, services.settings.run_seconds, watch)
    try:
        answer = as_text(agent.run(question))
        outcome = Outcome.ANSWERED
    except AgentError as error:
        reason = str(error)[:300]
    finally:
        watcher.end()
    seconds = time.monotonic() - began
    steps = agent.memory.steps
    if steps and isinstance(getattr(steps[-1], "error", None), AgentMaxStepsError):
        outcome, reason = Outcome.PARTIAL, "The run used its steps before the answer was complete."
    halt = watcher.halt if outcome is Outcome.FAILED else None
    if halt:
        outcome, reason = Outcome.STOPPED, halt.reason
    usage = model.usage
    return Result(
        key=key,
        answer=answer,
        outcome=outcome,
        reason=reason,
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        estimated=usage.estimated,
        seconds=seconds,
        steps=sum(hasattr(step, "step_number") for step in steps),
        trace=trace_of_memory(steps),
        blocked=blocked(services.store.attempts(run_id)),
        leaks=leaks(services.store, run_id, question, key.question),
        interrupted=halt is not None and halt.interrupted,
    )


class _Watcher:
    """Ends the stock agent, which blocks its caller, from a thread beside it."""

    def __init__(self, model: EndpointModel, seconds: float, watch: Watch) -> None:
        self.halt: Halt | None = None
        self._model, self._watch = model, watch
        self._deadline = time.monotonic() + seconds
        self._over = threading.Event()
        threading.Thread(target=self._look, name="stock watch", daemon=True).start()

    def end(self) -> None:
        self._over.set()

    def _look(self) -> None:
        while not self._over.wait(_LOOK_SECONDS):
            self.halt = self._watch(self._model.usage)
            if self.halt is None and time.monotonic() > self._deadline:
                self.halt = Halt("The run used its seconds.")
            if self.halt:
                self._model.cancel.set()
                return


def warm_stock(services: Services) -> None:
    agent = stock_agent(services, "warm")
    agent.model.generate([ChatMessage(role=MessageRole.SYSTEM, content=agent.system_prompt)], max_tokens=1)


def stock_agent(services: Services, run_id: str) -> CodeAgent:
    """smolagents' CodeAgent with nothing set but the model, the tools and the steps."""
    model, profile, _ = services.model()
    ledger = services.store.ledger(run_id)
    browser = TextBrowser(
        Fetcher(allow_local=services.settings.allow_local_web, ledger=ledger, manners=services.manners),
        services.library,
        ledger,
        viewport_chars=profile.viewport_chars,
        show_targets=not profile.example,
    )
    tools = toolbox(services.search, browser, profile.results)
    chosen = [tool for tool in tools if services.tools is None or tool.name in services.tools]
    return CodeAgent(
        tools=chosen, model=model, max_steps=services.settings.max_steps, verbosity_level=LogLevel.OFF
    )


SIDES = {
    side.name: side
    for side in (
        Side("research", ask_research, warm_research, (Path("agent"), Path("tools"))),
        Side("stock", ask_stock, warm_stock, (Path("agent/model"), Path("tools"), _STOCK_VERSION)),
    )
}
