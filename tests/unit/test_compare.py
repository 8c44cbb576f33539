"""Both sides of a comparison get the same world, and what was answered once is neither lost nor asked again."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from agent.events import Outcome
from agent.services import Services
from evals.closed_web import ClosedWeb
from evals.compare import AGENTS, ask_all, compare, figures
from evals.compare import main as compare_main
from evals.questions import Question
from evals.results import Key, Result, ResultsFile, fingerprint
from evals.sides import SIDES
from evals.stage import TWO_TOOLS
from tests.agent_world import MakeWorld, answer
from tests.scripted_endpoint import Answer, ScriptedEndpoint, refuse, reply
from tools.search.chain import SearchChain

pytestmark = pytest.mark.slow

QUESTIONS = [
    Question("bridge", "When was the Quill Bridge opened?", "1741"),
    Question("river", "How long is the Orme?", "41 km"),
]
PAGES = [
    {"title": "Quill Bridge", "text": "The Quill Bridge was opened in 1741."},
    {"title": "Orme", "text": "The Orme is a river, 41 km long."},
]
KEY = Key("research", "bridge", "world", "model", 6, "code")
RESULT = Result(
    KEY, "1741", Outcome.ANSWERED, "", 900, 40, False, 9.5, 2, ("verified http://a",), ("I search.", "Done.")
)


def answers(body: dict[str, Any]) -> Answer:
    """Searches, then reads the answer off the result, in the form that either agent asks for."""
    stock = "<code>" in json.dumps(body["messages"][0])
    opening, closing = ("<code>", "</code>") if stock else ("```python", "```")
    talk = [str(message["content"]) for message in body["messages"]]
    query, fact = ("Quill Bridge", "1741") if "Quill" in " ".join(talk[-4:]) else ("Orme", "41 km")
    code = f"final_answer({fact!r})" if fact in talk[-1] else f"print(web_search({query!r}))"
    # The stock agent uses </code> as a stop, so a real model's reply ends before it.
    text = f"Thought: on it.\n{opening}\n{code}\n" + ("" if stock else f"{closing}\n")
    return reply(text, usage=(3000 if stock else 1000, 30))


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    path = tmp_path / "pages.jsonl"
    path.write_text("\n".join(json.dumps(page) for page in PAGES), "utf-8")
    return path


@pytest.fixture
def services(world: MakeWorld, pages: Path) -> Iterator[Services]:
    app = world(*[answers] * 40, allow_local_web=True, prompt_profile="compact", max_steps=6)
    with ClosedWeb(pages) as web:
        app.services.search, app.services.tools = SearchChain([web], mode="library"), TWO_TOOLS
        yield app.services


def test_each_side_answers_each_question_with_the_same_two_tools(
    services: Services, pages: Path, tmp_path: Path
) -> None:
    stored = ResultsFile(tmp_path / "raw.jsonl")
    found = compare(services, pages, QUESTIONS, AGENTS, stored, Console(quiet=True))
    shown = {figure.name: (figure.ours, figure.theirs) for figure in found}
    lines = (tmp_path / "raw.jsonl").read_text("utf-8").splitlines()
    for trace in [json.loads(line)["trace"] for line in lines[::2]]:
        assert "web_search(" in trace[0] and "opened in 1741" in trace[0]
        assert "final_answer('1741')" in trace[1]
    assert shown["right of 2 (exact match)"] == (2, 2)
    assert shown["closed with an answer"] == (2, 2)
    assert shown["prompt tokens a question"] == (2000, 6000)
    assert shown["steps a question"] == (2, 2)
    assert {figure.name: figure.ratio for figure in found}["prompt tokens a question"] == pytest.approx(1 / 3)


def test_the_agent_is_offered_only_the_tools_of_the_comparison(world: MakeWorld) -> None:
    app = world(answer("1741"), answer("1741"), prompt_profile="compact")
    app.services.tools = TWO_TOOLS
    app.ask("When was the Quill Bridge opened?")
    prompt = app.endpoint.chats[0]["messages"][0]["content"]
    assert "web_search" in prompt and "visit_page" in prompt and "final_answer" in prompt
    assert "page_down" not in prompt and "inspect_file" not in prompt


def test_what_is_stored_is_not_asked_again_after_a_restart(services: Services, tmp_path: Path) -> None:
    side, path = SIDES["research"], tmp_path / "raw.jsonl"
    asked = []

    def ask(services: Services, question: str, key: Key, **options: Any) -> Result:
        asked.append(question)
        return replace(RESULT, key=key)

    side = replace(side, ask=ask, warm=lambda services: None)
    for first in (1, 2, 2):
        ask_all(services, side, QUESTIONS[:first], "world", ResultsFile(path), Console(quiet=True))
    assert asked == [question.question for question in QUESTIONS]
    other = replace(side, code=("another state of the code",))
    ask_all(services, other, QUESTIONS[:1], "world", ResultsFile(path), Console(quiet=True))
    ask_all(services, side, QUESTIONS[:1], "world", ResultsFile(path), Console(quiet=True), again=True)
    assert len(asked) == 4


def test_a_line_that_a_kill_cut_in_half_costs_that_answer_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "raw.jsonl"
    other, third = (
        replace(RESULT, key=replace(KEY, question="b")),
        replace(RESULT, key=replace(KEY, question="c")),
    )
    stored = ResultsFile(path)
    stored.add(RESULT)
    stored.add(other)
    path.write_bytes(path.read_bytes()[:-40])
    again = ResultsFile(path)
    assert again.get(KEY) == RESULT
    assert again.get(other.key) is None
    again.add(third)
    last = ResultsFile(path)
    assert (last.get(KEY), last.get(third.key)) == (RESULT, third)


def test_an_endpoint_that_fails_is_a_failed_run_on_either_side(world: MakeWorld) -> None:
    down = refuse(400, {"error": "the model has gone", "error_type": "validation"})
    app = world(*[down] * 4)
    for side in SIDES.values():
        result = side.ask(app.services, "When was the Quill Bridge opened?", KEY)
        assert result.outcome is Outcome.FAILED
        assert "the model has gone" in result.reason


def test_the_stock_agent_at_its_last_step_is_no_plain_answer(world: MakeWorld) -> None:
    app = world(*[reply("I do not know.")] * 9, max_steps=2)
    result = SIDES["stock"].ask(app.services, "When was the Quill Bridge opened?", KEY)
    assert result.outcome is Outcome.PARTIAL
    assert result.answer == "I do not know."


def test_only_the_named_files_make_the_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a")
    before = fingerprint([tmp_path])
    (tmp_path / "notes.txt").write_text("b")
    assert fingerprint([tmp_path]) == before
    (tmp_path / "a.py").write_text("b")
    assert fingerprint([tmp_path]) != before != fingerprint([tmp_path, "1.26.0"])


def test_one_side_alone_has_figures_without_a_ratio() -> None:
    found = figures(QUESTIONS[:1], {"research": [RESULT]})
    assert found[0].ours == 1 and found[0].theirs is None and found[0].ratio is None


def test_the_command_compares_and_says_what_is_wrong_in_one_sentence(
    tmp_path: Path, pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text(json.dumps({"question": QUESTIONS[0].question, "answer": "1741"}), "utf-8")
    files = ["--pages", str(pages), "--questions", str(questions), "--out", str(tmp_path / "raw.jsonl")]
    with ScriptedEndpoint(answers) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        assert compare_main([*files, "--side", "research"]) == 0
    shown = capsys.readouterr().out
    assert "right of 1 (exact match)" in shown and "research 1/1    right" in shown
    assert compare_main(["--pages", "nowhere.jsonl", "--questions", str(questions)]) == 1
    assert "nowhere.jsonl cannot be read" in capsys.readouterr().err
