"""What rendering may cost."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RenderLimits:
    """`memory_bytes` is that of all of Chromium; one of its processes may use half of it."""

    seconds: float = 20.0
    """One page, from the wait for a free place to its text."""
    settle_seconds: float = 8.0
    """How long a page may go on asking for things before it is read as it is."""
    idle_seconds: float = 60.0
    """After which a Chromium that nobody needs is closed."""
    memory_bytes: int = 2 << 30
    requests: int = 200
    bytes: int = 40_000_000
    """Requests of one page, and what all their answers hold together."""
    documents: int = 5
    """Addresses that a page may lead on to, one after another; and frames that it may have."""
    text_chars: int = 10_000_000
    together: int = 2
    """Pages rendered at once."""
