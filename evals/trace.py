"""What an agent wrote and saw, one text a step: enough for a reader to see why an answer is wrong."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from agent.events import CodeRun, Event, OutputPrinted, StepEnded, ThoughtWritten
from tools.ledger import Attempt

_LONGEST = 4000
_REFUSALS = frozenset({401, 402, 403, 407, 429, 451})


def trace_of_events(events: Iterable[Event]) -> tuple[str, ...]:
    """The steps of one of our runs."""
    parts: dict[int, dict[str, str]] = defaultdict(lambda: defaultdict(str))
    for event in events:
        match event:
            case ThoughtWritten(step=step, text=text):
                parts[step]["thought"] += text
            case CodeRun(step=step, code=code):
                parts[step]["code"] = code
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


def _step(thought: str = "", code: str = "", output: str = "", error: str = "") -> str:
    block = f"```python\n{code.strip()}\n```" if code else ""
    said = f"Output:\n{output.strip()}" if output else ""
    wrong = f"Error: {error}" if error else ""
    return "\n".join(part[:_LONGEST] for part in (thought.strip(), block, said, wrong) if part)
