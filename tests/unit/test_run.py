"""A question from the click to its end, however it ends, as the log of its run tells it."""

import json
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from agent.events import (
    CodeRun,
    CodeWritten,
    Outcome,
    OutputPrinted,
    RunStarted,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    ToolEnded,
    ToolStarted,
)
from agent.run import Run
from tests.agent_world import MARS, App, MakeWorld, Told, answer, step, until
from tests.local_web import Answer as Page
from tests.local_web import LocalWeb
from tests.scripted_endpoint import broken_stream, refuse, reply

QUESTION = "How many moons has Mars?"
SECRET = "tgi-secret-7f3a"


def test_a_run_tells_thought_code_tool_output_and_answer_in_that_order(world: MakeWorld) -> None:
    app = world(
        step("I look for Mars.", "results = web_search('Mars moons')\nprint(results)"),
        answer("two", (MARS, "Mars has two moons")),
    )
    told = app.ask(QUESTION)
    started, *_ = told.events
    assert isinstance(started, RunStarted)
    assert (started.question, started.search, started.max_steps) == (QUESTION, "library only", 12)
    first = told.events[1 : told.events.index(told.all(StepEnded)[0]) + 1]
    kinds = [
        StepStarted,
        ThoughtWritten,
        CodeWritten,
        CodeRun,
        ToolStarted,
        ToolEnded,
        OutputPrinted,
        StepEnded,
    ]
    assert list(dict.fromkeys(type(event) for event in first)) == kinds
    assert told.text(ThoughtWritten).strip().startswith("I look for Mars.")
    assert told.all(ToolStarted)[0].arguments == "'Mars moons'"
    assert told.all(ToolEnded)[0].summary == "1 result"
    assert MARS in told.text(OutputPrinted)
    end = told.end
    assert (end.outcome, end.answer, end.steps, end.reason) == (Outcome.ANSWERED, "two", 2, "")
    assert [(source.url, source.status) for source in end.sources] == [(MARS, "verified")]


def test_the_first_event_is_there_when_ask_returns(world: MakeWorld) -> None:
    app = world(answer("two"))
    run = app.session.ask(QUESTION)
    assert app.services.store.last_seq(run.id) >= 1
    app.told(run)


def stopped(app: App, run: Run, when: Callable[[Told], object]) -> Told:
    """The run, stopped once its log satisfies `when`, though it would go on for minutes."""
    store = app.services.store
    until(lambda: when(Told(run, [event for _, event in store.events(run.id)])))
    run.stop()
    return app.told(run)


def test_stop_ends_a_run_while_the_model_writes(world: MakeWorld) -> None:
    app = world(reply("word " * 10_000, delay=0.02))
    told = stopped(app, app.session.ask(QUESTION), lambda told: told.all(ThoughtWritten))
    assert told.end.outcome is Outcome.STOPPED
    until(app.endpoint.requests[-1].hung_up.is_set)  # the server need not write on


def test_stop_ends_a_run_while_the_model_is_silent(world: MakeWorld) -> None:
    app = world(reply("late", silent=200))
    told = stopped(app, app.session.ask(QUESTION), lambda told: app.endpoint.chats)
    assert told.end.outcome is Outcome.STOPPED


def test_stop_ends_a_run_while_the_code_computes(world: MakeWorld) -> None:
    app = world(step("I wait.", "print('begun')\nwhile True: pass"))
    told = stopped(app, app.session.ask(QUESTION), lambda told: told.all(OutputPrinted))
    assert told.end.outcome is Outcome.STOPPED


def test_stop_ends_a_run_while_a_page_loads(world: MakeWorld) -> None:
    with LocalWeb({"/": Page(seconds=200)}) as web:
        app = world(step("I read.", f"print(visit_page('{web.url()}'))"), allow_local_web=True)
        told = stopped(app, app.session.ask(QUESTION), lambda told: web.requests)
    assert told.end.outcome is Outcome.STOPPED


def test_a_stopped_run_shows_the_last_thought_and_what_was_read(world: MakeWorld) -> None:
    app = world(step("Mars has moons.", f"visit_page('{MARS}')"), reply("late", silent=200))
    told = stopped(app, app.session.ask(QUESTION), lambda told: len(told.all(StepStarted)) == 2)
    assert told.end.outcome is Outcome.STOPPED
    assert told.end.answer == "Mars has moons."
    assert [(source.url, source.title, source.place) for source in told.end.sources] == [
        (MARS, "Mars", "read, but not quoted")
    ]


def test_a_run_stopped_before_it_began_and_twice_is_stopped_once(world: MakeWorld) -> None:
    app = world(reply("late", silent=200))
    run = app.session.ask(QUESTION)
    run.stop()
    run.stop()
    assert app.told(run).end.outcome is Outcome.STOPPED
    run.stop()
    assert len(app.services.store.events(run.id)) == app.services.store.last_seq(run.id)


def test_after_a_stop_the_session_takes_the_next_question_with_its_variables(world: MakeWorld) -> None:
    app = world(
        step("I keep it.", "moons = 2"),
        reply("late", silent=200),
        step("I print it.", "print(moons)"),
        answer("two"),
    )
    stopped(app, app.session.ask(QUESTION), lambda told: told.all(StepEnded) and len(app.endpoint.chats) == 2)
    told = app.ask("And now?")
    assert told.text(OutputPrinted).strip() == "2"
    assert told.end.outcome is Outcome.ANSWERED


def test_a_run_that_uses_its_time_ends_as_partial(world: MakeWorld) -> None:
    app = world(step("Mars has moons.", f"visit_page('{MARS}')"), reply("late", silent=200))
    run = app.session.ask(QUESTION)
    until(lambda: len(app.endpoint.chats) == 2)
    run._time_is_up()
    told = app.told(run)
    assert told.end.outcome is Outcome.PARTIAL
    assert told.end.reason == "The run used its 900 seconds."
    assert told.end.answer == "Mars has moons."


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (refuse(401), "refused the token (401)"),
        (refuse(422, {"error": "no such thing", "error_type": "validation"}), "refused the request (422)"),
        (broken_stream("I look"), "ended its reply before it was complete"),
        (broken_stream("I look", reset=True), "broke in the middle of a reply"),
        (broken_stream("I look", error="the GPU is on fire"), "failed while it wrote"),
    ],
)
def test_a_model_that_fails_ends_the_run_with_one_sentence(world: MakeWorld, item: Any, words: str) -> None:
    told = world(item).ask(QUESTION)
    assert told.end.outcome is Outcome.FAILED
    assert words in told.end.reason
    assert "\n" not in told.end.reason
    assert "Traceback" not in json.dumps([str(event) for event in told.events])


def test_a_fault_of_the_app_ends_the_run_typed_and_without_a_traceback(
    world: MakeWorld, caplog: pytest.LogCaptureFixture
) -> None:
    app = world(answer("two"))
    app.services.tools = 3  # type: ignore[assignment] # what cannot be
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.FAILED
    assert told.end.reason == "Something in the app failed while it worked on this question; ask again."
    assert "TypeError" in caplog.text  # the developer still learns it
    assert "TypeError" not in str(told.events)


def test_a_tool_that_raises_anything_is_told_to_the_model_and_its_traceback_to_nobody(
    world: MakeWorld,
) -> None:
    app = world(step("I search.", "print(web_search('Mars'))"), answer("two"))
    app.services.library.close()  # the index is gone under the search
    told = app.ask(QUESTION)
    failed = told.all(ToolEnded)[0]
    assert not failed.ok
    assert "Traceback" not in str(told.events)
    assert "site-packages" not in str(told.events)
    assert told.end.outcome is Outcome.ANSWERED


def test_no_token_is_ever_in_an_event(world: MakeWorld) -> None:
    """Neither from the code, which looks for it, nor from a server that repeats it."""
    look = "import os\nprint(os.environ)\nprint(open('/proc/self/environ').read())"
    app = world(
        step("I look.", look),
        refuse(422, {"error": f"the token {SECRET} may not do this"}),
        server={"token": SECRET},
        tgi_token=SECRET,
        hf_token="hf_" + SECRET,
    )
    told = app.ask(QUESTION)
    assert app.endpoint.requests[-1].headers["authorization"] == f"Bearer {SECRET}"
    assert told.end.outcome is Outcome.FAILED
    assert SECRET not in str(told.events)
    assert SECRET not in str(app.services.status())


def test_a_log_that_cannot_be_opened_does_not_leave_the_session_busy_for_ever(world: MakeWorld) -> None:
    app = world(answer("two"))
    session = app.session
    app.services.store._database.connection.execute("ALTER TABLE runs RENAME TO lost")
    with pytest.raises(Exception, match="no such table"):
        session.ask(QUESTION)
    assert not session.busy
    app.services.store._database.connection.execute("ALTER TABLE lost RENAME TO runs")
    assert app.ask(QUESTION).end.outcome is Outcome.ANSWERED


def test_the_threads_of_a_run_end_with_it(world: MakeWorld) -> None:
    app = world(*[answer("two")] * 3)
    app.ask(QUESTION)
    until(
        lambda: not [t for t in threading.enumerate() if t.name.startswith(("run ", "model-stream", "tool "))]
    )
    before = threading.active_count()
    app.ask(QUESTION)
    app.ask(QUESTION)
    until(lambda: threading.active_count() <= before)


def test_code_that_fails_with_its_tools_in_a_loop_fills_no_log_and_tells_it_no_address(
    world: MakeWorld, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    loop = """for n in range(40):
    try: visit_page(f"http://10.0.0.1/what-a-visitor-reads-{n}")
    except Exception: pass"""
    told = world(step("I try.", loop), answer("none")).ask(QUESTION)
    assert len(told.all(ToolEnded)) > 40
    assert "what-a-visitor-reads" not in caplog.text and len(caplog.text.splitlines()) < 10
