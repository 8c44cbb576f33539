"""What the page takes from a browser: text that is none, two questions at once, pages that nobody has open."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import gradio as gr

from agent.errors import TooManyRuns
from agent.events import Outcome
from tests.agent_world import App, MakeWorld, answer
from ui.page import Page
from ui.visitors import MOST_PAGES, Visitor

QUESTION = "How many moons has Mars?"


def page_of(app: App) -> Page:
    return Page(app.services, app.sessions, [])


def visit(name: str = "v", **query: str) -> gr.Request:
    return gr.Request(session_hash=name, query_params=query)


def test_a_question_with_half_a_character_is_shown_as_it_was_taken(world: MakeWorld) -> None:
    app = world(answer("two"))
    page = page_of(app)
    update = asyncio.run(page._ask({"text": "How many \ud83d moons?", "files": []}, visit()))
    assert "How many ? moons?" in str(update[page._chat][-1].content)
    run = page._visitors.page("v").visitor.run
    assert run is not None and app.told(run).end.outcome is Outcome.ANSWERED


def test_an_address_with_half_a_character_names_no_run(world: MakeWorld) -> None:
    page = page_of(world())

    async def shown() -> list[object]:
        return [update async for update in page._show("\ud800", visit())]

    assert "There is no run of that name" in page._arrive(None, visit(run="\ud800"))[page._trouble]
    assert asyncio.run(shown()) == []


def test_two_questions_at_once_open_one_session_that_stop_reaches(world: MakeWorld) -> None:
    app = world(*[answer("two")] * 8)
    page, visitor, together = page_of(app), Visitor("key"), threading.Barrier(8)

    def begin() -> None:
        together.wait(60)
        with suppress(TooManyRuns):
            page._begin(visitor, QUESTION, [])

    with ThreadPoolExecutor(8) as pool:
        for asked in [pool.submit(begin) for _ in range(8)]:
            asked.result()
    assert list(app.sessions._sessions) == [visitor.session_id]
    assert visitor.run is not None and visitor.run.id == visitor.last
    assert visitor.run.wait(30)


def test_pages_that_nobody_has_open_do_not_pile_up_nor_drive_out_one_that_asked(world: MakeWorld) -> None:
    app = world(answer("two"))
    page = page_of(app)
    asyncio.run(page._ask({"text": QUESTION, "files": []}, visit("asked")))
    asked = page._visitors.page("asked")
    for number in range(MOST_PAGES + 50):
        page._arrive(None, visit(f"forged {number}"))
        page._stop_run(visit(f"stopped {number}"))
    assert len(page._visitors) == MOST_PAGES and page._visitors.page("asked") is asked
    assert asked.visitor.run is not None and asked.visitor.run.wait(30)
