"""Which level of locking holds on this machine: not what it promises, but what attacks find."""

import json
import os
import socket
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent.errors import SandboxError

from .box import Box
from .command import Command
from .level import LEVELS, NO_CODE, SMALL, Level
from .wire.limits import Limits

__all__ = ["Level", "Trial", "attack", "choose_level", "probe"]

# Each raises when the lock holds; what ends normally has got through.
_ATTACKS = """
import ctypes, errno, json, os, socket
# Another error, such as "not found", would not show that the lock refused it.
REFUSALS = (errno.EPERM, errno.EACCES, errno.ENOSYS)
F_SETOWN = 8
libc = ctypes.CDLL(None, use_errno=True)
def called(result):
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
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
outcomes = {}
for name, attack in [(n, a) for n, a in globals().items() if "_" in n and callable(a) and a.__module__ == "__main__"]:
    try:
        attack()
        outcomes[name] = ""
    except OSError as error:
        outcomes[name] = error.strerror if error.errno in REFUSALS else ""
json.dumps(outcomes)
"""

# The same in Monty, where what would reach outside is mostly not there at all.
_SMALL_ATTACKS = """
import json, os
def read_the_host(): open(f"/proc/{HOST}/environ", "rb").read(1)
def read_a_file(): open(SECRET).read()
def read_through_proc(): open("/proc/self/root" + SECRET).read()
def write_a_file(): open(SECRET + ".new", "w").close()
def read_the_environment(): os.environ["PATH"]
def connect_to_loopback():
    import socket
    socket.create_connection(("127.0.0.1", PORT), 1)
def start_a_process(): os.system("true")
def signal_the_host(): os.kill(HOST, 0)
def call_the_kernel():
    import ctypes
    ctypes.CDLL(None).getpid()
def reach_the_interpreter(): ().__class__.__base__.__subclasses__()
outcomes = {}
for name, attack in (
    ("read_the_host", read_the_host), ("read_a_file", read_a_file), ("read_through_proc", read_through_proc),
    ("write_a_file", write_a_file), ("read_the_environment", read_the_environment),
    ("connect_to_loopback", connect_to_loopback), ("start_a_process", start_a_process),
    ("signal_the_host", signal_the_host), ("call_the_kernel", call_the_kernel),
    ("reach_the_interpreter", reach_the_interpreter),
):
    try:
        attack()
        outcomes[name] = ""
    except FileNotFoundError:
        outcomes[name] = ""
    except Exception as error:
        outcomes[name] = str(error)
json.dumps(outcomes)
"""

# Behind a command the host is out of sight: there its keeper, and a file that every system has, are attacked.
_KNOWN_THERE = 'import os\nHOST, SECRET, PORT = os.getppid(), "/etc/passwd", 9\n'
_PRELOAD = {SMALL.number: ("pydantic_monty",)}


@dataclass(frozen=True)
class Trial:
    """What ten attacks found at a level. outcomes: attack -> how it was refused, empty when it got through.

    problem: why the level does not hold here, empty when it does.
    """

    problem: str
    outcomes: Mapping[str, str] = field(default_factory=dict)


def choose_level(
    wanted: int | None = None, *, fail_closed: bool = False, command: Command | None = None
) -> Level:
    """The strongest level at which every attack fails here, or the one `wanted`; without any, no code is run.

    SandboxError when `wanted` does not hold on this machine, or when none up to
    level 3 does and `fail_closed` says that strangers will use it. Takes under a second.
    command: where the boxes run; the attacks are tried there, and one that gets through is no choice.
    """
    if wanted is not None and wanted not in LEVELS:
        raise SandboxError(f"Sandbox level {wanted} does not exist; there are {', '.join(map(str, LEVELS))}.")
    if wanted == SMALL.number and command:
        raise SandboxError("SANDBOX=3 runs no box behind SANDBOX_COMMAND: unset one of the two.")
    found = []
    for level in (LEVELS[wanted],) if wanted else LEVELS.values():
        if level == NO_CODE or (level == SMALL and command):
            continue
        problem = attack(level.number, command).problem
        if not problem:
            return level
        found.append(f"level {level.number}: {problem}")
    where = "behind SANDBOX_COMMAND" if command else "on this machine"
    if wanted and wanted != NO_CODE.number:
        raise SandboxError(
            f"SANDBOX={wanted} cannot be had {where}, because {found[0].partition(': ')[2]}: "
            "unset SANDBOX to take the strongest level that holds."
        )
    if fail_closed:
        why = f", and none holds here ({'; '.join(found)})" if found else ""
        raise SandboxError(
            f"A Space answers strangers and so needs sandbox level 3 or a stronger one{why}: "
            "run it where the kernel allows seccomp."
        )
    if command:
        raise SandboxError(f"The model's code cannot be locked in {where} ({'; '.join(found)}).")
    why = f"no level holds on this machine ({'; '.join(found)})" if found else "SANDBOX=4 says so"
    return replace(NO_CODE, reason=f"{NO_CODE.reason.removesuffix('.')}, because {why}.")


def probe(number: int, command: Command | None = None) -> str:
    """Why the level does not hold on this machine; empty when it does."""
    return attack(number, command).problem


def attack(number: int, command: Command | None = None) -> Trial:
    """Try the attacks in a throw-away box of that level."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder) / "secret"
        secret.write_text("for the host only", encoding="utf-8")
        known = f"HOST, SECRET, PORT = {os.getpid()}, {str(secret)!r}, {server.getsockname()[1]}\n"
        code = _SMALL_ATTACKS if number == SMALL.number else _ATTACKS
        try:
            with closing(
                Box(command, preload=_PRELOAD.get(number, ("ctypes", "socket", "encodings.idna")))
            ) as box:
                box.open(number, Limits(), None)
                outcomes = _run(box, (_KNOWN_THERE if command else known) + code)
        except SandboxError as error:
            return Trial(str(error).removesuffix("."))
        written = [path.name for path in Path(folder).iterdir() if path != secret]
    through = [name.replace("_", " ") for name, refused in outcomes.items() if not refused]
    through += [f"wrote {name}" for name in written]
    return Trial(f"an attack got through ({', '.join(through)})" if through else "", outcomes)


def _run(box: Box, code: str) -> dict[str, str]:
    box.send({"op": "run", "step": 1, "code": code}, [])
    for _ in range(100):
        frame = box.receive(0.1)
        if frame is not None and frame.op == "done":
            return {str(name): str(how) for name, how in json.loads(str(frame.message["value"])).items()}
        if frame is not None and frame.op != "print":
            raise SandboxError(f"the probe ended with {frame.op} ({frame.message.get('trace')})")
    raise SandboxError("the probe did not end")
