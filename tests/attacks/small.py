"""The 29 attacks in the terms of level 3: what an attacker can write in Monty, and what must come of it."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.errors import CodeError
from tests.attacks.arena import Arena, forged_calls, grown

_AFTER = """
def _refusal(error):
    return isinstance(error, (PermissionError, ImportError, AttributeError, NameError, NotImplementedError)) or (
        "is not supported in this environment" in str(error))
_through = []
for _name, _attack in _attacks:
    try:
        _attack()
        _through.append(_name)
    except Exception as error:
        if not _refusal(error): _through.append(f"{_name} ({error})")
"got through: " + ", ".join(_through) if _through else "denied"
"""


@dataclass(frozen=True)
class Small:
    """expected: a pattern of what `run` must say. attempts: where they are harmless, they must get through in an unlocked CPython."""

    expected: str
    run: Callable[[Arena], str]
    attempts: str = ""

    def control(self, unlocked: Arena) -> str:
        said = _denied(unlocked, self.attempts)
        lame = [name for name in _names(self.attempts) if not re.search(rf"\b{name}\b(?! \()", said)]
        return f"did not even get through unlocked: {', '.join(lame)} ({said})" if lame else said


def _denied(arena: Arena, attempts: str) -> str:
    """Each function of `attempts` alone: "denied" when each is refused, by whatever is not there or not allowed."""
    listed = ", ".join(f"({name!r}, {name})" for name in _names(attempts))
    before = arena.state()
    happened = arena.happened(f"{arena.known()}{attempts}\n_attacks = [{listed}]{_AFTER}")
    return happened if arena.state() == before else f"got through: the host's files changed ({happened})"


def _names(attempts: str) -> list[str]:
    return re.findall(r"^def (\w+)\(", attempts, re.MULTILINE)


def _tried(attempts: str, *, harmless: bool = True) -> Small:
    return Small(r"^denied$", lambda arena: _denied(arena, attempts), attempts if harmless else "")


ENVIRONMENT = """
import os
def proc_environ(): open("/proc/self/environ").read()
def environ(): list(os.environ)
def getenv(): os.getenv("HF_TOKEN")
def lookup(): os.environ.get("HF_TOKEN")
"""

HOST_MEMORY = """
import os
def host_environ(): open(f"/proc/{HOST}/environ", "rb").read(1)
def host_maps(): open(f"/proc/{HOST}/maps").read(1)
def host_descriptors(): os.listdir(f"/proc/{HOST}/fd")
def host_command(): open(f"/proc/{HOST}/cmdline").read(1)
def neighbour_command(): open(f"/proc/{NEIGHBOUR}/cmdline").read(1)
"""

FILES = """
import os
from pathlib import Path
def source(): open(SOURCE).read()
def secret(): open(SECRET).read()
def secret_as_path(): Path(SECRET).read_text()
def passwd(): open("/etc/passwd").read()
def through_proc_root(): open("/proc/self/root/etc/passwd").read()
def through_dots(): open("/usr/lib/../../etc/passwd").read()
def upwards(): open("../../../../../../etc/passwd").read()
def listing(): os.listdir(FOLDER)
def walked(): list(Path(FOLDER).iterdir())
def looked_at(): os.stat(SECRET)
"""

NETWORK = """
def loopback():
    import socket
    socket.create_connection(("127.0.0.1", PORT), 1)
def names():
    import _socket
def pages():
    import urllib.request
def http():
    import http.client
def tls():
    import ssl
def selectors():
    import selectors
def asynchronous():
    import asyncio
    asyncio.open_connection
def by_name(): __import__("socket")
def by_loader():
    import importlib
"""

PROCESSES = """
import os
def fork():
    if os.fork() == 0: os._exit(0)
def program():
    import subprocess
def spawned(): os.posix_spawn("/bin/true", ["true"], {})
def shell(): os.system("true")
def pool():
    import multiprocessing
def thread():
    import threading
"""

PICKLED = """
def unpickled():
    import pickle
def marshalled():
    import marshal
def shelved():
    import shelve
def numpy_file():
    import numpy
"""

WRITING = """
import os
from pathlib import Path
def new_file(): open(FOLDER + "/new", "w").write("x")
def existing(): open(SECRET, "a").write("x")
def package(): open(PACKAGES + "/evil.pth", "w").write("x")
def shared_memory(): open("/dev/shm/evil", "w").write("x")
def temporary(): open("/tmp/evil", "w").write("x")
def here(): open("evil", "w").write("x")
def as_path(): Path(SECRET).write_text("x")
def as_bytes(): Path(SECRET).write_bytes(b"x")
def touched(): Path(FOLDER + "/new").touch()
def truncated(): os.truncate(SECRET, 0)
def in_memory(): os.memfd_create("x")
"""

LINKS = """
import os
from pathlib import Path
def symlink(): os.symlink("/etc/passwd", FOLDER + "/link")
def symlink_as_path(): Path(FOLDER + "/link").symlink_to("/etc/passwd")
def hardlink(): os.link(SECRET, FOLDER + "/hard")
def setuid(): os.chmod(SECRET, 0o4777)
def folder(): os.mkdir(FOLDER + "/new")
def renamed(): os.rename(SECRET, SECRET + "2")
def replaced(): Path(SECRET).rename(SECRET + "2")
def removed(): os.remove(SECRET)
def unlinked(): Path(SECRET).unlink()
def emptied(): os.rmdir(FOLDER)
"""

SIGNALS = """
import os
def probe(): os.kill(HOST, 0)
def group(): os.killpg(os.getpgid(HOST), 0)
def by_module():
    import signal
def by_descriptor(): os.pidfd_open(HOST)
def owner():
    import fcntl
"""

NEIGHBOURS = """
import os
def library():
    import ctypes
    ctypes.CDLL(None).getpid()
def limits():
    import resource
def memory(): open(f"/proc/{NEIGHBOUR}/status").read(1)
def priority(): os.getpriority(os.PRIO_PROCESS, NEIGHBOUR)
"""

KERNEL = """
import os, sys
def root(): os.chroot
def user(): os.setuid
def raw():
    import ctypes
def mapped():
    import mmap
def collected():
    import gc
def compiled(): compile("1", "x", "eval")
def frames(): sys._getframe()
def modules(): sys.modules["os"]
def classes(): ().__class__.__base__.__subclasses__()
def bases(): type(1).__mro__
def code(): (lambda: 1).__code__
def globals_of(): (lambda: 1).__globals__
def formatted(): "{0.__class__}".format(1)
def builtins_of(): __builtins__
"""

FORGED = """
import os
def channel():
    import gc
    gc.get_objects()
def descriptors(): os.write
def duplicated(): os.dup
def pipes(): os.pipe
def modules():
    import sys
    sys.modules["__main__"]
"""


FORGED_CALLS = """
refused = 0
for tool in ("__class__", "theirs", "cleanup", ["ours"], None, 7):
    try: _call(tool, (), {})
    except Exception: refused += 1
try: ours(max_steps=10 ** 6)
except ToolError: refused += 1
last = ""
for _ in range(10000):
    try: ours()
    except ToolError as error: last = "error"
f"{refused} refused, then {last}"
"""


def memory(arena: Arena) -> str:
    """Each in a box of its own, which must live on; the limit cannot be caught."""
    ends = []
    for code in (
        "'x' * (8 << 30)",
        "bytes(8 << 30)",
        "[0] * (1 << 33)",
        "kept = []\nwhile True: kept.append('x' * (1 << 20))",
        "kept = {}\nn = 0\nwhile True:\n    kept[n] = [n]\n    n += 1",
        "x = 'x' * (1 << 20)\nwhile True: x = x + x",
        "try:\n    [0] * (1 << 33)\nexcept BaseException:\n    'caught'",
        "import json\njson.loads('[' + '0,' * (1 << 27) + '0]')",
    ):
        end = arena.happened(code, memory_bytes=64 << 20, step_seconds=10)
        ends.append("denied" if end.startswith("MemoryError") or end == "caught" else end)
    return "; ".join(sorted(set(ends)))


def uninterruptible(arena: Arena) -> str:
    ends = set()
    for code in (
        "10 ** 10 ** 8",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "sum(range(10 ** 15))",
    ):
        end = arena.happened(code, step_seconds=0.3)
        ends.add("interrupted" if "was interrupted" in end else end)
    return "; ".join(sorted(ends))


def flood(arena: Arena) -> str:
    executor = arena.box(step_seconds=0.5)
    try:
        end = ""
        try:
            executor("while True: print('x' * 1000)")
        except Exception as error:  # noqa: BLE001 - any other end is the surprise
            end = str(error)
        size = len(executor.state["_print_outputs"])
        whole = executor("print('\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00{}')\n'the pipe is whole'").output
        return f"{'interrupted' if 'was interrupted' in end else end}, {'capped' if size < 50_000 else size}, {whole}"
    finally:
        executor.cleanup()


def forged_frames(arena: Arena) -> str:
    """There is no pipe to write to; what looks like a frame is text, and the one function to the host takes calls only."""
    found = _denied(arena, FORGED)
    code = """
print('\\x00\\x00\\x00\\x20\\x00\\x00\\x00\\x00{"op": "done", "step": 1, "value": "forged"}')
try: _call("done", (), {"value": "forged"})
except Exception as error: pass
"its own answer"
"""
    return f"{found}, a fake done gave {arena.happened(code)}"


def unread(arena: Arena) -> str:
    """A call returns with its reply only, so no reply can be left unread; many large ones are read."""
    code = "for _ in range(50): big()\n'each reply was read'"
    return arena.happened(code, {"big": lambda: "x" * 900_000}, tool_calls=10**6, step_seconds=30)


def bombs(arena: Arena) -> str:
    """Values made in Monty that would be large or deep for the host."""

    def all_of_them() -> str:
        ends = set()
        for code in (
            "tool('x' * (40 << 20))",
            "tool(list(range(1000000)))",
            "tool(b'x' * (40 << 20))",
            "a = []\nfor _ in range(1000): a = [a]\ntool(a)",
            "a = []\na.append(a)\ntool(a)\n1 / 0",
            "tool({'$': 'array', 'dtype': '|O', 'shape': [1 << 40], 'at': 0, 'n': 8})\n1 / 0",
            "tool([[]] * 600000)",
            "tool(10 ** 20000)\n1 / 0",
        ):
            end = arena.happened(code, {"tool": lambda value: None}, step_seconds=60)
            harmless = end.startswith(
                (
                    "ToolError",
                    "ZeroDivisionError",
                    "MemoryError",
                    "RecursionError",
                    "killed: The code ran longer",
                )
            )
            ends.add("refused" if harmless else end)
        return "; ".join(sorted(ends))

    said, growth = grown(all_of_them)
    return f"{said}, host {'unchanged' if growth < 50 else f'grew by {growth} MiB'}"


def crashes(arena: Arena) -> str:
    """What overflows stacks ends in an error, or at most in a new interpreter; the host goes on."""
    for code in (
        "def deep(n): return deep(n + 1)\ndeep(0)",
        "a = []\nfor _ in range(200000): a = [a]\nstr(a)",
        "a = []\nfor _ in range(200000): a = [a]\na == [a]",
        "eval('(' * 5000 + ')' * 5000)",
        "import json\njson.loads('[' * 100000)",
        "f = lambda: 1\nfor _ in range(100000): f = (lambda g: lambda: g())(f)\nf()",
    ):
        arena.happened(code, step_seconds=5)
    return f"a new box answers {arena.happened('1 + 1')}"


def odd_values(arena: Arena) -> str:
    """Prints, names and arguments that no honest code has: each is text, an error, or the end of the interpreter."""
    odd = []
    for code in (
        "print('\\x1b[2J\\x00')",
        "print('x' * (1 << 24))",
        "x(**{'self': 1, '': 2, 'a b': 3, 'step': 4})",
        "x(float('nan'), float('inf'), -0.0)",
        "_call('x' * 100000, (), {})",
        "_call('x', 7, 8)",
        "_call = None\nx()",
        "_made = _text = None\nx()",
        "raise StepOver",
        "raise KeyboardInterrupt",
    ):
        try:
            arena.happened(code, {"x": lambda *args, **named: "x"})
        except Exception as error:  # noqa: BLE001 - it is the surprise
            odd.append(f"{code} raised {error!r} in the host")
    return "; ".join(odd) or "the host goes on"


def odd_ends(arena: Arena) -> str:
    """There is no process to end: what would, ends the step at most, and the box answers on."""
    executor = arena.box()
    executor.send_tools({})
    try:
        for code in (
            "exit(3)",
            "quit()",
            "raise SystemExit(3)",
            "import os\nos._exit(3)",
            "import os\nos.abort()",
        ):
            try:
                executor(code)
            except CodeError:
                continue
        return f"the box answers {executor('1 + 1').output}"
    finally:
        executor.cleanup()


def stop_in_large_copies(arena: Arena) -> str:
    """A visitor clicks on Stop while Monty is busy within one operation."""
    return arena.stopped(
        "import re\nre.match('(a+)+$', 'a' * 40 + 'b')\nx = 10 ** 10 ** 7\nwhile True: x = sorted([x] * 10 ** 6)"
    )


SMALL = {
    1: _tried(ENVIRONMENT),
    2: _tried(HOST_MEMORY),
    3: _tried(FILES),
    4: _tried(NETWORK),
    6: _tried(PROCESSES),
    7: Small(r"^denied$", memory),
    9: Small(r"^interrupted$", uninterruptible),
    10: Small(r"^interrupted, capped, the pipe is whole$", flood),
    11: _tried(PICKLED),
    12: _tried(FORGED),
    13: _tried(WRITING, harmless=False),
    14: _tried(LINKS, harmless=False),
    15: _tried(SIGNALS),
    16: _tried(NEIGHBOURS),
    17: _tried(KERNEL),
    18: Small(r"^denied, a fake done gave its own answer$", forged_frames),
    19: Small(
        r"^7 refused, then error, \d\d calls served, others' tools untouched$",
        lambda arena: forged_calls(arena, FORGED_CALLS),
    ),
    20: Small(r"^each reply was read$", unread),
    21: _tried(WRITING, harmless=False),
    22: Small(r"^refused, host unchanged$", bombs),
    24: Small(r"^a new box answers 2$", crashes),
    25: _tried(FORGED),
    26: Small(r"^the host goes on$", odd_values),
    27: Small(r"^the box answers 2$", odd_ends),
    28: _tried(WRITING, harmless=False),
    29: Small(r"^stopped$", stop_in_large_copies),
}
"""By number; an attack that is not here is the same as at the stronger levels."""
