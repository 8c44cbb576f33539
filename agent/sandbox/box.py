"""One child process that runs a session's code: its pipe, its deadlines, its end."""

import os
import select
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agent.errors import BoxLost, SandboxError

from .child import Child, KeptChild
from .command import Command
from .forkserver import ForkServer
from .incoming import Frame, Incoming
from .start import BOOTSTRAP, ENVIRONMENT, start
from .wire.frames import BadFrame, pack
from .wire.limits import Limits

_START_SECONDS = 30.0
_SEND_SECONDS = 5.0
_STOP_SECONDS = 0.1


class Box:
    """A child that loads Python and its libraries at once, and takes code after `open`.

    command: where the child runs; None is this very interpreter on this machine.
    preload: modules that are loaded before any code comes (see `preload.py`);
    one that is not there is left out. server: forks the child, with what that has loaded, instead.
    """

    def __init__(
        self,
        command: Command | None = None,
        preload: Sequence[str] = (),
        server: ForkServer | None = None,
    ) -> None:
        self.command = command
        self.limits = Limits()
        self.cancel = threading.Event()
        self.idle_since = 0.0
        """When its last step was over, on the monotonic clock; 0 while one runs."""
        self._incoming = Incoming()
        self._closed = threading.Lock()
        if server is not None:
            self._child: Child = server.child()
            return
        self._child = KeptChild(BOOTSTRAP, command) if command else Child(BOOTSTRAP, ENVIRONMENT)
        try:
            self._write(start(preload, compiled=command is None), _START_SECONDS)
        except BoxLost as error:
            self.close()
            raise SandboxError(
                f"The sandbox could not be started, because {str(error)[0].lower()}{str(error)[1:]}."
            ) from error

    @property
    def alive(self) -> bool:
        """Whether the process is there and was not ended."""
        return self._child.alive

    @property
    def pid(self) -> int:
        """The process on this machine: the box, or the command that reaches it."""
        return self._child.pid

    def cpu_seconds(self) -> float:
        """CPU time that it has used; 0 where the system does not tell, or it runs behind a command."""
        return self._child.cpu_seconds()

    def open(self, level: int, limits: Limits, files_dir: Path | None, shelf: bool = False) -> str:
        """Lock the box at `level` and make it ready for code; `files_dir` becomes its working folder,
        unless it runs behind a command, where that folder is not.

        shelf: the box may ask for what it cannot open itself ("module", "data").

        Says as which user it runs. SandboxError when the level cannot be had: the box is ended then.
        """
        self._expect("ready")
        folder = "" if self.command or not files_dir else str(files_dir)
        message = {
            "op": "open",
            "level": level,
            "limits": asdict(limits),
            "files_dir": folder,
            "shelf": shelf,
        }
        self.send(message, [])
        self.limits = limits
        return str(self._expect("opened").message.get("user"))

    def send(self, message: dict[str, Any], blobs: list[bytes]) -> None:
        """Write one frame; BoxLost when the box does not read it in time, CannotCross when it is too large."""
        seconds = min(_SEND_SECONDS, self.limits.step_seconds + self.limits.grace_seconds)
        self._write(pack(message, blobs, self.limits), seconds)

    def receive(self, timeout: float) -> Frame | None:
        """The next frame, None when none came within `timeout` seconds.

        BoxLost when the box is gone, or sent what is no frame (it is killed then).
        """
        frame = self._parse()
        if frame is None and self._wait(self._child.stdout, timeout, reading=True):
            try:
                data = os.read(self._child.stdout, 1 << 18)
            except BlockingIOError:
                return None
            if not data:
                raise self._gone()
            self._incoming.feed(data)
            frame = self._parse()
        return frame

    def interrupt(self) -> None:
        """Ask the running code to unwind; harmless when none runs."""
        self._write_raw(self._child.interrupt(), _STOP_SECONDS)

    def kill(self) -> None:
        """End the box, whatever it does; the descriptors stay until `close`."""
        self._child.kill()

    def close(self) -> None:
        """Kill, reap and close; safe to call twice. Not while another thread reads."""
        if self._closed.acquire(blocking=False):
            self._child.close()

    def _expect(self, op: str) -> Frame:
        deadline = time.monotonic() + _START_SECONDS
        frame = None
        while frame is None and time.monotonic() < deadline and not self.cancel.is_set():
            frame = self.receive(0.05)
        if frame is not None and frame.op == op:
            return frame
        self.kill()
        if frame is not None and frame.op == "refused":
            raise SandboxError(f"The sandbox cannot be locked: {frame.message.get('why')}.")
        raise SandboxError("The sandbox did not start in time; the machine may be overloaded, so try again.")

    def _parse(self) -> Frame | None:
        try:
            return self._incoming.next(self.limits)
        except BadFrame as error:
            self.kill()
            raise BoxLost(f"The box was ended because it sent {error}") from error

    def _write(self, data: bytes, seconds: float) -> None:
        self._write_raw(self._child.to_send(data), seconds)

    def _write_raw(self, data: bytes, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        view = memoryview(data)
        while view:
            if self._child.killed:
                raise BoxLost("The box was ended")
            if self.cancel.is_set():
                deadline = min(deadline, time.monotonic() + _STOP_SECONDS)
            if time.monotonic() > deadline:
                self.kill()
                raise BoxLost("The box was ended because it did not read what it was sent")
            if not self._wait(self._child.stdin, 0.05, reading=False):
                continue
            try:
                view = view[self._child.write(view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._gone() from None

    def _wait(self, descriptor: int, timeout: float, *, reading: bool) -> bool:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN if reading else select.POLLOUT)
        return bool(poll.poll(timeout * 1000))

    def _gone(self) -> BoxLost:
        return BoxLost(f"The box {self._child.end(self.cancel)}")
