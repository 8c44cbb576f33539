"""Visitors side by side: what each keeps, what none shares, and who has to wait or make room."""

import errno
import os
import re
import shutil
import signal
import socket
import threading
import time
from pathlib import Path

import pytest

from agent.errors import BadQuestion, BadUpload, RunError, SettingsError, TooManyRuns
from agent.events import Notice, Outcome, OutputPrinted, RunEnded, RunStarted, ToolEnded
from agent.sandbox.command import Command
from agent.sandbox.pool import BoxPool
from agent.services import Endpoint, build_services
from agent.session import SessionRegistry
from agent.settings import Settings
from tests.agent_world import MARS, App, MakeWorld, answer, step, until
from tests.scripted_endpoint import ScriptedEndpoint, broken_stream, refuse, reply
from tools.fetch import Fetcher
from tools.search.chain import SearchChain
from ui.follow import follow

QUESTION = "How many moons has Mars?"
SECRET = "tgi-secret-7f3a"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def folders(app: App) -> list[str]:
    return sorted(path.name for path in (app.services.settings.data_dir / "sessions").iterdir())


# --- what is asked --------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["", "   \n\t "])
def test_an_empty_question_is_refused_in_one_sentence(world: MakeWorld, question: str) -> None:
    with pytest.raises(BadQuestion, match=r"^The question is empty: write what you want to know\.$"):
        world().session.ask(question)


def test_twenty_thousand_characters_are_refused_with_what_to_do_instead(world: MakeWorld) -> None:
    app = world()
    with pytest.raises(
        BadQuestion, match=r"^The question has 20,000 characters and the limit is 8,000: shorten"
    ):
        app.session.ask("x" * 20_000)
    assert not app.session.busy


def test_a_question_with_half_a_character_is_taken(world: MakeWorld) -> None:
    app = world(answer("two"))
    assert app.ask("How many \ud83d moons?").end.outcome is Outcome.ANSWERED
    assert "How many ? moons?" in app.sent(0)


# --- what is attached -----------------------------------------------------------------------


def test_files_that_cannot_be_used_are_refused_by_name_and_with_the_reason(
    world: MakeWorld, tmp_path: Path
) -> None:
    session = world(max_file_mb=1).session
    contents = {
        "empty.txt": (b"", "is empty"),
        "report.pdf": (b"<html>no such report</html>", "is called a PDF but is none"),
        "large.csv": (b"x" * (1 << 21), "has 2 MB and the limit is 1 MB"),
    }
    for name, (content, reason) in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadUpload, match=rf"^The file {re.escape(name)} {reason}[^\n]*: attach [^\n]*\.$"):
            session.ask(QUESTION, [tmp_path / name])
    for path in (tmp_path / "gone.txt", tmp_path):
        with pytest.raises(BadUpload, match=rf"^The file {path.name} cannot be read"):
            session.ask(QUESTION, [path])
    assert not session.busy


def test_an_attached_file_is_read_by_the_tool_and_by_the_code_and_named_to_the_model(
    world: MakeWorld, tmp_path: Path
) -> None:
    notes = tmp_path / "my rivers.txt"
    notes.write_text("The Orme is 41 km long.\n")
    app = world(
        step(
            "I read it.",
            "print(inspect_file_as_text('my rivers.txt').text)\nprint(open('my rivers.txt').read())",
        ),
        answer("41", ("my rivers.txt", "Orme")),
    )
    told = app.ask("How long is the Orme?", [notes])
    assert "my rivers.txt" in app.sent(0)
    assert told.text(OutputPrinted).count("Orme") == 2
    assert [(source.url, source.status) for source in told.end.sources] == [("my rivers.txt", "verified")]


def test_two_attached_files_of_one_name_are_both_there_and_shown_under_the_names_they_have(
    world: MakeWorld, tmp_path: Path
) -> None:
    paths = [tmp_path / folder / name for folder, name in (("a", "data.csv"), ("b", "Data.csv"))]
    for path in paths:
        path.parent.mkdir()
        path.write_text(f"from\n{path.parent.name}\n")
    names = ["data.csv", "Data (2).csv", "data (3).csv"]
    app = world(
        step("I read both.", "print([open(name).read() for name in ('data.csv', 'Data (2).csv')])"),
        answer("a, b"),
        step("And the new one.", "print(open('data (3).csv').read())"),
        answer("a again"),
    )
    told = app.ask(QUESTION, paths)
    assert list(told.all(RunStarted)[0].files) == names[:2]
    assert all(name in app.sent(0) for name in names[:2])
    assert "['from\\na\\n', 'from\\nb\\n']" in told.text(OutputPrinted)
    later = app.ask(QUESTION, paths[:1])
    assert list(later.all(RunStarted)[0].files) == names[2:]
    assert later.text(OutputPrinted).startswith("from\na")


def test_files_of_a_question_that_was_refused_keep_their_names_when_it_is_asked_again(
    world: MakeWorld, tmp_path: Path
) -> None:
    good, empty = tmp_path / "good.csv", tmp_path / "empty.csv"
    good.write_text("a\n1\n")
    empty.write_text("")
    app = world(answer("1"))
    with pytest.raises(BadUpload, match=r"empty\.csv is empty"):
        app.session.ask(QUESTION, [good, empty])
    assert list(app.ask(QUESTION, [good]).all(RunStarted)[0].files) == ["good.csv"]


def test_more_files_than_a_question_may_have_are_refused_in_one_sentence(
    world: MakeWorld, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    with pytest.raises(
        BadUpload, match=r"^The question comes with 21 files and the limit is 20: attach fewer"
    ):
        world().session.ask(QUESTION, [path] * 21)


def test_a_full_disk_refuses_a_question_in_one_sentence_and_takes_it_once_there_is_room(
    world: MakeWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached = tmp_path / "a.csv"
    attached.write_text("a\n1\n")
    app = world(answer("two"))
    session, database = app.session, app.services.store._db
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    full = (
        r"^The disk of DATA_DIR is full, so no question can be kept: free some space there, then ask again\.$"
    )
    with pytest.raises(RunError, match=full):
        for _ in range(50):  # what is left of the last page goes first
            app.services.store.create_run(os.urandom(8).hex(), "x" * 500)
    with pytest.raises(RunError, match=full):
        session.ask("x" * 5000, [attached])
    assert not session.busy
    database.execute("PRAGMA max_page_count = 100000")
    assert list(app.ask(QUESTION, [attached]).all(RunStarted)[0].files) == ["a.csv"]

    def no_space(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", no_space)
    with pytest.raises(RunError, match=full):
        session.ask(QUESTION, [attached])
    monkeypatch.setattr(Path, "mkdir", no_space)
    with pytest.raises(RunError, match=full):
        app.sessions.open()


# --- one visitor ------------------------------------------------------------------------------


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
    app = world(reply("late", silent=30))
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


# --- two visitors -----------------------------------------------------------------------------


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
    both = threading.Barrier(2, timeout=10)

    def met(_: object) -> object:
        both.wait()  # neither reply comes before both were asked for
        return answer("two")

    app = world(met, met)
    runs = [app.sessions.open().ask(QUESTION) for _ in range(2)]
    assert [app.told(run).end.outcome for run in runs] == [Outcome.ANSWERED] * 2


# --- coming and going ---------------------------------------------------------------------------


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
    app = world(answer("two"), max_sessions=2)
    first, second = app.sessions.open(), app.sessions.open()
    app.ask(QUESTION, session=first)
    third = app.sessions.open()
    assert [app.sessions.get(s.id) for s in (first, second, third)] == [first, None, third]


def test_when_all_places_are_at_work_the_next_visitor_is_told_so(world: MakeWorld) -> None:
    app = world(reply("late", silent=30), max_sessions=1)
    run = app.session.ask(QUESTION)
    with pytest.raises(TooManyRuns, match=r"^All 1 places are at work: try again in a minute"):
        app.sessions.open()
    run.stop()
    app.told(run)
    assert app.sessions.open().id


def test_the_cap_holds_when_many_arrive_at_once(world: MakeWorld) -> None:
    app = world(max_sessions=3)
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
    app = world(reply("late", silent=30))
    run = app.session.ask(QUESTION)
    until(lambda: app.endpoint.chats)
    app.sessions.close_all()
    assert app.told(run).end.outcome is Outcome.STOPPED
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


# --- what all share ---------------------------------------------------------------------------


def settings(tmp_path: Path, **values: object) -> Settings:
    library = tmp_path / "library"
    library.mkdir(exist_ok=True)
    (library / "mars.md").write_text("# Mars\n\nMars has two moons.\n")
    return Settings(
        _env_file=None,
        **{"search": "library", "library_dir": library, "data_dir": tmp_path / "data"} | values,
    )


def test_the_app_starts_while_its_endpoint_is_down_and_answers_once_it_is_up(tmp_path: Path) -> None:
    services = build_services(settings(tmp_path, tgi_url=f"http://127.0.0.1:{free_port()}"))
    sessions = SessionRegistry(services)
    try:
        status = services.status()
        assert status.model == "not reached yet"
        assert len(status.notices) == 1
        assert re.fullmatch(r"No model endpoint answers[^\n]*\.", status.notices[0]), status.notices
        session = sessions.open()
        run = session.ask(QUESTION)
        assert run.wait(20)
        end = services.store.events(run.id)[-1][1]
        assert isinstance(end, RunEnded)
        assert (end.outcome, end.reason) == (Outcome.FAILED, status.notices[0])
        with ScriptedEndpoint([answer("two")]) as endpoint:
            services.endpoint.url = endpoint.url
            run = session.ask(QUESTION)
            assert run.wait(20)
            end = services.store.events(run.id)[-1][1]
        assert isinstance(end, RunEnded)
        assert end.outcome is Outcome.ANSWERED
        assert services.status().notices == []
        assert services.status().model == endpoint.model
    finally:
        sessions.close_all()
        services.close()


def test_a_question_waits_for_an_endpoint_that_sleeps_and_says_so(
    world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.services._LEAST_PAUSE_SECONDS", 0.02)
    asleep = refuse(503, {"error": "503 Service Unavailable"}, Retry_After="0.02")
    app = world(answer("two"), server={"down": asleep})
    run = app.session.ask(QUESTION)
    until(lambda: len(app.endpoint.requests) > 2)
    app.endpoint.down = None
    told = app.told(run)
    assert told.all(Notice)[0].text.startswith("The model is not ready yet, it may be waking up")
    assert told.end.outcome is Outcome.ANSWERED


def test_stop_ends_the_wait_for_an_endpoint_that_sleeps(world: MakeWorld) -> None:
    app = world(server={"down": refuse(503, "", Retry_After="100")})
    run = app.session.ask(QUESTION)
    until(lambda: app.services.store.last_seq(run.id) == 2)
    run.stop()
    began = time.monotonic()
    assert app.told(run).end.outcome is Outcome.STOPPED
    assert time.monotonic() - began < 0.5


def test_the_reply_may_be_as_long_as_the_variable_says_and_else_as_the_profile(world: MakeWorld) -> None:
    lengths = []
    for values in ({}, {"prompt_profile": "compact"}, {"max_reply_tokens": 8000}):
        app = world(answer("two"), answer("two"), **values)
        app.ask(QUESTION)
        lengths.append(app.endpoint.chats[0]["max_tokens"])
    assert lengths == [2048, 400, 8000]


def test_a_run_of_an_app_that_was_killed_is_closed_by_the_next_start(
    tmp_path: Path, world: MakeWorld
) -> None:
    app = world()
    store = app.services.store
    store.create_run("dead", QUESTION)
    store._db.execute("UPDATE runs SET process = '1 1'")
    with ScriptedEndpoint() as endpoint:
        services = build_services(settings(tmp_path, tgi_url=endpoint.url, data_dir=tmp_path))
        services.close()
    end = store.events("dead")[-1][1]
    assert isinstance(end, RunEnded)
    assert end.reason == "The app was ended while this run was going on; ask again."


def test_a_data_folder_that_cannot_be_used_stops_the_start_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "research.sqlite").write_bytes(b"this is no database" * 100)
    for name in ("file", "broken"):
        with pytest.raises(SettingsError, match=r"^The runs cannot be kept in DATA_DIR, [^\n]*\.$"):
            build_services(settings(tmp_path, tgi_url="http://127.0.0.1:9", data_dir=tmp_path / name))


def test_a_token_that_the_endpoint_repeats_is_not_on_the_page(world: MakeWorld) -> None:
    app = world(server={"down": refuse(422, {"error": f"no worker for {SECRET}"})}, tgi_token=SECRET)
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.FAILED
    assert "it says: no worker for [token]" in told.end.reason
    assert app.services.status().notices == [told.end.reason]
    assert SECRET not in told.end.reason


def test_a_token_that_the_endpoint_repeats_while_it_writes_is_not_on_the_page(world: MakeWorld) -> None:
    cut = broken_stream("I look.", error=f"no worker for {SECRET}")
    told = world(*[cut] * 5, tgi_token=SECRET).ask(QUESTION)
    assert told.end.outcome is Outcome.FAILED
    assert "it says: no worker for [token]" in told.end.reason


def test_stop_ends_a_run_that_waits_for_a_server_which_says_nothing(world: MakeWorld) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        app = world()
        app.services.endpoint = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}", None, None, None)
        run = app.session.ask(QUESTION)
        connection, _ = silent.accept()
        run.stop()
        assert run.wait(5), "the server is waited for"
        connection.close()
    assert app.told(run).end.outcome is Outcome.STOPPED


def test_a_hugging_face_token_does_not_go_to_another_server(world: MakeWorld) -> None:
    app = world(answer("two"), tgi_token="hf_private")
    app.ask(QUESTION)
    assert {r.headers.get("authorization") for r in app.endpoint.requests} == {"Bearer none"}


class FarAway:
    """A place on the web to search, at an address where nothing listens."""

    name, local = "far away", False

    def __init__(self) -> None:
        self.home = f"http://127.0.0.1:{free_port()}"

    def search(self, query: str, limit: int, filters: object) -> list[object]:
        raise AssertionError("it is not asked when it cannot be reached")


@pytest.mark.parametrize(
    ("mode", "notice"),
    [
        ("auto", "The web does not answer from here, so only the library is searched."),
        ("web", "The web does not answer from here, so nothing can be searched."),
        ("library", None),
    ],
)
def test_a_web_that_does_not_answer_is_said_on_the_page(
    world: MakeWorld, mode: str, notice: str | None
) -> None:
    app = world(step("I search.", "print(web_search('Mars'))"), answer("two"))
    services = app.services
    services.search = SearchChain(
        [services.library, FarAway()], mode=mode, reachable=Fetcher(allow_local=True).reachable
    )
    services.search.probe()
    until(lambda: "checking" not in services.search.status())
    assert services.status().notices == ([notice] if notice else [])
    told = app.ask(QUESTION)
    assert told.all(ToolEnded)[0].ok is (mode != "web")
    assert told.end.outcome is Outcome.ANSWERED


def test_a_sandbox_that_cannot_be_started_fails_the_run_and_the_next_one_may_work(world: MakeWorld) -> None:
    app = world(answer("two"), answer("two"))
    working = app.session._executor._pool
    broken = BoxPool(working.level, size=0, command=Command(["/nowhere/python"]))
    app.session._executor._pool = broken
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.FAILED
    assert "sandbox" in told.end.reason.lower()
    assert "\n" not in told.end.reason
    app.session._executor._pool = working
    assert app.ask(QUESTION).end.outcome is Outcome.ANSWERED
