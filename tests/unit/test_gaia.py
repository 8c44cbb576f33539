"""GAIA is read in both of its layouts, what is missing is said in one sentence, and the leaderboard's file is what it takes.

The questions here are invented; nothing of GAIA may stand in this repository.
"""

import json
import shutil
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import fastparquet
import pandas as pd
import pytest

from agent.events import Outcome
from evals.__main__ import main
from evals.folder import About, Folder
from evals.gaia import NOTICE
from evals.gaia.dataset import GaiaNotAvailable, fetch_gaia, load_gaia
from evals.gaia.submission import QUESTIONS, BadSubmission, check_submission
from evals.questions import Question, QuestionSet, chosen
from evals.results import Key, Result
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply

ARROW = Path(__file__).parent / "gaia_metadata.parquet"
ROWS = [
    {
        "task_id": "t-1",
        "Question": "How many legs has a stool?",
        "Level": "1",
        "Final answer": "3",
        "file_name": "",
    },
    {
        "task_id": "t-2",
        "Question": "Which row is red?",
        "Level": "2",
        "Final answer": "b, c",
        "file_name": "t-2.csv",
    },
    {"task_id": "t-3", "Question": "Who keeps the key?", "Level": "3", "Final answer": "?", "file_name": ""},
]


def lay_out(place: Path, layout: str, rows: list[dict[str, Any]]) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / "t-2.csv").write_text("row,colour\nb,red\n")
    if layout == "jsonl":
        (place / "metadata.jsonl").write_text("\n".join(map(json.dumps, rows)))
    else:
        fastparquet.write(str(place / "metadata.parquet"), pd.DataFrame(rows))
    return place


@pytest.mark.parametrize("layout", ["jsonl", "parquet"])
@pytest.mark.parametrize("place", ["2023/validation", "validation", "."])
def test_both_layouts_are_read_from_the_root_or_from_the_folder_of_the_split(
    layout: str, place: str, tmp_path: Path
) -> None:
    folder = lay_out(tmp_path / place, layout, ROWS)
    found = load_gaia(tmp_path, "validation")
    assert found.questions == (
        Question("t-1", "How many legs has a stool?", "3", level=1),
        Question("t-2", "Which row is red?", "b, c", level=2, files=(folder / "t-2.csv",)),
        Question("t-3", "Who keeps the key?", "", level=3),
    )
    assert found.notice == NOTICE and "reshare" in NOTICE


def test_the_nested_notes_of_the_real_layout_do_not_matter(tmp_path: Path) -> None:
    """The file is one that Arrow wrote, with the columns and types of the dataset."""
    lay_out(tmp_path, "jsonl", ROWS)
    shutil.copy(ARROW, tmp_path / "metadata.parquet")
    assert [question.id for question in load_gaia(tmp_path, "validation").questions] == ["t-1", "t-2", "t-3"]


def test_the_filters_choose_by_level_attachment_and_id(tmp_path: Path) -> None:
    questions = load_gaia(lay_out(tmp_path, "jsonl", ROWS), "validation").questions
    assert [q.id for q in chosen(questions, levels=[1, 3])] == ["t-1", "t-3"]
    assert [q.id for q in chosen(questions, attachment=True)] == ["t-2"]
    assert [q.id for q in chosen(questions, attachment=False, first=1)] == ["t-1"]
    assert [q.id for q in chosen(questions, ids=["t-3"])] == ["t-3"]


@pytest.mark.parametrize("layout", ["jsonl", "parquet"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"Final answer": None}, "has no 'Final answer': GAIA has changed"),
        ({"Level": "4"}, "has the level '4': GAIA has changed"),
        ({"file_name": "gone.pdf"}, "The attachment gone.pdf of question t-1 is missing"),
        ({"file_name": "../../etc/passwd"}, "The attachment passwd of question t-1 is missing"),
    ],
)
def test_a_dataset_that_has_changed_is_told_in_one_sentence(
    layout: str, change: dict[str, Any], said: str, tmp_path: Path
) -> None:
    rows = [{**row, **change} if row is ROWS[0] else row for row in ROWS]
    name, value = next(iter(change.items()))
    if value is None:
        rows = [{key: value for key, value in row.items() if key != name} for row in rows]
    lay_out(tmp_path, layout, rows)
    with pytest.raises(GaiaNotAvailable, match=said):
        load_gaia(tmp_path, "validation")


def test_a_folder_without_the_dataset_and_a_damaged_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(GaiaNotAvailable, match=r"neither metadata\.parquet nor metadata\.jsonl"):
        load_gaia(tmp_path, "test")
    (tmp_path / "metadata.jsonl").write_text('{"task_id": ')
    with pytest.raises(GaiaNotAvailable, match=r"metadata\.jsonl cannot be read"):
        load_gaia(tmp_path, "test")
    (tmp_path / "metadata.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(GaiaNotAvailable, match=r"metadata\.parquet cannot be read"):
        load_gaia(tmp_path, "test")


class _Hub(BaseHTTPRequestHandler):
    status, code = 403, "GatedRepo"

    def do_GET(self) -> None:
        self.send_response(self.status)
        if self.code:
            self.send_header("X-Error-Code", self.code)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hub) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (403, "GatedRepo", "HF_TOKEN has no access to GAIA"),
        (401, "RepoNotFound", "HF_TOKEN has no access to GAIA"),
        (401, "", "HF_TOKEN has no access to GAIA|does not give out GAIA"),
        (418, "", r"does not give out GAIA \(HTTP 418\)"),
    ],
)
def test_a_token_without_access_is_told_and_is_not_shown(
    status: int, code: str, said: str, hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Hub, "status", status)
    monkeypatch.setattr(_Hub, "code", code)
    with pytest.raises(GaiaNotAvailable, match=said) as raised:
        fetch_gaia("validation", "hf_secretsecret", hub)
    assert "hf_secretsecret" not in str(raised.value)


def test_a_hub_that_does_not_answer_is_told(hub: str) -> None:
    with pytest.raises(
        GaiaNotAvailable, match=r"does not give out GAIA \(no answer\): check HF_TOKEN and the"
    ):
        fetch_gaia("validation", "hf_secretsecret", "http://127.0.0.1:9")


def test_an_attachment_that_was_exchanged_is_a_changed_question(tmp_path: Path) -> None:
    folder = lay_out(tmp_path, "jsonl", ROWS)
    before = [question.content for question in load_gaia(tmp_path, "validation").questions]
    (folder / "t-2.csv").write_text("exchanged")
    after = [question.content for question in load_gaia(tmp_path, "validation").questions]
    assert [first == second for first, second in zip(before, after, strict=True)] == [True, False, True]


def test_no_token_is_told_with_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gaia", "run"]) == 1
    assert "HF_TOKEN is not set: accept its conditions" in capsys.readouterr().err


@pytest.mark.slow
def test_gaia_runs_from_a_folder_and_its_content_stays_in_the_folder_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = lay_out(tmp_path / "data", "jsonl", ROWS), tmp_path / "out"

    def answers(body: dict[str, Any]) -> Answer:
        return reply(
            "So.\n```python\nfinal_answer('b; c' if 't-2.csv' in open('t-2.csv').name else 3)\n```\n"
        )

    with ScriptedEndpoint(answers) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        monkeypatch.setenv("SEARCH", "library")
        monkeypatch.setenv("DATA_DIR", str(tmp_path / "other"))
        assert main(["gaia", "run", "--folder", str(data), "--out", str(out), "--level", "2"]) == 0
        assert "separated by commas" in str(endpoint.chats[-1]["messages"])
    shown = capsys.readouterr()
    assert "100.0%" in shown.out and "t-2" in shown.out
    assert "red" not in shown.out + shown.err
    assert (out / "NOTICE.txt").read_text().startswith("This folder holds")
    assert "red" in (out / "results.jsonl").read_text()
    assert main(["gaia", "submit", str(out)]) == 1
    assert (
        "answers 0 + 1 + 0 questions of levels 1 to 3 and the leaderboard wants 53 + 86 + 26"
        in capsys.readouterr().err
    )
    assert json.loads((out / "submission.jsonl").read_text()).keys() == {
        "task_id",
        "model_answer",
        "reasoning_trace",
    }


def whole_split() -> QuestionSet:
    levels = [level for level, count in QUESTIONS["validation"].items() for _ in range(count)]
    questions = tuple(Question(f"t-{n}", "?", "!", level=level) for n, level in enumerate(levels))
    return QuestionSet("gaia validation", questions)


def test_a_whole_split_is_written_in_the_form_that_the_leaderboard_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = About("gaia validation", "web", "m", "research", 6, "c")
    folder = Folder.write(tmp_path, about, whole_split())
    stored = folder.results_file()
    for question in folder.questions.values():
        for repeat, answer in enumerate(["a", "B", "b."]):
            key = Key("research", question.id, "web", "m", 6, "c", repeat)
            stored.add(Result(key, answer, Outcome.ANSWERED, "", 1, 1, False, 1.0, 1, trace=("I look.",)))
    for options, answer in ([], "a"), (["--majority"], "B"):
        assert main(["gaia", "submit", str(tmp_path), *options]) == 0
        first = json.loads((tmp_path / "submission.jsonl").read_text().splitlines()[0])
        assert first == {"task_id": "t-0", "model_answer": answer, "reasoning_trace": "I look."}
    assert "165 answers in the leaderboard's form" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "Line 166 of .* is no JSON"),
        ('{"task_id": "t-1"}', "has no text 'model_answer'"),
        ('{"task_id": "t-1", "model_answer": 3}', "has no text 'model_answer'"),
        ('{"task_id": "x", "model_answer": ""}', "answers x, which is no question of validation"),
        ('{"task_id": "t-1", "model_answer": ""}', "t-1 stands in .* twice"),
    ],
)
def test_what_the_leaderboard_would_refuse_is_refused_here(line: str, said: str, tmp_path: Path) -> None:
    questions = {question.id: question for question in whole_split().questions}
    path = tmp_path / "submission.jsonl"
    good = [json.dumps({"task_id": name, "model_answer": ""}) for name in questions]
    path.write_text("\n".join(good))
    check_submission(path, questions, "validation")
    path.write_text("\n".join([*good, line]))
    with pytest.raises(BadSubmission, match=said):
        check_submission(path, questions, "validation")
    path.write_text("\n".join(good[1:]))
    with pytest.raises(BadSubmission, match="wants 53"):
        check_submission(path, questions, "validation")


def test_only_an_evaluation_of_gaia_is_submitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Folder.write(
        tmp_path, About("words", "web", "m", "research", 6, "c"), replace(whole_split(), name="words")
    )
    assert main(["gaia", "submit", str(tmp_path)]) == 1
    assert "is an evaluation of words" in capsys.readouterr().err
