"""The 29 attacks that the sandbox must stand, each with what is expected to happen."""

import importlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from agent.errors import Stopped
from tests.attacks.arena import FORGE, Arena, forged_calls, grown
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


ENVIRONMENT = """
def proc_environ(): open("/proc/self/environ").read()
def environ():
    if not os.environ: raise OSError("empty")
def getenv():
    if libc.getenv(b"HF_TOKEN") == 0: raise OSError("empty")
def an_inherited_descriptor():
    for d in range(3, 100):
        try: os.fstat(d)
        except OSError: continue
        if d not in (3, 4) : return
    raise OSError("none")
"""

HOST_MEMORY = """
def host_environ(): open(f"/proc/{HOST}/environ", "rb").read()
def host_memory(): open(f"/proc/{HOST}/mem", "rb")
def host_maps(): open(f"/proc/{HOST}/maps").read()
def host_descriptors(): os.listdir(f"/proc/{HOST}/fd")
def host_command(): open(f"/proc/{HOST}/cmdline").read()
def neighbour_memory(): open(f"/proc/{NEIGHBOUR}/mem", "rb")
def server_memory(): open(f"/proc/{os.getppid()}/mem", "rb")
"""

FILES = """
def source(): open(SOURCE).read()
def secret(): open(SECRET).read()
def passwd(): open("/etc/passwd").read()
def through_proc_root(): open("/proc/self/root/etc/passwd").read()
def through_dots(): open("/usr/lib/../../etc/passwd").read()
def listing(): os.listdir(FOLDER)
def by_path_descriptor(): os.open("/etc/passwd", os.O_PATH)
def by_openat2(): _called(libc.syscall(437, -100, b"/etc/passwd", (ctypes.c_uint64 * 3)(), 24))
def by_handle(): _called(libc.syscall(304 if MACHINE == "x86_64" else 265, -100, bytes(128), 0))
def by_old_open(): _called(libc.syscall(2 if MACHINE == "x86_64" else 1000, b"/etc/passwd", 0))
def by_mount(): _called(libc.syscall(428, -100, b"/", 1))
"""

NETWORK = """
def loopback(): socket.create_connection(("127.0.0.1", PORT), 1)
def datagram(): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))
def names(): socket.getaddrinfo("example.com", 80)
def unix(): socket.socket(socket.AF_UNIX).connect(UNIX)
def abstract(): socket.socket(socket.AF_UNIX).connect(ABSTRACT)
def netlink(): socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
def metadata(): socket.create_connection(("169.254.169.254", 80), 1)
def vsock(): socket.socket(40, socket.SOCK_STREAM)
def datagram_pair():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
def pair_sent_elsewhere():
    a, b = socket.socketpair()
    a.sendto(b"x", ABSTRACT)
def pair_with_descriptors():
    a, b = socket.socketpair()
    socket.send_fds(a, [b"x"], [1])
"""

PROCESSES = """
def fork():
    if os.fork() == 0: os._exit(0)
def program(): subprocess.run(["true"])
def spawned(): os.posix_spawn("/bin/true", ["true"], {})
def shell():
    if os.system("true") != 0: raise OSError("refused")
"""

RAW_PROCESSES = """
def replaced(): _called(libc.execve(b"/bin/true", None, None))
def raw_vfork():
    child = _called(libc.syscall(58 if MACHINE == "x86_64" else 220, 0x4111, 0, 0, 0, 0))
    if child == 0: os._exit(0)
def raw_clone3():
    arguments = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
    if _called(libc.syscall(435, arguments, 88)) == 0: os._exit(0)
def from_memory(): os.execve(os.memfd_create("x"), ["x"], {})
"""

MEMORY = """
import mmap, zlib
def _full(attempt):
    try: attempt()
    except MemoryError: raise OSError("out of memory") from None
def at_once(): _full(lambda: bytearray(8 << 30))
def bit_by_bit():
    def fill():
        kept = []
        while True: kept.append(bytearray(1 << 24))
    _full(fill)
def shared(): _full(lambda: mmap.mmap(-1, 8 << 30))
def in_a_file(): os.memfd_create("x")
def unpacked():
    zeros = zlib.compress(bytes(1 << 24), 9)
    _full(lambda: b"".join(zlib.decompress(zeros) for _ in range(1000)))
def locked_in(): _called(libc.mlockall(3))
def in_a_segment(): _called(libc.shmget(0, 1 << 30, 0o1600))
"""

PICKLED = """
import pickle
class Evil:
    def __reduce__(self): return os.system, ("true",)
def unpickled():
    if pickle.loads(pickle.dumps(Evil())) != 0: raise OSError("no process")
def numpy_file():
    import numpy
    file = io.BytesIO()
    numpy.save(file, numpy.array([Evil()], dtype=object), allow_pickle=True)
    if numpy.load(io.BytesIO(file.getvalue()), allow_pickle=True)[0] != 0: raise OSError("no process")
"""

WRITING = """
def new_file(): open(FOLDER + "/new", "w")
def existing(): open(SECRET, "a")
def package(): open(PACKAGES + "/evil.pth", "w")
def shared_memory(): open("/dev/shm/evil", "w")
def temporary(): open("/tmp/evil", "w")
def truncated_on_open(): os.open(SECRET, os.O_RDONLY | os.O_TRUNC)
def truncated(): os.truncate(SECRET, 0)
def anonymous(): os.open(FOLDER, os.O_TMPFILE | os.O_RDWR)
def device(): open("/dev/tty", "w")
def attribute(): os.setxattr(SECRET, "user.x", b"x")
"""

LINKS = """
def symlink(): os.symlink("/etc/passwd", FOLDER + "/link")
def hardlink(): os.link(SECRET, FOLDER + "/hard")
def setuid(): os.chmod(SECRET, 0o4777)
def folder(): os.mkdir(FOLDER + "/new")
def renamed(): os.rename(SECRET, SECRET + "2")
def removed(): os.unlink(SECRET)
def owner(): os.chown(SECRET, 0, 0)
def times(): os.utime(SECRET, (0, 0))
def fifo(): os.mkfifo(FOLDER + "/fifo")
"""

SIGNALS = """
F_SETOWN, F_SETSIG, F_SETLEASE, F_NOTIFY = 8, 10, 1024, 1026
def probe(): os.kill(HOST, 0)
def server(): os.kill(os.getppid(), 0)
def everybody(): os.kill(-1, 0)
def group(): os.killpg(os.getpgid(HOST), 0)
def queued(): _called(libc.syscall(129 if MACHINE == "x86_64" else 138, HOST, 0, bytes(128)))
def thread(): _called(libc.syscall(234 if MACHINE == "x86_64" else 131, HOST, HOST, 0))
def any_thread(): _called(libc.syscall(200 if MACHINE == "x86_64" else 130, HOST, 0))
def by_descriptor(): _called(libc.syscall(434, HOST, 0))
def owner(): _called(libc.fcntl(1, F_SETOWN, HOST))
def which_signal(): _called(libc.fcntl(1, F_SETSIG, 9))
def lease(): _called(libc.fcntl(1, F_SETLEASE, 0))
def watch(): _called(libc.fcntl(1, F_NOTIFY, 1))
def timer(): _called(libc.syscall(222 if MACHINE == "x86_64" else 107, 0, bytes(64), bytes(8)))
"""

NEIGHBOURS = """
def traced(): _called(libc.ptrace(0x4206, NEIGHBOUR, 0, 0))
def traced_server(): _called(libc.ptrace(0x4206, os.getppid(), 0, 0))
def traced_host(): _called(libc.ptrace(0x4206, HOST, 0, 0))
def read_memory(): _called(libc.syscall(310 if MACHINE == "x86_64" else 270, NEIGHBOUR, bytes(16), 1, bytes(16), 1, 0))
def wrote_memory(): _called(libc.syscall(311 if MACHINE == "x86_64" else 271, NEIGHBOUR, bytes(16), 1, bytes(16), 1, 0))
def limits(): resource.prlimit(NEIGHBOUR, resource.RLIMIT_CPU, (1, 1))
def limits_seen(): resource.prlimit(NEIGHBOUR, resource.RLIMIT_CPU)
def priority(): os.setpriority(os.PRIO_PROCESS, NEIGHBOUR, 19)
def processor(): os.sched_setaffinity(NEIGHBOUR, {0})
def its_descriptor(): _called(libc.syscall(438, 3, 0, 0))
"""

KERNEL = """
def namespaces(): _called(libc.unshare(0x10000000))
def joined(): _called(libc.setns(1, 0))
def bpf(): _called(libc.syscall(321 if MACHINE == "x86_64" else 280, 0, bytes(64), 64))
def io_uring(): _called(libc.syscall(425, 8, bytes(120)))
def keys(): _called(libc.syscall(250 if MACHINE == "x86_64" else 219, 0, -3, 0))
def typed(): _called(libc.ioctl(0, 0x5412, b"x"))
def outlive_the_server(): _called(libc.prctl(1, 0, 0, 0, 0))
def a_session_of_its_own(): os.setsid()
def more_memory(): _called(libc.setrlimit(resource.RLIMIT_AS, (ctypes.c_uint64 * 2)(1 << 40, 1 << 40)))
def any_limit(): _called(libc.setrlimit(resource.RLIMIT_CORE, (ctypes.c_uint64 * 2)(0, 0)))
def faults(): _called(libc.syscall(323 if MACHINE == "x86_64" else 282, 0))
def counters(): _called(libc.syscall(298 if MACHINE == "x86_64" else 241, bytes(128), 0, -1, -1, 0))
def mounted(): _called(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None))
def root(): os.chroot("/")
def became_root(): os.setuid(0)
def traceable(): _called(libc.prctl(4, 1, 0, 0, 0))
def unfiltered(): _called(libc.prctl(22, 1, 0, 0, 0))
def landlock(): _called(libc.syscall(444, 0, 0, 1))
def module(): _called(libc.syscall(175 if MACHINE == "x86_64" else 105, b"", 0, b""))
def clock(): time.clock_settime(time.CLOCK_REALTIME, 0)
def host_name(): socket.sethostname("evil")
"""

OTHER_CALLS = """
import ctypes, mmap
libc = ctypes.CDLL(None)
"""
X32 = OTHER_CALLS + "libc.syscall(0x40000000 + 39)\n'still here'"
INT80 = OTHER_CALLS + (
    "page = mmap.mmap(-1, 4096, prot=7)\n"
    "page.write(bytes.fromhex('b814000000cd80c3'))\n"  # mov eax, 20 (getpid on i386); int 0x80; ret
    "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()\n'still here'"
)


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


DISK = """
def one_large():
    with open(FOLDER + "/large", "wb") as file: file.write(bytes(1 << 20))
def many_small():
    for i in range(100): open(f"{FOLDER}/{i}", "w").close()
def allocated(): os.posix_fallocate(os.open(SECRET, os.O_RDWR), 0, 1 << 30)
def through_a_pipe():
    pipes = []
    while True: pipes.append(os.pipe())
"""

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
    executor = arena.box()
    executor("1")
    threading.Timer(0.3, executor.cancel.set).start()
    began = time.monotonic()
    try:
        executor("import os, time\ntime.sleep(0.2)\nos.close(3), os.close(4)\nwhile True: pass")
    except Stopped:
        seconds = time.monotonic() - began - 0.3
        return "stopped" if seconds < 0.5 else f"stopped after {seconds:.1f} s"
    finally:
        executor.cleanup()
    return "it ended"


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
