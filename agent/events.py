"""What a run tells the world: one append-only list of small facts.

The page, the terminal, the API and the evaluation all read these and nothing
else. Times are seconds; text is plain and untrusted. `to_json` and `from_json`
are what the store writes and reads.
"""

import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import get_args

from pydantic import TypeAdapter


class Outcome(StrEnum):
    """How a run ended."""

    ANSWERED = "answered"
    PARTIAL = "partial"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True)
class Usage:
    """Tokens of one or more model calls; `estimated` when the server did not count them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
        )


@dataclass(frozen=True)
class Source:
    """One source of an answer and what the check of its quote found.

    status: "verified" (the quote stands in the page, at `place`), "unverified"
    (it does not, or the page could not be read) or "located" (the agent named
    no quote; the answer's words were found in this page, at `place`).
    """

    url: str
    title: str
    quote: str
    status: str
    place: str = ""


@dataclass(frozen=True)
class RunStarted:
    """The question was taken; `model`, `search` and `sandbox` say what is in force."""

    question: str
    model: str
    search: str
    sandbox: str
    files: tuple[str, ...] = ()
    max_steps: int = 0


@dataclass(frozen=True)
class Notice:
    """One sentence for the visitor about a wait or a degraded service, between or inside steps."""

    text: str


@dataclass(frozen=True)
class StepStarted:
    step: int


@dataclass(frozen=True)
class ReasoningWritten:
    """A piece of the model's own reasoning (think text), appended to what came before."""

    step: int
    text: str


@dataclass(frozen=True)
class ReplyRestarted:
    """Thought and code of this step so far turned out to be reasoning; the reply begins anew."""

    step: int


@dataclass(frozen=True)
class ThoughtWritten:
    """A piece of the model's thought, appended to what came before."""

    step: int
    text: str


@dataclass(frozen=True)
class CodeWritten:
    """A piece of the code as it streams in; `CodeRun` says what really ran."""

    step: int
    text: str


@dataclass(frozen=True)
class CodeRun:
    """The whole code that the box now runs."""

    step: int
    code: str


@dataclass(frozen=True)
class ToolStarted:
    """A tool call left the box. `arguments` is a short readable text, not JSON."""

    step: int
    call: int
    tool: str
    arguments: str


@dataclass(frozen=True)
class ToolEnded:
    """A tool call ended; `summary` is one line for the visitor: what it gave, or why it failed."""

    step: int
    call: int
    ok: bool
    seconds: float
    summary: str


@dataclass(frozen=True)
class OutputPrinted:
    """A piece of what the code printed, appended to what came before."""

    step: int
    text: str


@dataclass(frozen=True)
class FigureShown:
    """A figure that the code drew, as base64 PNG."""

    step: int
    png_base64: str


@dataclass(frozen=True)
class StepEnded:
    """`error` is one sentence, empty when the step went well; `summary` is what it did, in the visitor's words."""

    step: int
    seconds: float
    usage: Usage
    summary: str
    error: str = ""


@dataclass(frozen=True)
class RunEnded:
    """Always the last event of a run. `reason` says why, when it is not simply answered."""

    outcome: Outcome
    answer: str
    sources: tuple[Source, ...]
    reason: str
    seconds: float
    usage: Usage
    steps: int


Event = (
    RunStarted
    | Notice
    | StepStarted
    | ReasoningWritten
    | ReplyRestarted
    | ThoughtWritten
    | CodeWritten
    | CodeRun
    | ToolStarted
    | ToolEnded
    | OutputPrinted
    | FigureShown
    | StepEnded
    | RunEnded
)

_ADAPTERS: dict[str, TypeAdapter[Event]] = {kind.__name__: TypeAdapter(kind) for kind in get_args(Event)}


def to_json(event: Event) -> str:
    """The event as one JSON object; `kind` is its class name. Half characters, which no reader takes, become "?"."""
    text = json.dumps({"kind": type(event).__name__, **asdict(event)}, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def from_json(text: str) -> Event:
    """The event that `to_json` wrote; ValueError when it is none."""
    data = json.loads(text)
    adapter = _ADAPTERS.get(data.pop("kind", ""))
    if adapter is None:
        raise ValueError("this JSON is no event of a run")
    return adapter.validate_python(data)
