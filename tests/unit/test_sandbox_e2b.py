"""A box in a sandbox of E2B, through E2B's own client, on an imitation of its API."""

import sys
import time
from pathlib import Path

import pytest

from agent.errors import CodeError, SandboxError, SettingsError
from agent.sandbox.command import Command, through_e2b
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from agent.services import build_services
from agent.settings import Settings
from tests.imitation_e2b import KEY, ImitationE2B

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def e2b(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bin")
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with ImitationE2B(f"{folder}:/usr/bin:/bin") as imitation:
        yield imitation


def reached(e2b, key=KEY):
    made = through_e2b(key, "my-template")
    return Command(made.words, {**made.variables, **e2b.variables})


def test_a_box_runs_in_an_e2b_sandbox_and_the_sandbox_is_killed_at_the_end(e2b):
    command = reached(e2b)
    level = choose_level(command=command)
    before = len(e2b.created)
    executor = SandboxExecutor(
        Limits(step_seconds=2), pool=BoxPool(level, size=0, command=command, preload=())
    )
    executor.send_tools({"double": lambda value: 2 * value})
    assert executor("print('é 漢'); kept = 7\nlen(double('x' * 200_000)), double(b'\\x00\\xff')").output == (
        "(400000, b'\\x00\\xff\\x00\\xff')"
    )
    assert executor.state["_print_outputs"] == "é 漢\n"
    with pytest.raises(CodeError, match="variables are kept"):
        executor("while True: pass")
    assert executor("kept").output == "7"
    executor.cleanup()
    deadline = time.monotonic() + 30
    while e2b.killed < len(e2b.created) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert e2b.killed >= len(e2b.created) == before + 1
    asked = e2b.created[-1]
    assert asked["templateID"] == "my-template"
    assert asked["allow_internet_access"] is False


def test_a_wrong_key_is_told_in_one_sentence(e2b):
    with pytest.raises(SandboxError, match=r"E2B did not serve: .*not known"):
        choose_level(1, command=reached(e2b, "another"))


def test_without_a_key_the_start_says_what_is_missing(tmp_path):
    chosen = Settings(_env_file=None, tgi_url="http://127.0.0.1:9", data_dir=tmp_path, sandbox_command="e2b")
    with pytest.raises(SettingsError, match="set E2B_API_KEY"):
        build_services(chosen)


def test_without_the_package_it_says_what_to_install():
    bridge = Path(through_e2b("", "").words[2])
    assert bridge.is_file()
    with pytest.raises(SandboxError, match=r"pip install -r requirements-e2b.txt"):
        choose_level(1, command=Command([sys.executable, "-IS", str(bridge), ""]))
