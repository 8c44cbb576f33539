"""Whatever an evaluation is given that it cannot use is told in one sentence, before anything is asked or lost."""

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from agent.events import Outcome
from agent.settings import PROJECT
from evals.__main__ import main
from evals.folder import About, BadFolder, Folder
from evals.gaia.dataset import GaiaNotAvailable, load_gaia
from evals.questions import Question, QuestionSet
from evals.results import Key, Result

SET = QuestionSet("gaia validation", (Question("q1", "Which?", "this", level=1),))
ABOUT = About("gaia validation", "web", "model", "research", 6, "code")
RESULT = Result(
    Key("research", "q1", "web", "model", 6, "code"), "this", Outcome.ANSWERED, "", 9, 1, False, 1.0, 2
)

NO_TEXT = json.dumps(asdict(RESULT) | {"answer": None}).encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An evaluation with one result."""
    Folder.write(tmp_path / "run", ABOUT, SET).results_file().add(RESULT)
    return tmp_path / "run"


def said(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a command which fails says."""
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "Traceback" not in error
    return error


@pytest.mark.parametrize(
    ("line", "pages", "why"),
    [
        (
            '{"question": "?", "answer": "!", "files": ["gone.csv"]}',
            None,
            "The attachment gone.csv is missing",
        ),
        ('{"question": "?", "answer": "!"}\n{"question": "?", "ans', None, "Line 2 of q.jsonl is no JSON"),
        ('{"question": "?"}', None, "has no text under 'answer'"),
        ('{"question": "?", "answer": "yes", "accept": "y"}', None, "no list of texts under 'accept'"),
        ('{"question": "?", "answer": "!", "files": "a.csv"}', None, "no list of texts under 'files'"),
        ("", None, "q.jsonl is empty"),
        ('{"question": "?", "answer": "!"}', "nowhere.jsonl", "nowhere.jsonl cannot be read"),
        ('{"question": "?", "answer": "!"}', "q.jsonl", "has no text under 'title'"),
    ],
)
def test_a_set_that_cannot_be_used_is_told_before_anything_is_asked(
    line: str, pages: str | None, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "q.jsonl").write_text(line)
    given = ["--pages", str(tmp_path / pages)] if pages else []
    out = tmp_path / "out"
    command = ["set", "run", "--questions", str(tmp_path / "q.jsonl"), "--out", str(out), *given]
    assert why in said(command, capsys)
    assert not out.exists()


def test_a_gaia_whose_rows_are_no_objects_has_changed(tmp_path: Path) -> None:
    (tmp_path / "metadata.jsonl").write_text("7\n")
    with pytest.raises(GaiaNotAvailable, match="GAIA has changed"):
        load_gaia(tmp_path, "validation")


def test_a_question_may_hold_what_unicode_counts_as_the_end_of_a_line(tmp_path: Path) -> None:
    asked = QuestionSet("words", (Question("q1", "One\u2028two\x85three?", "four\u2029five"),))
    Folder.write(tmp_path, ABOUT, asked)
    assert Folder.read(tmp_path).questions["q1"] == asked.questions[0]


@pytest.mark.parametrize(
    "row", ['{"id": "q1", "quest', '{"id": "q1", "question": "?", "answer": "!"}', "7", ""]
)
def test_damaged_questions_of_a_run_are_told(
    row: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "questions.jsonl").write_text(row)
    assert "questions.jsonl in" in (told := said(["set", "report", str(folder)], capsys))
    assert "is damaged" in told and (folder / "results.jsonl").exists()


def test_what_is_no_folder_of_a_run_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for place in ("file", "nowhere"):
        assert "holds no evaluation" in said(["set", "score", str(tmp_path / place)], capsys)


def test_a_disk_without_room_is_told_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("evals.folder._LEAST_ROOM", 1 << 62)
    (tmp_path / "q.jsonl").write_text('{"question": "?", "answer": "!"}')
    command = ["set", "run", "--questions", str(tmp_path / "q.jsonl"), "--out", str(tmp_path / "out")]
    assert "MB left: make room" in said(command, capsys)


@pytest.mark.slow
def test_an_endpoint_that_is_down_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text('{"question": "?", "answer": "!"}')
    (tmp_path / "pages.jsonl").write_text('{"title": "?", "text": "!"}')
    command = [
        sys.executable,
        "-m",
        "evals",
        "set",
        "run",
        "--questions",
        "q.jsonl",
        "--pages",
        "pages.jsonl",
    ]
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT), "TGI_URL": "http://127.0.0.1:9"}
    done = subprocess.run(
        [*command, "--out", "out"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("No model endpoint answers at 127.0.0.1:9") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["run.json", "questions.jsonl"])
def test_a_disk_that_is_full_at_the_start_leaves_the_evaluation_as_it_was(name: str, folder: Path) -> None:
    (folder / f"{name}.part").symlink_to("/dev/full")
    with pytest.raises(BadFolder, match=r"cannot be written \(No space left on device\)"):
        Folder.write(folder, replace(ABOUT, machine="another"), SET)
    assert Folder.read(folder).results() == [RESULT]


@pytest.mark.parametrize(
    ("file", "action", "why"),
    [
        ("report.html", "report", "The report cannot be written into"),
        ("results.csv", "report", "The report cannot be written into"),
        ("submission.jsonl", "submit", "The disk is full"),
    ],
)
def test_a_disk_that_fills_while_a_result_is_told_loses_no_result(
    file: str, action: str, why: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / file).symlink_to("/dev/full")
    assert why in said(["gaia", action, str(folder)], capsys)
    assert Folder.read(folder).results() == [RESULT]


def test_a_world_without_room_says_which_variable_names_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cache").write_text("no folder")
    monkeypatch.setenv("CACHE_DIR", str(tmp_path / "cache"))
    assert "set CACHE_DIR to a folder with room" in said(["world", "run"], capsys)


@pytest.mark.parametrize("tail", [b'{"key": {"side": "resea', b"\x00\xff\xfe", b"[]", b'{"key": 1}', NO_TEXT])
def test_a_half_written_results_file_costs_that_line_and_no_other(tail: bytes, folder: Path) -> None:
    with (folder / "results.jsonl").open("ab") as file:
        file.write(tail)
    assert Folder.read(folder).results() == [RESULT]
    assert Folder.read(folder).results_file().damaged == 1
    second = replace(RESULT, key=replace(RESULT.key, repeat=1))
    Folder.read(folder).results_file().add(second)
    assert Folder.read(folder).results() == [RESULT, second]


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"TGI_URL": "http://127.0.0.1:9"}, "RAY_ADDRESS is not set"),
        ({"RAY_ADDRESS": "10.0.0.5:6379"}, "The embedded model serves one machine"),
        ({"RAY_ADDRESS": "10.0.0.5:6379", "TGI_URL": "http://127.0.0.1:9"}, "Ray is not installed"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_told_before_anything_is_begun(
    variables: dict[str, str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as where the extra is not installed
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": "?", "answer": "!"}))
    command = ["set", "run", "--questions", str(tmp_path / "q.jsonl"), "--engine", "ray"]
    assert why in said([*command, "--out", str(tmp_path / "out")], capsys)
    assert not (tmp_path / "out").exists()
