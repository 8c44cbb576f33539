"""What all visitors share: an endpoint that is down or asleep, its secrets, the search, the boxes."""

import re
import socket
from pathlib import Path
from typing import Any

import pytest

from agent.errors import SettingsError
from agent.events import Notice, Outcome, RunEnded, ToolEnded
from agent.model.slots import announce, withdraw
from agent.registry import SessionRegistry
from agent.sandbox.command import Command
from agent.sandbox.pool import BoxPool
from agent.services import Endpoint, build_services
from agent.settings import Settings
from tests.agent_world import MakeWorld, answer, step, until
from tests.scripted_endpoint import ScriptedEndpoint, Streamed, broken_stream, refuse, reply
from tools.fetch import Fetcher
from tools.search.chain import SearchChain

QUESTION = "How many moons has Mars?"
SECRET = "tgi-secret-7f3a"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
        assert run.wait(30)
        end = services.store.events(run.id)[-1][1]
        assert isinstance(end, RunEnded)
        assert (end.outcome, end.reason) == (Outcome.FAILED, status.notices[0])
        with ScriptedEndpoint([answer("two")]) as endpoint:
            services.endpoint.url = endpoint.url
            run = session.ask(QUESTION)
            assert run.wait(30)
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
    monkeypatch.setattr("agent.model.pauses.FIRST_SECONDS", 0.02)
    asleep = refuse(503, {"error": "503 Service Unavailable"}, Retry_After="0.02")
    app = world(answer("two"), server={"down": asleep})
    run = app.session.ask(QUESTION)
    until(lambda: len(app.endpoint.requests) > 2)
    app.endpoint.down = None
    told = app.told(run)
    assert told.all(Notice)[0].text.startswith("The model is not ready yet, it may be waking up")
    assert told.end.outcome is Outcome.ANSWERED


def test_the_time_of_a_run_ends_the_wait_for_an_endpoint_that_is_never_ready(world: MakeWorld) -> None:
    app = world(server={"down": refuse(503, "", Retry_After="0")})
    app.services.settings = app.services.settings.model_copy(update={"run_seconds": 0.3})
    end = app.ask(QUESTION).end
    assert (end.outcome, end.reason) == (Outcome.PARTIAL, "The run used its 0.3 seconds.")


def test_stop_ends_the_wait_for_an_endpoint_that_sleeps(world: MakeWorld) -> None:
    app = world(server={"down": refuse(503, "", Retry_After="200")})
    run = app.session.ask(QUESTION)
    until(lambda: app.services.store.last_seq(run.id) == 2)
    run.stop()
    assert app.told(run).end.outcome is Outcome.STOPPED


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
    store._database.connection.execute("UPDATE runs SET process = '1 1'")
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
        assert run.wait(30), "the server is waited for"
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


def test_visitors_of_a_model_with_one_place_wait_in_line_are_told_so_and_get_their_own(
    world: MakeWorld,
) -> None:
    def script(body: dict[str, Any]) -> Streamed:
        number = re.findall(r"planet (\d)", str(body["messages"]))[-1]
        return reply(f"I think.\n```python\nfinal_answer('planet {number}')\n```\n", delay=0.01)

    app = world(*[script] * 5, server={"flavour": "llama.cpp"})
    announce(app.endpoint.url, 1)
    try:
        runs = [app.sessions.open().ask(f"Which is planet {number}?") for number in range(5)]
        told = [app.told(run) for run in runs]
    finally:
        withdraw(app.endpoint.url)
    assert [each.end.answer for each in told] == [f"planet {number}" for number in range(5)]
    said = {notice.text for each in told for notice in each.all(Notice)}
    assert "The model is answering others first; this question is number 1 in line." in said
