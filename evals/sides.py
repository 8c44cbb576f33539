"""The agents that are compared: each is asked a question and gives a Result.

`research` is ours, through a session and a run as a visitor has it. `stock` is
smolagents' CodeAgent as it comes: its own prompt, its own interpreter. Both get
the same model, greedy, with the same longest reply, the same tools over the
same search and pages, and the same number of steps.
"""

import functools
import importlib.metadata
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from smolagents import AgentError, AgentMaxStepsError, ChatMessage, CodeAgent, LogLevel
from smolagents.models import MessageRole

from agent.answer import as_text
from agent.events import Outcome, RunEnded
from agent.model.endpoint import EndpointModel
from agent.services import Services
from agent.session import Session
from evals.questions import Question
from evals.results import Key, Result, fingerprint
from evals.trace import trace_of_events, trace_of_memory
from tools.browser import TextBrowser
from tools.fetch import Fetcher
from tools.toolbox import toolbox

_STOCK_VERSION = importlib.metadata.version("smolagents")


@dataclass(frozen=True)
class Side:
    """One agent. `ask` answers one question, `warm` lets the model's server read the prompt that all begin with."""

    name: str
    ask: Callable[[Services, str, Key], Result]
    warm: Callable[[Services], None]
    code: tuple[Path | str, ...]

    def key(self, services: Services, question: Question, world: str) -> Key:
        """Under which the answer to that question is kept."""
        code = _fingerprint(self.code)
        return Key(self.name, question.id, world, services.endpoint.name, services.settings.max_steps, code)


# Of the code that this process has loaded, whatever is saved to the files meanwhile.
_fingerprint = functools.cache(fingerprint)


def ask_research(services: Services, question: str, key: Key) -> Result:
    """Our agent's answer, in a session of its own."""
    session = Session(services)
    began = time.monotonic()
    run = session.ask(question)
    try:
        run.wait()
        seconds = time.monotonic() - began
    finally:
        run.stop()
        run.wait(5)
        session.close()
    events = [event for _, event in services.store.events(run.id)]
    end = events[-1]
    assert isinstance(end, RunEnded)
    return Result(
        key=key,
        answer=end.answer,
        outcome=end.outcome,
        reason=end.reason,
        prompt_tokens=end.usage.prompt_tokens,
        completion_tokens=end.usage.completion_tokens,
        estimated=end.usage.estimated,
        seconds=seconds,
        steps=end.steps,
        sources=tuple(f"{source.status} {source.url}" for source in end.sources),
        trace=trace_of_events(events),
    )


def warm_research(services: Services) -> None:
    session = Session(services)
    session.warm(1)
    session.close()


def ask_stock(services: Services, question: str, key: Key) -> Result:
    """The stock agent's answer; what it raises is a failed run."""
    agent = stock_agent(services)
    model: EndpointModel = agent.model
    clock = threading.Timer(services.settings.run_seconds, model.cancel.set)
    clock.daemon = True
    clock.start()
    began = time.monotonic()
    answer, outcome, reason = "", Outcome.FAILED, ""
    try:
        answer = as_text(agent.run(question))
        outcome = Outcome.ANSWERED
    except AgentError as error:
        reason = str(error)[:300]
    finally:
        clock.cancel()
    seconds = time.monotonic() - began
    steps = agent.memory.steps
    if steps and isinstance(getattr(steps[-1], "error", None), AgentMaxStepsError):
        outcome, reason = Outcome.PARTIAL, "The run used its steps before the answer was complete."
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
    )


def warm_stock(services: Services) -> None:
    agent = stock_agent(services)
    agent.model.generate([ChatMessage(role=MessageRole.SYSTEM, content=agent.system_prompt)], max_tokens=1)


def stock_agent(services: Services) -> CodeAgent:
    """smolagents' CodeAgent with nothing set but the model, the tools and the steps."""
    model, profile, _ = services.model()
    browser = TextBrowser(
        Fetcher(allow_local=services.settings.allow_local_web),
        services.library,
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
