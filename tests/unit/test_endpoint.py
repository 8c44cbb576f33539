"""What a model server is sent, and what an agent gets of its reply."""

import json

import pytest
from PIL import Image
from smolagents import ChatMessage, MessageRole, Tool

from agent.events import Usage
from tests.asking import QUESTION, asked, model_of
from tests.scripted_endpoint import (
    ScriptedEndpoint,
    reply,
)


@pytest.mark.parametrize("flavour", ["tgi", "llama.cpp", "openai"])
def test_each_kind_of_server_answers(flavour):
    message, endpoint, _ = asked(reply("21.9 km"), flavour=flavour, stops=["</code>"])
    assert message.content == "21.9 km"
    sent = endpoint.chats[0]
    assert sent["model"] == {"tgi": "tgi"}.get(flavour, endpoint.model)
    assert (sent["temperature"], sent["stop"], sent["max_tokens"]) == (0, ["</code>"], 2048)


def test_nothing_is_sent_that_tgi_misunderstands():
    _, endpoint, _ = asked(reply("x"), tools_to_call_from=[], stops=[], max_tokens=7)
    assert set(endpoint.chats[0]) == {
        "model",
        "messages",
        "max_tokens",
        "temperature",
        "stream",
        "stream_options",
    }
    assert endpoint.chats[0]["stream_options"] == {"include_usage": True}


def test_more_stops_than_the_server_takes_are_cut_here_and_end_the_generation():
    words = reply(pieces=["a", "b", "STOP5", *["more"] * 20_000], delay=0.01)
    with ScriptedEndpoint([words]) as endpoint:
        message = model_of(endpoint).generate(QUESTION, ["S1", "S2", "S3", "S4", "STOP5"])
        assert endpoint.requests[-1].hung_up.wait(30)
    assert endpoint.chats[0]["stop"] == ["S1", "S2", "S3", "S4"]
    assert (message.content, message.raw["finish_reason"]) == ("ab", "stop_sequence")


def test_a_memory_of_tools_and_parts_becomes_plain_alternating_messages():
    def text(role, words):
        return ChatMessage(role, [{"type": "text", "text": words}])

    memory = [
        text(MessageRole.SYSTEM, "s"),
        text(MessageRole.USER, "u1"),
        ChatMessage(MessageRole.USER, "u2"),
        ChatMessage(MessageRole.ASSISTANT, [{"type": "text", "text": "a1"}, {"type": "text", "text": "a2"}]),
        text(MessageRole.TOOL_CALL, "call"),
        text(MessageRole.TOOL_RESPONSE, "seen"),
        {"role": "user", "content": "u3"},
    ]
    _, endpoint, _ = asked(reply("x"), messages=memory)
    assert endpoint.chats[0]["messages"] == [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u1\n\nu2"},
        {"role": "assistant", "content": "a1\n\na2\n\ncall"},
        {"role": "user", "content": "seen\n\nu3"},
    ]


def test_a_text_model_is_not_fed_the_base64_of_an_image():
    parts = [{"type": "text", "text": "What is it?"}, {"type": "image", "image": Image.new("RGB", (2, 2))}]
    messages = [ChatMessage(MessageRole.USER, parts)]
    _, endpoint, _ = asked(reply("x"), messages=messages)
    assert "reads text only" in endpoint.chats[0]["messages"][0]["content"]
    with ScriptedEndpoint([reply("red")], sees_images=True) as endpoint:
        model_of(endpoint).generate(messages)
    sent = endpoint.chats[0]["messages"][0]["content"]
    assert sent[1]["image_url"]["url"].startswith("data:image/png;base64,")


SCHEMA = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {"type": "object"}}}


@pytest.mark.parametrize(
    ("flavour", "sent"), [("tgi", {"type": "json_object", "value": {"type": "object"}}), ("openai", SCHEMA)]
)
def test_a_json_schema_is_sent_in_the_form_that_the_server_reads(flavour, sent):
    _, endpoint, _ = asked(reply("{}"), flavour=flavour, response_format=SCHEMA)
    assert endpoint.chats[0]["response_format"] == sent


class Search(Tool):
    name = "web_search"
    description = "Searches."
    inputs = {"query": {"type": "string", "description": "what"}}  # noqa: RUF012 - how smolagents declares a tool
    output_type = "string"

    def forward(self, query: str) -> str:
        return query


def test_tool_calls_arrive_whole():
    calls = [
        {"index": 0, "id": "1", "type": "function", "function": {"name": "web_search", "arguments": '{"que'}},
        {"index": 0, "function": {"name": None, "arguments": 'ry": "x"}'}},
    ]
    answer = reply(tool_calls=calls, finish_reason="tool_calls")
    message, endpoint, _ = asked(answer, flavour="openai", tools_to_call_from=[Search()])
    assert endpoint.chats[0]["tools"][0]["function"]["name"] == "web_search"
    call = message.tool_calls[0].function
    assert (call.name, json.loads(call.arguments)) == ("web_search", {"query": "x"})


def test_an_unknown_option_is_an_error_and_not_ignored():
    with ScriptedEndpoint() as endpoint, pytest.raises(TypeError):
        model_of(endpoint).generate(QUESTION, presence_penalty=0)


def test_the_token_of_whoever_is_logged_in_stays_at_home(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_ambient")
    with ScriptedEndpoint([reply("x"), reply("x")]) as endpoint:
        model_of(endpoint).generate(QUESTION)
        model_of(endpoint, token="hf_given").generate(QUESTION)
    assert {request.headers["authorization"] for request in endpoint.requests} == {"Bearer none"}


def test_the_endpoints_own_key_is_sent():
    with ScriptedEndpoint([reply("x")], token="own-key") as endpoint:
        assert model_of(endpoint).generate(QUESTION).content == "x"


def test_stop_text_and_what_overruns_it_never_reach_the_agent():
    answer = reply(pieces=["print(1)\n", "</co", "de>\n\n"], finish_reason="stop_sequence", usage=(30, 6))
    message, _, model = asked(answer, stops=["</code>"])
    assert message.content == "print(1)\n"
    assert message.raw["finish_reason"] == "stop_sequence"
    assert model.usage == Usage(30, 6)


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_reasoning_that_the_server_splits_off_is_not_content(key):
    answer = reply("Olympus Mons", reasoning="Let me think", reasoning_key=key)
    message, _, _ = asked(answer, flavour="openai")
    assert (message.content, message.raw["reasoning"]) == ("Olympus Mons", "Let me think")


def test_inline_think_text_is_not_content():
    message, _, _ = asked(reply(pieces=["<thi", "nk>draft</th", "ink>Olympus"]))
    assert (message.content, message.raw["reasoning"]) == ("Olympus", "draft")


def test_a_surprising_end_of_thinking_takes_the_draft_back_and_is_expected_the_next_time():
    answer = reply(pieces=["draft", "\n</think>", "Olympus"])
    with ScriptedEndpoint([answer, answer]) as endpoint:
        model = model_of(endpoint)
        first = model.generate(QUESTION, ["</code>"])
        second = list(model.generate_stream(QUESTION, ["</code>"]))
    assert (first.content, first.raw["reasoning"]) == ("Olympus", "draft\n")
    assert [(delta.reasoning, delta.content) for delta in second[:-1]] == [
        ("draft", None),
        ("\n", None),
        (None, "Olympus"),
    ]
    # A stop text in the middle of a thought must not end it.
    assert ["stop" in chat for chat in endpoint.chats] == [True, False]


def test_a_model_known_to_think_streams_its_reasoning_as_such_from_the_first_word():
    with ScriptedEndpoint(
        [reply("hm </think>yes")], model="deepseek-ai/DeepSeek-R1-Distill-Qwen-32B"
    ) as endpoint:
        deltas = list(model_of(endpoint).generate_stream(QUESTION))
    assert deltas[0].reasoning == "hm"
    assert not any(delta.restart for delta in deltas)


def test_a_model_known_to_think_whose_server_splits_it_off_streams_its_answer_as_answer():
    answer = reply("yes it is", reasoning="hm")
    with ScriptedEndpoint([answer], flavour="openai", model="deepseek-ai/DeepSeek-R1") as endpoint:
        deltas = list(model_of(endpoint).generate_stream(QUESTION))
    assert [(delta.reasoning, delta.content) for delta in deltas[:3]] == [
        ("hm", None),
        (None, "yes"),
        (None, " it"),
    ]


def test_a_reply_cut_by_the_length_says_so():
    message, _, _ = asked(reply("```python\nx = ", finish_reason="length"))
    assert message.raw["finish_reason"] == "length"


def test_the_last_delta_alone_carries_the_reason_and_the_tokens():
    with ScriptedEndpoint([reply("a b c", usage=(12, 3))]) as endpoint:
        deltas = list(model_of(endpoint).generate_stream(QUESTION))
    assert [delta.finish_reason for delta in deltas] == [None] * 3 + ["stop"]
    assert deltas[-1].token_usage.input_tokens == 12
    assert all(delta.token_usage is None for delta in deltas[:-1])


def test_tokens_add_up_over_the_calls_of_a_run():
    with ScriptedEndpoint([reply("a", usage=(10, 1)), reply("b", usage=(20, 2))]) as endpoint:
        model = model_of(endpoint)
        model.generate(QUESTION)
        model.generate(QUESTION)
    assert model.usage == Usage(30, 3)
    assert model.last_usage == Usage(20, 2)


def test_tokens_that_the_server_did_not_count_are_marked_as_an_estimate():
    _, _, model = asked(reply("word " * 40, usage=None))
    assert model.usage.estimated
    assert 5 < model.usage.prompt_tokens < 60
    assert 30 < model.usage.completion_tokens < 80


def test_a_character_that_looks_like_a_line_end_does_not_break_the_stream():
    text = "a\u2028b\u0085c\x0bd\u2029é🪐"
    message, _, _ = asked(reply(pieces=[text]))
    assert message.content == text
