"""An evaluation on a Ray cluster is the one of a single process, whatever becomes of the machines."""

import os
import signal
import threading
from pathlib import Path
from typing import Any

import psutil
import pytest

from evals.__main__ import main
from evals.folder import Folder
from tests.agent_world import until
from tests.cluster.squares import COUNT, SECRET, Squares, stored, table

pytestmark = pytest.mark.timeout(300)


def test_a_machine_that_is_killed_in_the_middle_loses_nothing_and_nothing_is_counted_twice(
    command: list[str], squares: Squares, cluster: Any, second: Any, tmp_path: Path
) -> None:
    squares.held_from = 2

    def kill() -> None:
        until(lambda: len(squares.held) == 4, 240)  # two at each machine
        cluster.remove_node(second, allow_graceful=False)
        squares.go.set()

    killer = threading.Thread(target=kill)
    killer.start()
    assert main([*command, "--engine", "ray", "--out", str(tmp_path / "ray")]) == 0
    killer.join()
    assert main([*command, "--out", str(tmp_path / "threads")]) == 0
    assert table(tmp_path / "ray") == table(tmp_path / "threads")
    assert len(table(tmp_path / "ray")) == COUNT
    lines = stored(tmp_path / "ray")
    lost = [line.reason for line in lines if line.interrupted]
    assert lost == ["The worker was lost before the answer."] * 2
    whole = [line.key for line in lines if not line.interrupted]
    assert len(whole) == len(set(whole)) == COUNT


def test_ctrl_c_ends_the_runs_on_the_cluster_and_one_process_goes_on_from_there(
    command: list[str], squares: Squares, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    squares.held_from = 2

    def interrupt() -> None:
        until(lambda: len(squares.held) == 4, 240)
        os.kill(os.getpid(), signal.SIGINT)

    # A shell that starts the tests in the background has them ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=interrupt, daemon=True).start()
    assert main([*command, "--engine", "ray", "--out", str(out)]) == 130
    assert "the same command goes on from here" in capsys.readouterr().err
    before = table(out)
    assert len(before) == 2
    squares.go.set()
    assert main([*command, "--out", str(out)]) == 0
    assert len(table(out)) == COUNT and set(before) <= set(table(out))


def test_a_budget_of_the_whole_holds_on_the_cluster_and_a_larger_one_goes_on(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([*command, "--engine", "ray", "--out", str(out), "--tokens", "700"]) == 1
    assert "used its budget of 700 tokens" in capsys.readouterr().err
    lines = stored(out)
    assert sum(line.prompt_tokens + line.completion_tokens for line in lines) >= 700
    # Four whole questions are more than 700; when the fourth ends, three more may be about to.
    whole = [line.key for line in lines if not line.interrupted]
    assert len(whole) <= 7
    assert main([*command, "--engine", "ray", "--out", str(out)]) == 0
    assert [line.key for line in stored(out) if not line.interrupted][: len(whole)] == whole
    assert len(table(out)) == len({line.key for line in stored(out)}) == COUNT


def test_a_budget_of_a_question_holds_on_the_cluster(
    command: list[str], squares: Squares, tmp_path: Path
) -> None:
    squares.held_from = 2
    out, budget = tmp_path / "out", ["--id", "q2", "--question-seconds", "0.3"]
    assert main([*command, "--engine", "ray", "--out", str(out), *budget]) == 0
    (result,) = Folder.read(out).results()
    assert result.reason == "The question used its budget of 0.3 seconds."


def test_the_arms_of_an_ablation_are_asked_on_the_cluster_one_after_the_other(
    command: list[str], tmp_path: Path
) -> None:
    root, chosen = tmp_path / "out", ["--id", "q3", "q4", "--arms", "code", "bare"]
    ablate = [command[0], "ablate", *command[2:], *chosen, "--out", str(root)]
    assert main([*ablate, "--engine", "ray"]) == 0
    told = (root / "ablation.md").read_text()
    assert "| code actions | 1 of 2 |" in told and "| bare model, no tools | 2 of 2 |" in told
    assert {line.key.side for name in ("code", "bare") for line in stored(root / name)} == {"code", "bare"}
    assert main(ablate) == 0
    assert (root / "ablation.md").read_text() == told


def test_nothing_of_the_cluster_listens_beyond_loopback_and_no_log_holds_the_token_or_a_question(
    command: list[str], cluster: Any, tmp_path: Path
) -> None:
    assert main([*command, "--engine", "ray", "--out", str(tmp_path / "out"), "--id", "q1", "q2"]) == 0
    ours = {process.pid for process in psutil.Process().children(recursive=True)}
    listening = [
        c for c in psutil.net_connections("inet") if c.pid in ours and c.status == psutil.CONN_LISTEN
    ]
    assert listening
    assert {connection.laddr.ip for connection in listening} <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
    logs = [path for path in Path(cluster.head_node.get_session_dir_path()).rglob("*") if path.is_file()]
    assert logs
    for private in (SECRET, "Which number has", "A note."):
        assert not [path for path in logs if private.encode() in path.read_bytes()]


def test_an_address_without_a_cluster_and_an_endpoint_that_workers_cannot_use_are_told(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    assert main([*command, "--engine", "ray", "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "No Ray cluster can be used at 127.0.0.1:9" in error and error.count("\n") == 1
