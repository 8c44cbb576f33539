"""Run as a program: starts Chromium so that neither it nor anything it starts can open a socket, or a file of ours.

What a page asks for comes over a pipe from the app. The kernel refuses the rest:
whatever a script finds to get past the app's own rules, there is nothing to send it with.
It runs with an empty environment, so that nothing of the app's reaches Chromium. Usage:

    python -I locked.py PID_FILE MEMORY_BYTES CHROMIUM [ARGUMENT ...]
"""

import ctypes
import os
import resource
import struct
import sys
from errno import EACCES
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from lock import landlock

# All that Chromium finds of the file system: no home, no data of the app, no file of a visitor.
_RUNNABLE = ("/usr", "/bin", "/lib", "/lib64", "/opt")
_READABLE = ("/etc", "/sys", "/dev", "/var/cache/fontconfig")
# Its own sandbox writes to /proc/self; what belongs to other processes is closed to it all the same.
_WRITABLE = ("/dev/shm", "/dev/null", "/proc")  # noqa: S108
# AUDIT_ARCH, and the numbers of seccomp, socket, connect and io_uring_setup (which can make sockets too)
_MACHINES = {"x86_64": (0xC000003E, 317, 41, 42, 425), "aarch64": (0xC00000B7, 277, 198, 203, 425)}
_X32_BIT = 0x40000000
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL_PROCESS, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | EACCES
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS, _SIGKILL = 1, 38, 9
_AF_UNIX = 1
_NOBODY = 65534
_FILE_BYTES = 256 << 20


def main(pid_file: str, memory: str, chromium: str, *arguments: str) -> None:
    """Lock this process and become Chromium."""
    Path(pid_file).write_text(f"{os.getpid()} {os.getppid()}", encoding="ascii")
    libc = ctypes.CDLL(None, use_errno=True)
    os.umask(0o077)
    # Bytes that a process of Chromium may write to: its reservations, which are huge, do not count.
    for kind, most in (
        (resource.RLIMIT_DATA, int(memory)),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    profile = next((each[16:] for each in arguments if each.startswith("--user-data-dir=")), "")
    if os.geteuid() == 0:
        _become_nobody(Path(profile))
    libc.prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        sys.exit("this kernel has no no_new_privs")
    if landlock.version():
        landlock.restrict(
            _READABLE, runnable=[*_RUNNABLE, str(Path(chromium).parent)], writable=[profile, *_WRITABLE]
        )
    _refuse_sockets(libc)
    home = profile or "/"
    os.execve(  # noqa: S606 - there is no shell wanted
        chromium,
        [chromium, *arguments],
        {"PATH": os.defpath, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8"},
    )


def _become_nobody(profile: Path) -> None:
    """Root's Chromium would have no sandbox of its own, and its pages root's rights."""
    for path in [profile, *profile.rglob("*")]:
        os.chown(path, _NOBODY, _NOBODY, follow_symlinks=False)
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _refuse_sockets(libc: ctypes.CDLL) -> None:
    machine = os.uname().machine
    if machine not in _MACHINES:
        sys.exit(f"there is no table of system calls for {machine}")
    arch, seccomp, socket, connect, ring = _MACHINES[machine]
    code = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, arch), (_RETURN, 0, 0, _KILL_PROCESS), (_LOAD, 0, 0, 0)]
    if machine == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL_PROCESS)]
    for number in (connect, ring):
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    # Chromium marks its profile as taken by a local socket, to which nothing ever connects.
    code += [(_EQUAL, 0, 3, socket), (_LOAD, 0, 0, 16), (_EQUAL, 1, 0, _AF_UNIX), (_RETURN, 0, 0, _REFUSE)]
    code.append((_RETURN, 0, 0, _ALLOW))
    packed = b"".join(struct.pack("HBBI", *each) for each in code)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    head = ctypes.create_string_buffer(struct.pack("HP", len(code), ctypes.addressof(buffer)))
    if libc.syscall(seccomp, 1, 0, head) != 0:
        sys.exit(f"the kernel refused the filter ({os.strerror(ctypes.get_errno())})")


if __name__ == "__main__":
    main(*sys.argv[1:])
