"""A process that has loaded the libraries once and forks a box of itself whenever one is wanted.

It is told nothing but "one more", with the descriptors of that box: neither code
nor a value of any visitor reaches it, so there is none for a box to inherit. It
ends with the app, and the kernel ends its boxes with it.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path

from agent.errors import SandboxError

from .child import PYTHON_FLAGS, Child
from .start import BOOTSTRAP, ENVIRONMENT, start

_SEND_SECONDS = 10.0
_TOLD_SECONDS = 1.0


def forks_here() -> bool:
    """Whether this system forks such a process safely."""
    return sys.platform == "linux"


class ForkServer:
    """preload: modules that it loads, and so has every box of it. It starts with the first of them."""

    def __init__(self, preload: Sequence[str]) -> None:
        self._preload = preload
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def child(self) -> "ForkedChild":
        """A box that will be there as soon as the libraries are. SandboxError when the server cannot be started."""
        return ForkedChild(self)

    def send(self, descriptors: Sequence[int]) -> None:
        """Ask for a box with these as its stdin, stdout, stderr, and where to tell its number and its end."""
        with self._lock:
            for last in (False, True):
                try:
                    socket.send_fds(self._running(), [b"1"], descriptors)
                    return
                except OSError as error:
                    self._end()
                    if last:
                        raise SandboxError(
                            f"The sandbox could not be started, because its server ended ({error.strerror}); try again."
                        ) from error

    def close(self) -> None:
        """End it, and the boxes that it forked; a later `child` starts it again."""
        with self._lock:
            self._end()

    def _running(self) -> socket.socket:
        if self._control is not None and self._process is not None and self._process.poll() is None:
            return self._control
        self._end()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = subprocess.Popen(
                    [sys.executable, *PYTHON_FLAGS, BOOTSTRAP],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env=ENVIRONMENT,
                    cwd=Path("/"),
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise SandboxError(
                    f"The sandbox could not be started: {error.strerror}; try again."
                ) from error
        self._process, self._control = process, ours
        self._finalizer = weakref.finalize(self, _finish, process, ours)
        ours.settimeout(_SEND_SECONDS)
        ours.sendall(start(self._preload, compiled=True, forks=True))
        return ours

    def _end(self) -> None:
        if self._process is not None:
            self._finalizer()
            self._process = self._control = None


class ForkedProcess:
    """What `subprocess.Popen` is for a child of one's own. Its number is its own until `wait` has said its end."""

    def __init__(self, status: socket.socket) -> None:
        self._status = status
        self._lock = threading.Lock()
        self._number = 0
        self._code: int | None = None

    @property
    def pid(self) -> int:
        """0 while it is not yet born."""
        with self._lock:
            self._born(0)
            return self._number

    def poll(self) -> int | None:
        """As Popen has it: how it ended, None while it has not."""
        with self._lock:
            return self._ended(0)

    def wait(self, timeout: float | None = None) -> int:
        """How it ended; what was not yet born ends by itself, once its pipes are closed."""
        with self._lock:
            born = self._born(0)
            code = self._ended(timeout) if born or self._code is not None else 0
            if code is None:
                raise subprocess.TimeoutExpired("box", timeout or 0)
            self._code = code
            self._status.close()
            return code

    def send_signal(self, sig: int) -> None:
        with self._lock:
            if self._born(0) and self._ended(0) is None:
                os.kill(self._number, sig)

    def kill(self) -> None:
        """Of its whole session, while its number is its own."""
        with self._lock:
            if self._born(0) and self._ended(0) is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._number, signal.SIGKILL)
                os.kill(self._number, signal.SIGKILL)

    def _born(self, timeout: float) -> bool:
        if not self._number and self._code is None and _readable(self._status, timeout):
            told = self._status.recv(4)
            if told:
                self._number = int.from_bytes(told, "big")
            else:  # the server ended before
                self._code = 1
        return self._number > 0

    def _ended(self, timeout: float | None) -> int | None:
        if self._code is None and self._born(0) and _readable(self._status, timeout):
            told = self._status.recv(4)  # nothing when the server is gone, and the box with it
            self._code = int.from_bytes(told, "big", signed=True) if told else -signal.SIGKILL
        return self._code


class ForkedChild(Child):
    """A process that a server forked."""

    def __init__(self, server: ForkServer) -> None:
        ours, theirs = socket.socketpair()
        pipes = [os.pipe() for _ in range(3)]
        given = [pipes[0][0], pipes[1][1], pipes[2][1], theirs.fileno()]
        kept = [pipes[0][1], pipes[1][0], pipes[2][0]]
        try:
            server.send(given)
        except BaseException:
            ours.close()
            for descriptor in kept:
                os.close(descriptor)
            raise
        finally:
            theirs.close()
            for descriptor in given[:3]:
                os.close(descriptor)
        stdin, stdout, stderr = kept
        files = FileIO(stdin, "w"), FileIO(stdout), FileIO(stderr)
        self._follow(ForkedProcess(ours), files)

    def _kill_all(self) -> None:
        self._process.kill()  # which knows whether its session's number is still its own


def _readable(connection: socket.socket, timeout: float | None) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(None if timeout is None else timeout * 1000))


def _finish(process: subprocess.Popen[bytes], control: socket.socket) -> None:
    control.close()
    try:
        process.wait(_TOLD_SECONDS)
    except subprocess.TimeoutExpired:  # it loads still
        process.kill()
        process.wait()
