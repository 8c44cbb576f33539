"""One child process that runs a session's code: its pipe, its deadlines, its end."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent.errors import BoxLost, SandboxError

from .codec import Decoder
from .frames import HEADER, BadFrame, frame_size, pack, unpack
from .limits import Limits

_SENT = (
    *(
        "limits",
        "frames",
        "records",
        "arrays",
        "codec",
        "channel",
        "printed",
        "traces",
        "landlock",
        "seccomp",
        "lock",
    ),
    *("attached", "worker"),
)
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "MPLBACKEND": "Agg",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
_PYTHON_FLAGS = ("-I", "-B", "-X", "utf8", "-c")
_BOOTSTRAP = """
import json, os, sys, types
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece: os._exit(0)
        data += piece
    return data
package = sys.modules["box"] = types.ModuleType("box")
package.__path__ = []
start = json.loads(take(int(take(10))))
for name, source in start["sources"].items():
    module = sys.modules["box." + name] = types.ModuleType("box." + name)
    module.__package__ = "box"
    setattr(package, name, module)
    exec(compile(source, "<box." + name + ">", "exec"), module.__dict__)
sys.modules["box.worker"].main(start["preload"])
"""
_START_SECONDS = 30.0
_SEND_SECONDS = 5.0
_STOP_SECONDS = 0.1


@dataclass(frozen=True)
class Frame:
    """One message of the box; nothing in it is trusted."""

    op: str
    message: dict[str, Any]
    decoder: Decoder


def _start(preload: Sequence[str]) -> bytes:
    folder = Path(__file__).parent
    sources = {name: (folder / f"{name}.py").read_text("utf-8") for name in _SENT}
    text = json.dumps({"sources": sources, "preload": preload}).encode()
    return b"%010d" % len(text) + text


class Box:
    """A child that loads Python and its libraries at once, and takes code after `open`.

    command: what to put before the interpreter, e.g. ("docker", "run", "-i", ...);
    empty runs this very interpreter on this machine. preload: modules that are
    loaded before any code comes (see `preload.py`); one that is not there is left out.
    """

    def __init__(self, command: Sequence[str] = (), preload: Sequence[str] = ()) -> None:
        python = "python3" if command else sys.executable
        environment = {**os.environ} if command else _ENVIRONMENT
        self.limits = Limits()
        self.cancel = threading.Event()
        self._buffer = bytearray()
        try:
            self._process = subprocess.Popen(
                [*command, python, *_PYTHON_FLAGS, _BOOTSTRAP],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd="/",
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise SandboxError(
                f"The sandbox could not be started: {error.strerror}; check the command."
            ) from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        for descriptor in (self._to, self._from, self._process.stderr.fileno()):
            os.set_blocking(descriptor, False)
        self._closed = threading.Lock()
        self._write(_start(preload), _START_SECONDS)

    @property
    def alive(self) -> bool:
        """Whether the process is there and its pipe open."""
        return self._process.poll() is None and not self._closed.locked()

    @property
    def pid(self) -> int:
        return self._process.pid

    def open(self, level: int, limits: Limits, files_dir: Path | None) -> str:
        """Lock the box at `level` and make it ready for code; `files_dir` becomes its working folder.

        Says as which user it runs. SandboxError when the level cannot be had: the box is ended then.
        """
        self._expect("ready")
        message = {"op": "open", "level": level, "limits": asdict(limits), "files_dir": str(files_dir or "")}
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
        if frame is None and self._wait(self._from, timeout, reading=True):
            try:
                data = os.read(self._from, 1 << 18)
            except BlockingIOError:
                return None
            if not data:
                raise self._gone()
            self._buffer += data
            frame = self._parse()
        return frame

    def interrupt(self) -> None:
        """Ask the running code to unwind; harmless when none runs."""
        with suppress(ProcessLookupError, PermissionError):
            self._process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        """End the process and everything of its session; the descriptors stay until `close`."""
        if self._process.poll() is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()

    def close(self) -> None:
        """Kill, reap and close; safe to call twice. Not while another thread reads."""
        if not self._closed.acquire(blocking=False):
            return
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        self._process.wait()

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
        if len(self._buffer) < HEADER.size:
            return None
        try:
            text, blobs = frame_size(bytes(self._buffer[: HEADER.size]), self.limits)
            end = HEADER.size + text + blobs
            if len(self._buffer) < end:
                return None
            message = unpack(bytes(self._buffer[HEADER.size : HEADER.size + text]))
        except BadFrame as error:
            self.kill()
            raise BoxLost(f"The box was ended because it sent {error}") from error
        decoder = Decoder(bytes(self._buffer[HEADER.size + text : end]), self.limits)
        del self._buffer[:end]
        return Frame(message["op"], message, decoder)

    def _write(self, data: bytes, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        view = memoryview(data)
        while view:
            if self.cancel.is_set():
                deadline = min(deadline, time.monotonic() + _STOP_SECONDS)
            if time.monotonic() > deadline:
                self.kill()
                raise BoxLost("The box was ended because it did not read what it was sent")
            if not self._wait(self._to, 0.05, reading=False):
                continue
            try:
                view = view[os.write(self._to, view) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise self._gone() from None

    def _wait(self, descriptor: int, timeout: float, *, reading: bool) -> bool:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN if reading else select.POLLOUT)
        return bool(poll.poll(timeout * 1000))

    def _gone(self) -> BoxLost:
        try:
            code = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        if code < 0:
            return BoxLost(f"The box was ended by {signal.Signals(-code).name}")
        said = ""
        with suppress(OSError):
            said = (
                os.read(self._process.stderr.fileno(), 4096).decode("utf-8", "replace")
                if self._process.stderr
                else ""
            )
        last = said.strip().splitlines()[-1:] or [f"exit code {code}"]
        return BoxLost(f"The box ended by itself ({last[0][:200]})")
