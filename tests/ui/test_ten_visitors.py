"""Ten visitors at once, of whom eight have a place and the others wait in line."""

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client
from playwright.sync_api import Browser, Locator, expect
from playwright.sync_api import Page as Tab

from tests.agent_world import until
from tests.scripted_endpoint import Answer
from tests.ui.conftest import App, code, serving
from tests.ui.visitor import ask, ended, stop_button

pytestmark = pytest.mark.ui

PLACES = 8


@dataclass
class Model:
    """Answers each visitor with their own number, once it is let go."""

    go: threading.Event = field(default_factory=threading.Event)
    asked: set[str] = field(default_factory=set)

    def __call__(self, body: dict[str, Any]) -> Answer:
        number = re.findall(r"visitor (\d+)", json.dumps(body["messages"]))[-1]
        self.asked.add(number)
        assert self.go.wait(60)
        return code("I know.", f"final_answer('This is for visitor {number}.')")


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Model) -> Iterator[App]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "gradio"))
    with serving(tmp_path, model, max_sessions=PLACES, max_waiting=2) as app:
        yield app


def call(app: App, number: int) -> str:
    client = Client(app.address, verbose=False)
    return str(client.predict(f"I am visitor {number}.", api_name="/research")["answer"])


def own(number: int) -> str:
    return f"This is for visitor {number}."


def at_work(app: App, model: Model, pool: ThreadPoolExecutor) -> list[Future[str]]:
    """Callers in all the places, whose answers come once the model is let go."""
    calls = [pool.submit(call, app, number) for number in range(PLACES)]
    until(lambda: len(model.asked) == PLACES, 60)
    return calls


def waiting(tab: Tab, place: int) -> Locator:
    return tab.get_by_text(f"All places are taken; this question is number {place} in line")


def test_each_gets_their_own_answer_those_in_line_too(app: App, model: Model) -> None:
    with ThreadPoolExecutor(10) as pool:
        calls = at_work(app, model, pool)
        calls += [pool.submit(call, app, number) for number in (8, 9)]
        until(lambda: len(app.sessions._sessions) == 10, 60)
        model.go.set()
        assert [each.result(60) for each in calls] == [own(number) for number in range(10)]
    until(lambda: not app.sessions._sessions, 30)
    assert not list((app.services.settings.data_dir / "sessions").iterdir())


def test_who_is_in_line_sees_the_place_move_up_and_is_answered_without_asking_again(
    app: App, model: Model, tab: Tab, browser: Browser
) -> None:
    with ThreadPoolExecutor(PLACES) as pool:
        calls = at_work(app, model, pool)
        first = browser.new_context().new_page()
        first.goto(app.address)
        ask(first, "I am visitor 98.")
        expect(waiting(first, 1)).to_be_visible()
        ask(tab, "I am visitor 99.")
        expect(waiting(tab, 2)).to_be_visible()
        expect(tab.locator("#rail")).to_contain_text("waiting")
        stop_button(first).click()
        expect(ended(first, "Stopped by you")).to_be_visible()
        expect(waiting(tab, 1)).to_be_visible()
        model.go.set()
        expect(tab.locator("#chat")).to_contain_text(own(99))
        expect(tab.locator("#chat")).to_contain_text("The question was in line for")
        expect(waiting(tab, 1)).to_have_count(0)
        assert [each.result(60) for each in calls] == [own(number) for number in range(PLACES)]
    first.context.close()


def test_when_the_line_is_full_too_the_question_stays_typed_and_a_closed_page_leaves_the_line(
    app: App, model: Model, tab: Tab, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ui.visitors.AWAY_SECONDS", 0.2)
    with ThreadPoolExecutor(PLACES) as pool:
        calls = at_work(app, model, pool)
        others = [browser.new_context().new_page() for _ in range(2)]
        for place, other in enumerate(others, 1):
            other.goto(app.address)
            ask(other, f"I am visitor {place}0.")
            expect(waiting(other, place)).to_be_visible()
        ask(tab, "I am visitor 99.")
        expect(tab.get_by_role("alert")).to_contain_text(
            "All 8 places are taken, and the line for them is full: try again in a few minutes"
        )
        assert tab.get_by_role("textbox").input_value() == "I am visitor 99."
        others[0].context.close()
        expect(waiting(others[1], 1)).to_be_visible()
        tab.get_by_role("textbox").press("Enter")
        expect(waiting(tab, 2)).to_be_visible()
        model.go.set()
        expect(tab.locator("#chat")).to_contain_text(own(99))
        expect(others[1].locator("#chat")).to_contain_text(own(20))
        assert [each.result(60) for each in calls] == [own(number) for number in range(PLACES)]
    assert "10" not in model.asked
    others[1].context.close()


def test_a_caller_of_the_api_is_told_the_place_and_leaves_the_line_by_going_away(
    app: App, model: Model
) -> None:
    with ThreadPoolExecutor(PLACES) as pool:
        calls = at_work(app, model, pool)
        client = Client(app.address, verbose=False)
        job = client.submit("I am visitor 99.", api_name="/research")
        until(lambda: any("number 1 in line" in so_far["reason"] for so_far in job.outputs()), 30)
        with pytest.raises(Exception, match="Another question of yours is in line already"):
            client.predict("I am visitor 99, too.", api_name="/research")
        assert {so_far["outcome"] for so_far in job.outputs()} == {"running"}
        job.cancel()
        until(lambda: len(app.sessions._sessions) == PLACES, 30)
        model.go.set()
        assert [each.result(60) for each in calls] == [own(number) for number in range(PLACES)]
    assert "99" not in model.asked
