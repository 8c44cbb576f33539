"""One level of the sandbox with something worth attacking around it."""

import ctypes
import os
import re
import socket
import struct
import sysconfig
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent.errors import BoxLost, CodeError, Stopped
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.level import SMALL, Level
from agent.sandbox.pool import BoxPool
from agent.sandbox.wire.limits import Limits

TOKEN = "hf_not_a_real_token"
NOTHING_LOCKED = Level(0, "nothing locked", "Where attacks must get through, or they would prove nothing.")
LIMITS = Limits(step_seconds=15, grace_seconds=1, cpu_seconds=30, memory_bytes=256 << 20)

_RUNS_FIRST = 0.3
# An attack that holds up Stop for as long as it likes is over this on any machine.
_STOP_CEILING = 10.0

# What the attacks import: at level 2 nothing can be imported later, and a failed import would prove nothing.
_PRELOAD = (
    "ctypes fcntl gc itertools json mmap numpy pickle resource signal socket subprocess unicodedata zlib"
)
_BEFORE = """
import ctypes, errno, fcntl, io, os, resource, signal, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
# An error for another reason would not show that the lock refused the call.
_REFUSALS = (None, errno.EPERM, errno.EACCES, errno.ENOSYS, errno.ENOMEM, errno.EMFILE, socket.EAI_AGAIN)
def _called(result):
    if result < 0: raise OSError(ctypes.get_errno(), "refused")
    return result
"""
_AFTER = """
def _happened():
    through = []
    for name, attack in list(globals().items()):
        if type(attack) is type(_happened) and name[0] != "_":
            try:
                attack()
            except OSError as error:
                if error.errno not in _REFUSALS: through.append(f"{name} ({error})")
                continue
            through.append(name)
    return "got through: " + ", ".join(through) if through else "denied"
_happened()
"""

# What a forger needs: the channel that the worker itself uses, found through what prints.
FORGE = """
import json, os, struct, sys, time
channel = sys.stdout._channel
def send(message, text=None, blob=b""):
    text = json.dumps(message).encode() if text is None else text
    data = struct.pack(">II", len(text), len(blob)) + text + blob
    while data: data = data[os.write(channel._out, data):]
def call(tool, *args, **kwargs):
    send({"op": "call", "step": 1, "call": 1, "tool": tool, "args": list(args), "kwargs": kwargs})
"""


class Arena:
    """Secrets, listeners and a neighbour; `with` cleans all up. `level` is what the boxes are locked at."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self._pool = BoxPool(level, size=0, preload=None if level == SMALL else _PRELOAD.split())
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.secret = self.folder / "secret"
        self.secret.write_text("for the host only", encoding="utf-8")
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self._unix = socket.socket(socket.AF_UNIX)
        self._unix.bind(str(self.folder / "socket"))
        self._unix.listen()
        self._abstract = socket.socket(socket.AF_UNIX)
        self._name = f"\0arena-{os.getpid()}-{level.number}"
        self._abstract.bind(self._name)
        self._abstract.listen()
        self.port = self._tcp.getsockname()[1]
        self.neighbour = self.box()
        if level.runs_code:
            self.neighbour("secret = 1")
        os.environ["HF_TOKEN"] = TOKEN

    def __enter__(self) -> "Arena":
        return self

    def __exit__(self, *_: object) -> None:
        self.neighbour.cleanup()
        for server in (self._tcp, self._unix, self._abstract):
            server.close()
        self._folder.cleanup()
        os.environ.pop("HF_TOKEN", None)

    def box(self, **limits: Any) -> SandboxExecutor:
        """A new session's executor, its box not yet started."""
        return SandboxExecutor(replace(LIMITS, **limits), pool=self._pool)

    def known(self) -> str:
        """What the attacker is told, as Python: more than a real one would know."""
        facts = {
            "HOST": os.getpid(),
            "NEIGHBOUR": self.neighbour._box.pid if self.neighbour._box else 0,
            "SECRET": str(self.secret),
            "FOLDER": str(self.folder),
            "SOURCE": str(Path(__file__).resolve()),
            "PORT": self.port,
            "UNIX": str(self.folder / "socket"),
            "ABSTRACT": self._name,
            "PACKAGES": sysconfig.get_path("purelib"),
            "MACHINE": os.uname().machine,
        }
        return "".join(f"{name} = {value!r}\n" for name, value in facts.items())

    def tried(self, attempts: str) -> str:
        """Run each function of `attempts` in one box: "denied" when each ends in an OSError.

        The host's own files are looked at afterwards; a change counts as got through.
        """
        before = self.state()
        happened = self.happened(self.known() + _BEFORE + attempts + _AFTER)
        return happened if self.state() == before else f"got through: the host's files changed ({happened})"

    def happened(self, code: str, tools: dict[str, Callable[..., Any]] | None = None, **limits: Any) -> str:
        """How one step ended, in a few words: its value, its error's last line, or how the box was lost."""
        executor = self.box(**limits)
        executor.send_tools(tools or {})
        try:
            output = executor(code)
            return str(output.output)
        except CodeError as error:
            return str(error).splitlines()[-1]
        except BoxLost as error:
            return f"killed: {error}"
        finally:
            executor.cleanup()

    def stopped(self, code: str) -> str:
        """What comes of a click on Stop while `code` runs. How fast it is belongs to the bench."""
        executor = self.box()
        executor("1")
        threading.Timer(_RUNS_FIRST, executor.cancel.set).start()
        began = time.monotonic()
        try:
            executor(code)
        except Stopped:
            seconds = time.monotonic() - began - _RUNS_FIRST
            return "stopped" if seconds < _STOP_CEILING else f"stopped after {seconds:.1f} s"
        finally:
            executor.cleanup()
        return "it ended"

    def state(self) -> list[tuple[str, int, int, str]]:
        files = sorted(self.folder.rglob("*"))
        return [
            (p.name, p.lstat().st_mode, p.lstat().st_nlink, p.read_text() if p.is_file() else "")
            for p in files
        ]


def grown(action: Callable[[], str]) -> tuple[str, int]:
    """What `action` said, and by how many MiB this process is larger after it."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    before = resident()
    said = action()
    return said, (resident() - before) >> 20


def forged_calls(arena: Arena, code: str) -> str:
    """What `code` says of the calls that it forges, and what came of them: it has a tool `ours`, another box `theirs`."""
    seen: list[str] = []

    def ours() -> str:
        seen.append("ours")
        return "ours"

    other = arena.box()
    other.send_tools({"theirs": lambda: seen.append("theirs")})
    # Ten thousand calls may take long on a machine that is busy; what is tried here is their number.
    said = arena.happened(code, {"ours": ours}, step_seconds=100, cpu_seconds=100, tool_calls=50)
    other.cleanup()
    return f"{said}, {len(seen)} calls served, others' tools {'used' if 'theirs' in seen else 'untouched'}"


def filter_like_docker() -> None:
    """Put this process, and all it starts, under a filter that refuses what Docker's default profile refuses."""
    from lock import seccomp

    refused = """
        mount 165 40    umount2 166 39  swapon 167 224   reboot 169 142   init_module 175 105  delete_module 176 106
        setns 308 268   unshare 272 97  keyctl 250 219   add_key 248 217  request_key 249 218  bpf 321 280
        userfaultfd 323 282  perf_event_open 298 241  ptrace 101 117  io_uring_setup 425 425  kexec_load 246 104
    """
    column, arch, number = seccomp._ARCHITECTURES[os.uname().machine]
    code = [(0x20, 0, 0, 4), (0x15, 1, 0, arch), (0x06, 0, 0, 0x80000000), (0x20, 0, 0, 0)]
    for call in refused.split()[column + 1 :: 3]:
        code += [(0x15, 0, 1, int(call)), (0x06, 0, 0, 0x00050001)]
    code.append((0x06, 0, 0, 0x7FFF0000))
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in code)
    buffer = ctypes.create_string_buffer(program, len(program))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    if libc.syscall(number, 1, 1, struct.pack("HP", len(code), ctypes.addressof(buffer))) != 0:
        raise OSError(ctypes.get_errno(), "the outer filter cannot be set")


def matches(expected: str, happened: str) -> bool:
    return re.search(expected, happened) is not None
