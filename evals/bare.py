"""The bare model: the question in one message, its answer out of one reply; no tools, no pages, no files."""

import re
import time
from collections.abc import Sequence
from pathlib import Path

from smolagents import ChatMessage
from smolagents.models import MessageRole

from agent.errors import ModelError, Stopped
from agent.events import Outcome
from agent.services import Services
from evals.budget import Watch, unwatched
from evals.results import Key, Result
from evals.watcher import Watcher

# A model that may think first does better than one that may not.
SYSTEM = (
    "Answer the question. Think first, in a few sentences. Then write a last line that begins with"
    ' "ANSWER:" and holds just the answer: a name, a place, a number, a date, yes or no.'
)
# In capitals, as it was asked for, anywhere; otherwise at the beginning of a line.
_ANSWER = re.compile(
    r"(?:\bANSWER|^[\s*_#>]*(?:(?i:final\s+))?(?i:answer)\b)[\s*_]*:[\s*_]*(.*)", re.MULTILINE
)


def ask_bare(
    services: Services, question: str, key: Key, *, files: Sequence[Path] = (), watch: Watch = unwatched
) -> Result:
    """The answer of one chat completion; what it raises is a failed run."""
    model, _, _ = services.model()
    began = time.monotonic()
    reply, outcome, reason = "", Outcome.FAILED, ""
    watcher = Watcher(model, services.settings.run_seconds, watch)
    try:
        message = model.generate(_messages(question))
        reply = str(message.content or "").strip()
        outcome = Outcome.ANSWERED
        if message.raw["finish_reason"] == "length":
            outcome, reason = Outcome.PARTIAL, "The reply was cut off at its longest."
    except (ModelError, Stopped) as error:
        reason = str(error)
    finally:
        watcher.end()
    halt = watcher.halt if outcome is Outcome.FAILED else None
    if halt:
        outcome, reason = Outcome.STOPPED, halt.reason
    return Result(
        key=key,
        answer=answer_of(reply),
        outcome=outcome,
        reason=reason,
        prompt_tokens=model.usage.prompt_tokens,
        completion_tokens=model.usage.completion_tokens,
        estimated=model.usage.estimated,
        seconds=time.monotonic() - began,
        steps=1,
        trace=(reply,) if reply else (),
        interrupted=halt is not None and halt.interrupted,
    )


def answer_of(reply: str) -> str:
    """What stands after the last "ANSWER:", or else the last line; empty of an empty reply."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    marked = [found.strip().rstrip("*_").strip() for found in _ANSWER.findall(reply)]
    given = [answer for answer in marked if answer]
    return given[-1] if given else lines[-1] if lines else ""


def warm_bare(services: Services) -> None:
    model, _, _ = services.model()
    model.generate(_messages(""), max_tokens=1)


def _messages(question: str) -> list[ChatMessage]:
    talk = ((MessageRole.SYSTEM, SYSTEM), (MessageRole.USER, question))
    return [ChatMessage(role=role, content=text) for role, text in talk if text]
