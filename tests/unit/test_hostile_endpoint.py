"""A model server that means harm, or has gone mad: what the app, a run and its reader get of it."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from smolagents import ChatMessage, MessageRole

from agent.errors import (
    ContextOverflow,
    EndpointBusy,
    EndpointRefused,
    EndpointUnreachable,
    ModelError,
    SettingsError,
)
from agent.events import Outcome
from agent.model.calls import calls_in
from agent.model.capabilities import Capabilities, read_capabilities
from agent.model.endpoint import EndpointModel
from agent.model.refusals import refusal, retry_after
from agent.services import Endpoint
from agent.settings import load_settings
from tests.agent_world import MakeWorld, until
from tests.scripted_endpoint import Item, ScriptedEndpoint, loading, refuse, reply

pytestmark = pytest.mark.slow

QUESTION = [ChatMessage(MessageRole.USER, [{"type": "text", "text": "How high is Olympus Mons?"}])]
STARTS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"


@contextmanager
def serving(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that reads each request and then does to its connection what `talk` does."""

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(1 << 16)
                talk(connection)
            except OSError:
                return  # the client went away, as it should

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def dripping(head: bytes) -> Callable[[socket.socket], None]:
    def drip(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b" ")
            time.sleep(0.02)

    return drip


def answered(*script: Item, stops: list[str] | None = None) -> ChatMessage:
    with ScriptedEndpoint(script) as endpoint:
        model = EndpointModel(endpoint.url, read_capabilities(endpoint.url, None), backoff=0.01, retries=0)
        return model.generate(QUESTION, stops)


def refused(item: Item) -> str:
    """The sentence that a chat with that answer ends in."""
    with pytest.raises(ModelError) as caught:
        answered(item)
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text and len(text) < 600
    text.encode()
    return text


# --- time -----------------------------------------------------------------------------------


@pytest.mark.parametrize("head", [STARTS, STARTS[:20]])
def test_a_server_that_drips_what_it_is_does_not_hold_up_the_start(head):
    with serving(dripping(head)) as url, pytest.raises(EndpointUnreachable, match="took too long"):
        read_capabilities(url, None, timeout=0.3)
    until(lambda: not [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)])


def test_a_run_at_a_server_that_drips_ends_with_its_time(world: MakeWorld):
    with serving(dripping(STARTS)) as url:
        app = world(run_seconds=10)
        app.services.endpoint = Endpoint(url, None, None, None)
        run = app.session.ask("How many moons has Mars?")
        run._time_is_up()
        assert run.wait(30), "the server is waited for"
    assert app.told(run).end.outcome is Outcome.PARTIAL


def test_a_server_that_allows_to_ask_again_at_once_is_not_asked_in_a_hot_loop(world: MakeWorld):
    app = world(server={"down": refuse(503, "", Retry_After="0")})
    run = app.session.ask("How many moons has Mars?")
    time.sleep(0.5)
    run.stop()
    assert run.wait(30)
    assert len(app.endpoint.requests) <= 2


def test_a_model_that_loads_and_asks_for_no_wait_is_not_asked_in_a_hot_loop():
    hasty = refuse(503, loading().body, Retry_After="0")
    told: list[str] = []
    with ScriptedEndpoint([hasty, reply("ok")]) as endpoint:
        model = EndpointModel(endpoint.url, read_capabilities(endpoint.url, None), backoff=1.0)
        model.on_wait = told.append
        assert model.generate(QUESTION).content == "ok"
    assert told == ["The model is still loading; asking again in 1 s."]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("9" * 400, 86400),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 86400),
        ("٣", None),
        ("Wed, 99 Foo 99999999 99:99:99 GMT", None),
    ],
)
def test_a_wait_without_end_is_a_day(value, seconds):
    assert retry_after({"retry-after": value}) == seconds


# --- size -----------------------------------------------------------------------------------


def test_an_error_that_does_not_end_is_read_at_its_beginning_only():
    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 500 X\r\nContent-Type: text/plain\r\n\r\nout of memory ")
        while True:
            connection.sendall(b"x" * 100_000)

    with serving(flood) as url:
        model = EndpointModel(url, Capabilities("openai", "m", "m"), retries=0)
        with pytest.raises(EndpointBusy, match="it says: out of memory") as caught:
            model.generate(QUESTION)
    assert len(str(caught.value)) < 400


def test_a_description_that_does_not_end_is_no_description():
    def flood(connection: socket.socket) -> None:
        connection.sendall(STARTS)
        while True:
            connection.sendall(b" " * 100_000)

    with serving(flood) as url, pytest.raises(EndpointRefused, match="is no model endpoint"):
        read_capabilities(url, None)


def test_a_line_that_does_not_end_is_no_stream(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent.model.wire._LINE_BYTES", 1 << 20)

    def flood(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: ")
        while True:
            connection.sendall(b"x" * 100_000)

    with serving(flood) as url, pytest.raises(EndpointRefused, match="a line that does not end"):
        EndpointModel(url, Capabilities("openai", "m", "m"), retries=0).generate(QUESTION)


# --- half characters -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pieces", "content"),
    [
        (["I read \ud83d", "\ude00 it"], "I read 😀 it"),
        (["a \ud800 b"], "a � b"),
        (["a \ud83d", "b"], "a �b"),
        (["a \ud83d"], "a �"),
        (["\ude00a"], "�a"),
    ],
)
def test_half_an_emoji_does_not_fail_the_run(pieces, content):
    assert answered(reply(pieces=pieces)).content == content
    assert answered(reply(pieces=pieces), stops=["</code>"]).content == content


def test_half_an_emoji_in_the_reasoning_does_not_fail_the_run():
    message = answered(reply("ok", reasoning="so \ud83d \ude00"))
    assert message.content == "ok"
    message.raw["reasoning"].encode()


def test_half_an_emoji_in_a_tool_call_does_not_fail_the_run():
    _, calls = calls_in('{"name": "web_search", "arguments": {"query": "a \\ud83d b"}}', ["web_search"])
    assert calls[0].arguments == {"query": "a � b"}


def test_half_an_emoji_in_a_refusal_can_be_kept():
    assert "� bad" in refused(refuse(400, '{"error": "\\ud800 bad"}'))


def test_signs_that_are_not_to_be_seen_in_a_refusal_are_left_out():
    assert "(it says: a b c)" in refused(refuse(400, "a\x00b\u202e\x1bc"))


# --- shapes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        {"default_generation_settings": []},
        {"default_generation_settings": {"n_ctx": 1}, "modalities": "x"},
        {"data": [{"id": "m", "providers": 5}]},
        {"data": [{"id": "m", "architecture": "x"}]},
        {"data": [{"id": "m", "architecture": {"input_modalities": 5}}]},
        {"data": [5]},
        "[" * 300_000,
        '{"a":' * 300_000,
    ],
)
def test_a_server_that_describes_itself_oddly_is_refused_and_breaks_no_start(body):
    text = body if isinstance(body, str) else json.dumps(body)
    with (
        ScriptedEndpoint(down=refuse(200, text)) as endpoint,
        pytest.raises(EndpointRefused, match=r"check the address\.$"),
    ):
        read_capabilities(endpoint.url, None)


def test_counts_that_no_server_has_tell_nothing():
    models = {"data": [{"id": "m", "max_model_len": 10**30, "providers": [5, {"context_length": True}]}]}
    with ScriptedEndpoint(down=refuse(200, json.dumps(models))) as endpoint:
        assert read_capabilities(endpoint.url, None).context_tokens is None


@pytest.mark.parametrize("body", ["[" * 60_000, '{"error":' * 7_000, "context length is 1 tokens " * 2_400])
def test_a_refusal_of_nonsense_is_one_sentence(body):
    assert isinstance(refusal(400, body, {}, "host"), ModelError)


def test_an_overflow_counted_in_odd_digits_is_still_an_overflow():
    body = json.dumps(
        {
            "error": {
                "type": "exceed_context_size_error",
                "message": "too long",
                "n_ctx": "²",
                "n_prompt_tokens": 10**100,
            }
        }
    )
    error = refusal(400, body, {}, "host")
    assert isinstance(error, ContextOverflow)
    assert (error.prompt_tokens, error.limit) == (None, None)


# --- sentences -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["sec\nret-XYZ", "sécret-XYZ", "\udcff\udcfesecret-XYZ"])
def test_a_token_that_cannot_be_sent_is_told_by_its_variable_and_not_shown(token, monkeypatch):
    monkeypatch.setenv("TGI_TOKEN", token)
    with pytest.raises(SettingsError, match=r"^TGI_TOKEN ") as caught:
        load_settings()
    with pytest.raises(EndpointRefused, match="TGI_TOKEN") as also:
        read_capabilities("http://127.0.0.1:9", token)
    assert "ret-XYZ" not in f"{caught.value}{also.value}"


@pytest.mark.parametrize("url", ["http://ééé…", f"http://{'a' * 70}"])
def test_a_host_that_none_can_have_is_said_to_be_none(url):
    with pytest.raises(EndpointRefused, match="no name that a server can have: correct it"):
        read_capabilities(url, None)


def test_a_redirect_to_a_very_long_address_is_cut():
    text = refused(refuse(302, "", Location="http://u:pw@elsewhere.example/" + "x" * 60_000))
    assert "use http://elsewhere.example/xxx" in text and "pw" not in text


def test_very_long_names_of_models_are_cut():
    models = {"data": [{"id": letter * 100_000} for letter in "ab"]}
    with ScriptedEndpoint(down=refuse(200, json.dumps(models))) as endpoint:
        with pytest.raises(EndpointRefused, match="serves 2 models") as caught:
            read_capabilities(endpoint.url, None)
        assert len(str(caught.value)) < 400
        assert len(read_capabilities(endpoint.url, None, "a" * 100_000).name) < 300
