"""Level 4: no code is run; the model calls the tools as JSON, and the run is told, bounded and ended as ever."""

import json
import threading
from typing import Any

import pytest

from agent.events import (
    CodeRun,
    Event,
    Outcome,
    OutputPrinted,
    StepEnded,
    ThoughtWritten,
    ToolEnded,
    ToolStarted,
)
from agent.model.calls import calls_in, completed
from agent.sandbox.level import NO_CODE
from agent.sandbox.pool import BoxPool
from tests.agent_world import MARS, App, MakeWorld, until
from tests.scripted_endpoint import Item, refuse, reply

QUESTION = "How many moons has Mars?"


def call(tool: str, index: int = 0, **arguments: Any) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"index": index, "id": f"call{index}", "type": "function", "function": function}


def calling(*calls: dict[str, Any], text: str = "", **options: Any) -> Item:
    """A reply with tool calls, as the chat API streams them."""
    return reply(text, tool_calls=calls, finish_reason="tool_calls", **options)


def written(tool: str, text: str = "{}", **arguments: Any) -> Item:
    """A reply of a model that writes its call as text."""
    return reply(text.replace("{}", json.dumps({"name": tool, "arguments": arguments})))


SEARCH = calling(call("web_search", query="Mars moons"), text="I search.")
ANSWER = calling(call("final_answer", answer="two"))


@pytest.fixture
def codeless(world: MakeWorld) -> MakeWorld:
    def make(*script: Item, **options: Any) -> App:
        app = world(*script, **options)
        app.services.pool = BoxPool(NO_CODE)
        return app

    return make


def test_a_reply_of_blank_lines_without_end_is_ended(codeless: MakeWorld) -> None:
    endless = reply(pieces=["I look.", *["\n"] * 3000, "never reached"], delay=0.002)
    app = codeless(endless, ANSWER)
    told = app.ask(QUESTION)
    assert told.end.answer == "two"
    assert "never" not in told.text(ThoughtWritten) and len(told.text(ThoughtWritten)) < 200
    assert "Call a tool" in app.sent(1)


def test_calls_are_made_and_told_and_the_answer_ends_the_run(codeless: MakeWorld) -> None:
    app = codeless(SEARCH, calling(call("visit_page", url=MARS)), ANSWER)
    told = app.ask(QUESTION)
    assert (told.end.outcome, told.end.answer, told.end.steps) == (Outcome.ANSWERED, "two", 3)
    assert not told.all(CodeRun)
    assert told.text(ThoughtWritten) == "I search."
    assert [(e.tool, e.arguments) for e in told.all(ToolStarted)][:2] == [
        ("web_search", "'Mars moons'"),
        ("visit_page", f"'{MARS}'"),
    ]
    assert all(event.ok and event.seconds >= 0 for event in told.all(ToolEnded))
    assert told.all(StepEnded)[1].summary == "read 1 page"
    assert "Phobos" in told.text(OutputPrinted)
    assert "Phobos" in app.sent(2)
    asked = app.endpoint.chats[0]
    names = {tool["function"]["name"] for tool in asked["tools"]}
    assert {"web_search", "visit_page", "final_answer"} <= names
    assert asked["tool_choice"] == "required"


def test_what_the_model_called_is_shown_to_it_again(codeless: MakeWorld) -> None:
    app = codeless(SEARCH, ANSWER)
    app.ask(QUESTION)
    before = str(app.endpoint.chats[1]["messages"][-2]["content"])
    assert before == (
        'I search.\n<tool_call>\n{"name": "web_search", "arguments": {"query": "Mars moons"}}\n</tool_call>'
    )


def test_calls_of_one_reply_are_made_in_their_order(codeless: MakeWorld) -> None:
    both = calling(call("web_search", query="Mars"), call("web_search", 1, query="Venus"))
    app = codeless(both, ANSWER)
    told = app.ask(QUESTION)
    assert [event.arguments for event in told.all(ToolStarted)][:2] == ["'Mars'", "'Venus'"]
    assert app.sent(1).index("Mars has two moons") < app.sent(1).index("Venus has no moon")


def test_a_call_that_comes_in_pieces_is_put_together(codeless: MakeWorld) -> None:
    whole = call("final_answer", answer="two")
    rest = {"index": 0, "function": {"arguments": whole["function"]["arguments"][5:]}}
    whole["function"]["arguments"] = whole["function"]["arguments"][:5]
    assert codeless(calling(whole, rest)).ask(QUESTION).end.answer == "two"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "<tool_call>\n{}\n</tool_call>",
        "I look.\n```json\n{}\n```\n",
        '[{}, {"name": "none"}]',
        "I look. {}",
    ],
)
def test_a_model_that_writes_its_call_as_text_is_understood(codeless: MakeWorld, text: str) -> None:
    app = codeless(written("web_search", text, query="Mars"), written("final_answer", text, answer="two"))
    told = app.ask(QUESTION)
    assert told.end.answer == "two"
    assert [event.arguments for event in told.all(ToolStarted)] == ["'Mars'", "'two'"]
    assert set(told.text(ThoughtWritten).split()) <= {"I", "look."}


@pytest.mark.parametrize("end", ["", "}", "\n```\n", "\n</tool_call>"])
def test_a_call_whose_last_brackets_the_model_forgot_is_made(codeless: MakeWorld, end: str) -> None:
    text = 'I look.\n{"name": "final_answer", "arguments": {"answer": "two \\"[", "sources": [["a", "b"]]'
    told = codeless(reply(text + end)).ask(QUESTION)
    assert told.end.answer == 'two "['
    assert told.text(ThoughtWritten).strip() == "I look."


def test_a_call_that_was_cut_off_is_not_completed(codeless: MakeWorld) -> None:
    cut = reply('{"name": "final_answer", "arguments": {"answer": "on"', finish_reason="length")
    assert codeless(cut, calling(call("final_answer", answer="two"))).ask(QUESTION).end.answer == "two"


def test_what_a_model_writes_after_its_call_is_not_waited_for(codeless: MakeWorld) -> None:
    text = json.dumps({"name": "final_answer", "arguments": {"answer": "two"}})
    app = codeless(reply(pieces=["```json\n", text, *["\n"] * 10_000], delay=0.02, finish_reason="length"))
    assert app.ask(QUESTION).end.answer == "two"
    assert app.endpoint.requests[-1].hung_up.wait(30)


def test_a_server_that_takes_no_tools_is_asked_in_words(codeless: MakeWorld) -> None:
    app = codeless(
        refuse(400, {"error": {"message": "tools are not supported"}}),
        written("web_search", query="Mars"),
        written("final_answer", answer="two"),
    )
    assert app.ask(QUESTION).end.answer == "two"
    assert [bool(chat.get("tools")) for chat in app.endpoint.chats] == [True, False, False]
    assert '{"name": "web_search"' in str(app.endpoint.chats[1]["messages"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (call("web_serch", query="x"), "There is no tool of that name; there are: web_search"),
        (call("web_search", words="x"), "missing a required argument: 'query'"),
        (call("visit_page", url="library://none.md"), "visit_page: "),
        ({**call("web_search"), "function": {"name": "web_search", "arguments": '{"query'}}, "its arguments are no JSON"),
        ({**call("web_search"), "function": {"name": "web_search", "arguments": "[1]"}}, "its arguments are no JSON object"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_answered_with_what_is_wrong(
    codeless: MakeWorld, wrong: dict[str, Any], said: str
) -> None:
    app = codeless(calling(wrong), ANSWER)
    told = app.ask(QUESTION)
    assert said in app.sent(1)
    assert told.all(StepEnded)[0].error
    assert told.end.answer == "two"


def test_of_a_reply_with_very_many_calls_a_few_are_made(codeless: MakeWorld) -> None:
    many = [call("web_search", index, query=f"Mars {index}") for index in range(1000)]
    told = codeless(calling(*many), ANSWER).ask(QUESTION)
    assert len(told.all(ToolStarted)) == 8 + 1


def test_the_same_call_is_not_made_again(codeless: MakeWorld) -> None:
    app = codeless(SEARCH, SEARCH, ANSWER)
    told = app.ask(QUESTION)
    assert [event.tool for event in told.all(ToolStarted)] == ["web_search", "final_answer"]
    assert "exactly this call" in app.sent(2)


def test_code_is_not_run(codeless: MakeWorld) -> None:
    app = codeless(reply("I compute.\n```python\nprint(6 * 7)\n```\n"), ANSWER)
    told = app.ask(QUESTION)
    assert not told.all(CodeRun)
    assert "42" not in told.text(OutputPrinted)
    assert "Call a tool" in app.sent(1)


def test_a_wrong_quote_is_sent_back_once_as_with_code(codeless: MakeWorld) -> None:
    wrong = call("final_answer", answer="two", sources=[[MARS, "Mars has three moons"]])
    right = call("final_answer", answer="two", sources=json.dumps([[MARS, "Mars has two moons"]]))
    app = codeless(
        calling(call("visit_page", url=MARS)), calling(wrong), calling(right), prompt_profile="full"
    )
    told = app.ask(QUESTION)
    assert "does not stand in" in app.sent(2)
    assert [(source.url, source.status) for source in told.end.sources] == [(MARS, "verified")]


def test_the_steps_have_the_same_limit(codeless: MakeWorld) -> None:
    searches = [calling(call("web_search", query=f"Mars {n}"), text="Mars has two moons.") for n in range(3)]
    told = codeless(*searches, max_steps=3).ask(QUESTION)
    assert told.end.outcome is Outcome.PARTIAL
    assert "used its 3 steps" in told.end.reason
    assert told.end.answer == "Mars has two moons."


def test_stop_need_not_wait_for_a_tool(codeless: MakeWorld) -> None:
    app = codeless(SEARCH)
    begun, over = threading.Event(), threading.Event()

    def slow(*_: Any, **__: Any) -> Any:
        begun.set()
        over.wait(60)

    app.services.search.search = slow  # type: ignore[method-assign,assignment]
    run = app.session.ask(QUESTION)
    until(begun.is_set)
    run.stop()
    assert run.wait(30)
    over.set()
    events: list[Event] = app.told(run).events
    assert app.told(run).end.outcome is Outcome.STOPPED
    assert any(isinstance(event, ToolEnded) and not event.ok for event in events)


def test_the_page_says_that_code_is_off_and_why(codeless: MakeWorld) -> None:
    status = codeless().services.status()
    assert status.sandbox == "4 no code"
    assert any("code is off" in notice for notice in status.notices)


def test_what_a_text_says_beside_its_calls_is_kept() -> None:
    words, calls = calls_in('First {x}. {"name": "go", "arguments": {"a": {"b": 1}}} Then.', ["go"])
    assert (words, [str(call) for call in calls]) == (
        "First {x}.  Then.",
        ['{"name": "go", "arguments": {"a": {"b": 1}}}'],
    )
    for text in ('{"name": "other"}', '{"name": "go"', "{" * 5000, '[{"name": 7}]'):
        assert calls_in(text, ["go"]) == (text, [])


@pytest.mark.parametrize("text", ["", "no call", "{} {", '{"a": "b', "{]", '{"a": [1}'])
def test_only_brackets_at_the_end_are_completed(text: str) -> None:
    assert completed(text) == ("{} {}" if text == "{} {" else text)
