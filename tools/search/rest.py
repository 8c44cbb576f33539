"""Which providers are not asked for a while, and why."""

import threading
import time


class Resting:
    """Thread-safe."""

    def __init__(self, cooldown: float) -> None:
        """`cooldown`: seconds of rest when nobody knows better."""
        self._cooldown = cooldown
        self._lock = threading.Lock()
        self._until: dict[str, tuple[float, str]] = {}

    def add(self, name: str, reason: str, seconds: float | None = None) -> str:
        """Lets `name` rest; its name and the reason as one text."""
        with self._lock:
            rest = self._cooldown if seconds is None else seconds
            if rest > 0:
                self._until[name] = (time.monotonic() + rest, reason)
        return f"{name}: {reason}"

    def reason(self, name: str) -> str:
        """Why `name` is not asked now; empty when it is."""
        with self._lock:
            until, reason = self._until.get(name, (0.0, ""))
            if until and until <= time.monotonic():
                del self._until[name]
                return ""
            return reason

    def shortest(self) -> float:
        """Seconds until the first of them may be asked again; 0 when none rests."""
        with self._lock:
            left = [until - time.monotonic() for until, _ in self._until.values()]
        return max(0.0, min(left, default=0.0))
