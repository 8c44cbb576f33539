"""Ends boxes that compute when no step runs: an honest one waits for the next, and uses no CPU time meanwhile."""

import logging
import threading

from .box import Box

_EVERY_SECONDS = 1.0
_SPARE_SECONDS = 0.5  # of CPU time, which taking in variables and files may need
_log = logging.getLogger(__name__)


class Watch:
    """Looks at the boxes that it follows once a second, in a thread that ends with the last of them."""

    def __init__(self) -> None:
        self._boxes: dict[Box, tuple[float, float]] = {}
        """Since when each was seen idle (`Box.idle_since`), and its CPU time then."""
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def follow(self, box: Box) -> None:
        """Look at it from now on."""
        with self._changed:
            self._boxes[box] = (0.0, 0.0)
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="box-watch", daemon=True)
                self._thread.start()

    def forget(self, box: Box) -> None:
        """Look at it no more."""
        with self._changed:
            self._boxes.pop(box, None)
            self._changed.notify()

    def _look(self) -> None:
        with self._changed:
            while self._boxes:
                self._changed.wait(_EVERY_SECONDS)
                for box in list(self._boxes):
                    self._judge(box)
            self._thread = None

    def _judge(self, box: Box) -> None:
        since, used = box.idle_since, box.cpu_seconds()
        seen, before = self._boxes[box]
        if not since or seen != since:
            self._boxes[box] = (since, used)
        elif used - before > _SPARE_SECONDS and box.idle_since == since:
            _log.warning("box %d was ended, because it computed after its step was over", box.pid)
            box.kill()
            del self._boxes[box]
