"""The process of a box: on this machine, or behind a command that reaches another."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from agent.errors import SandboxError

from .command import INTERRUPT, Command, in_pieces

PYTHON_FLAGS = ("-I", "-B", "-X", "utf8", "-c")
_END_SECONDS = 1.0
_HANG_UP_SECONDS = 5.0
_SIGNALLED = 128  # an exit code of 128 + n says "ended by signal n", from a keeper as from a shell


class Process(Protocol):
    """What is used here of `subprocess.Popen`."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...
    def kill(self) -> None: ...


class Child:
    """A process that runs `code`, with what it reads and writes as descriptors that do not block."""

    end_seconds = _END_SECONDS

    def __init__(self, code: str, environment: Mapping[str, str]) -> None:
        self._start([sys.executable, *PYTHON_FLAGS, code], environment, Path("/"))

    def _start(self, line: Sequence[str], environment: Mapping[str, str], cwd: Path | None) -> None:
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                line,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                env=environment,
                cwd=cwd,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise SandboxError(
                f"The sandbox could not be started: {error.strerror}; check the command."
            ) from error
        assert process.stdin and process.stdout and process.stderr
        self._follow(process, (process.stdin, process.stdout, process.stderr))

    def _follow(self, process: Process, pipes: tuple[IO[bytes], IO[bytes], IO[bytes]]) -> None:
        """pipes: the ends here of its stdin, stdout and stderr."""
        self._process, self._pipes = process, pipes
        self.stdin, self.stdout, self._stderr = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self.stdin, self.stdout, self._stderr):
            os.set_blocking(descriptor, False)
        self.killed = False

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return not self.killed and self._process.poll() is None

    def cpu_seconds(self) -> float:
        """CPU time that it has used; 0 where the system does not tell."""
        try:
            stat = Path(f"/proc/{self.pid}/stat").read_text("ascii", "replace")
        except OSError:
            return 0.0
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def to_send(self, data: bytes) -> bytes:
        """What to write to `stdin` so that the box reads `data`."""
        return data

    def write(self, data: memoryview) -> int:
        """Write to `stdin` what it takes now; the number of bytes. BlockingIOError, BrokenPipeError."""
        return os.write(self.stdin, data)

    def interrupt(self) -> bytes:
        """Ask the running code to unwind; what must be written to `stdin` for that is returned."""
        with suppress(ProcessLookupError, PermissionError):
            self._process.send_signal(signal.SIGINT)
        return b""

    def kill(self) -> None:
        """End the process and everything of its session; the descriptors stay until `close`."""
        self.killed = True
        if self._process.poll() is None:
            self._kill_all()

    def close(self) -> None:
        """Kill, close the pipes and reap."""
        self.kill()
        self._close_pipes()
        self._process.wait()

    def end(self, cancel: threading.Event) -> str:
        """How a process ended whose stdout has; one that does not end in time, or until `cancel` is set, is killed."""
        deadline = time.monotonic() + self.end_seconds
        while self._process.poll() is None and time.monotonic() < deadline and not cancel.is_set():
            time.sleep(0.005)
        if self._process.poll() is None:
            self.kill()
        code = self._process.wait()
        number = self._signal(code)
        if number:
            return f"was ended by {_name(number)}"
        try:
            said = os.read(self._stderr, 4096).decode("utf-8", "replace")
        except OSError:
            said = ""
        last = said.strip().splitlines()[-1:] or [f"exit code {code}"]
        return f"ended by itself ({last[0][:200]})"

    def _kill_all(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _close_pipes(self) -> None:
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()

    def _signal(self, code: int) -> int:
        return max(-code, 0)


class KeptChild(Child):
    """A process behind a command; its keeper ends it when `stdin` closes (see `command.py`)."""

    end_seconds = _HANG_UP_SECONDS

    def __init__(self, code: str, command: Command) -> None:
        line = command.line([*PYTHON_FLAGS, code])
        self._writing = threading.Lock()
        self._start(line, command.environment(), None)

    def cpu_seconds(self) -> float:
        return 0.0  # it is spent elsewhere

    def to_send(self, data: bytes) -> bytes:
        return in_pieces(data)

    def write(self, data: memoryview) -> int:
        with self._writing:  # a descriptor that another thread closes may be another file's a moment later
            if self.killed:
                raise BrokenPipeError
            return super().write(data)

    def interrupt(self) -> bytes:
        return INTERRUPT

    def kill(self) -> None:
        """Hang up; the command gets a moment to end what it started, then it is killed too."""
        with self._writing:
            first, self.killed = not self.killed, True
            if first:
                self._pipes[0].close()
        if first:
            threading.Thread(target=self._reap, name="box-end", daemon=True).start()

    def close(self) -> None:
        self.kill()
        self._close_pipes()

    def end(self, cancel: threading.Event) -> str:
        self.kill()  # a command may wait for the end of its stdin, though what it started has ended
        return super().end(cancel)

    def _reap(self) -> None:
        try:
            self._process.wait(_HANG_UP_SECONDS)
        except subprocess.TimeoutExpired:
            super().kill()
            self._process.wait()

    def _signal(self, code: int) -> int:
        known = code - _SIGNALLED in set(signal.Signals)
        return code - _SIGNALLED if known else super()._signal(code)


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # most of those of real time have no name
        return f"signal {number}"
