"""Boxes that are forked of one server share what was loaded, and nothing else."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import BoxLost, CodeError
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.forkserver import ForkServer, forks_here
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from tests.agent_world import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not forks_here(), reason="boxes are not forked here"),
]


@pytest.fixture
def pool() -> Iterator[BoxPool]:
    pool = BoxPool(choose_level(), size=0, preload=("numpy.random", "random"))
    yield pool
    pool.close()


def new_box(pool: BoxPool) -> SandboxExecutor:
    return SandboxExecutor(Limits(step_seconds=60), pool=pool)


def pid_of(executor: SandboxExecutor) -> int:
    assert executor._box is not None
    return executor._box.pid


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("code", ["import random\nrandom.random()", "import numpy\nnumpy.random.rand()"])
def test_two_visitors_do_not_get_the_same_random_numbers(pool: BoxPool, code: str) -> None:
    drawn = []
    for _ in range(3):
        executor = new_box(pool)
        drawn.append(executor(code).output)
        executor.cleanup()
    assert len(set(drawn)) == 3


def test_a_visitors_variables_and_modules_are_not_found_by_the_next(pool: BoxPool) -> None:
    first = new_box(pool)
    first("import builtins, random\nbuiltins.left = random.left = 'a secret'")
    second = new_box(pool)
    with pytest.raises(CodeError, match="NameError"):
        second("left")
    assert second("import random\nhasattr(random, 'left')").output == "False"
    first.cleanup()
    second.cleanup()


def test_a_box_holds_its_own_pipe_and_no_descriptor_of_the_server_or_of_another_box(pool: BoxPool) -> None:
    others = [new_box(pool) for _ in range(3)]
    for other in others:
        other("1")
    last = new_box(pool)
    code = """
import os
held = []
for descriptor in range(1024):
    try: os.fstat(descriptor)
    except OSError: continue
    held.append(descriptor)
held
"""
    assert last(code).output == "[0, 1, 2, 3, 4]"
    for other in (*others, last):
        other.cleanup()


def test_a_server_that_is_killed_takes_its_boxes_with_it_and_the_next_step_gets_a_new_one(
    pool: BoxPool,
) -> None:
    executor = new_box(pool)
    executor("kept = 1")
    box = pid_of(executor)
    server = int(Path(f"/proc/{box}/stat").read_text().rpartition(")")[2].split()[1])
    threading.Timer(0.3, os.kill, (server, signal.SIGKILL)).start()
    with pytest.raises(BoxLost, match="variables are lost"):
        executor("while True: pass")
    until(lambda: gone(box))
    assert executor("1 + 1").output == "2"
    executor.cleanup()


@pytest.mark.parametrize("level", [1, 2, 3])
def test_no_box_computes_on_when_the_app_was_killed(level: int) -> None:
    program = f"""
import sys, threading, time
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.level import LEVELS
from agent.sandbox.wire.limits import Limits
executor = SandboxExecutor(Limits(), pool=BoxPool(LEVELS[{level}], size=1))
executor("1")
print(executor._box.pid, flush=True)
executor("while True: pass")
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as app:
        assert app.stdout is not None
        box = int(app.stdout.readline())
        app.kill()
    until(lambda: gone(box))


def test_a_session_that_is_closed_before_its_box_was_there_leaves_no_process() -> None:
    server = ForkServer(("pandas",))
    child = server.child()
    child.close()
    assert not child.alive
    later = server.child()  # comes after the one that nobody waited for
    until(lambda: later.pid > 0, 30)
    parent = Path(f"/proc/{later.pid}/stat").read_text().rpartition(")")[2].split()[1]
    until(lambda: children(parent) == [later.pid])
    later.close()
    until(lambda: children(parent) == [])
    server.close()
    assert gone(int(parent))


def children(parent: str) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
