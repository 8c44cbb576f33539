"""The report of an evaluation in a real browser: on a desk, on a phone, in the dark."""

from pathlib import Path

import pytest
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect

from agent.events import Outcome
from evals.folder import About, Folder
from evals.questions import Question, QuestionSet
from evals.report.page import report_page
from evals.results import Key, Result
from evals.summary import Summary
from evals.trace import trace_of_events
from tests.recorded_run import RUN


@pytest.fixture
def report(tmp_path: Path) -> str:
    """The address of a report of twelve results, each third of which is wrong."""
    questions = tuple(
        Question(f"q{n}", f"How many arches has bridge {n}?", "7", level=1 + n % 3) for n in range(12)
    )
    about = About("bridges", "web", "Model-7B", "research", 6, "code", machine="2 cores")
    folder = Folder.write(tmp_path, about, QuestionSet("bridges", questions))
    for n in range(12):
        key = Key("research", f"q{n}", "web", "Model-7B", 6, "code")
        said = "7" if n % 3 else "no idea"
        folder.results_file().add(
            Result(
                key, said, Outcome.ANSWERED, "", 1000 * n, 40, False, 2.5 * n, 4, trace=trace_of_events(RUN)
            )
        )
    page = tmp_path / "report.html"
    page.write_text(report_page(Summary(folder)), "utf-8")
    return page.as_uri()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_fits_its_window_and_loads_nothing(
    width: int, scheme: str, report: str, page: Tab
) -> None:
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("request", lambda request: said.append(request.url))
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(report)
    page.locator("details").first.locator("summary").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert said == [report]


def test_a_reader_chooses_the_wrong_ones_and_reads_a_trace(report: str, page: Tab) -> None:
    page.goto(report)
    expect(page.get_by_text("8 of 12 questions right")).to_be_visible()
    results = page.locator("details.result")
    page.get_by_text("4 wrong", exact=True).last.click()
    expect(results.filter(visible=True)).to_have_count(4)
    first = results.filter(visible=True).first
    first.locator("summary").click()
    for text in (
        "web_search: bridges over the Orme → 5 results (1.4 s)",
        "NameError",
        "Quill Bridge         1893",
    ):
        expect(first.get_by_text(text).first).to_be_visible()
    page.get_by_text("all 12", exact=True).click()
    expect(results.filter(visible=True)).to_have_count(12)
