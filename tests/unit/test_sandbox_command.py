"""A box behind a command: the same steps, tools, files and ends, over nothing but stdin and stdout."""

import os
import shlex
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import BoxLost, CodeError, SandboxError, Stopped
from agent.sandbox.box import Box
from agent.sandbox.command import Command
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from agent.services import build_services
from agent.settings import Settings

pytestmark = pytest.mark.slow

LIMITS = Limits(step_seconds=5, grace_seconds=0.5, memory_bytes=512 << 20)

# As Docker does: nothing but stdin and stdout goes through, what runs there is in a session of its own with its own
# environment and folder, gets no signal of the client, and lives on when the client is killed.
LIKE_DOCKER = """#!{python} -IS
import os, subprocess, sys, threading
os.closerange(3, 100)
there = subprocess.Popen(
    sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    env={{"PATH": "{path}"}}, cwd="/usr", start_new_session=True, bufsize=0,
)
def hand_on():
    while data := os.read(0, 65536): there.stdin.write(data)
    there.stdin.close()
threading.Thread(target=hand_on, daemon=True).start()
while data := there.stdout.read(65536): os.write(1, data)
os._exit(there.wait())
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "like-docker"
    script.write_text(LIKE_DOCKER.format(path=f"{folder}:/usr/bin:/bin", python=sys.executable))
    (folder / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    for program in folder.iterdir():
        program.chmod(0o755)
    return Command([str(script)])


@pytest.fixture(scope="module")
def pool(command):
    return BoxPool(choose_level(command=command), size=0, command=command, preload=())


@pytest.fixture
def box(pool, tmp_path):
    executor = SandboxExecutor(LIMITS, pool=pool, files_dir=tmp_path)
    executor.send_tools({"double": lambda n: 2 * n})
    yield executor
    executor.cleanup()


def there(command):
    """The processes behind the command: all that have its PATH."""
    mark, found = str(Path(command.words[0]).parent).encode(), []
    for environment in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if b"PATH=" + mark in environment.read_bytes():
                found.append(environment.parent.name)
    return found


def none_left(command, seconds=30):
    deadline = time.monotonic() + seconds
    while there(command) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not there(command)


def test_the_level_is_found_behind_the_command(pool):
    assert pool.level.number in (1, 2)


def test_steps_tools_and_large_values_go_through(box):
    assert box("print('hi'); kept = double(21)\nkept").output == "42"
    assert box("len(double('x' * 300_000)), kept").output == "(600000, 42)"
    assert box("import os\nos.getcwd(), dict(os.environ)").output == "('/usr', {})"
    with pytest.raises(CodeError, match="ZeroDivisionError"):
        box("1 / 0")


def test_attached_files_are_sent_and_read_by_their_names(box, tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"a,b\n1,2\n")
    assert box("open('rows.csv').read()").output == "a,b\n1,2\n"
    (tmp_path / "more.txt").write_bytes(b"later")
    assert (
        box("import os\nos.listdir(), open('more.txt').read()").output
        == "(['more.txt', 'rows.csv'], 'later')"
    )


def test_nothing_of_the_hosts_environment_reaches_the_command(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_not_a_real_token")
    monkeypatch.setenv("DOCKER_HOST", "unix:///run/docker.sock")
    seen = Command(["docker"], {"E2B_API_KEY": "e2b"}).environment()
    assert "HF_TOKEN" not in seen
    assert {"PATH", "DOCKER_HOST", "E2B_API_KEY"} <= set(seen)


def test_a_loop_is_interrupted_without_a_signal_and_variables_are_kept(pool):
    executor = SandboxExecutor(replace(LIMITS, step_seconds=2), pool=pool)
    executor("kept = 7")
    with pytest.raises(CodeError, match="variables are kept"):
        executor("while True: pass")
    assert executor("kept").output == "7"
    executor.cleanup()


def test_a_stop_ends_the_step_and_code_that_ignores_it_leaves_no_process(pool):
    executor = SandboxExecutor(LIMITS, pool=pool)
    executor("mark = 1")
    for code in (
        "while True: pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    ):
        threading.Timer(0.2, executor.cancel.set).start()
        with pytest.raises(Stopped):
            executor(code)
        executor.cancel.clear()
    executor.cleanup()
    assert none_left(pool.command)


def test_a_host_that_is_killed_leaves_no_box_behind(command):
    box = Box(command)
    box.open(choose_level(command=command).number, LIMITS, None)
    box.send({"op": "run", "step": 1, "code": "while True: pass"}, [])
    assert there(command)
    os.killpg(box.pid, 9)  # the client alone: what it started is in another session
    assert none_left(command)
    box.close()


def test_a_box_that_crashes_says_so(pool):
    executor = SandboxExecutor(LIMITS, pool=pool)
    with pytest.raises(BoxLost, match="ended by SIGSEGV"):
        executor("import ctypes; ctypes.string_at(0)")
    assert executor("1 + 1").output == "2"
    executor.cleanup()


def test_the_variable_puts_the_boxes_of_the_app_behind_the_command(command, tmp_path):
    words = shlex.join(command.words)
    services = build_services(
        Settings(
            _env_file=None,
            tgi_url="http://127.0.0.1:9",
            search="library",
            data_dir=tmp_path,
            sandbox_command=words,
        )
    )
    try:
        assert services.pool.command == command
        assert services.pool.level.number in (1, 2)
    finally:
        services.close()
    assert none_left(command)


def test_a_command_that_is_not_there_or_has_no_python_is_told_in_one_sentence():
    with pytest.raises(SandboxError, match="could not be started"):
        Box(Command(["/no/such/command"]))
    with pytest.raises(SandboxError, match=r"behind SANDBOX_COMMAND .*no such"):
        choose_level(command=Command(["sh", "-c", "echo no such image >&2; exit 125"]))
