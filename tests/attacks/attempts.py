"""What the attacks try, as Python for the box: one function an attempt, which gets through unless it raises."""

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
