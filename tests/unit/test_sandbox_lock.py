"""The kernel's lock: it holds here, its absence is noticed, and ordinary Python works inside it."""

import base64
import marshal
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from agent import sandbox
from agent.errors import CodeError, SandboxError
from agent.sandbox import start
from agent.sandbox.box import Box
from agent.sandbox.command import Command
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.level import SMALL
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import Trial, choose_level, probe
from agent.sandbox.wire.limits import Limits
from lock import seccomp

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel's locks are Linux's"),
    pytest.mark.slow,
]


def test_the_probe_sees_every_attack_succeed_when_nothing_is_locked():
    found = probe(0)
    assert found.count(",") >= 9
    for attack in ("read the host", "connect to loopback", "start a process", "wrote secret.new"):
        assert attack in found


def test_a_level_that_does_not_exist_is_refused_by_name():
    with pytest.raises(SandboxError, match="level 7 does not exist"):
        choose_level(7)


@pytest.fixture
def nothing_holds(monkeypatch):
    monkeypatch.setattr(
        "agent.sandbox.probe.attack",
        lambda number, command=None: Trial(f"this kernel lacks what {number} needs"),
    )


def test_where_nothing_holds_no_code_is_run_and_the_reason_is_said(nothing_holds):
    level = choose_level()
    assert (level.number, level.runs_code) == (4, False)
    assert "this kernel lacks what 1 needs" in level.reason
    pool = BoxPool(level)
    with pytest.raises(SandboxError, match="code is off"):
        pool.take()


def test_a_level_that_this_machine_does_not_give_stops_the_start_with_one_sentence(nothing_holds):
    with pytest.raises(SandboxError) as raised:
        choose_level(1)
    assert str(raised.value) == (
        "SANDBOX=1 cannot be had on this machine, because this kernel lacks what 1 needs:"
        " unset SANDBOX to take the strongest level that holds."
    )


@pytest.mark.parametrize("wanted", [None, 4])
def test_a_space_starts_at_level_3_or_a_stronger_one_only(nothing_holds, wanted):
    with pytest.raises(SandboxError, match=r"^A Space answers strangers and so needs sandbox level 3"):
        choose_level(wanted, fail_closed=True)


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_a_space_starts_at_each_level_that_holds(wanted):
    if probe(wanted):
        pytest.skip("not to be had here")
    assert choose_level(wanted, fail_closed=True).number == wanted


def test_where_the_kernel_gives_no_seccomp_the_small_python_is_taken(monkeypatch):
    sources = start._modules(False)
    sources = {**sources, "lock.seccomp": sources["lock.seccomp"] + "\n_ARCHITECTURES = {}\n"}
    codes = {name: compile(source, f"<{name}>", "exec") for name, source in sources.items()}
    codes = {name: base64.b64encode(marshal.dumps(code)).decode() for name, code in codes.items()}
    monkeypatch.setattr(start, "_modules", lambda compiled: codes)
    assert "there is no table of system calls" in probe(1)
    assert choose_level() == SMALL


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("attached")


@pytest.fixture(scope="module", params=[1, 2])
def locked(request, folder):
    problem = probe(request.param)
    if problem:
        pytest.skip(f"level {request.param} is not to be had here: {problem}")
    level = choose_level(request.param)
    executor = SandboxExecutor(Limits(), pool=BoxPool(level, size=0), files_dir=folder)
    yield executor
    executor.cleanup()


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("import numpy as np; round(float(np.linalg.inv(np.eye(3) * 2).sum()), 2)", "1.5"),
        ("import pandas as pd; pd.DataFrame({'a': [1, 1, 2], 'b': [1, 2, 3]}).groupby('a').b.sum().to_dict()", "{1: 3, 2: 3}"),
        ("import io, pandas as pd; int(pd.read_csv(io.StringIO('a,b\\n1,2')).b[0])", "2"),
        ("import pandas as pd; str(pd.to_datetime('2024-02-29') + pd.Timedelta(days=1))[:10]", "2024-03-01"),
        ("import datetime; datetime.datetime.now().astimezone().tzname()", "UTC"),
        ("import re, json, statistics; statistics.median(json.loads('[1, 5, 3]')), re.findall(r'\\d', 'a1b2')", "(3, ['1', '2'])"),
        ("import sqlite3; sqlite3.connect(':memory:').execute('select 1 + 1').fetchall()", "[(2,)]"),
        ("import asyncio\nasync def f(): await asyncio.sleep(0.001); return 5\nasyncio.run(f())", "5"),
        ("import hashlib, uuid, secrets, random; len(hashlib.sha256(uuid.uuid4().bytes).digest())", "32"),
        ("import decimal, fractions, itertools, collections, functools; decimal.Decimal('0.1') * 3", "Decimal('0.3')"),
        ("import xml.etree.ElementTree as e; e.fromstring('<a><b>x</b></a>').find('b').text", "x"),
        ("import time; time.sleep(0.01); time.strftime('%Y', time.gmtime(0))", "1970"),
        ("import io; from PIL import Image; b = io.BytesIO(); Image.new('L', (2, 2)).save(b, 'PNG'); b.getvalue()[1:4]", "b'PNG'"),
        ("import signal; signal.raise_signal(signal.SIGCHLD)", None),
    ],
)  # fmt: skip
def test_ordinary_python_works_inside_the_lock(locked, code, output):
    assert locked(code).output == output


def test_attached_files_are_read_by_their_names_and_new_ones_too(locked, folder):
    (folder / "rows.csv").write_text("a,b\n1,é\n", encoding="utf-8")
    assert locked("open('rows.csv', encoding='utf-8').read()").output == "a,b\n1,é\n"
    (folder / "more.txt").write_bytes(b"later")
    code = "from pathlib import Path\nimport os, pandas as pd\n"
    code += "Path('more.txt').read_bytes(), pd.read_csv('rows.csv').b[0], sorted(os.listdir())"
    assert locked(code).output == "(b'later', 'é', ['more.txt', 'rows.csv'])"
    with pytest.raises(CodeError, match=r"only the attached files can be read \(more.txt, rows.csv\)"):
        locked("open('row.csv')")


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("import urllib.request; urllib.request.urlopen('http://example.com')", "no network"),
        ("import socket; socket.create_connection(('127.0.0.1', 80))", "no network"),
        ("import subprocess; subprocess.run(['ls'])", "no network, thread or subprocess"),
        ("import threading; threading.Thread(target=print).start()", "no network, thread or subprocess"),
        ("open('/etc/passwd')", "only the attached files can be read"),
        ("open('/tmp/x.csv', 'w')", "files can be written only under plain names"),
        ("import sqlite3; open('/dev/shm/x', 'w')", "files can be written only under plain names"),
        ("import no_such_module", "importable are the standard library, numpy, pandas"),
        ("exit()", "final_answer"),
    ],
)
def test_what_the_lock_refuses_says_what_to_do_instead(locked, code, hint):
    with pytest.raises(CodeError, match=hint):
        locked(code)


def test_the_filter_never_jumps_out_of_itself():
    for machine in ("x86_64", "aarch64"):
        for opens in (True, False):
            code = seccomp.program(machine, 1234, opens)
            instructions = list(struct.iter_unpack("HBBI", code))
            assert 4 < len(instructions) < 4096
            for i, (operation, true, false, _) in enumerate(instructions):
                if operation in (0x15, 0x35, 0x45):
                    assert i + 1 + max(true, false) < len(instructions)
            assert instructions[-1][0] == 0x06


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_root_becomes_nobody_or_says_why_not():
    system = Path("/usr/bin/python3")
    if system.exists():
        box = Box(Command(["/usr/bin/env", "-i", "PATH=/usr/bin"]), preload=())
        assert box.open(1, Limits(), None) == "runs as nobody"
        box.close()
    box = Box(preload=())
    said = box.open(1, Limits(), None)
    box.close()
    assert said == "runs as nobody" or "without capabilities, because nobody may not read" in said


def test_the_apps_environment_and_memory_are_closed_to_its_neighbours():
    code = "import ctypes; from lock.process import hide_process; hide_process(); print(ctypes.CDLL(None).prctl(3))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout == "0\n", ran.stderr


def test_nothing_in_the_sandbox_can_unpickle():
    for source in Path(sandbox.__file__).parent.rglob("*.py"):
        words = re.findall(r"^\s*(?:import|from) (\S+)", source.read_text("utf-8"), re.MULTILINE)
        assert not {"pickle", "shelve", "smolagents.serialization", "cloudpickle"} & set(words), source.name
