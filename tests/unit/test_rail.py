"""What surrounds the conversation: the sources, the addresses, the cost."""

import re
from dataclasses import dataclass

from agent.events import Notice, RunStarted, StepEnded, StepStarted, ToolEnded, ToolStarted, Usage
from tests.recorded_run import RUN
from ui.rail import Progress, header, notices

BAD = '<img src=x onerror="alert(1)">'


@dataclass
class Attempt:
    url: str
    status: int | None = 200
    error: str = ""


@dataclass
class Status:
    model: str = "m"
    search: str = "s"
    sandbox: str = "1 full"
    notices: tuple[str, ...] = ()


def progress(events: list) -> Progress:
    so_far = Progress()
    for event in events:
        so_far.add(event)
    return so_far


def test_while_it_works_the_rail_counts_steps_seconds_and_the_pages_that_were_read() -> None:
    middle = progress(RUN[:22])
    assert middle.line(7.9) == "2 pages · 3,960 tokens · 7 s"
    html = middle.html(7.9)
    assert (
        "<h2>Read so far</h2><ul><li>Quill Bridge, page 1 of 1</li><li>Old Stone Bridge, page 1 of 2</li></ul>"
        in html
    )
    assert '<p>step 2 of 12</p><p>3,960 tokens · 7 s</p><progress max="12" value="2"' in html
    assert "<h2>Files</h2><ul><li>bridges.xlsx</li></ul>" in html


def test_at_the_end_the_rail_names_the_sources_and_marks_what_was_not_found() -> None:
    end = progress(RUN)
    assert end.line(99) == "3 sources · 9,356 tokens · 12 s"
    html = end.html(99)
    assert (
        'href="https://orme.example/quill" target="_blank" rel="noopener noreferrer">Quill Bridge</a>' in html
    )
    assert '<span class="unverified">unverified</span>' in html
    assert "<p>4 steps</p>" in html
    assert "library://" not in html


def test_before_its_first_step_a_run_that_waits_says_so_instead_of_counting() -> None:
    waiting = progress([RUN[0], Notice("This question is number 2 in line.")])
    assert waiting.line(42) == "waiting · 42 s" and "<p>waiting</p>" in waiting.html(42)
    assert progress([RUN[0]]).line(1) == "starting · 1 s"


def test_an_estimate_of_tokens_says_that_it_is_one() -> None:
    assert (
        progress([StepStarted(1), StepEnded(1, 1.0, Usage(900, 100, estimated=True), "")]).line(2)
        == "0 pages · about 1,000 tokens · 2 s"
    )


def test_addresses_that_could_not_be_read_are_named_with_the_reason() -> None:
    tried = [Attempt("https://a.example/"), Attempt("http://127.0.0.1/", None, 'a "private" address')]
    html = progress(RUN[:1]).html(1, tried)
    assert (
        "<p>1 read · 1 not</p><ul><li><span title='a &quot;private&quot; address'>127.0.0.1/</span></li></ul>"
        in html
    )


def test_nothing_in_the_rail_or_the_header_is_taken_for_markup() -> None:
    events = [
        RunStarted(BAD, BAD, BAD, BAD, (BAD,), 3),
        ToolStarted(1, 1, "visit_page", BAD),
        ToolEnded(1, 1, True, 0.1, BAD),
    ]
    html = (
        progress(events).html(1, [Attempt(BAD, None, BAD + "'")])
        + header(Status(BAD, BAD, BAD))
        + notices(Status(notices=(BAD,)))
    )
    assert "<img" not in html and not re.search(r"title='[^'>]*' on", html)


def test_a_clock_that_was_set_back_shows_no_negative_seconds() -> None:
    middle = progress(RUN[:22])
    assert middle.line(-3600.0).endswith(" · 0 s") and "-" not in middle.line(-3600.0)
