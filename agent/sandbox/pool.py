"""Boxes started ahead of need, so that a session's first step does not wait for pandas."""

import threading
from collections import deque
from collections.abc import Sequence

from agent.errors import SandboxError

from .box import Box
from .command import Command
from .forkserver import ForkServer, forks_here
from .level import Level
from .preload import preload_for
from .watch import Watch

_REFILL_SECONDS = 0.5


class BoxPool:
    """Keeps `size` boxes loading or loaded; a box is given to one session and never comes back."""

    def __init__(
        self,
        level: Level,
        *,
        size: int = 1,
        command: Command | None = None,
        preload: Sequence[str] | None = None,
    ) -> None:
        """level: what the boxes are locked at when a session opens them. command, preload: as in `Box`."""
        self.level = level
        self._size = size if level.runs_code else 0
        self.command = command
        self._preload = tuple(preload_for(level.number, command is None) if preload is None else preload)
        self._ready: deque[Box] = deque()
        self._lock = threading.Lock()
        self._closed = False
        self._server = ForkServer(self._preload) if command is None and forks_here() else None
        self.watch = Watch()
        self._fill()

    def take(self) -> Box:
        """A box to `open`; another one soon starts loading in its place. SandboxError when none can be started."""
        if not self.level.runs_code:
            raise SandboxError(self.level.reason)
        with self._lock:
            if self._closed:
                raise SandboxError("The app is closing, so no new sandbox is started.")
            box = self._alive() or self._new()
        refill = threading.Timer(
            _REFILL_SECONDS, self._fill
        )  # not at once: this session's first step comes first
        refill.daemon = True
        refill.start()
        return box

    def close(self) -> None:
        """End the boxes that nobody took, and what forks them: with it end those that were taken."""
        with self._lock:
            self._closed = True
            while self._ready:
                self._ready.popleft().close()
            if self._server is not None:
                self._server.close()

    def _new(self) -> Box:
        return Box(self.command, self._preload, self._server)

    def _alive(self) -> Box | None:
        while self._ready:
            box = self._ready.popleft()
            if box.alive:
                return box
            box.close()
        return None

    def _fill(self) -> None:
        with self._lock:
            while not self._closed and len(self._ready) < self._size:
                self._ready.append(self._new())
