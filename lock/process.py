"""Locks this process for good: limits, user, Landlock, seccomp. For a child of its own, never for the app."""

import ctypes
import os
import resource
import signal
import site
import struct
import sysconfig
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from . import landlock, seccomp

_PR_SET_PDEATHSIG, _PR_GET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 2, 4, 38
_NOBODY = 65534
_CAPSET = {"x86_64": 126, "aarch64": 91}
_CAPABILITY_VERSION_3 = 0x20080522
_SYSTEM_READABLE = (
    *("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/etc/ld.so.cache"),  # libraries of lazily imported modules
    *("/usr/share/zoneinfo", "/etc/mime.types", "/dev/urandom"),
)


class CannotLock(Exception):
    """This machine does not give what the level needs; the message says what is missing."""


def hide_process(hidden: bool = True) -> None:
    """Close /proc/<this process>/environ, mem, maps and fd to other processes of the same user, or open them again.

    The app calls it once at its start; without effect where there is no Linux.
    """
    if os.uname().sysname == "Linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, int(not hidden), 0, 0, 0)


def end_with_parent() -> None:
    """The kernel kills this process when the thread that started it ends; without effect where there is no Linux."""
    if os.uname().sysname == "Linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def lock(
    level: int,
    memory_bytes: int,
    open_files: int,
    files: Sequence[str] = (),
    cpu_seconds: int = resource.RLIM_INFINITY,
) -> str:
    """Lock this process at `level` and say in one sentence how it runs.

    0 locks nothing: only a probe and a test that must see their attacks succeed ask for it.
    `memory_bytes`: address space above what the process has now; `files`: folders that it may read besides Python's;
    `cpu_seconds`: of its whole life.

    CannotLock, and the process must not be used, when something does not hold.
    """
    time.localtime()  # reads the time zone while it still can
    set_rlimits(memory_bytes, open_files, cpu_seconds)
    if level == 0:
        hide_process(False)  # as it was hidden by what it was forked of
        return "no kernel lock"
    if level not in (1, 2):
        raise CannotLock(f"code is not run at level {level}")
    if threading.active_count() > 1 or len(list(Path("/proc/self/task").iterdir())) > 1:
        raise CannotLock("a preloaded library has started a thread, which a lock would not bind")
    paths = readable()
    user = drop_privileges([*paths, *files])
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise CannotLock("the kernel does not know no_new_privs")
    hide_process()
    try:
        if level == 1:
            if landlock.version() == 0:
                raise CannotLock("this kernel has no Landlock, or forbids it")
            landlock.restrict([*paths, *_SYSTEM_READABLE, *files])
        seccomp.install(opens=level == 1)
    except (OSError, seccomp.Unsupported) as error:
        raise CannotLock(str(error)) from error
    return user


def set_rlimits(memory_bytes: int, open_files: int, cpu_seconds: int = resource.RLIM_INFINITY) -> None:
    """Bound memory, descriptors and CPU time, and forbid writing to any file; called when all is preloaded."""
    _cap(resource.RLIMIT_AS, _address_space() + memory_bytes)
    _cap(resource.RLIMIT_NOFILE, open_files)
    _cap(resource.RLIMIT_CPU, cpu_seconds)
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    for name in ("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO"):
        if hasattr(resource, name):
            _cap(getattr(resource, name), 0)


def drop_privileges(needed: list[str]) -> str:
    """Become nobody when root, and lose all capabilities; says who the code now is, and why.

    needed: what must stay readable; when nobody could not read it, the user
    stays root without any capability, which leaves only root's own files.
    """
    if os.geteuid() != 0:
        return f"runs as user {os.geteuid()}"
    said = "runs as root without capabilities, because "
    parent_dies = ctypes.c_int()
    ctypes.CDLL(None).prctl(_PR_GET_PDEATHSIG, ctypes.byref(parent_dies), 0, 0, 0)
    try:
        os.setgroups([])
        os.setegid(_NOBODY)
        os.seteuid(_NOBODY)
        hidden = [path for path in needed if not _can_read(path)]
        os.seteuid(0)
        os.setegid(0)
        if hidden:
            said += f"nobody may not read {hidden[0]}"
        else:
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
            said = "runs as nobody"
    except OSError as error:
        said += f"the user cannot be changed here ({error.strerror})"
    if parent_dies.value:  # the kernel forgets it with the user
        end_with_parent()
    head = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    number = _CAPSET.get(os.uname().machine, -1)
    if ctypes.CDLL(None, use_errno=True).syscall(number, head, bytes(24)) != 0:
        raise CannotLock("capabilities cannot be given up")
    return said


@cache
def readable() -> tuple[str, ...]:
    """The folders of Python and its packages."""
    paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    paths += site.getsitepackages()
    real = {os.path.realpath(path) for path in paths if path}
    return tuple(sorted(path for path in real if Path(path).is_dir()))


def _can_read(path: str) -> bool:
    try:
        os.listdir(path)  # noqa: PTH208 - it is tried, not used
    except OSError:
        return False
    return True


def _cap(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = min((n for n in (value, hard) if n != resource.RLIM_INFINITY), default=resource.RLIM_INFINITY)
    resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Bytes of address space in use now, 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[0]) * resource.getpagesize()
    except OSError:
        return 0
