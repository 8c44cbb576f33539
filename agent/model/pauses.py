"""How long to wait before a server that is not ready is asked again."""

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 15.0


class Pauses:
    """1, 2, 4 … 15 seconds; longer where the server asks for it, but never shorter: some ask for none."""

    def __init__(self, first: float | None = None) -> None:
        """`first`: the first pause, in seconds."""
        self._next = FIRST_SECONDS if first is None else first

    def next(self, named: float | None = None) -> float:
        """Seconds to wait now. `named`: what the server asks for, which its caller may find too long."""
        pause = max(self._next, named or 0.0)
        self._next = min(2 * self._next, max(LONGEST_SECONDS, self._next))
        return pause


def so_far(seconds: float) -> str:
    """How long a wait has taken already, as the tail of a sentence that counts."""
    return f", {seconds:.0f} s so far" if seconds >= 1 else ""
