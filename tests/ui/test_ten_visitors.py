"""Ten visitors at once, of whom eight have a place."""

import json
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client
from playwright.sync_api import Page as Tab
from playwright.sync_api import expect

from tests.agent_world import until
from tests.scripted_endpoint import Answer
from tests.ui.conftest import App, code, serving
from tests.ui.visitor import ask, ended

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
    with serving(tmp_path, model, max_sessions=PLACES) as app:
        yield app


def call(app: App, number: int) -> str:
    try:
        result = Client(app.address, verbose=False).predict(f"I am visitor {number}.", api_name="/research")
    except Exception as error:  # noqa: BLE001 - what the caller is told
        return str(error)
    return str(result["answer"])


def test_each_gets_their_own_answer_or_is_told_that_all_places_are_at_work(app: App, model: Model) -> None:
    with ThreadPoolExecutor(10) as pool:
        calls = [pool.submit(call, app, number) for number in range(10)]
        until(lambda: len(model.asked) == PLACES and sum(each.done() for each in calls) == 2, 60)
        model.go.set()
        told = [each.result(60) for each in calls]
    own = [number for number in range(10) if told[number] == f"This is for visitor {number}."]
    turned_away = [text for text in told if "All 8 places are at work: try again in a minute" in text]
    assert (len(own), len(turned_away)) == (PLACES, 2), told
    until(lambda: not app.sessions._sessions)
    assert not list((app.services.settings.data_dir / "sessions").iterdir())


def test_who_finds_all_places_at_work_keeps_the_question_and_is_answered_later(
    app: App, model: Model, page: Tab
) -> None:
    with ThreadPoolExecutor(PLACES) as pool:
        calls = [pool.submit(call, app, number) for number in range(PLACES)]
        until(lambda: len(model.asked) == PLACES, 60)
        page.set_default_timeout(20_000)
        page.goto(app.address)
        ask(page, "I am visitor 99.")
        expect(page.get_by_role("alert")).to_contain_text("All 8 places are at work: try again in a minute")
        assert page.get_by_role("textbox").input_value() == "I am visitor 99."
        model.go.set()
        assert [each.result(60) for each in calls] == [f"This is for visitor {n}." for n in range(PLACES)]
    page.get_by_role("textbox").press("Enter")
    expect(ended(page)).to_be_visible()
    expect(page.locator("#chat")).to_contain_text("This is for visitor 99.")
