"""Which level of locking holds on this machine."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Level:
    """number: 1 is the strongest; 0 means that the kernel locks nothing. reason: one sentence for the visitor."""

    number: int
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.number} {self.name}"


LIMITS_ONLY = Level(
    0,
    "limits only",
    "The model's code runs in its own process with limits, but the kernel does not lock it in.",
)


def choose_level(wanted: int | None = None) -> Level:
    """The strongest level that holds here, or the one wanted; SandboxError when that one does not hold."""
    return LIMITS_ONLY
