"""An evaluation loses nothing: whatever ends it, the same command goes on, and the table is that of an undisturbed run."""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.events import Outcome, Usage
from agent.settings import PROJECT
from evals.__main__ import main
from evals.budget import Limit, Meter, Prices
from evals.folder import About, BadFolder, Folder, held
from evals.questions import Question, QuestionSet
from evals.results import Key, Result, ResultsFile, ResultsNotKept
from evals.runner import EvaluationHalted, Runner
from evals.sides import SIDES
from evals.summary import Summary
from tests.agent_world import App, MakeWorld, until
from tests.scripted_endpoint import Answer, ScriptedEndpoint, refuse, reply

pytestmark = pytest.mark.slow

COUNT = 7
SET = QuestionSet(
    "words", tuple(Question(f"q{n}", f"Which number has word{n}?", str(n * n)) for n in range(6))
)
ABOUT = About("words", "web", "model", "research", 6, "code")


def squares(delay: float = 0.0) -> Callable[[dict[str, Any]], Answer]:
    """Looks once, then answers with the square of the number in the question; each third answer is wrong."""

    def answer(body: dict[str, Any]) -> Answer:
        talk = " ".join(str(message["content"]) for message in body["messages"])
        found = re.findall(r"word(\d+)", talk)
        if not found:
            return reply("Ready.")  # to the warming
        number = int(found[-1])
        said = number * number + (number % 3 == 0)
        looked = any(
            "print('looked')" in str(m["content"]) for m in body["messages"] if m["role"] == "assistant"
        )
        code = f"final_answer({said})" if looked else "print('looked')"
        return reply(f"On it.\n```python\n{code}\n```\n", usage=(100 + number, 10), silent=delay)

    return answer


def table(folder: Path) -> list[tuple[Any, ...]]:
    """What a report tells of each result, but for the seconds."""
    summary = Summary(Folder.read(folder))
    return [
        (each.question.id, result.key.repeat, each.verdict(result), result.answer, result.usage, result.steps)
        for each in summary.asked
        for result in each.results
    ]


def lines(folder: Path) -> int:
    path = folder / "results.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_ctrl_c_and_kill_9_in_the_middle_leave_the_table_of_an_undisturbed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, pages, broken = tmp_path / "q.jsonl", tmp_path / "pages.jsonl", tmp_path / "broken"
    rows = [
        {"id": f"q{n}", "question": f"Which number has word{n}?", "answer": str(n * n)} for n in range(COUNT)
    ]
    questions.write_text("\n".join(map(json.dumps, rows)))
    pages.write_text(json.dumps({"title": "Words", "text": "Words have numbers."}))
    command = ["set", "run", "--questions", str(questions), "--pages", str(pages), "--concurrency", "3"]
    with ScriptedEndpoint(squares(0.1)) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        monkeypatch.setenv("DATA_DIR", str(tmp_path))

        def interrupt() -> None:
            until(lambda: lines(broken), 60)
            os.kill(os.getpid(), signal.SIGINT)

        # A shell that starts the tests in the background has them ignore Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=interrupt, daemon=True).start()
        assert main([*command, "--out", str(broken)]) == 130
        assert capsys.readouterr().err == "Stopped; the same command goes on from here.\n"
        done = len(Folder.read(broken).results())
        assert 1 <= done < COUNT
        before = lines(broken)
        child = subprocess.Popen(
            [sys.executable, "-m", "evals", *command, "--out", str(broken)],
            cwd=PROJECT,
            env={**os.environ, "PYTHONPATH": str(PROJECT)},
            stdout=subprocess.DEVNULL,
        )
        try:
            until(lambda: lines(broken) > before or child.poll() is not None, 60)
        finally:
            child.kill()
        assert child.wait(60) == -signal.SIGKILL
        assert done < len(Folder.read(broken).results()) < COUNT
        with (broken / "results.jsonl").open("ab") as file:
            file.write(b'{"key": {"side": "research", "question": "q6", "wor')
        assert main([*command, "--out", str(broken)]) == 0
        assert main([*command, "--out", str(tmp_path / "whole")]) == 0
    assert table(broken) == table(tmp_path / "whole")
    assert len(table(broken)) == COUNT
    assert "57.1%" in capsys.readouterr().out
    assert not (broken / ".work").exists()


Replies = dict[str, Callable[[dict[str, Any]], Answer]]


@pytest.fixture
def replies() -> Replies:
    """What the endpoint of `app` does "now"."""
    return {"now": squares()}


@pytest.fixture
def app(world: MakeWorld, replies: Replies) -> App:
    return world(*[lambda body: replies["now"](body)] * 200, prompt_profile="compact")


def runner(app: App, folder: Path, **options: Any) -> Runner:
    return Runner(
        app.services,
        replace(SIDES["research"], warm=lambda services: None),
        SET,
        ResultsFile(folder / "results.jsonl"),
        **options,
    )


def test_a_question_that_uses_up_its_budget_is_stopped_and_counts_as_asked(
    app: App, replies: Replies, tmp_path: Path
) -> None:
    numbers = itertools.count()

    def busy(body: dict[str, Any]) -> Answer:
        number = next(numbers)
        code = f"import time; time.sleep(.4); print({number})"
        return reply(f"I try {number}.\n```python\n{code}\n```\n", usage=(400, 10))

    replies["now"] = busy
    results = runner(app, tmp_path, meter=Meter(question=Limit(tokens=800)), concurrency=6).run()
    assert {(result.outcome, result.reason) for result in results} == {
        (Outcome.STOPPED, "The question used its budget of 800 tokens.")
    }
    assert all(not result.interrupted for result in results)


def test_a_used_up_budget_of_the_whole_ends_the_evaluation_and_a_larger_one_goes_on(
    app: App, tmp_path: Path
) -> None:
    prices = Prices(1e6, 0)
    with pytest.raises(EvaluationHalted, match=r"its budget of \$450.00 with \d of 6 answers missing"):
        runner(app, tmp_path, meter=Meter(total=Limit(dollars=450), prices=prices)).run()
    stored = ResultsFile(tmp_path / "results.jsonl").lines
    assert 1 <= len(stored) < 6
    with pytest.raises(EvaluationHalted):  # what was spent before counts
        runner(app, tmp_path, meter=Meter(stored, total=Limit(dollars=450), prices=prices)).run()
    assert (
        len(runner(app, tmp_path, meter=Meter(stored, total=Limit(dollars=9999), prices=prices)).run()) == 6
    )
    lines = ResultsFile(tmp_path / "results.jsonl").lines
    assert sorted(line.key.question for line in lines if not line.interrupted) == [
        q.id for q in SET.questions
    ]


def test_an_endpoint_that_goes_down_ends_the_evaluation_and_failed_ones_are_asked_again_on_request(
    app: App, replies: Replies, tmp_path: Path
) -> None:
    healthy = replies["now"]
    replies["now"] = lambda body: refuse(400, {"error": "the model has gone", "error_type": "validation"})
    with pytest.raises(EvaluationHalted, match=r"last 5 questions failed.*the model has gone.*--failed"):
        runner(app, tmp_path).run()
    replies["now"] = healthy
    results = runner(app, tmp_path).run()
    assert 5 <= sum(result.outcome is Outcome.FAILED for result in results) <= 6
    results = runner(app, tmp_path, again=lambda result: result.outcome is Outcome.FAILED).run()
    assert all(result.outcome is Outcome.ANSWERED for result in results)


def test_each_repeat_is_asked_in_a_session_that_knows_nothing_of_the_others(app: App, tmp_path: Path) -> None:
    results = runner(app, tmp_path, repeats=2, concurrency=4).run()
    assert [result.key.repeat for result in results] == [0] * 6 + [1] * 6
    assert (
        [result.answer for result in results[:6]]
        == ["1", "1", "4", "10", "16", "25"]
        == [r.answer for r in results[6:]]
    )
    for chat in app.endpoint.chats:
        words = {w for m in chat["messages"] for w in re.findall(r"word\d", str(m["content"]))}
        assert len(words) == 1


def test_an_attachment_that_cannot_be_used_fails_its_question_and_no_other(app: App, tmp_path: Path) -> None:
    empty, good = tmp_path / "empty.txt", tmp_path / "good.txt"
    empty.write_text("")
    good.write_text("word7")
    files = (replace(SET.questions[1], files=(empty,)), replace(SET.questions[2], files=(good,)))
    stored = ResultsFile(tmp_path / "results.jsonl")
    first, second = Runner(app.services, SIDES["research"], replace(SET, questions=files), stored).run()
    assert (first.outcome, second.outcome) == (Outcome.FAILED, Outcome.ANSWERED)
    assert "empty.txt is empty" in first.reason


def test_a_disk_that_fills_ends_the_evaluation_with_one_sentence_and_what_was_stored_stays(
    app: App, tmp_path: Path
) -> None:
    path = tmp_path / "results.jsonl"
    stored = ResultsFile(path)
    full = runner(app, tmp_path)
    full._stored = stored
    path.symlink_to("/dev/full")
    with pytest.raises(ResultsNotKept, match=r"cannot be kept in .*No space left.*same command again"):
        full.run()
    assert stored.lines == []


RESULT = Result(
    Key("research", "q1", "web", "model", 6, "code"), "1", Outcome.ANSWERED, "", 9, 1, False, 1.0, 2
)


def test_another_model_a_changed_question_or_a_second_process_is_not_mixed_in(tmp_path: Path) -> None:
    Folder.write(tmp_path, ABOUT, SET)
    with pytest.raises(BadFolder, match=r"results of another model \(model, now other\)"):
        Folder.write(tmp_path, replace(ABOUT, model="other"), SET)
    changed = replace(SET, questions=(replace(SET.questions[0], answer="other"), *SET.questions[1:]))
    with pytest.raises(BadFolder, match=r"1 changed since .* such as q0"):
        Folder.write(tmp_path, ABOUT, changed)
    other_file = replace(SET, questions=(replace(SET.questions[0], content="other"),))
    with pytest.raises(BadFolder, match=r"1 changed since .* such as q0"):
        Folder.write(tmp_path, ABOUT, other_file)
    more = replace(SET, questions=(Question("new", "?", "!"),))
    assert len(Folder.write(tmp_path, ABOUT, more).questions) == 7
    with held(tmp_path), pytest.raises(BadFolder, match="Another process is at work"), held(tmp_path):
        pass
    with pytest.raises(BadFolder, match="holds no evaluation"):
        Folder.read(tmp_path / "nowhere")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(BadFolder, match=r"run\.json in .* cannot be read"):
        Folder.read(tmp_path)


def test_only_results_of_this_evaluation_are_told(tmp_path: Path) -> None:
    folder = Folder.write(tmp_path, ABOUT, SET)
    stored = folder.results_file()
    stored.add(replace(RESULT, answer="old"))
    stored.add(RESULT)
    stored.add(replace(RESULT, key=replace(RESULT.key, question="q2"), interrupted=True))
    stored.add(replace(RESULT, key=replace(RESULT.key, code="other")))
    stored.add(replace(RESULT, key=replace(RESULT.key, question="unknown")))
    assert folder.results() == [RESULT]
    assert sum((result.usage for result in folder.results_file().lines), Usage()).prompt_tokens == 45
    assert (tmp_path / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--dollars", "1"], "A budget in dollars needs prices"),
        (["--id", "nobody"], "There is no question with the id nobody"),
        (["--level", "3"], "No question passes all filters"),
    ],
)
def test_a_command_that_cannot_be_followed_says_why_in_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"question": "?", "answer": "!"}')
    assert (
        main(["set", "run", "--questions", str(questions), "--out", str(tmp_path / "out"), *arguments]) == 1
    )
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_an_endpoint_that_is_down_is_told_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, pages = tmp_path / "q.jsonl", tmp_path / "pages.jsonl"
    questions.write_text('{"question": "?", "answer": "!"}')
    pages.write_text('{"title": "?", "text": "!"}')
    monkeypatch.setenv("TGI_URL", "http://127.0.0.1:9")
    out = tmp_path / "out"
    assert main(["set", "run", "--questions", str(questions), "--pages", str(pages), "--out", str(out)]) == 1
    assert "answers at 127.0.0.1:9" in capsys.readouterr().err
    assert not (out / "results.jsonl").exists()
