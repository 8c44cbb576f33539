"""What an agent wrote and saw, one text a step: enough for a reader to see why an answer is wrong."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from agent.events import CodeRun, Event, OutputPrinted, StepEnded, ThoughtWritten, ToolEnded, ToolStarted
from tools.ledger import Attempt

_LONGEST = 4000
_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})
_CODE_OR_SEEN = re.compile(
    r"```python\n(.*?)\n```|(?=^(?:Calls:|Output:)$|^Error: )", re.DOTALL | re.MULTILINE
)
_CALLS = re.compile(r"\s*Calls:\n((?:- .*(?:\n|$))*)")
_ERROR = re.compile(r"^Error: ", re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A step of a trace in its parts; each may be empty."""

    thought: str
    code: str = ""
    calls: tuple[str, ...] = ()
    output: str = ""
    error: str = ""


def trace_of_events(events: Iterable[Event]) -> tuple[str, ...]:
    """The steps of one of our runs."""
    parts: dict[int, dict[str, str]] = defaultdict(lambda: defaultdict(str))
    for event in events:
        match event:
            case ThoughtWritten(step=step, text=text):
                parts[step]["thought"] += text
            case CodeRun(step=step, code=code):
                parts[step]["code"] = code
            case ToolStarted(step=step, tool=tool, arguments=arguments):
                parts[step]["calls"] += f"- {tool}: {_line(arguments)}\n"
            case ToolEnded(step=step, ok=ok, seconds=seconds, summary=summary) if parts[step]["calls"]:
                said = _line(summary) if ok else f"failed, {_line(summary)}"
                parts[step]["calls"] = f"{parts[step]['calls'].rstrip()} → {said} ({seconds:.1f} s)\n"
            case OutputPrinted(step=step, text=text):
                parts[step]["output"] += text
            case StepEnded(step=step, error=error):
                parts[step]["error"] = error
            case _:
                pass
    return tuple(_step(**part) for _, part in sorted(parts.items()))


def trace_of_memory(steps: Iterable[Any]) -> tuple[str, ...]:
    """The steps in the memory of a smolagents agent."""
    return tuple(
        _step(
            thought=str(step.model_output or step.action_output or ""),
            output=step.observations or "",
            error=str(step.error or ""),
        )
        for step in steps
        if hasattr(step, "observations")
    )


def blocked(attempts: Sequence[Attempt]) -> tuple[str, ...]:
    """The addresses that refused to be read: they want a login, a payment, a human or less traffic."""
    return tuple(f"{a.status} {a.final_url or a.url}" for a in attempts if a.status in _REFUSALS)


def parsed(step: str) -> Step:
    """A step as a trace holds it."""
    found = _CODE_OR_SEEN.search(step)
    if not found:
        return Step(step.strip())
    rest = step[found.end() :]
    calls = _CALLS.match(rest)
    rest = rest[calls.end() :] if calls else rest
    errors = list(_ERROR.finditer(rest))
    output = rest[: errors[-1].start()] if errors else rest
    return Step(
        thought=step[: found.start()].strip(),
        code=found[1] or "",
        calls=tuple(line[2:] for line in calls[1].splitlines()) if calls else (),
        output=output.strip().removeprefix("Output:").strip(),
        error=rest[errors[-1].end() :].strip() if errors else "",
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _step(thought: str = "", code: str = "", calls: str = "", output: str = "", error: str = "") -> str:
    block = f"```python\n{code.strip()[:_LONGEST]}\n```" if code else ""
    called = f"Calls:\n{calls.rstrip()}" if calls else ""
    said = f"Output:\n{output.strip()}" if output else ""
    wrong = f"Error: {error}" if error else ""
    return "\n".join(
        part
        for part in (thought.strip()[:_LONGEST], block, called[:_LONGEST], said[:_LONGEST], wrong[:_LONGEST])
        if part
    )
