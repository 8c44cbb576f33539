"""The stock agent: smolagents' CodeAgent as it comes, with its own prompt and its own interpreter."""

import importlib.metadata
import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from smolagents import AgentError, AgentMaxStepsError, ChatMessage, CodeAgent, LogLevel
from smolagents.models import MessageRole

from agent.answer import as_text
from agent.events import Outcome
from agent.model.endpoint import EndpointModel
from agent.services import Services
from evals.budget import Watch, unwatched
from evals.leaks import leaks
from evals.results import Key, Result
from evals.trace import blocked, trace_of_memory
from evals.watcher import Watcher
from tools.browser import TextBrowser
from tools.fetch import Fetcher
from tools.toolbox import toolbox

VERSION = importlib.metadata.version("smolagents")


def ask_stock(
    services: Services, question: str, key: Key, *, files: Sequence[Path] = (), watch: Watch = unwatched
) -> Result:
    """The stock agent's answer; what it raises is a failed run. It is given no files."""
    run_id = secrets.token_urlsafe(16)
    agent = stock_agent(services, run_id)
    model: EndpointModel = agent.model
    began = time.monotonic()
    answer, outcome, reason = "", Outcome.FAILED, ""
    watcher = Watcher(model, services.settings.run_seconds, watch)
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
