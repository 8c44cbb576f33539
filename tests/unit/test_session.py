"""Visitors side by side: what each keeps, what none shares, and who has to wait or make room."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from agent.errors import RunError, TooManyRuns
from agent.events import Outcome, OutputPrinted, RunEnded
from agent.registry import SessionRegistry
from tests.agent_world import MARS, App, MakeWorld, answer, step, until
from tests.scripted_endpoint import reply
from ui.follow import follow

QUESTION = "How many moons has Mars?"


def folders(app: App) -> list[str]:
    return sorted(path.name for path in (app.services.settings.data_dir / "sessions").iterdir())


def test_variables_files_and_answers_of_earlier_questions_reach_a_follow_up(
    world: MakeWorld, tmp_path: Path
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("The Orme is 41 km long.")
    app = world(
        step("I keep it.", "moons = 2"), answer("two"), step("I print it.", "print(moons)"), answer("2")
    )
    app.ask(QUESTION, [notes])
    told = app.ask("And what are their names?")
    assert [request.path for request in app.endpoint.requests].count("/info") == 1  # it is known by then
    first = app.sent(2)
    for words in (QUESTION, "two", "notes.txt", "And what are their names?"):
        assert words in first
    assert told.text(OutputPrinted).strip() == "2"


def test_only_the_last_answers_are_sent_along_and_long_ones_cut(world: MakeWorld) -> None:
    app = world(*[answer(f"{name} " * 400) for name in ("first", "second", "third")], answer("done"))
    for number in range(4):
        app.ask(f"Question {number}?")
    assert "first" not in app.sent(3)
    assert "second" in app.sent(3)
    assert "third" in app.sent(3)
    assert len(app.sent(3)) < 2000


def test_a_second_question_waits_for_the_first(world: MakeWorld) -> None:
    app = world(reply("late", silent=200))
    run = app.session.ask(QUESTION)
    with pytest.raises(TooManyRuns, match=r"^A run is still going on here: wait for its answer or stop it"):
        app.session.ask("Another?")
    run.stop()
    app.told(run)
    assert not app.session.busy


def test_the_next_question_may_follow_the_last_event_at_once(world: MakeWorld) -> None:
    app = world(*[answer("two")] * 4)
    for _ in range(4):
        for events in follow(app.services.store, app.session.ask(QUESTION).id):
            last = events[-1] if events else None
        assert isinstance(last, RunEnded)


def test_a_box_that_was_killed_between_two_questions_is_replaced(world: MakeWorld) -> None:
    app = world(
        step("1.", "import os\nprint(os.getpid())"),
        answer("two"),
        step("2.", "print('alive')"),
        answer("two"),
    )
    app.ask(QUESTION)
    box = app.session._executor._box
    assert box is not None
    os.kill(box.pid, signal.SIGKILL)
    until(lambda: not box.alive)
    told = app.ask("And now?")
    assert told.end.outcome is Outcome.ANSWERED
    assert "alive" in told.text(OutputPrinted)


def test_two_visitors_share_no_variable_no_memory_no_file_and_no_page(
    world: MakeWorld, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The password is swordfish.")
    look = (
        "import os\nprint('moons' in globals(), os.listdir('.'))\n"
        "for call in (lambda: inspect_file_as_text('secret.txt'), page_down, find_next):\n"
        "    try: print(call())\n"
        "    except Exception as error: print(type(error).__name__, error)"
    )
    app = world(
        step("I keep it.", f"moons = 2\nvisit_page('{MARS}')\nopen('secret.txt').read()"),
        answer("two"),
        step("I look.", look),
        answer("nothing"),
    )
    first, second = app.sessions.open(), app.sessions.open()
    app.ask(QUESTION, [secret], session=first)
    told = app.ask("What did the other ask?", session=second)
    seen = told.text(OutputPrinted)
    assert seen.startswith("False []")
    assert "no file is attached" in seen
    assert "No page is open yet" in seen
    assert "Nothing was looked for" in seen or "No page is open yet" in seen
    for request in app.endpoint.chats[2:]:
        assert QUESTION not in str(request["messages"])
        assert "swordfish" not in str(request["messages"])
    assert told.end.outcome is Outcome.ANSWERED


def test_two_runs_go_on_at_once(world: MakeWorld) -> None:
    both = threading.Barrier(2, timeout=60)

    def met(_: object) -> object:
        both.wait()  # neither reply comes before both were asked for
        return answer("two")

    app = world(met, met)
    runs = [app.sessions.open().ask(QUESTION) for _ in range(2)]
    assert [app.told(run).end.outcome for run in runs] == [Outcome.ANSWERED] * 2


def test_a_session_that_is_closed_frees_its_box_and_its_files(world: MakeWorld, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("words")
    app = world(answer("two"))
    session = app.session
    app.ask(QUESTION, [tmp_path / "notes.txt"])
    box = session._executor._box
    assert box is not None
    app.sessions.close(session.id)
    assert not box.alive
    assert folders(app) == []
    assert app.sessions.get(session.id) is None
    with pytest.raises(RunError, match="This session has ended"):
        session.ask(QUESTION)
    session.close()  # twice is once


def test_a_session_closed_while_its_run_goes_on_is_freed_after_it(world: MakeWorld) -> None:
    app = world(reply("word " * 20, delay=0.01), answer("two"))
    session = app.session
    run = session.ask(QUESTION)
    app.sessions.close(session.id)
    assert folders(app) == [session.id]
    assert app.told(run).end.outcome is Outcome.ANSWERED
    until(lambda: folders(app) == [])
    assert app.sessions.get(session.id) is None


def test_the_visitor_who_was_idle_longest_makes_room(world: MakeWorld) -> None:
    app = world(*[answer("two")] * 3, max_sessions=2)
    first, second, third = [app.sessions.open() for _ in range(3)]
    for session in (second, first, third):
        assert app.ask(QUESTION, session=session).end.outcome is Outcome.ANSWERED
    assert [app.sessions.get(s.id) for s in (first, second, third)] == [first, None, third]


def test_the_cap_holds_when_many_arrive_at_once(world: MakeWorld) -> None:
    app = world(max_sessions=2, max_waiting=1)
    together, opened = threading.Barrier(20), []

    def arrive() -> None:
        together.wait()
        opened.append(app.sessions.open().id)

    threads = [threading.Thread(target=arrive) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(opened)) == 20  # each made room for the next
    assert len(folders(app)) == 3


def test_a_session_that_idles_for_long_is_freed_when_the_next_one_comes(world: MakeWorld) -> None:
    app = world()
    idle, fresh = app.sessions.open(), app.sessions.open()
    idle.last_used = time.monotonic() - app.services.settings.session_seconds - 1
    app.sessions.open()
    assert app.sessions.get(idle.id) is None
    assert app.sessions.get(fresh.id) is fresh


def test_when_the_app_ends_a_run_that_goes_on_is_stopped_and_says_so(world: MakeWorld) -> None:
    app = world(reply("late", silent=200))
    run = app.session.ask(QUESTION)
    until(lambda: app.endpoint.chats)
    app.sessions.close_all()
    end = app.told(run).end
    assert (end.outcome, end.reason) == (
        Outcome.STOPPED,
        "The app was ended while it worked on this question; ask again.",
    )
    assert folders(app) == []


def test_files_left_by_an_app_that_was_killed_are_removed_a_day_later(world: MakeWorld) -> None:
    app = world()
    for name, age in (("old", 25 * 3600), ("young", 3600)):
        folder = app.services.settings.data_dir / "sessions" / name
        folder.mkdir(parents=True)
        os.utime(folder, (time.time() - age,) * 2)
    SessionRegistry(app.services)
    assert folders(app) == ["young"]


def test_a_session_can_be_prepared_before_the_first_question(world: MakeWorld) -> None:
    app = world(reply("", usage=(300, 1)), answer("two"))
    app.sessions.warm()
    until(lambda: app.endpoint.chats)
    until(lambda: folders(app) == [])
    app.ask(QUESTION)
    warm, asked = (chat["messages"] for chat in app.endpoint.chats)
    assert warm[0] == asked[0]
    assert app.endpoint.chats[0]["max_tokens"] == 1
