"""What the kernel denies this process, set by ctypes after exec."""

import ctypes
import os
import resource
from pathlib import Path

from .limits import Limits

_PR_SET_DUMPABLE = 4


def hide_process() -> None:
    """Close /proc/<this process>/environ, mem, maps and fd to other processes of the same user.

    The app calls it once at its start; without effect where there is no Linux.
    """
    if os.uname().sysname == "Linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def set_rlimits(limits: Limits) -> None:
    """Bound memory and descriptors, and forbid writing to any file; called when all is preloaded."""
    _cap(resource.RLIMIT_AS, _address_space() + limits.memory_bytes)
    _cap(resource.RLIMIT_NOFILE, limits.open_files)
    _cap(resource.RLIMIT_CORE, 0)
    _cap(resource.RLIMIT_FSIZE, 0)
    for name in ("RLIMIT_MEMLOCK", "RLIMIT_MSGQUEUE", "RLIMIT_NICE", "RLIMIT_RTPRIO"):
        if hasattr(resource, name):
            _cap(getattr(resource, name), 0)


def _cap(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Bytes of address space in use now, 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    except OSError:
        return 0
