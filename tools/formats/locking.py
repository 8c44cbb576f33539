"""How far this machine can lock the processes that read strangers' files."""

from enum import IntEnum

from lock import landlock, seccomp


class Lock(IntEnum):
    """What such a process is kept in; the numbers are the levels of `lock.process`.

    FULL: it reads Python and the readers, and nothing else. BLIND: it opens no file at all, as
    there is no Landlock. LIMITED: only its time and memory are bounded, as there is no seccomp.
    """

    LIMITED = 0
    FULL = 1
    BLIND = 2


def strongest_lock() -> Lock:
    """The best that this machine gives."""
    if not seccomp.filters_here():
        return Lock.LIMITED
    return Lock.FULL if landlock.version() else Lock.BLIND
