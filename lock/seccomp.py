"""The system calls that a locked box may make: a list of what is allowed, all else is refused.

Set by ctypes after exec, for x86_64 and aarch64. Another architecture, or the
x32 calls of x86_64, kill the process: there the numbers mean other calls.
"""

import ctypes
import os
import struct
from collections.abc import Sequence
from errno import EACCES, ENOSYS, EPERM

# Allowed whatever the arguments: name, number on x86_64, number on aarch64 ("-": it does not exist there).
_FREE = """
    read 0 63           write 1 64          close 3 57          fstat 5 80          lseek 8 62
    pread64 17 67       preadv 295 69       readv 19 65         writev 20 66        getdents64 217 61
    dup 32 23           dup2 33 -           dup3 292 24         pipe2 293 59        fadvise64 221 223

    stat 4 -            lstat 6 -           newfstatat 262 79   statx 332 291       getcwd 79 17
    access 21 -         faccessat 269 48    faccessat2 439 439  readlink 89 -       readlinkat 267 78

    poll 7 -            ppoll 271 73        select 23 -         pselect6 270 72     futex 202 98
    epoll_create1 291 20  epoll_ctl 233 21  epoll_wait 232 -    epoll_pwait 281 22  recvfrom 45 207
    nanosleep 35 101    clock_nanosleep 230 115  getitimer 36 102  setitimer 38 103  restart_syscall 219 128

    mmap 9 222          mprotect 10 226     munmap 11 215       mremap 25 216       brk 12 214
    madvise 28 233      rt_sigaction 13 134  rt_sigprocmask 14 135  rt_sigreturn 15 139  sigaltstack 131 132

    clock_gettime 228 113  clock_getres 229 114  gettimeofday 96 169  time 201 -    times 100 153
    getpid 39 172       getppid 110 173     gettid 186 178      getuid 102 174      geteuid 107 175
    getgid 104 176      getegid 108 177     getgroups 115 158   getresuid 118 148   getresgid 120 150
    getrlimit 97 163    getrusage 98 165    uname 63 160        sysinfo 99 179      sched_getaffinity 204 123
    getrandom 318 278   sched_yield 24 124  exit 60 93          exit_group 231 94
"""
_OPENAT, _CLONE3, _OPENAT2 = (257, 56), (435, 435), (437, 437)
_FCNTL, _IOCTL, _PRLIMIT = (72, 25), (16, 29), (302, 261)
_SOCKETPAIR, _SENDTO, _KILL, _TGKILL = (53, 199), (44, 206), (62, 129), (234, 131)

# O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_PATH | O_TMPFILE's own bit: the same on both
_WRITING = 0o1 | 0o2 | 0o100 | 0o1000 | 0o2000 | 0o10000000 | 0o20000000
# F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC: F_SETOWN and F_SETSIG would signal other processes
_FCNTL_COMMANDS = (0, 1, 2, 3, 1030)
_IOCTL_COMMANDS = (
    0x5401,
    0x5413,
    0x541B,
    0x5421,
    0x5450,
    0x5451,
)  # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIO(N)CLEX
_AF_UNIX, _SOCK_STREAM_FLAGS = 1, (1, 1 | 0o4000, 1 | 0o2000000, 1 | 0o2004000)

_ARCHITECTURES = {"x86_64": (0, 0xC000003E, 317), "aarch64": (1, 0xC00000B7, 277)}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL_PROCESS, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16
_X32_BIT = 0x40000000
_SET_MODE_FILTER, _TSYNC = 1, 1
_PR_GET_SECCOMP, _MODE_FILTER = 21, 2

Instruction = tuple[int, int, int, int]


class Unsupported(Exception):
    """This machine cannot be locked in this way; the message says why."""


def filters_here() -> str:
    """Whether this kernel takes filters, and for which architecture there is a table; empty when it does not."""
    machine = os.uname().machine
    if os.uname().sysname != "Linux" or machine not in _ARCHITECTURES:
        return ""
    mode = ctypes.CDLL(None, use_errno=True).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)
    outer = ", this process is under a filter already" if mode == _MODE_FILTER else ""
    return f"filters for {machine}{outer}" if mode >= 0 else ""


def install(opens: bool) -> None:
    """Refuse all calls but the allowed ones, for good; `opens`: files may still be opened for reading.

    Needs no_new_privs. Raises Unsupported when the kernel or architecture does not do it.
    """
    machine = os.uname().machine
    if machine not in _ARCHITECTURES:
        raise Unsupported(f"there is no table of system calls for {machine}")
    code = program(machine, os.getpid(), opens)
    buffer = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("HP", len(code) // 8, ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(_ARCHITECTURES[machine][2], _SET_MODE_FILTER, _TSYNC, head) != 0:
        raise Unsupported(f"the kernel refused the seccomp filter ({os.strerror(ctypes.get_errno())})")


def program(machine: str, pid: int, opens: bool) -> bytes:
    """The filter as the kernel takes it, for the process `pid` that installs it."""
    column, arch, _ = _ARCHITECTURES[machine]
    code: list[Instruction] = [(_LOAD, 0, 0, _ARCH), (_EQUAL, 1, 0, arch), (_RETURN, 0, 0, _KILL_PROCESS)]
    code.append((_LOAD, 0, 0, _NUMBER))
    if machine == "x86_64":
        code += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, _KILL_PROCESS)]
    for number in _FREE.split()[column + 1 :: 3]:
        if number != "-":
            code += [(_EQUAL, 0, 1, int(number)), (_RETURN, 0, 0, _ALLOW)]
    if opens:
        code += _when(_OPENAT[column], [_no_bits(2, _WRITING)], EACCES)
    else:
        code += _when(_OPENAT[column], None, EACCES)
    code += _when(_FCNTL[column], [_one_of(1, _FCNTL_COMMANDS)], EPERM)
    code += _when(_IOCTL[column], [_one_of(1, _IOCTL_COMMANDS)], EPERM)
    code += _when(_PRLIMIT[column], [_one_of(0, (0,)), *_null(2)], EPERM)
    code += _when(_SOCKETPAIR[column], [_one_of(0, (_AF_UNIX,)), _one_of(1, _SOCK_STREAM_FLAGS)], EPERM)
    code += _when(_SENDTO[column], _null(4), EPERM)
    code += _when(_KILL[column], [_one_of(0, (pid,))], EPERM)
    code += _when(_TGKILL[column], [_one_of(0, (pid,))], EPERM)
    for numbers in (_CLONE3, _OPENAT2):  # libc then tries the older call, whose arguments can be judged
        code += _when(numbers[column], None, ENOSYS)
    code.append((_RETURN, 0, 0, _ERRNO | EPERM))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in code)


Test = tuple[int, list[tuple[int, int, bool]]]  # offset to load, then (operation, value, holds when true)


def _one_of(argument: int, values: Sequence[int]) -> Test:
    return _ARGUMENTS + 8 * argument, [(_EQUAL, value, True) for value in values]


def _no_bits(argument: int, mask: int) -> Test:
    return _ARGUMENTS + 8 * argument, [(_ANY_BIT, mask, False)]


def _null(argument: int) -> list[Test]:
    low = _ARGUMENTS + 8 * argument
    return [(low, [(_EQUAL, 0, True)]), (low + 4, [(_EQUAL, 0, True)])]


def _when(number: int, tests: list[Test] | None, errno: int) -> list[Instruction]:
    """Allow call `number` when each test holds (one of its comparisons fits), else refuse it with `errno`."""
    body: list[Instruction] = []
    for offset, comparisons in tests or []:
        body.append((_LOAD, 0, 0, offset))
        for i, (operation, value, holds) in enumerate(comparisons):
            to_next_test = len(comparisons) - i  # over the other comparisons and the refusal
            body.append((operation, to_next_test, 0, value) if holds else (operation, 0, to_next_test, value))
        body.append((_RETURN, 0, 0, _ERRNO | errno))
    body.append((_RETURN, 0, 0, _ALLOW if tests else _ERRNO | errno))
    return [(_EQUAL, 0, len(body), number), *body]
