"""More questions than places: who waits, what they are told, and how they come to their turn or leave."""

import threading
from pathlib import Path
from typing import NoReturn

import pytest

from agent.errors import BadUpload, ResearchError, TooManyRuns
from agent.events import Notice, Outcome, RunStarted
from agent.run import Run
from tests.agent_world import App, MakeWorld, answer, until
from tests.scripted_endpoint import reply

QUESTION = "How many moons has Mars?"
LATE = reply("late", silent=120)


def busy(app: App, count: int = 1) -> list[Run]:
    """So many runs that work until they are stopped."""
    runs = [app.sessions.open().ask(QUESTION) for _ in range(count)]
    until(lambda: len(app.endpoint.chats) == count)
    return runs


def told(app: App, run: Run) -> list[str]:
    return [event.text for _, event in app.services.store.events(run.id) if isinstance(event, Notice)]


def in_line(place: int) -> str:
    return f"All places are taken; this question is number {place} in line, and starts by itself."


def test_a_question_in_line_is_told_its_place_moves_up_and_starts_by_itself(world: MakeWorld) -> None:
    app = world(LATE, answer("first"), answer("second"), max_sessions=1)
    (working,) = busy(app)
    first = app.sessions.open().ask("First?")
    until(lambda: told(app, first) == [in_line(1)])
    second = app.sessions.open().ask("Second?")
    until(lambda: told(app, second) == [in_line(2)])
    assert len(app.endpoint.chats) == 1
    working.stop()
    assert app.told(first).end.answer == "first"
    assert app.told(second).end.answer == "second"
    assert set(told(app, second)[:-1]) <= {in_line(2), in_line(1)}  # the first may be done in no time
    assert told(app, second)[-1].startswith("The question was in line for ")


def test_stop_leaves_the_line_and_the_others_move_up(world: MakeWorld) -> None:
    app = world(LATE, max_sessions=1)
    busy(app)
    first, second = app.sessions.open(), app.sessions.open()
    leaves = first.ask("First?")
    until(lambda: told(app, leaves) == [in_line(1)])
    stays = second.ask("Second?")
    until(lambda: told(app, stays) == [in_line(2)])
    leaves.stop()
    end = app.told(leaves).end
    assert (end.outcome, end.reason, end.steps) == (Outcome.STOPPED, "", 0)
    until(lambda: told(app, stays) == [in_line(2), in_line(1)])
    again = first.ask("First, again?")
    until(lambda: told(app, again) == [in_line(2)])


def test_who_goes_away_leaves_the_line(world: MakeWorld) -> None:
    app = world(LATE, max_sessions=1)
    (working,) = busy(app)
    session = app.sessions.open()
    waiting = session.ask("First?")
    until(lambda: told(app, waiting))
    app.sessions.close(session.id)
    assert app.told(waiting).end.reason == "The page was closed while the question was in line; ask again."
    until(lambda: session.id not in app.sessions._sessions)
    assert not working.ended


def test_of_one_visitor_only_one_question_waits_in_line(world: MakeWorld) -> None:
    app = world(LATE, answer("theirs"), answer("mine"), max_sessions=1)
    (working,) = busy(app)
    waiting = app.sessions.open("me").ask("First?")
    more = app.sessions.open("me")
    with pytest.raises(TooManyRuns, match=r"^Another question of yours is in line already: "):
        more.ask("Second?")
    other = app.sessions.open("somebody else").ask("Third?")
    working.stop()
    for run in (waiting, other):
        assert app.told(run).end.outcome is Outcome.ANSWERED
    assert not more.busy


def test_when_the_line_is_full_too_the_next_visitor_is_told_so(world: MakeWorld) -> None:
    app = world(LATE, answer("two"), answer("two"), max_sessions=1, max_waiting=1)
    (working,) = busy(app)
    waiting = app.sessions.open().ask("First?")
    with pytest.raises(
        TooManyRuns, match=r"^All 1 places are taken, and the line for them is full: try again in a few"
    ):
        app.sessions.open()
    working.stop()
    app.told(waiting)
    assert app.ask(QUESTION).end.outcome is Outcome.ANSWERED


def test_who_asks_again_in_a_place_of_their_own_does_not_wait(world: MakeWorld) -> None:
    app = world(answer("two"), LATE, answer("two"), max_sessions=2)
    app.ask(QUESTION)
    until(lambda: not app.session.busy)
    app.sessions.open().ask(QUESTION)
    until(lambda: len(app.endpoint.chats) == 2)
    assert told(app, app.ask("And Venus?").run) == []


def test_the_time_in_line_is_not_taken_from_the_time_of_the_run(world: MakeWorld) -> None:
    app, counting = world(), []

    def counts() -> bool:
        clocks = [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
        return any(clock.function == run._time_is_up for clock in clocks)

    def work(emit: object) -> NoReturn:
        counting.append(counts())
        raise ResearchError("That is enough.")

    run = Run(
        "r",
        app.services.store,
        RunStarted(QUESTION, "m", "s", "b"),
        work,
        turn=lambda tell: counting.append(counts()),
        cancel=threading.Event(),
        seconds=600,
        sources_so_far=list,
    )
    run.start()
    assert app.told(run).end.reason == "That is enough."
    assert counting == [False, True]


def test_a_file_that_cannot_be_used_takes_no_place_in_the_line(world: MakeWorld, tmp_path: Path) -> None:
    app = world(LATE, answer("two"), max_sessions=1)
    (working,) = busy(app)
    (tmp_path / "empty.txt").write_text("")
    session = app.sessions.open()
    with pytest.raises(BadUpload):
        session.ask("What does it say?", [tmp_path / "empty.txt"])
    waiting = app.sessions.open().ask("First?")
    until(lambda: told(app, waiting) == [in_line(1)])
    working.stop()
    assert app.told(waiting).end.outcome is Outcome.ANSWERED
