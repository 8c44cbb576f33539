"""Which level of locking holds on this machine: not what it promises, but what attacks find."""

import json
import os
import socket
import tempfile
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from agent.errors import SandboxError

from .box import Box
from .command import Command
from .limits import Limits


@dataclass(frozen=True)
class Level:
    """number: 1 is the strongest; 0 means that the kernel locks nothing. reason: one sentence for the visitor."""

    number: int
    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.number} {self.name}"


LIMITS_ONLY = Level(
    0, "limits only", "The model's code runs in its own process, but the kernel does not lock it in."
)
_NAMES = {1: "full", 2: "no files"}
_REASONS = {
    1: "The model's code runs in a locked process: no network, no other process, only the attached files.",
    2: "The model's code runs in a locked process that opens no file at all, because this kernel lacks Landlock.",
}

# Each raises when the lock holds; what ends normally has got through.
_ATTACKS = """
import ctypes, errno, os, socket
# Another error, such as "not found", would not show that the lock refused it.
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)
F_SETOWN = 8
libc = ctypes.CDLL(None, use_errno=True)
def called(result):
    if result < 0: raise OSError(ctypes.get_errno(), "refused")
def read_the_host(): open(f"/proc/{HOST}/environ", "rb").read(1)
def read_a_file(): open(SECRET).read()
def read_through_proc(): open("/proc/self/root" + SECRET).read()
def write_a_file(): open(SECRET + ".new", "w").close()
def connect_to_loopback(): socket.create_connection(("127.0.0.1", PORT), 1).close()
def use_an_abstract_socket(): socket.socket(socket.AF_UNIX).bind("\\0box-probe")
def start_a_process():
    child = os.fork()
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
def signal_the_host(): os.kill(HOST, 0)
def signal_through_a_descriptor(): called(libc.fcntl(1, F_SETOWN, HOST))
def hide_code_in_memory(): called(libc.memfd_create(b"x", 0))
got_through = []
for name, attack in [(n, a) for n, a in globals().items() if "_" in n and callable(a) and a.__module__ == "__main__"]:
    try:
        attack()
    except OSError as error:
        if error.errno in REFUSALS: continue
    got_through.append(name.replace("_", " "))
got_through
"""

# Behind a command the host is out of sight: there its keeper, and a file that every system has, are attacked.
_KNOWN_THERE = 'import os\nHOST, SECRET, PORT = os.getppid(), "/etc/passwd", 9\n'


def choose_level(
    wanted: int | None = None, *, fail_closed: bool = False, command: Command | None = None
) -> Level:
    """The strongest level at which every attack fails here, or the one `wanted`.

    SandboxError when `wanted` does not hold on this machine, or when nothing
    holds and `fail_closed` says that strangers will use it. Takes under a second.
    command: where the boxes run; the attacks are tried there, and one that gets through is no choice.
    """
    if wanted is not None and wanted not in (0, *_NAMES):
        raise SandboxError(f"Sandbox level {wanted} does not exist; there are {', '.join(map(str, _NAMES))}.")
    found = []
    for number in _NAMES if wanted is None else (wanted,) if wanted else ():
        problem = probe(number, command)
        if not problem:
            return Level(number, _NAMES[number], _REASONS[number])
        found.append(f"level {number}: {problem}")
    if wanted or fail_closed or command:
        where = "behind SANDBOX_COMMAND" if command else "on this machine"
        raise SandboxError(f"The model's code cannot be locked in {where} ({'; '.join(found)}).")
    return (
        LIMITS_ONLY if not found else Level(0, LIMITS_ONLY.name, f"{LIMITS_ONLY.reason} ({'; '.join(found)})")
    )


def probe(number: int, command: Command | None = None) -> str:
    """Why the level does not hold on this machine; empty when it does."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder) / "secret"
        secret.write_text("for the host only", encoding="utf-8")
        known = f"HOST, SECRET, PORT = {os.getpid()}, {str(secret)!r}, {server.getsockname()[1]}\n"
        try:
            with closing(Box(command, preload=("ctypes", "socket"))) as box:
                box.open(number, Limits(), None)
                through = _run(box, (_KNOWN_THERE if command else known) + _ATTACKS)
        except SandboxError as error:
            return str(error)
        written = [path.name for path in Path(folder).iterdir() if path != secret]
    return _listed([*through, *(f"wrote {name}" for name in written)])


def _run(box: Box, code: str) -> list[str]:
    box.send({"op": "run", "step": 1, "code": code}, [])
    for _ in range(100):
        frame = box.receive(0.1)
        if frame is not None and frame.op == "done":
            return [str(name) for name in json.loads(str(frame.message["value"]).replace("'", '"'))]
        if frame is not None and frame.op != "print":
            return [f"the probe ended with {frame.op}: {frame.message.get('trace')}"]
    return ["the probe did not end"]


def _listed(through: Iterable[str]) -> str:
    names = list(through)
    return f"an attack got through ({', '.join(names)})" if names else ""
