"""What of the file system a locked box may read: a few folders, and nothing may be written.

Set by ctypes after exec. Where the kernel knows it, binding and connecting TCP,
abstract sockets and signals to processes outside are closed off as well.
"""

import ctypes
import os
import struct
from collections.abc import Iterable

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_VERSION_FLAG, _PATH_BENEATH = 1, 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE  # what a rule for a single file may grant
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}  # ABI -> how many rights it knows from then on
_NET_SINCE, _SCOPE_SINCE = 4, 6


def version() -> int:
    """The Landlock ABI of this kernel, 0 when there is none or it may not be used."""
    if os.uname().sysname != "Linux":
        return 0
    return max(0, int(ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, 0, _VERSION_FLAG)))


def restrict(readable: Iterable[str], *, runnable: Iterable[str] = (), writable: Iterable[str] = ()) -> None:
    """Deny this thread everything in the file system but reading below `readable`, for good.

    `runnable`: read and run programs below these; `writable`: do anything below these.

    Needs no_new_privs. A path that is not there is left out. OSError when the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    abi = version()
    rights = (1 << max(n for since, n in _FILE_RIGHTS.items() if since <= abi)) - 1
    parts = [rights]
    if abi >= _NET_SINCE:
        parts.append(0b11)
    if abi >= _SCOPE_SINCE:
        parts.append(0b11)
    attributes = struct.pack(f"{len(parts)}Q", *parts)
    ruleset = _checked(libc.syscall(_CREATE, attributes, len(attributes), 0))
    given = [
        *((path, _READ_FILE | _READ_DIR) for path in readable),
        *((path, _READ_FILE | _READ_DIR | _EXECUTE) for path in runnable),
        *((path, rights) for path in writable),
    ]
    for path, allowed in given:
        try:
            folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        if not os.path.isdir(path):  # noqa: PTH112 - leaf without pathlib
            allowed &= _OF_FILES
        rule = struct.pack("=Qi", allowed, folder)
        _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
        os.close(folder)
    _checked(libc.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"Landlock: {os.strerror(number)}")
    return result
