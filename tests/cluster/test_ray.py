"""An evaluation on a Ray cluster is the one of a single process, whatever becomes of the machines."""

import json
import os
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from evals.__main__ import main
from evals.folder import Folder
from evals.results import Result
from evals.summary import Summary
from tests.agent_world import until
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply

pytestmark = pytest.mark.timeout(300)

COUNT = 10
SECRET = "tgi-notforanylog"


class Squares:
    """Looks once, then answers with the square of the number in the question; each third answer is wrong.

    Questions from `held_from` on wait at the endpoint until `go` is set, those in `held`.
    """

    def __init__(self) -> None:
        self.held_from = COUNT
        self.held: set[int] = set()
        self.go = threading.Event()

    def __call__(self, body: dict[str, Any]) -> Answer:
        talk = " ".join(str(message["content"]) for message in body["messages"])
        found = re.findall(r"word(\d+)", talk)
        if not found:
            return reply("Ready.")  # to the warming
        number = int(found[-1])
        if number >= self.held_from:
            self.held.add(number)
            self.go.wait(240)
        looked = sum(
            message["role"] == "assistant" and "look(" in str(message["content"])
            for message in body["messages"]
        )
        code = (
            f"final_answer({number * number + (number % 3 == 0)})" if looked else "look = print\nlook('here')"
        )
        return reply(f"On it.\n```python\n{code}\n```\n", usage=(100 + number, 10), silent=0.2)


@pytest.fixture
def squares() -> Iterator[Squares]:
    squares = Squares()
    yield squares
    squares.go.set()


@pytest.fixture
def command(
    cluster: Any, squares: Squares, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[str]]:
    """`set run` with ten questions, a page and an endpoint with a token."""
    questions, pages = tmp_path / "q.jsonl", tmp_path / "pages.jsonl"
    (tmp_path / "note.txt").write_text("A note.")
    rows = [
        {
            "id": f"q{n}",
            "question": f"Which number has word{n}?",
            "answer": str(n * n),
            "files": ["note.txt"] * (n % 2),
        }
        for n in range(COUNT)
    ]
    questions.write_text("\n".join(map(json.dumps, rows)))
    pages.write_text(json.dumps({"title": "Words", "text": "Words have numbers."}))
    with ScriptedEndpoint(squares, token=SECRET) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        monkeypatch.setenv("TGI_TOKEN", SECRET)
        monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        yield ["set", "run", "--questions", str(questions), "--pages", str(pages), "--concurrency", "4"]


def table(folder: Path) -> list[tuple[Any, ...]]:
    """What a report tells of each result, but for the seconds."""
    summary = Summary(Folder.read(folder))
    return [
        (each.question.id, each.verdict(result), result.answer, result.usage, result.steps, len(result.trace))
        for each in summary.asked
        for result in each.results
    ]


def stored(folder: Path) -> list[Result]:
    return Folder.read(folder).results_file().lines if (folder / "run.json").exists() else []


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
