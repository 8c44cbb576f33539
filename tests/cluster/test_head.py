"""A cluster that loses its head ends the evaluation with one sentence, before Ray ends the whole process without any."""

import threading
from pathlib import Path
from typing import Any

import pytest

from evals.__main__ import main
from tests.agent_world import until
from tests.cluster.squares import COUNT, Squares, stored, table

pytestmark = pytest.mark.timeout(300)


def test_a_head_that_dies_in_the_middle_is_told_in_one_sentence_and_the_same_command_goes_on(
    command: list[str], squares: Squares, cluster: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    squares.held_from = 2

    def kill() -> None:
        until(lambda: len(squares.held) == 4, 240)
        cluster.head_node.kill_all_processes(check_alive=False, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    capfd.readouterr()
    assert main([*command, "--engine", "ray", "--out", str(out)]) == 1
    killer.join()
    said = capfd.readouterr().err
    assert f"The head of the Ray cluster at {cluster.address} is lost" in said and said.count("\n") == 1
    before = table(out)
    assert len(before) == 2
    squares.go.set()
    assert main([*command, "--out", str(out)]) == 0
    assert len(table(out)) == COUNT and set(before) <= set(table(out))
    whole = [line.key for line in stored(out) if not line.interrupted]
    assert len(whole) == len(set(whole)) == COUNT
