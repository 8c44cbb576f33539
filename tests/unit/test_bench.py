"""The bench measures against a real endpoint, and its results file loses nothing that was measured before."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from agent.settings import Settings
from bench import evaluation, markdown, model, run
from bench.__main__ import main as bench_main
from bench.__main__ import measure_hotpot
from bench.stage import Stage
from evals import compare
from evals.figures import Figure, save, show
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply

pytestmark = pytest.mark.slow


def talks(body: dict[str, Any]) -> Answer:
    """A model that writes 25 tokens, the first after 20 ms and each other 5 ms later."""
    pieces = ["I search.\n```python\nprint(web_search('Mars'))\n", *["# more\n"] * 24]
    return reply(pieces=pieces, silent=0.02, delay=0.005, usage=(600, 25))


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with ScriptedEndpoint(talks) as endpoint:
        settings = Settings(_env_file=None, tgi_url=endpoint.url, data_dir=tmp_path)
        with Stage(settings, Console(quiet=True)) as stage:
            yield stage


def test_a_configured_endpoint_is_measured_and_no_model_is_loaded(stage: Stage) -> None:
    figures = {figure.name: figure.ours for figure in model.measure(stage)}
    assert "load" not in figures
    assert figures["first token, prompt read before"] > 0.02
    assert 0 < figures["written"] < 200
    assert 0 < figures["prompt read"] < 600 / (0.02 + 24 * 0.005)


def test_what_a_visitor_waits_for_is_measured_through_a_real_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "QUESTIONS", run.QUESTIONS[:2])
    event, word, end = run.measure(stage)
    assert 0 < event.ours <= word.ours
    assert end.ours > 0


def test_the_closed_web_of_a_folder_is_asked_on_both_sides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pages.jsonl").write_text('{"title": "Quill Bridge", "text": "It was opened in 1741."}')
    (tmp_path / "questions.jsonl").write_text('{"question": "When was it opened?", "answer": "1741"}')
    monkeypatch.setenv("HOTPOT_DIR", str(tmp_path))
    monkeypatch.setattr(compare, "RAW", tmp_path / "raw.jsonl")
    done = reply("Thought: done.\n<code>\nfinal_answer(1741)\n</code>\n")
    with ScriptedEndpoint(lambda body: done) as endpoint:
        settings = Settings(_env_file=None, tgi_url=endpoint.url)
        figures = {f.name: f for f in measure_hotpot(Stage(settings, Console(quiet=True)))}
    right = figures["right of 1 (exact match)"]
    assert (right.ours, right.theirs) == (1, 1)
    sides = [json.loads(line)["key"]["side"] for line in (tmp_path / "raw.jsonl").read_text().splitlines()]
    assert sides == ["research", "stock"]


def test_both_converters_read_the_pages_of_the_bench() -> None:
    page = markdown.article(3)
    assert "tributary 5" in markdown.html_document(page).markdown
    assert "tributary 5" in markdown.markdownify(page)


def test_one_section_measured_again_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    save("one", [Figure("seconds", 1.0, "s", 4.0)], other="stock", path=path)
    save("two", [Figure("right", 3)], path=path)
    save("two", [Figure("right", 4)], path=path)
    kept = json.loads(path.read_text())
    assert kept["one"]["figures"] == [
        {"name": "seconds", "ours": 1.0, "unit": "s", "theirs": 4.0, "ratio": 0.25}
    ]
    assert kept["one"]["compared with"] == "stock"
    assert [figure["ours"] for figure in kept["two"]["figures"]] == [4]
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


def test_a_table_shows_both_sides_and_their_ratio() -> None:
    shown = io.StringIO()
    figures = [Figure("tokens", 2_800, "", 13_000, aim="at most 1/4"), Figure("right", 3, "", 0)]
    show(Console(file=shown, width=100), "Questions", figures, "stock")
    tokens, right = (
        line.split() for line in shown.getvalue().splitlines() if "tokens" in line or "right" in line
    )
    assert tokens == ["tokens", "2,800", "13,000", "0.215", "aim:", "at", "most", "1/4"]
    assert right == ["right", "3", "0"]


@pytest.mark.parametrize(
    ("sections", "said"),
    [(["speed"], "there is no section 'speed'"), (["hotpot"], "the section hotpot needs HOTPOT_DIR")],
)
def test_a_section_that_cannot_be_measured_is_named(
    sections: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HOTPOT_DIR", raising=False)
    with pytest.raises(SystemExit):
        bench_main(sections)
    assert said in capsys.readouterr().err


def test_the_runner_of_evaluations_is_measured_at_an_imitation_endpoint() -> None:
    figures = {figure.name: figure.ours for figure in evaluation.measure(3, 3)}
    assert figures["questions"] == 3 and figures["steps a question"] == evaluation.STEPS
    assert 0 < figures["CPU of the runner a step"] < figures["CPU of the runner and the agents a step"]
