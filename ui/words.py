"""How the page and the terminal say things, in one place so that they say them alike."""

from agent.events import Outcome, RunEnded

NAME = "Open Deep Research"

_ENDINGS = {
    Outcome.ANSWERED: "Answered",
    Outcome.PARTIAL: "Partial answer",
    Outcome.STOPPED: "Stopped",
    Outcome.FAILED: "No answer",
}

NO_SOURCE = "No source was found for this answer."
SOURCE_MARKS = {"verified": "✓", "located": "", "unverified": "unverified"}


def ending(end: RunEnded) -> str:
    """How a run ended and why; a stop without a reason was the visitor's."""
    if end.outcome is Outcome.STOPPED and not end.reason:
        return "Stopped by you"
    reason = end.reason.rstrip(".")
    return f"{_ENDINGS[end.outcome]}: {reason}" if reason else _ENDINGS[end.outcome]


def count(number: int, thing: str) -> str:
    """1 step, 2 steps."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def duration(seconds: float) -> str:
    """A duration as people say it: 4.8 s, 12 s, 1 min 40 s."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 and seconds % 1 else f"{seconds:.0f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
