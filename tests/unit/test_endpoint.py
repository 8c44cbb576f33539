"""A model server that misbehaves, and what an agent gets of it."""

import contextlib
import gc
import json
import socket
import threading
import time
from itertools import pairwise

import pytest
from PIL import Image
from smolagents import ChatMessage, MessageRole, Tool

from agent.errors import (
    ContextOverflow,
    EndpointBusy,
    EndpointRefused,
    EndpointUnreachable,
    ModelError,
    Stopped,
    StreamCut,
)
from agent.events import Usage
from agent.model.capabilities import Capabilities, read_capabilities
from agent.model.endpoint import EndpointModel
from tests.scripted_endpoint import (
    ScriptedEndpoint,
    asleep,
    broken_stream,
    loading,
    overloaded,
    refuse,
    reply,
    too_long_llama,
    too_long_tgi,
    too_long_vllm,
)

QUESTION = [ChatMessage(MessageRole.USER, [{"type": "text", "text": "How high is Mars' highest mountain?"}])]


def model_of(endpoint: ScriptedEndpoint, **options) -> EndpointModel:
    capabilities = options.pop("capabilities", None) or read_capabilities(endpoint.url, endpoint.token)
    return EndpointModel(endpoint.url, capabilities, **{"backoff": 0.01, "token": endpoint.token, **options})


def asked(*script, flavour="tgi", messages=QUESTION, stops=None, **options):
    """(message, endpoint, model) after one call to a server with that script."""
    with ScriptedEndpoint(script, flavour=flavour) as endpoint:
        model = model_of(endpoint)
        return model.generate(messages, stops, **options), endpoint, model


# --- what is sent ---------------------------------------------------------------------------


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
    words = reply(pieces=["a", "b", "STOP5", *["more"] * 200], delay=0.01)
    with ScriptedEndpoint([words]) as endpoint:
        message = model_of(endpoint).generate(QUESTION, ["S1", "S2", "S3", "S4", "STOP5"])
        assert endpoint.requests[-1].hung_up.wait(1)
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


# --- what comes back ----------------------------------------------------------------------------


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


# --- faults -----------------------------------------------------------------------------------------


def failing(*script, flavour="tgi", **options) -> tuple[ModelError, ScriptedEndpoint]:
    with ScriptedEndpoint(script, flavour=flavour) as endpoint:
        model = model_of(endpoint, **options)
        with pytest.raises(ModelError) as caught:
            model.generate(QUESTION)
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text and text.count(". ") == 0, text
    return caught.value, endpoint


def test_a_stream_that_just_ends_is_noticed():
    error, endpoint = failing(broken_stream("half of it"))
    assert isinstance(error, StreamCut)
    assert len(endpoint.chats) == 1, "what was shown already is not asked again"


def test_a_connection_reset_in_the_middle_is_a_cut_stream():
    assert isinstance(failing(broken_stream("half", reset=True))[0], StreamCut)


def test_an_error_event_in_the_middle_of_a_stream_is_a_cut_stream_with_the_servers_words():
    error, _ = failing(broken_stream("half", error="Request failed during generation: CUDA out of memory"))
    assert isinstance(error, StreamCut)
    assert "CUDA out of memory" in str(error)


@pytest.mark.parametrize(
    "raw", ["data: {not json\n\n", "data: 3\n\n", 'data: {"choices": 5}\n\n', "data: [1]\n\n"]
)
def test_a_stream_of_nonsense_is_refused(raw):
    assert isinstance(failing(broken_stream("", raw=raw))[0], EndpointRefused)


def test_a_done_without_the_space_is_still_the_end():
    raw = 'data:{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata:[DONE]\n\n'
    assert asked(broken_stream("", raw=raw))[0].content == "ok"


def test_an_answer_that_is_no_stream_is_refused():
    assert isinstance(
        failing(refuse(200, "<html>hello</html>", Content_Type="text/html"))[0], EndpointRefused
    )


@pytest.mark.parametrize(
    ("refusal", "flavour", "given", "limit"),
    [
        (too_long_tgi(5000, 4096), "tgi", 5000, 4096),
        (refuse(422, {"error": "`inputs` must have less than 1024 tokens. Given: 2000", "error_type": "validation"}), "tgi", 2000, 1024),
        (broken_stream("", error="Input validation error: `inputs` must have less than 1024 tokens. Given: 2000"), "tgi", 2000, 1024),
        (too_long_llama(9000, 8192), "llama.cpp", 9000, 8192),
        (too_long_vllm(4500, 4096), "openai", 4500, 4096),
        (refuse(400, {"error": {"message": "Too long.", "code": "context_length_exceeded"}}), "openai", None, None),
        (refuse(413, "length limit exceeded"), "tgi", None, None),
    ],
)  # fmt: skip
def test_a_prompt_that_is_too_long_is_told_with_its_numbers(refusal, flavour, given, limit):
    error, endpoint = failing(refusal, flavour=flavour)
    assert isinstance(error, ContextOverflow)
    assert (error.prompt_tokens, error.limit) == (given, limit)
    assert len(endpoint.chats) == 1


def test_a_template_that_refuses_the_roles_is_told_in_its_own_words():
    error, _ = failing(
        refuse(422, {"error": "Template error: roles must\nalternate", "error_type": "template_error"})
    )
    assert isinstance(error, EndpointRefused)
    assert "roles must alternate" in str(error)


def test_a_plain_text_refusal_is_told():
    error, _ = failing(refuse(400, "Failed to parse the request body as JSON"))
    assert isinstance(error, EndpointRefused)


def test_a_token_that_became_invalid_is_told_without_showing_it():
    with ScriptedEndpoint([refuse(401)], token="right") as endpoint:
        model = model_of(endpoint, capabilities=Capabilities("tgi", "tgi", "m"), token="secret-key")
        with pytest.raises(EndpointRefused, match="refused the token") as caught:
            model.generate(QUESTION)
    assert "secret-key" not in str(caught.value)


def test_an_unknown_model_is_told():
    wrong = Capabilities("openai", "other", "other")
    with (
        ScriptedEndpoint(flavour="openai") as endpoint,
        pytest.raises(EndpointRefused, match="does not exist"),
    ):
        model_of(endpoint, capabilities=wrong).generate(QUESTION)


# --- waiting ------------------------------------------------------------------------------------------


def waited(*script, **options) -> tuple[str | None, list[str], ScriptedEndpoint]:
    sentences: list[str] = []
    with ScriptedEndpoint(script) as endpoint:
        model = model_of(endpoint, **options)
        model.on_wait = sentences.append
        return model.generate(QUESTION).content, sentences, endpoint


@pytest.mark.parametrize(
    "fault",
    [
        overloaded(),
        asleep(),
        refuse(502, "Bad gateway"),
        refuse(424, {"error": "Request failed during generation", "error_type": "generation"}),
        broken_stream("", error="Model is overloaded"),
        broken_stream(""),
        broken_stream("", reset=True),
    ],
)
def test_a_fault_before_the_first_token_loses_no_run(fault):
    content, sentences, endpoint = waited(fault, fault, reply("ok"))
    assert content == "ok"
    assert len(endpoint.chats) == 3
    assert len(sentences) == 2 and all(text.startswith("The model ") for text in sentences)


def test_the_wait_that_the_server_asks_for_is_kept():
    began = time.monotonic()
    content, sentences, _ = waited(overloaded(retry_after="1"), reply("ok"))
    assert content == "ok"
    assert 1.0 <= time.monotonic() - began < 1.6
    assert sentences == ["The model is busy or waking up; asking again in 1 s."]


@pytest.mark.parametrize("wait", ["3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
def test_a_wait_of_hours_is_an_error_at_once_that_names_it(wait):
    error, endpoint = failing(overloaded(retry_after=wait))
    assert isinstance(error, EndpointBusy)
    assert error.retry_after >= 3600
    assert len(endpoint.chats) == 1


def test_an_endless_overload_is_given_up():
    error, endpoint = failing(*[overloaded()] * 9, retries=2)
    assert isinstance(error, EndpointBusy)
    assert len(endpoint.chats) == 3


def test_a_sleeping_endpoint_is_asked_to_hold_the_request_until_it_is_awake():
    _, _, endpoint = waited(asleep(), reply("ok"), wake_timeout=600)
    first, second = (request.headers for request in endpoint.requests if request.path.endswith("completions"))
    assert "x-scale-up-timeout" not in first
    assert second["x-scale-up-timeout"] == "600"


def test_a_server_that_loads_its_model_is_waited_for_beyond_the_retries():
    content, sentences, _ = waited(*[loading()] * 5, reply("ok"), retries=1)
    assert content == "ok"
    assert sentences[0] == "The model is still loading; asking again in 0 s."


def test_a_server_that_is_gone_is_asked_again_and_then_told():
    with ScriptedEndpoint() as endpoint:
        model = model_of(endpoint, retries=2)
    sentences: list[str] = []
    model.on_wait = sentences.append
    with pytest.raises(EndpointUnreachable, match="check the address"):
        model.generate(QUESTION)
    assert len(sentences) == 2 and "does not answer" in sentences[0]


def test_a_server_that_stays_silent_is_given_up():
    error, _ = failing(reply("x", silent=5), first_token_timeout=0.2, retries=0)
    assert isinstance(error, StreamCut)


def test_a_stream_that_stands_still_is_given_up():
    error, _ = failing(reply("x y z", delay=5), stall_timeout=0.2)
    assert isinstance(error, StreamCut)


# --- stop -----------------------------------------------------------------------------------------------


def stopped_after(seconds: float, model: EndpointModel) -> float:
    """Seconds from setting `cancel` until the call has raised Stopped."""
    set_at = [0.0]

    def stop() -> None:
        set_at[0] = time.monotonic()
        model.cancel.set()

    timer = threading.Timer(seconds, stop)
    timer.start()
    with pytest.raises(Stopped):
        model.generate(QUESTION)
    return time.monotonic() - set_at[0]


@pytest.mark.parametrize("flavour", ["tgi", "llama.cpp"])
def test_stop_works_while_the_server_is_silent_and_the_server_notices(flavour):
    with ScriptedEndpoint([reply("late", silent=20)], flavour=flavour) as endpoint:
        model = model_of(endpoint)
        assert stopped_after(0.2, model) < 0.2
        assert endpoint.requests[-1].hung_up.wait(0.5)
    assert model.usage.estimated and model.usage.prompt_tokens > 0


def test_stop_works_in_the_middle_of_a_reply_and_the_server_notices():
    with ScriptedEndpoint([reply("word " * 500, delay=0.02)]) as endpoint:
        assert stopped_after(0.2, model_of(endpoint)) < 0.2
        assert endpoint.requests[-1].hung_up.wait(0.5)


def test_a_run_that_was_stopped_already_asks_nothing():
    with ScriptedEndpoint([reply("x")]) as endpoint:
        model = model_of(endpoint)
        model.cancel.set()
        with pytest.raises(Stopped):
            model.generate(QUESTION)
        assert endpoint.chats == []


def test_stop_works_while_waiting_for_an_overloaded_server():
    with ScriptedEndpoint([overloaded(retry_after="60")]) as endpoint:
        assert stopped_after(0.2, model_of(endpoint)) < 0.2


def test_stop_works_while_the_connection_is_not_even_made():
    with contextlib.ExitStack() as open_sockets:
        listener = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):  # with a full backlog the next connection hangs
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        model = EndpointModel(url, Capabilities("tgi", "tgi", "m"), retries=0)
        assert stopped_after(0.2, model) < 0.2


def test_who_stops_listening_ends_the_generation_too():
    with ScriptedEndpoint([reply("word " * 500, delay=0.02)]) as endpoint:
        stream = model_of(endpoint).generate_stream(QUESTION)
        assert next(stream).content == "word"
        stream.close()
        assert endpoint.requests[-1].hung_up.wait(0.5)


def test_two_runs_at_once_do_not_stop_each_other():
    with ScriptedEndpoint(lambda body: reply("word " * 20, delay=0.02)) as endpoint:
        first, second = model_of(endpoint), model_of(endpoint)
        answers: list[str] = []
        other = threading.Thread(target=lambda: answers.append(second.generate(QUESTION).content))
        other.start()
        stopped_after(0.1, first)
        other.join()
    assert answers == ["word " * 20]


def test_no_thread_or_connection_is_left_behind():
    with ScriptedEndpoint(lambda body: reply("a b c d", delay=0.01)) as endpoint:
        model = model_of(endpoint)
        before = threading.active_count()
        for _ in range(4):
            model.generate(QUESTION)
            model.generate_stream(QUESTION).close()
            next(model.generate_stream(QUESTION))
            gc.collect()
        deadline = time.monotonic() + 2
        while threading.active_count() > before and time.monotonic() < deadline:
            time.sleep(0.01)
    assert threading.active_count() <= before


def test_tokens_are_shown_as_they_come():
    with ScriptedEndpoint([reply("a b c d e", delay=0.05)]) as endpoint:
        times = [time.monotonic() for _ in model_of(endpoint).generate_stream(QUESTION)]
    assert sum(later - earlier > 0.03 for earlier, later in pairwise(times)) >= 4
