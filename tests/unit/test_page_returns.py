"""Who comes back to the page: by reloading it, by its link, or with the link of somebody else."""

import asyncio
from typing import Any

import gradio as gr
import pytest

from agent.run import Run
from tests.agent_world import App, MakeWorld, answer, until
from tests.scripted_endpoint import reply
from ui.page import Page
from ui.visitors import key_of

pytestmark = pytest.mark.slow

QUESTIONS = ("How many moons has Mars?", "And Venus?", "And Mercury?")


def visit(name: str, run: str = "") -> gr.Request:
    return gr.Request(session_hash=name, query_params={"run": run} if run else {})


def arrive(page: Page, name: str, secret: Any = None, run: str = "") -> str:
    """Open the page in a tab; the secret that its browser has then."""
    update = page._arrive(secret, visit(name, run))
    return str(update.get(page._browser, secret))


def ask(page: Page, app: App, name: str, question: str) -> Run:
    update = asyncio.run(page._ask({"text": question, "files": []}, visit(name)))
    assert not update[page._trouble], update
    run = page._visitors.page(name).visitor.run
    assert run is not None
    app.told(run)
    return run


def shown(page: Page, name: str, run: str) -> dict[Any, Any]:
    """The page as it stands in the end."""

    async def all_of_it() -> list[dict[Any, Any]]:
        return [update async for update in page._show(run, visit(name))]

    return asyncio.run(all_of_it())[-1]


def questions(page: Page, update: dict[Any, Any]) -> list[str]:
    return [str(message.content) for message in update[page._chat] if message.role == "user"]


@pytest.fixture
def app(world: MakeWorld) -> App:
    return world(answer("two"), answer("none"), answer("none either"))


@pytest.fixture
def opened(app: App, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr("ui.visitors.AWAY_SECONDS", 0.1)
    return Page(app.services, app.sessions, [])


def test_a_reload_shows_the_conversation_and_goes_on_in_it(opened: Page, app: App) -> None:
    secret = arrive(opened, "tab")
    ask(opened, app, "tab", QUESTIONS[0])
    second = ask(opened, app, "tab", QUESTIONS[1])
    session = opened._visitors.page("tab").visitor.session_id
    opened._leave(visit("tab"))
    assert arrive(opened, "again", secret, second.id) == secret
    assert questions(opened, shown(opened, "again", second.id)) == list(QUESTIONS[:2])
    third = ask(opened, app, "again", QUESTIONS[2])
    assert opened._visitors.page("again").visitor.session_id == session
    assert questions(opened, shown(opened, "again", third.id)) == list(QUESTIONS)


def test_a_question_that_came_before_its_page_was_heard_of_is_its_visitors_own(
    opened: Page, app: App
) -> None:
    first = ask(opened, app, "tab", QUESTIONS[0])
    secret = arrive(opened, "tab")
    second = ask(opened, app, "tab", QUESTIONS[1])
    assert questions(opened, shown(opened, "tab", second.id)) == list(QUESTIONS[:2])
    assert app.services.store.conversation(second.id, key_of(secret)) == [first.id, second.id]


def test_who_comes_back_after_the_session_has_ended_is_understood_all_the_same(
    opened: Page, app: App
) -> None:
    secret = arrive(opened, "tab")
    first = ask(opened, app, "tab", QUESTIONS[0])
    opened._leave(visit("tab"))
    until(lambda: not app.sessions._sessions)
    arrive(opened, "later", secret, first.id)
    second = ask(opened, app, "later", QUESTIONS[1])
    assert "two" in str(app.endpoint.chats[-1]["messages"]) and QUESTIONS[0] in str(app.endpoint.chats[-1])
    assert questions(opened, shown(opened, "later", second.id)) == list(QUESTIONS[:2])


def test_the_link_of_a_run_shows_that_run_alone_to_somebody_else(opened: Page, app: App) -> None:
    arrive(opened, "tab")
    ask(opened, app, "tab", QUESTIONS[0])
    second = ask(opened, app, "tab", QUESTIONS[1])
    stranger = arrive(opened, "stranger", run=second.id)
    assert questions(opened, shown(opened, "stranger", second.id)) == [QUESTIONS[1]]
    third = ask(opened, app, "stranger", QUESTIONS[2])
    assert QUESTIONS[1] not in str(app.endpoint.chats[-1]["messages"])
    assert questions(opened, shown(opened, "stranger", third.id)) == [QUESTIONS[2]]
    arrive(opened, "stranger again", stranger, second.id)
    assert questions(opened, shown(opened, "stranger again", second.id)) == [QUESTIONS[1]]


@pytest.mark.parametrize(
    "forged",
    ["x" * 20, "", 7, ["a"], {"a": 1}, "x" * 10_000_000, "\ud800" * 30, None],
    ids=["guess", "empty", "number", "list", "object", "10 MB", "half characters", "none"],
)
def test_a_forged_secret_opens_nobodys_conversation(opened: Page, app: App, forged: Any) -> None:
    arrive(opened, "tab")
    ask(opened, app, "tab", QUESTIONS[0])
    second = ask(opened, app, "tab", QUESTIONS[1])
    arrive(opened, "forger", forged, second.id)
    assert questions(opened, shown(opened, "forger", second.id)) == [QUESTIONS[1]]


def test_only_the_visitor_who_asked_can_stop_a_run(world: MakeWorld) -> None:
    app = world(reply("late", silent=200))
    page = Page(app.services, app.sessions, [])
    secret = arrive(page, "tab")
    asyncio.run(page._ask({"text": QUESTIONS[0], "files": []}, visit("tab")))
    run = page._visitors.page("tab").visitor.run
    assert run is not None

    async def first(name: str) -> dict[Any, Any]:
        updates = page._show(run.id, visit(name))
        update = await anext(updates)
        await updates.aclose()
        return update

    arrive(page, "stranger", run=run.id)
    assert asyncio.run(first("stranger"))[page._stop]["visible"] == "hidden"
    page._stop_run(visit("stranger"))
    assert not run.wait(0.5)
    arrive(page, "again", secret, run.id)
    assert asyncio.run(first("again"))[page._stop]["visible"] is True
    page._stop_run(visit("again"))
    assert run.wait(30)


def test_a_page_that_asks_does_not_go_on_showing_the_run_of_the_link(world: MakeWorld) -> None:
    app = world(reply("late", silent=200), answer("two"))
    page = Page(app.services, app.sessions, [])
    arrive(page, "tab")
    asyncio.run(page._ask({"text": QUESTIONS[0], "files": []}, visit("tab")))
    foreign = page._visitors.page("tab").visitor.run
    assert foreign is not None
    until(lambda: app.endpoint.chats)
    arrive(page, "stranger", run=foreign.id)

    async def both() -> list[Any]:
        looking = page._show(foreign.id, visit("stranger"))
        await anext(looking)
        await page._ask({"text": QUESTIONS[1], "files": []}, visit("stranger"))
        own = page._visitors.page("stranger").visitor.run
        assert own is not None
        assert [update async for update in page._show(own.id, visit("stranger"))]
        return [update async for update in looking]

    assert asyncio.run(both()) == []
    foreign.stop()
    assert foreign.wait(30)
