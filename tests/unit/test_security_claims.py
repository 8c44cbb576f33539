"""What the README's security part says where no other test looks: its numbers, and what the locks leave open."""

import os
import re
import shutil
from pathlib import Path

import pytest

from agent.errors import SandboxError
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.forkserver import forks_here
from agent.sandbox.level import LEVELS
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from tests.attacks.battery import BATTERY
from tools.formats import apart
from ui.doors import Uploads

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")


def test_the_numbers_of_the_readme_are_those_of_the_code(tmp_path: Path) -> None:
    assert re.findall(r"`make attack` runs (\d+) attacks", README) == [str(len(BATTERY))]
    assert f"{apart.CPU_SECONDS} s of CPU, {apart.MEMORY_BYTES // 1_000_000} MB" in README
    assert "uploads leave a tenth of the disk free (1 GB at most)" in README
    assert Uploads.on_disk(tmp_path, 1).spare == min(1 << 30, shutil.disk_usage(tmp_path).total // 10)
    for level in (level for level in LEVELS.values() if level.runs_code):
        assert f"| {level} |" in README


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_a_file_of_the_app_is_seen_to_be_there_but_not_what_is_in_it(number: int, tmp_path: Path) -> None:
    try:
        level = choose_level(number)
    except SandboxError as error:
        pytest.skip(str(error))
    secret = tmp_path / "secret"
    secret.write_text("only the app's")
    tmp_path.chmod(0o755)
    executor = SandboxExecutor(Limits(), pool=BoxPool(level, size=0, preload=()))
    code = f"""
import os
def tried(path):
    try: return len(open(path).read()) > 0
    except OSError: return False
tried({str(secret)!r}), tried(os.__file__)
"""
    assert executor(code).output == str((False, number == 1)), (
        "at level 1 the Python installation is readable"
    )
    if os.geteuid() != 0:  # started by root the box is nobody, to whom a test's folder is closed
        assert executor(f"os.stat({str(secret)!r}).st_size").output == "14"
    assert executor("os.stat('/etc/passwd').st_size > 0").output == "True"
    executor.cleanup()


@pytest.mark.slow
@pytest.mark.skipif(not forks_here(), reason="boxes are not forked here")
def test_what_a_visitor_wrote_is_not_in_the_memory_of_what_the_next_box_is_forked_of() -> None:
    pool = BoxPool(choose_level(), size=0, preload=())
    executor = SandboxExecutor(Limits(), pool=pool)
    executor.send_variables({"given": "what-a-visitor-" + "wrote"})
    executor("kept = [given + str(i) for i in range(1000)]\nlen(kept)")
    assert executor._box is not None
    box = Path(f"/proc/{executor._box.pid}")
    server = Path("/proc", (box / "stat").read_text().rpartition(")")[2].split()[1])
    found = {}
    for process in (box, server):
        try:
            found[process] = b"what-a-visitor-wrote" in memory(process)
        except PermissionError:
            pytest.skip("only root may look into the memory of a process that hides it")
    executor.cleanup()
    pool.close()
    assert found == {box: True, server: False}


def memory(process: Path) -> bytes:
    """What a process has of its own in memory."""
    parts = []
    with (process / "mem").open("rb", 0) as mem:
        for line in (process / "maps").read_text().splitlines():
            where, rights, *_ = line.split()
            if rights.startswith("rw") and "[v" not in line:
                start, end = (int(place, 16) for place in where.split("-"))
                mem.seek(start)
                parts.append(mem.read(end - start))
    return b"".join(parts)
