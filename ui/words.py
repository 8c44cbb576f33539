"""How the page and the terminal say things, in one place so that they say them alike."""

from agent.events import Outcome

NAME = "Open Deep Research"

ENDINGS = {
    Outcome.ANSWERED: "Answered",
    Outcome.PARTIAL: "Partial answer",
    Outcome.STOPPED: "Stopped by you",
    Outcome.FAILED: "No answer",
}

NO_SOURCE = "No source was found for this answer."
SOURCE_MARKS = {"verified": "✓", "located": "", "unverified": "unverified"}


def count(number: int, thing: str) -> str:
    """1 step, 2 steps."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def duration(seconds: float) -> str:
    """A duration as people say it: 4.8 s, 12 s, 1 min 40 s."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 and seconds % 1 else f"{seconds:.0f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
