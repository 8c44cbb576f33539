"""One command asks the same questions with one thing changed at a time, and the table says what that did."""

import csv
import json
import re
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lxml import html
from rich.console import Console

from agent.events import Outcome, Usage
from agent.settings import Settings
from evals.__main__ import main
from evals.ablation import ARMS, Place, _place, tell
from evals.bare import SYSTEM, answer_of
from evals.budget import Halt
from evals.folder import About, Folder
from evals.questions import Question, QuestionSet
from evals.results import Key, Result
from evals.sides import SIDES
from tests.agent_world import MakeWorld
from tests.scripted_endpoint import Answer, ScriptedEndpoint, refuse, reply

COUNT = 6
ROWS = [{"id": f"q{n}", "question": f"Which number has word{n}?", "answer": str(n * n)} for n in range(COUNT)]
QUESTIONS = tuple(Question(**row) for row in ROWS)
HOSTILE = "<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("It is in the north.\nANSWER: Oslo", "Oslo"),
        ("**Answer:** Oslo", "Oslo"),
        ("Final answer: 41\nThat is all.", "41"),
        ("ANSWER: 40\nNo, wait.\nANSWER: 41", "41"),
        ("ANSWER:\n41", "41"),
        ("It is in the north. ANSWER: Oslo", "Oslo"),
        ("FINAL ANSWER: Oslo", "Oslo"),
        ("The answer: it depends.\nNo answer: none.\nOslo", "Oslo"),
        ("Oslo", "Oslo"),
        ("", ""),
    ],
)
def test_the_answer_of_a_bare_model_is_what_it_marks_or_its_last_line(reply: str, answer: str) -> None:
    assert answer_of(reply) == answer


def bare(world: MakeWorld, *script: Any, **options: Any) -> tuple[Result, list[dict[str, Any]]]:
    app = world(*script)
    side = SIDES["bare"]
    key = side.key(app.services, QUESTIONS[2], "web")
    return side.ask(app.services, "Which number has word2?", key, **options), app.endpoint.chats


def test_a_bare_model_is_asked_once_and_given_no_tools(world: MakeWorld) -> None:
    result, chats = bare(world, reply("Two times two.\nANSWER: 4", usage=(90, 12)))
    assert (result.answer, result.outcome, result.steps) == ("4", Outcome.ANSWERED, 1)
    assert (result.usage, result.trace) == (Usage(90, 12), ("Two times two.\nANSWER: 4",))
    (chat,) = chats
    assert [message["content"] for message in chat["messages"]] == [SYSTEM, "Which number has word2?"]
    assert not chat.get("tools")


def test_a_bare_model_that_fails_is_cut_off_or_is_stopped_is_told_as_such(world: MakeWorld) -> None:
    failed, _ = bare(world, refuse(400, {"error": "no such thing", "error_type": "validation"}))
    assert failed.outcome is Outcome.FAILED and "no such thing" in failed.reason
    cut, _ = bare(world, reply("I think that", finish_reason="length"))
    assert (cut.outcome, cut.reason) == (Outcome.PARTIAL, "The reply was cut off at its longest.")
    halt = Halt("The evaluation ended before the answer.", interrupted=True)
    stopped, _ = bare(world, reply("late", silent=200), watch=lambda usage: halt)
    assert (stopped.outcome, stopped.interrupted) == (Outcome.STOPPED, True)


def arm_folder(root: Path, arm: str, right: set[int], asked: int = COUNT, **about: Any) -> None:
    """An arm that got these questions right."""
    of = About(**{"name": "words", "world": "web", "model": "M-7B", "side": arm, "steps": 6, "code": "c0de", **about})  # fmt: skip
    folder = Folder.write(root / arm, of, QuestionSet("words", QUESTIONS))
    stored = folder.results_file()
    for number in range(asked):
        key = Key(of.side, f"q{number}", of.world, of.model, of.steps, of.code)
        answer = str(number * number if number in right else 99)
        stored.add(Result(key, answer, Outcome.ANSWERED, "", 900, 100, False, 2.0, 3))


def test_the_table_has_a_row_an_arm_and_compares_each_with_the_first(tmp_path: Path) -> None:
    arm_folder(tmp_path, "code", {0, 1, 2, 3, 4})
    arm_folder(tmp_path, "json", {5})
    arm_folder(tmp_path, "bare", {0, 1}, asked=3)
    console = Console(width=160, record=True, quiet=False, file=(tmp_path / "out").open("w"))
    tell(tmp_path, [(ARMS[name].about, name) for name in ("code", "json", "bare", "plan")], console)
    lines = (tmp_path / "ablation.md").read_text().splitlines()
    assert [re.sub(r"\s+", " ", line) for line in lines] == [
        "| | right | 95 % | seconds | tokens | steps | only the first | only this | p |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        "| code actions | 5 of 6 | 44% to 97% | 2.0 | 1,000 | 3.0 | | | |",
        "| JSON tool calls | 1 of 6 | 3% to 56% | 2.0 | 1,000 | 3.0 | 5 | 1 | 0.219 |",
        "| bare model, no tools | 2 of 3 | 21% to 94% | 2.0 | 1,000 | 3.0 | 1 | 0 | 1.000 |",
    ]
    shown = " ".join(console.export_text().split())
    assert "words, M-7B, at most 6 steps" in shown
    assert "bare model, no tools: 3 of 6 questions have no result." in shown
    with (tmp_path / "ablation.csv").open(encoding="utf-8", newline="") as file:
        first, second, third = csv.DictReader(file)
    assert (first["folder"], first["model"], first["pass_1"], first["p"]) == ("code", "M-7B", "0.8333", "")
    assert (second["only_first"], second["only_this"], second["p"]) == ("5", "1", "0.2188")
    assert (third["questions"], third["arm"]) == ("3", "bare model, no tools")


def test_the_page_of_an_ablation_loads_nothing_and_shows_hostile_text_as_text(tmp_path: Path) -> None:
    arm_folder(tmp_path, "code", {1}, model=HOSTILE, name=HOSTILE, notice=HOSTILE)
    tell(tmp_path, [(HOSTILE, "code")], Console(quiet=True))
    page = (tmp_path / "report.html").read_text("utf-8")
    tree = html.fromstring(page)
    assert not tree.xpath("//script | //img | //iframe | //link | //*[@src]")
    assert [node.get("href") for node in tree.xpath("//a")] == ["code/report.html"]
    assert tree.text_content().count("alert(1)") >= 4 and "default-src 'none'" in page
    assert len(tree.xpath("//div[@role='img'][@aria-label]")) == 1


def test_an_arm_is_the_app_with_one_thing_changed() -> None:
    assert [arm.name for arm in ARMS.values() if not arm.needs_code] == ["json", "bare"]
    for arm in ARMS.values():
        assert set(arm.changed) <= set(Settings.model_fields) and len(arm.changed) <= 1
    assert next(iter(ARMS)) == "code" and not ARMS["code"].changed


@pytest.mark.parametrize(
    ("endpoint", "tgi_token", "hf_token"),
    [
        ("http://mine.example:9000/v1", "mine", "hub"),
        ("https://router.huggingface.co/v1", None, "hub"),
        ("https://abc.eu-west-1.aws.endpoints.huggingface.cloud", None, "hub"),
        ("http://router.huggingface.co/v1", None, None),
        ("https://huggingface.co.evil.example", None, None),
        ("https://evilhuggingface.co", None, None),
        ("https://other.example", None, None),
    ],
)
def test_a_token_goes_only_to_the_endpoint_that_it_is_meant_for(
    endpoint: str, tgi_token: str | None, hf_token: str | None
) -> None:
    settings = Settings(_env_file=None, tgi_url="http://mine.example:8080", tgi_token="mine", hf_token="hub")  # type: ignore[arg-type]
    changed = _place(f"{endpoint}=Model/A=b").settings(settings)
    assert (changed.tgi_url, changed.model_id) != (settings.tgi_url, settings.model_id)
    tokens = [token and token.get_secret_value() for token in (changed.tgi_token, changed.hf_token)]
    assert tokens == [tgi_token, hf_token]
    assert Place().settings(settings) is settings


def test_an_endpoint_is_an_address_with_or_without_a_model() -> None:
    assert _place("http://a.example:1/v1/=org/Model") == Place("http://a.example:1/v1", "org/Model")
    assert _place("http://a.example") == Place("http://a.example", "")
    for text in ("a.example=model", "=model", "", "ftp://a.example=m"):
        with pytest.raises(ArgumentTypeError, match="is no http"):
            _place(text)


def knows() -> Callable[[dict[str, Any]], Answer]:
    """Right with code, wrong once with JSON, and right once without tools."""

    def answer(body: dict[str, Any]) -> Answer:
        talk = [str(message["content"]) for message in body["messages"]]
        found = re.findall(r"word(\d+)", talk[-1])
        number = int(found[-1]) if found else 0
        if talk[0] == SYSTEM:
            return reply(f"I guess.\nANSWER: {number * number if number == 1 else 'none'}", usage=(50, 5))
        if body.get("tools"):
            arguments = json.dumps({"answer": str(number * number + (number == 2))})
            function = {"name": "final_answer", "arguments": arguments}
            calls = [{"index": 0, "id": "call", "type": "function", "function": function}]
            return reply("", tool_calls=calls, finish_reason="tool_calls", usage=(200, 10))
        return reply(f"On it.\n```python\nfinal_answer({number * number})\n```\n", usage=(100, 10))

    return answer


@pytest.mark.slow
def test_one_command_asks_all_arms_and_goes_on_where_it_was_broken_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, pages, root = tmp_path / "q.jsonl", tmp_path / "pages.jsonl", tmp_path / "out"
    questions.write_text("\n".join(map(json.dumps, ROWS[:3])))
    pages.write_text(json.dumps({"title": "Words", "text": "Words have numbers."}))
    command = ["set", "ablate", "--questions", str(questions), "--pages", str(pages), "--out", str(root)]
    command += ["--concurrency", "1", "--arms", "code", "json", "bare"]
    monkeypatch.setenv("PLAN", "1")  # an arm is not what the environment makes of it
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    with ScriptedEndpoint(knows()) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        assert main([*command, "--tokens", "400"]) == 1
        said = capsys.readouterr()
        assert "used its budget" in said.err and "2 of 2" in said.out  # the table of what there is
        asked = len(endpoint.chats)
        assert main(command) == 0
        assert main(command) == 0
        again = [chat for chat in endpoint.chats[asked:] if "word0" in json.dumps(chat)]
        assert len(again) == 2  # JSON and bare: what code had answered was not asked again
        assert "Begin with a plan" not in json.dumps(endpoint.chats)
    table = (root / "ablation.md").read_text()
    for row in (
        "| code actions | 3 of 3 |",
        "| JSON tool calls | 2 of 3 |",
        "| bare model, no tools | 1 of 3 |",
    ):
        assert row in table
    kept = [
        json.loads(line)["key"]["side"]
        for name in ("code", "json", "bare")
        for line in (root / name / "results.jsonl").open()
    ]
    assert set(kept) == {"code", "json", "bare"}
    assert (root / "json" / "report.html").exists()


@pytest.mark.slow
def test_code_is_not_said_to_be_measured_where_none_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, pages = tmp_path / "q.jsonl", tmp_path / "pages.jsonl"
    questions.write_text(json.dumps(ROWS[0]))
    pages.write_text(json.dumps({"title": "Words", "text": "Words have numbers."}))
    monkeypatch.setenv("SANDBOX", "4")
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    with ScriptedEndpoint(knows()) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        assert main(["set", "ablate", "--questions", str(questions), "--pages", str(pages)]) == 1
    assert "The arm code cannot be asked, because the sandbox runs no code here" in capsys.readouterr().err


@pytest.mark.slow
def test_each_arm_is_asked_at_each_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions, pages, root = tmp_path / "q.jsonl", tmp_path / "pages.jsonl", tmp_path / "out"
    questions.write_text(json.dumps(ROWS[1]))
    pages.write_text(json.dumps({"title": "Words", "text": "Words have numbers."}))
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    with ScriptedEndpoint(knows()) as first, ScriptedEndpoint(knows()) as second:
        command = ["set", "ablate", "--questions", str(questions), "--pages", str(pages), "--out", str(root)]
        places = ["--endpoint", first.url, "--endpoint", f"{second.url}=tgi"]
        assert main([*command, *places, "--arms", "json", "bare"]) == 0
        assert first.chats and second.chats
    table = (root / "ablation.md").read_text().splitlines()[2:]
    assert [line.split("|")[1].split("(")[0].strip() for line in table] == [
        "JSON tool calls", "bare model, no tools", "JSON tool calls", "bare model, no tools",
    ]  # fmt: skip
    assert f"(tgi at {second.url.removeprefix('http://')})" in table[2]
