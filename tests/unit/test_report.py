"""A report can be read by anyone, and what a model or a page wrote in it stays text."""

import csv
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import html

from agent.events import Outcome
from agent.settings import PROJECT
from evals.__main__ import main
from evals.folder import About, Folder
from evals.questions import Question, QuestionSet
from evals.report.page import report_page
from evals.report.plot import ticks
from evals.results import Key, Result
from evals.summary import Summary
from evals.trace import Step, parsed, trace_of_events
from tests.recorded_run import RUN

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>"
ABOUT = About("words", "web", "Model-7B", "research", 6, "c0de", notice="Do not reshare.", machine="2 cores")
KEY = Key("research", "q1", "web", "Model-7B", 6, "c0de")
RESULT = Result(
    KEY, "41", Outcome.ANSWERED, "", 900, 40, False, 9.5, 2, ("verified http://a",), ("I search.\n```python\nprint(1)\n```\nOutput:\n41",)
)  # fmt: skip
QUESTIONS = (
    Question("q1", "How many?", "41", level=1),
    Question("q2", f"Who is {HOSTILE}?", HOSTILE, level=2, files=(Path("a.csv"),)),
    Question("q3", "Not asked?", "x", level=3),
)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder.write(tmp_path, ABOUT, QuestionSet("words", QUESTIONS))
    stored = folder.results_file()
    stored.add(RESULT)
    evil = replace(
        RESULT, key=replace(KEY, question="q2"), answer=f"=1+1 {HOSTILE}", outcome=Outcome.PARTIAL, reason=HOSTILE,
        trace=(f"{HOSTILE}\n```python\nprint('{HOSTILE}')\n```\nOutput:\n{HOSTILE}",),
        sources=("verified javascript:alert(3)",), blocked=(f"403 http://{HOSTILE}",),
    )  # fmt: skip
    stored.add(evil)
    return folder


def test_the_page_loads_nothing_runs_nothing_and_shows_hostile_text_as_text(folder: Folder) -> None:
    page = report_page(Summary(folder))
    tree = html.fromstring(page)
    assert not tree.xpath("//script | //img | //iframe | //link | //a | //form | //*[@src] | //*[@href]")
    assert not [name for node in tree.iter() for name in node.attrib if name.startswith("on")]
    assert "default-src 'none'" in page
    assert "http" not in re.sub(
        r"verified http://a|403 http://", "", html.tostring(tree, encoding="unicode")
    ).replace("http-equiv", "")
    assert tree.text_content().count("alert(1)") == page.count("&lt;script&gt;alert(1)") > 5


def test_the_page_tells_what_was_asked_what_was_found_and_each_step(folder: Folder) -> None:
    page = report_page(Summary(folder))
    words = " ".join(html.fromstring(page).text_content().split())
    for told in ("Model-7B", "Do not reshare.", "50 %", "1 of 2 questions right", "95 % interval: 9 to 91 %", "1 of 3 questions have no result", "1 blocked page", "a.csv", "level 2 · 9.5 s"):  # fmt: skip
        assert told in words.replace("9 % to", "9 to")
    assert [node.text_content() for node in html.fromstring(page).xpath("//pre")][:2] == ["print(1)", "41"]


def test_every_chart_says_in_words_what_it_shows(folder: Folder) -> None:
    tree = html.fromstring(report_page(Summary(folder)))
    said = [node.get("aria-label") for node in tree.xpath("//*[@role='img']")]
    assert said[0] == "95 % interval: 9 % to 91 %"
    assert "level 1: 100 %, interval 21 % to 100 %" in said
    assert "all: 1 right, 1 blocked page" in said
    assert said[-1] == "Seconds and tokens of 2 results, 1 of them right"


def test_a_report_of_repeats_and_prices_says_more(tmp_path: Path) -> None:
    about = replace(ABOUT, prompt_price=2.0, completion_price=8.0)
    folder = Folder.write(tmp_path, about, QuestionSet("words", QUESTIONS))
    for repeat, answer in enumerate(("41", "40", "41")):
        folder.results_file().add(replace(RESULT, key=replace(KEY, repeat=repeat), answer=answer))
    words = " ".join(html.fromstring(report_page(Summary(folder))).text_content().split())
    for told in ("pass@3", "majority of 3", "66.7 %", "$0.01", "0.0021", "repeat 3"):
        assert told in words


def test_an_empty_evaluation_still_has_a_page(tmp_path: Path) -> None:
    folder = Folder.write(tmp_path, ABOUT, QuestionSet("words", QUESTIONS))
    assert "3 of 3 questions have no result" in report_page(Summary(folder))


def test_the_csv_file_has_a_row_a_result_and_no_formula(
    folder: Folder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["set", "report", str(folder.path)]) == 0
    assert "report.html" in capsys.readouterr().out
    with (folder.path / "results.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["id"], first["verdict"], first["answer"], first["seconds"]) == ("q1", "right", "41", "9.50")
    assert second["answer"].startswith("'=1+1") and second["attachments"] == "a.csv"


@pytest.mark.slow
@pytest.mark.parametrize("there", [True, False])
def test_the_page_is_opened_where_there_is_a_browser_and_named_where_there_is_none(
    there: bool, folder: Folder
) -> None:
    browser, seen = folder.path / "browser", folder.path / "seen"
    browser.write_text(f'#!/bin/sh\necho "$1" > {seen}\n')
    browser.chmod(0o755)
    # A process of its own: Python looks for browsers once.
    done = subprocess.run(
        [sys.executable, "-m", "evals", "set", "report", str(folder.path), "--open"],
        cwd=PROJECT,
        env={"PATH": "/nowhere", "PYTHONPATH": str(PROJECT)} | ({"BROWSER": str(browser)} if there else {}),
        capture_output=True,
        text=True,
        check=True,
    )
    page = folder.path / "report.html"
    assert f"Report: {page}" in done.stdout
    assert seen.exists() == there and ("No browser was found" in done.stdout) != there
    if there:
        assert seen.read_text().strip() == page.as_uri()


def test_two_evaluations_are_told_side_by_side(
    folder: Folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Folder.write(tmp_path / "other", ABOUT, QuestionSet("words", QUESTIONS))
    other.results_file().add(replace(RESULT, answer="0"))
    assert main(["set", "compare", str(folder.path), str(other.path)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Of 1 questions that both were asked" in said and "p: 1.000" in said and "may be chance" in said


@pytest.mark.parametrize(
    ("step", "parts"),
    [
        ("I see.\n```python\nx = 1\n```\nOutput:\n1", Step("I see.", "x = 1", output="1")),
        ("Only words", Step("Only words")),
        ("```python\nx\n```\nError: no", Step("", "x", error="no")),
        ("I call.\nCalls:\n- a: b → c (1.0 s)\nOutput:\n1", Step("I call.", calls=("a: b → c (1.0 s)",), output="1")),
        ("```python\nx\n```\nOutput:\nError: seen\nError: raised", Step("", "x", output="Error: seen", error="raised")),
        ("", Step("")),
    ],
)  # fmt: skip
def test_a_step_is_told_as_thought_code_calls_output_and_error(step: str, parts: Step) -> None:
    assert parsed(step) == parts


def test_a_trace_tells_which_tools_were_called_and_what_they_gave() -> None:
    first, second, third, last = map(parsed, trace_of_events(RUN))
    assert first.calls == ("web_search: bridges over the Orme → 5 results (1.4 s)",)
    assert first.output.startswith("1. Quill Bridge")
    assert second.thought.startswith("The list names three bridges") and len(second.calls) == 2
    assert "re.search" in second.code and third.error.startswith("NameError")
    assert last.calls[0].startswith("final_answer: ")


@pytest.mark.parametrize(
    ("most", "found"),
    [
        (0, [0, 1]),
        (3, [0, 1, 2, 3]),
        (100, [0, 25, 50, 75, 100]),
        (138, [0, 50, 100, 150]),
        (0.7, [0, 0.2, 0.4, 0.6, 0.8]),
        (41_000, [0, 20_000, 40_000, 60_000]),
    ],
)
def test_an_axis_has_round_numbers_and_holds_the_largest(most: float, found: list[float]) -> None:
    assert ticks(most) == pytest.approx(found)
