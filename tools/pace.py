"""A polite pace: requests to one host are kept apart, those of all sessions together."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tools.connection import Watch

_SLICE = 0.1
_KEPT_HOSTS = 2000


class Busy(Exception):
    """No turn came in time."""


class Pace:
    """Thread-safe; one for the whole app."""

    def __init__(self, seconds: float = 0.0, together: int = 4) -> None:
        """`seconds`: least time between the starts of two requests to a host. `together`: most at once; 0 for no limit."""
        self._seconds = seconds
        self._together = together
        self._changed = threading.Condition()
        self._open: dict[str, int] = {}
        self._next: dict[str, float] = {}

    @contextmanager
    def turn(self, host: str, watch: Watch, *, apart: bool = True) -> Iterator[None]:
        """Waits for a turn at `host` and holds it. Raises Busy when `watch` ends before one comes.

        `apart`: after the time that is kept between two; the parts of one page need not wait for that.
        """
        self._take(host, watch, apart)
        try:
            yield
        finally:
            with self._changed:
                left = self._open[host] - 1
                if left:
                    self._open[host] = left
                else:
                    del self._open[host]
                self._changed.notify_all()

    def _take(self, host: str, watch: Watch, apart: bool) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                wait = self._next.get(host, 0.0) - now if apart else 0.0
                if wait <= 0 and not (self._together and self._open.get(host, 0) >= self._together):
                    break
                if wait >= watch.left() or not watch.left():
                    raise Busy
                self._changed.wait(min(_SLICE, wait) if wait > 0 else _SLICE)
            self._open[host] = self._open.get(host, 0) + 1
            self._next[host] = now + self._seconds
            if len(self._next) > _KEPT_HOSTS:
                self._next = {name: at for name, at in self._next.items() if at > now}
