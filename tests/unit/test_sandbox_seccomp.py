"""The filter of system calls, run by a small interpreter: what each architecture may do, on any machine."""

import re
import struct
from pathlib import Path

import pytest

from lock import seccomp

PID = 4321
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
OTHERS = {
    "i386": 0x40000003,
    "arm": 0x40000028,
    "riscv64": 0xC00000F3,
    "ppc64le": 0xC0000015,
    "s390x": 0x80000016,
}
ALLOW, KILL = "allowed", "killed"

# name: x86_64, aarch64; calls that must be refused whatever their arguments
REFUSED = {
    "fork": (57, None),
    "vfork": (58, None),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "execveat": (322, 281),
    "open": (2, None),
    "openat2": (437, 437),
    "open_by_handle_at": (304, 265),
    "creat": (85, None),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "fallocate": (285, 47),
    "unlinkat": (263, 35),
    "renameat2": (316, 276),
    "linkat": (265, 37),
    "symlinkat": (266, 36),
    "mkdirat": (258, 34),
    "mknodat": (259, 33),
    "fchmodat": (268, 53),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "sendmsg": (46, 211),
    "recvmsg": (47, 212),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "timer_create": (222, 107),
    "setrlimit": (160, 164),
    "prctl": (157, 167),
    "seccomp": (317, 277),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "move_mount": (429, 429),
    "chroot": (161, 51),
    "setuid": (105, 146),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "init_module": (175, 105),
    "shmget": (29, 194),
    "mlockall": (151, 230),
    "sched_setaffinity": (203, 122),
    "setpriority": (141, 140),
    "landlock_create_ruleset": (444, 444),
    "a call of tomorrow": (900, 900),
}


def judge(machine, number, *arguments, arch=None, opens=True):
    """What the filter of `machine` says to a call: allowed, killed, or the errno."""
    code = list(struct.iter_unpack("HBBI", seccomp.program(machine, PID, opens)))
    data = struct.pack("=IIQ6Q", number, arch or ARCH[machine], 0, *(*arguments, *[0] * (6 - len(arguments))))
    at = accumulator = 0
    while True:
        operation, true, false, value = code[at]
        at += 1
        if operation == 0x20:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif operation == 0x06:
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(value, value & 0xFFFF)
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: accumulator & value}[
                operation
            ]
            at += true if holds else false


@pytest.mark.parametrize("machine", ARCH)
def test_another_architecture_is_killed_whatever_the_number(machine):
    strangers = {**OTHERS, **{name: arch for name, arch in ARCH.items() if name != machine}}
    for arch in strangers.values():
        for number in range(500):
            assert judge(machine, number, arch=arch) == KILL


def test_x32_is_killed_and_there_is_no_such_thing_on_aarch64():
    for number in (0, 1, 39, 59, 512, 520, 0x3FFFFFFF):
        assert judge("x86_64", 0x40000000 + number) == KILL
    assert judge("aarch64", 0x40000000 + 172) not in (ALLOW, KILL)


@pytest.mark.parametrize("machine", ARCH)
@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_leaves_the_box_is_refused(machine, name):
    number = REFUSED[name][list(ARCH).index(machine)]
    if number is not None:
        for arguments in ((), (PID,) * 6, (2**64 - 1,) * 6):
            assert isinstance(judge(machine, number, *arguments), int)


@pytest.mark.parametrize("machine", ARCH)
def test_what_depends_on_its_arguments_is_judged_by_them(machine):
    def call(pair, *arguments, **options):
        return judge(machine, pair[list(ARCH).index(machine)], *arguments, **options)

    at_cwd, read_only, close_on_exec = 2**64 - 100, 0, 0o2000000
    assert call(seccomp._OPENAT, at_cwd, 1, read_only | close_on_exec) == ALLOW
    for writing in (0o1, 0o2, 0o100, 0o1000, 0o2000, 0o10000000, 0o20200000):
        assert call(seccomp._OPENAT, at_cwd, 1, writing) != ALLOW
    assert call(seccomp._OPENAT, at_cwd, 1, read_only, opens=False) != ALLOW

    assert call(seccomp._FCNTL, 1, 3) == ALLOW
    for command in (
        4,
        6,
        8,
        10,
        15,
        1024,
        1026,
        1031,
        1033,
    ):  # F_SETFL, locks, F_SETOWN, F_SETSIG, leases, sizes, seals
        assert call(seccomp._FCNTL, 1, command) != ALLOW
    assert call(seccomp._IOCTL, 1, 0x5401) == ALLOW
    for command in (0x5412, 0x541C, 0x8933, 0x40086602):  # TIOCSTI, TIOCLINUX, network, file flags
        assert call(seccomp._IOCTL, 1, command) != ALLOW

    assert call(seccomp._KILL, PID, 15) == ALLOW
    assert call(seccomp._TGKILL, PID, PID, 15) == ALLOW
    for other in (1, PID + 1, 0, 2**32 - 1, 2**64 - 1):
        assert call(seccomp._KILL, other, 9) != ALLOW
        assert call(seccomp._TGKILL, other, PID, 9) != ALLOW

    assert call(seccomp._PRLIMIT, 0, 7, 0, 5) == ALLOW
    assert call(seccomp._PRLIMIT, 0, 7, 5, 0) != ALLOW
    assert call(seccomp._PRLIMIT, 0, 7, 1 << 32, 0) != ALLOW
    assert call(seccomp._PRLIMIT, PID + 1, 7, 0, 5) != ALLOW
    assert call(seccomp._SOCKETPAIR, 1, 1) == ALLOW
    assert call(seccomp._SOCKETPAIR, 1, 2) != ALLOW
    assert call(seccomp._SOCKETPAIR, 2, 1) != ALLOW
    assert call(seccomp._SENDTO, 3, 1, 1, 0, 0, 0) == ALLOW
    assert call(seccomp._SENDTO, 3, 1, 1, 0, 1 << 40, 16) != ALLOW


HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


@pytest.mark.parametrize("machine", ARCH)
def test_the_numbers_are_those_of_the_kernels_own_headers(machine):
    if not HEADERS[machine].exists():
        pytest.skip("the kernel's headers are not installed")
    lines = HEADERS[machine].read_text().splitlines()
    found = (re.match(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", line) for line in lines)
    kernel = {match[1]: int(match[2]) for match in found if match}
    column, words = list(ARCH).index(machine), seccomp._FREE.split()
    ours = {
        name: number for name, number in zip(words[::3], words[1 + column :: 3], strict=True) if number != "-"
    }
    named = {
        "openat": seccomp._OPENAT,
        "clone3": seccomp._CLONE3,
        "openat2": seccomp._OPENAT2,
        "fcntl": seccomp._FCNTL,
        "ioctl": seccomp._IOCTL,
        "prlimit64": seccomp._PRLIMIT,
        "socketpair": seccomp._SOCKETPAIR,
        "sendto": seccomp._SENDTO,
        "kill": seccomp._KILL,
        "tgkill": seccomp._TGKILL,
        **{name: pair for name, pair in REFUSED.items() if name in kernel},
    }
    for name, pair in named.items():
        if pair[column] is not None:
            ours[name] = pair[column]
    for name, number in ours.items():
        if name == "newfstatat" and machine == "aarch64":
            name = "fstatat"
        assert kernel.get(name) == int(number), name
