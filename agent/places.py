"""The places of the app: so many sessions are at work at once, and the others wait in line for theirs.

A session keeps its place between two questions, for its variables to be there
still; but while somebody waits, whoever is idle makes room.
"""

import threading
from collections.abc import Callable
from typing import Protocol

from agent.errors import Stopped, TooManyRuns

_POLL_SECONDS = 0.1


class Holder(Protocol):
    """A session, as far as its place goes."""

    @property
    def visitor(self) -> str: ...
    @property
    def busy(self) -> bool: ...
    @property
    def last_used(self) -> float: ...
    def close(self) -> None: ...


class Places:
    """Who is at work and who waits; threads may share it."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._held: list[Holder] = []
        self._line: list[Holder] = []

    def join(self, holder: Holder) -> None:
        """Stand in line for a place, unless one is held. TooManyRuns when the visitor is in line already."""
        with self._lock:
            if holder in self._held:
                return
            if any(other.visitor == holder.visitor for other in self._line):
                raise TooManyRuns(
                    "Another question of yours is in line already: wait for its turn or stop it, then ask again."
                )
            self._line.append(holder)

    def wait(self, holder: Holder, cancel: threading.Event, on_place: Callable[[int], None]) -> None:
        """Return when whoever joined has a place.

        `on_place`: told the place in the line, counted from 1, whenever it is another
        one. Raises Stopped when `cancel` is set first.
        """
        told = 0
        try:
            while place := self._place(holder):
                if place == 1 and self._make_room():
                    continue
                if place != told:
                    on_place(told := place)
                if cancel.wait(_POLL_SECONDS):
                    raise Stopped("The run was stopped.")
        finally:
            self.leave_line(holder)

    def leave_line(self, holder: Holder) -> None:
        with self._lock:
            self._remove(self._line, holder)

    def in_line(self, holder: Holder) -> bool:
        with self._lock:
            return holder in self._line

    def leave(self, holder: Holder) -> None:
        """Give the place back, or the one in the line."""
        with self._lock:
            self._remove(self._held, holder)
            self._remove(self._line, holder)

    def _place(self, holder: Holder) -> int:
        """The place in the line; 0 for whoever has come to work."""
        with self._lock:
            if holder not in self._line:
                return 0
            if self._line[0] is holder and len(self._held) < self._count:
                self._held.append(self._line.pop(0))
                return 0
            return self._line.index(holder) + 1

    def _make_room(self) -> bool:
        """Let the longest idle session go; whether there was one, and it had not begun to work again."""
        with self._lock:
            idle = min(
                (held for held in self._held if not held.busy), key=lambda held: held.last_used, default=None
            )
        if idle is None:
            return False
        idle.close()  # not under the lock, since it comes back here
        with self._lock:
            return idle not in self._held

    @staticmethod
    def _remove(holders: list[Holder], holder: Holder) -> None:
        if holder in holders:
            holders.remove(holder)
