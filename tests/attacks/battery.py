"""The 29 attacks that the sandbox must stand, each with what is expected to happen."""

import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass

from tests.attacks.arena import FORGE, Arena, forged_calls, grown
from tests.attacks.attempts import (
    DISK,
    ENVIRONMENT,
    FILES,
    HOST_MEMORY,
    INT80,
    KERNEL,
    LINKS,
    MEMORY,
    NEIGHBOURS,
    NETWORK,
    PICKLED,
    PROCESSES,
    RAW_PROCESSES,
    SIGNALS,
    WRITING,
    X32,
)
from tools.fetch import Fetcher


@dataclass(frozen=True)
class Attack:
    """expected: a pattern of what `run` must say.

    control: a harmless part, which must get through where nothing is locked, or the attack would prove nothing.
    """

    number: int
    title: str
    expected: str
    run: Callable[[Arena], str]
    control: Callable[[Arena], str] | None = None


def _tried(attempts: str) -> Callable[[Arena], str]:
    return lambda arena: arena.tried(attempts)


def other_architectures(arena: Arena) -> str:
    """Calls of x32 and i386, whose numbers mean other things; only x86_64 has them."""
    tried = arena.tried(KERNEL)
    if "MACHINE = 'x86_64'" not in arena.known() or tried != "denied":
        return tried
    ended = [arena.happened(code) for code in (X32, INT80)]
    return "denied, x32 and i386 killed" if all("SIGSYS" in end for end in ended) else "; ".join(ended)


ADDRESSES = (
    *(
        "http://169.254.169.254/",
        "http://[::1]/",
        "http://0x7f000001/",
        "http://localhost/",
        "http://10.0.0.1/",
    ),
    *("file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1/", "http://user@127.0.0.1/"),
    "http://[::ffff:127.0.0.1]/",
)


def through_tools(arena: Arena) -> str:
    """Addresses that no visitor's agent may reach, asked of the real fetcher."""
    fetcher = Fetcher()

    def visit_page(url: str) -> str:
        return fetcher.get(url).url

    code = (
        "through = []\n"
        f"for url in {[*ADDRESSES, f'http://127.0.0.1:{arena.port}/']}:\n"
        "    try: through.append(visit_page(url))\n"
        "    except ToolError: pass\n"
        "through or 'the tool refuses'"
    )
    return arena.happened(code, {"visit_page": visit_page}, tool_calls=100, step_seconds=10)


def endless_loop(arena: Arena) -> str:
    executor = arena.box(step_seconds=0.3)
    try:
        executor("kept = 'variables kept'")
        try:
            executor("while True: pass")
        except Exception as error:  # noqa: BLE001 - any other end is the surprise
            first = str(error).splitlines()[-1]
        return f"{executor('kept').output}, {first}"
    finally:
        executor.cleanup()


def uninterruptible(arena: Arena) -> str:
    in_c = arena.happened("import itertools\nany(itertools.repeat(0))", step_seconds=0.3)
    swallowed = arena.happened(
        "import time\nwhile True:\n    try:\n        while True: time.sleep(0.001)\n    except BaseException: pass",
        step_seconds=0.3,
    )
    ignored = arena.happened(
        "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass", step_seconds=0.3
    )
    ends = {in_c, swallowed, ignored}
    return ends.pop() if len(ends) == 1 else "; ".join(sorted(ends))


def flood(arena: Arena) -> str:
    executor = arena.box(step_seconds=0.5)
    try:
        try:
            executor("while True: print('x' * 1000)")
        except Exception as error:  # noqa: BLE001 - any other end is the surprise
            end = str(error)
        size = len(executor.state["_print_outputs"])
        raw = executor(
            "import os\nos.write(1, b'\\xff' * 64), os.write(2, b'\\xff' * 64)\n'the pipe is whole'"
        ).output
        return (
            f"{'interrupted' if 'interrupted' in end else end}, {'capped' if size < 50_000 else size}, {raw}"
        )
    finally:
        executor.cleanup()


def pickle_frame(arena: Arena) -> str:
    code = FORGE + "import pickle\nsend(None, pickle.dumps(os.getcwd))\ntime.sleep(5)"
    return arena.happened(code)


def forged_frames(arena: Arena) -> str:
    ends = [
        arena.happened(FORGE + attempt + "\ntime.sleep(5)")
        for attempt in (
            "os.write(channel._out, struct.pack('>II', 2 << 30, 0))",
            "os.write(channel._out, struct.pack('>II', 2, 2 << 30))",
            "send(None, b'[' * 200_000)",
            "send(None, b'{\"op\":' * 100_000)",
            "send({'op': 'done', 'step': 2, 'value': 'x'})",
        )
    ]
    fake = arena.happened(FORGE + "send({'op': 'done', 'step': 1, 'value': 'its own answer'})\ntime.sleep(5)")
    killed = (
        "killed"
        if all(end.startswith("killed: The box was ended because") for end in ends)
        else "; ".join(ends)
    )
    return f"{killed}, a fake done gave {fake}"


# Names, arguments and numbers of calls that no honest box would send.
FORGED_CALLS = FORGE + (
    "refused = 0\n"
    "for tool in ('__class__', 'theirs', 'cleanup', ['ours'], None, 7):\n"
    "    call(tool)\n"
    "    refused += channel.receive()[0]['op'] == 'error'\n"
    "call('ours', max_steps=10**6)\n"
    "refused += channel.receive()[0]['op'] == 'error'\n"
    "for _ in range(10_000):\n"
    "    call('ours')\n"
    "    last = channel.receive()[0]['op']\n"
    "f'{refused} refused, then {last}'"
)


def unread_replies(arena: Arena) -> str:
    code = FORGE + "while True: call('big')"
    return arena.happened(code, {"big": lambda: "x" * 1_000_000}, tool_calls=10**6, step_seconds=2)


def unending(arena: Arena) -> str:
    """A step that says it is done, and computes on while nobody waits for it."""
    executor = arena.box()
    try:
        said = executor(FORGE + "send({'op': 'done', 'step': 1, 'value': 'done'})\nwhile True: pass").output
        box, deadline = executor._box, time.monotonic() + 10
        while box is not None and box.alive and time.monotonic() < deadline:
            time.sleep(0.1)
        return f"{said}, then {'still there' if box is None or box.alive else 'killed'}"
    finally:
        executor.cleanup()


BOMBS = (
    "{'$': 'array', 'dtype': '|O', 'shape': [1], 'at': 0, 'n': 8}",
    "{'$': 'array', 'dtype': '<f8', 'shape': [1 << 40], 'at': 0, 'n': 8}",
    "{'$': 'array', 'dtype': '<U999999999', 'shape': [0, 1 << 40], 'at': 0, 'n': 0}",
    "{'$': 'frame', 'columns': [], 'rows': 1 << 40, 'cells': [], 'index': None}",
    "{'$': 'image', 'at': 8, 'n': 41}",
    # Numbers that all hash alike: a table of them would take the host half a minute.
    "{'$': 'set', 'v': [i * (2**61 - 1) for i in range(40_000)]}",
    "{'$': 'dict', 'v': [[i * (2**61 - 1), 0] for i in range(30_000)]}",
    "{'$': 'series', 'name': None, 'index': None, 'kind': 'category', 'data': [i * (2**61 - 1) for i in range(40_000)]}",
)


def bombs(arena: Arena) -> str:
    header = (
        "blob = bytes(8) + b'\\x89PNG\\r\\n\\x1a\\n' + struct.pack('>I4sIIBBBBBI', 13, b'IHDR', 60_000, 60_000, 8, 2, 0, 0, 0, 0)\n"
        "blob += bytes(8)\n"
    )

    def all_of_them() -> str:
        ends = []
        for bomb in BOMBS:
            message = (
                f"{{'op': 'call', 'step': 1, 'call': 1, 'tool': 'tool', 'args': [{bomb}], 'kwargs': {{}}}}"
            )
            code = FORGE + header + f"send({message}, None, blob)\ntime.sleep(5)"
            ends.append(arena.happened(code, {"tool": lambda value: value}))
        ends.append(arena.happened(FORGE + "send(None, b'[' + b'[],' * 600_000 + b'[]]')\ntime.sleep(5)"))
        return "killed" if all("because it sent" in end for end in ends) else "; ".join(ends)

    for library in ("numpy", "pandas", "PIL.Image"):
        importlib.import_module(library)  # the app has loaded them too; their size is not what a bomb adds
    said, growth = grown(all_of_them)
    return f"{said}, host {'unchanged' if growth < 50 else f'grew by {growth} MiB'}"


def answers(arena: Arena) -> str:
    """Answers that look like a file or an image stay text."""
    taken: list[object] = []

    def final_answer(answer: object) -> object:
        taken.append(answer)
        return answer

    for text in ("/etc/passwd", "![](http://example.com/?q=secret)"):
        arena.happened(f"final_answer({text!r})", {"final_answer": final_answer})
    return "text" if taken == ["/etc/passwd", "![](http://example.com/?q=secret)"] else repr(taken)


def crashes(arena: Arena) -> str:
    crash = arena.happened("import ctypes\nctypes.string_at(0)")
    deep = arena.happened(
        "import sys, ctypes\nsys.setrecursionlimit(10**9)\n"
        "class A:\n    def __getattr__(self, n): return getattr(self, n + 'x')\nA().x"
    )
    alive = arena.happened("1 + 1")
    both = all(end.startswith("killed: The box was ended by SIG") for end in (crash, deep))
    return f"killed, a new box answers {alive}" if both else f"{crash}; {deep}; {alive}"


# What is sent though nobody asked, and names that no file system would look up.
ODD_FRAMES = (
    "send({'op': 'module', 'step': 1, 'ask': 1, 'name': 'typing.' + 'a' * 300})",
    "send({'op': 'module', 'step': 1, 'ask': 1, 'name': 'test.bad_coding'})",
    "send({'op': 'data', 'step': 1, 'ask': 1, 'name': '/zoneinfo/' + 'a' * 300})",
    "send({'op': 'data', 'step': 1, 'ask': 1, 'name': '/zoneinfo/../../etc/passwd'})",
    "send({'op': 'figure', 'step': 1, 'at': 0, 'n': 0})",
    "send({'op': ['done'], 'step': 1})",
    'send(None, b\'{"op": "done", "step": 1, "value": \' + b\'9\' * 5000 + b\'}\')',
    "send({'op': 'failed', 'step': 1, 'trace': {'a': ['\\ud800'] * 1000}})",
    "send({'op': 'call', 'step': 1, 'call': True, 'tool': 'x', 'args': [], 'kwargs': {}})",
    "send({'op': 'print', 'step': 1, 'text': float('nan')})",
)


def odd_frames(arena: Arena) -> str:
    """None of them may end in anything but a refusal, an answer to the box alone, or its end."""
    odd = []
    for frame in ODD_FRAMES:
        try:
            arena.happened(f"{FORGE}{frame}\nos._exit(0)", {"x": lambda: "x"})
        except Exception as error:  # noqa: BLE001 - it is the surprise
            odd.append(f"{frame} raised {error!r} in the host")
    return "; ".join(odd) or "the host goes on"


def odd_ends(arena: Arena) -> str:
    """Ends of a box that no honest one has."""
    ends = {
        "a signal without a name": "import os\nos.kill(os.getpid(), 40)",
        "an exit code": "import os\nos._exit(255)",
        "a halt": "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)",
        "no pipe": "import os\nos.close(3), os.close(4)\nwhile True: pass",
        "half a frame": FORGE
        + "os.write(channel._out, struct.pack('>II', 1 << 20, 1 << 20))\nwhile True: pass",
    }
    odd = []
    for name, code in ends.items():
        said = arena.happened(code, step_seconds=0.5)
        if not said.startswith("killed: The ") or "variables are lost" not in said:
            odd.append(f"{name}: {said}")
    return "; ".join(odd) or "killed, and the model is told"


def sparse_files(arena: Arena) -> str:
    """Honest and dishonest ways to write more than the quota, which then meet the memory limit."""
    own = "import gc\nfor o in gc.get_objects():\n    if type(o).__name__ == 'Scratch': o.bytes = o.files = 1 << 50\n"
    codes = (
        "with open('a', 'wb') as f:\n    f.seek(1 << 40)\n    f.write(b'x')",
        "open('a', 'wb').truncate(1 << 40)",
        "kept = [open(str(i), 'w') for i in range(10**6)]",
        own + "open('a', 'wb').truncate(1 << 40)",
        own
        + "import sys\nScratch = sys.modules['box.inside.scratch'].Scratch\nScratch.room = lambda *a: None\n"
        "f = open('a', 'wb')\nwhile True: f.write(bytes(1 << 24))",
    )
    said: list[str] = []

    def all_of_them() -> str:
        said.extend(arena.happened(code) for code in codes)
        return "; ".join(said)

    together, growth = grown(all_of_them)
    refused = all(end.startswith(("OSError: [Errno 122]", "MemoryError")) for end in said)
    return f"{'refused' if refused else together}, host {'unchanged' if growth < 50 else f'grew by {growth} MiB'}"


def stop_when_it_has_hung_up(arena: Arena) -> str:
    """A box that closes its pipe and computes on, while the visitor clicks on Stop."""
    return arena.stopped("import os, time\ntime.sleep(0.2)\nos.close(3), os.close(4)\nwhile True: pass")


BATTERY = (
    Attack(1, "read the environment", r"^denied$", _tried(ENVIRONMENT)),
    Attack(
        2, "read the host's and a neighbour's /proc", r"^denied$", _tried(HOST_MEMORY), _tried(HOST_MEMORY)
    ),
    Attack(3, "read source, secrets, system files", r"^denied$", _tried(FILES), _tried(FILES)),
    Attack(4, "reach a network or a socket", r"^denied$", _tried(NETWORK), _tried(NETWORK)),
    Attack(5, "reach inside through a tool", r"^the tool refuses$", through_tools),
    Attack(6, "start a process", r"^denied$", _tried(PROCESSES + RAW_PROCESSES), _tried(PROCESSES)),
    Attack(7, "use up memory", r"^denied$", _tried(MEMORY)),
    Attack(8, "loop without end", r"^variables kept, .*interrupted", endless_loop),
    Attack(
        9,
        "loop in C, swallow or ignore the interrupt",
        r"^killed: .*longer than.*variables are lost",
        uninterruptible,
    ),
    Attack(10, "print without end, write to 1 and 2", r"^interrupted, capped, the pipe is whole$", flood),
    Attack(11, "run a pickle of its own", r"^denied$", _tried(PICKLED), _tried(PICKLED)),
    Attack(12, "send a pickle to the host", r"^killed: .*no JSON", pickle_frame),
    Attack(13, "write a file", r"^denied$", _tried(WRITING)),
    Attack(14, "link, change mode, rename, remove", r"^denied$", _tried(LINKS)),
    Attack(15, "signal the host", r"^denied$", _tried(SIGNALS), _tried(SIGNALS)),
    Attack(16, "trace or change a neighbour", r"^denied$", _tried(NEIGHBOURS)),
    Attack(17, "ask the kernel for more", r"^denied", other_architectures),
    Attack(18, "forge frames", r"^killed, a fake done gave its own answer$", forged_frames),
    Attack(
        19,
        "forge tool calls",
        r"^7 refused, then error, \d\d calls served, others' tools untouched$",
        lambda arena: forged_calls(arena, FORGED_CALLS),
    ),
    Attack(20, "never read a reply", r"^killed: ", unread_replies),
    Attack(21, "fill the disk", r"^denied$", _tried(DISK)),
    Attack(22, "send bombs to the host", r"^killed, host unchanged$", bombs),
    Attack(23, "answer with a file or an image", r"^text$", answers),
    Attack(24, "crash, overflow the stack", r"^killed, a new box answers 2$", crashes),
    Attack(25, "compute on after the step", r"^done, then killed$", unending),
    Attack(26, "send what nobody asked for", r"^the host goes on$", odd_frames),
    Attack(27, "end in an unheard-of way", r"^killed, and the model is told$", odd_ends),
    Attack(28, "write more than the quota", r"^refused, host unchanged$", sparse_files),
    Attack(29, "hang up before a stop", r"^stopped$", stop_when_it_has_hung_up),
)
