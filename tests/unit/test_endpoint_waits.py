"""A model server that is not ready, is silent, or is told to stop."""

import contextlib
import gc
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from agent.errors import (
    EndpointBusy,
    EndpointUnreachable,
    Stopped,
    StreamCut,
)
from agent.model.capabilities import Capabilities
from agent.model.endpoint import EndpointModel
from tests.agent_world import until
from tests.asking import QUESTION, failing, model_of
from tests.scripted_endpoint import (
    ScriptedEndpoint,
    asleep,
    broken_stream,
    loading,
    overloaded,
    refuse,
    reply,
)

pytestmark = pytest.mark.slow


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
    assert time.monotonic() - began > 0.9
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


class NoTime(threading.Event):
    """A Stop that nobody sets; who waits for it is told at once that the time is over."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return self.is_set()


@pytest.mark.parametrize("refusal", [loading(), replace(loading(), headers={"Retry-After": "0"})])
def test_a_server_that_refuses_at_once_for_long_is_asked_ever_less_often(refusal):
    with ScriptedEndpoint([*[refusal] * 7, reply("ok")]) as endpoint:
        model = model_of(endpoint, backoff=1.0)
        model.cancel = NoTime()
        assert model.generate(QUESTION).content == "ok"
    assert model.cancel.waits == [1, 2, 4, 8, 15, 15, 15]


def test_a_server_that_is_gone_is_asked_again_and_then_told():
    with ScriptedEndpoint() as endpoint:
        model = model_of(endpoint, retries=2)
    sentences: list[str] = []
    model.on_wait = sentences.append
    with pytest.raises(EndpointUnreachable, match="check the address"):
        model.generate(QUESTION)
    assert len(sentences) == 2 and "does not answer" in sentences[0]


def test_a_server_that_stays_silent_is_given_up():
    error, _ = failing(reply("x", silent=200), first_token_timeout=0.2, retries=0)
    assert isinstance(error, StreamCut)


def test_a_stream_that_stands_still_is_given_up():
    error, _ = failing(reply("x y z", delay=200), stall_timeout=0.2)
    assert isinstance(error, StreamCut)


def is_stopped(model: EndpointModel, when: Callable[[], object]) -> None:
    """A call that would take minutes ends in Stopped once `cancel` is set."""

    def stop() -> None:
        until(when)
        model.cancel.set()

    threading.Thread(target=stop).start()
    with pytest.raises(Stopped):
        model.generate(QUESTION)


@pytest.mark.parametrize("flavour", ["tgi", "llama.cpp"])
def test_stop_works_while_the_server_is_silent_and_the_server_notices(flavour):
    with ScriptedEndpoint([reply("late", silent=200)], flavour=flavour) as endpoint:
        model = model_of(endpoint)
        is_stopped(model, lambda: endpoint.chats)
        assert endpoint.requests[-1].hung_up.wait(30)
    assert model.usage.estimated and model.usage.prompt_tokens > 0


def test_stop_works_in_the_middle_of_a_reply_and_the_server_notices():
    with ScriptedEndpoint([reply("word " * 10_000, delay=0.02)]) as endpoint:
        stream = (model := model_of(endpoint)).generate_stream(QUESTION)
        assert next(stream).content == "word"
        model.cancel.set()
        with pytest.raises(Stopped):
            list(stream)
        assert endpoint.requests[-1].hung_up.wait(30)


def test_a_run_that_was_stopped_already_asks_nothing():
    with ScriptedEndpoint([reply("x")]) as endpoint:
        model = model_of(endpoint)
        model.cancel.set()
        with pytest.raises(Stopped):
            model.generate(QUESTION)
        assert endpoint.chats == []


def test_stop_works_while_waiting_for_an_overloaded_server():
    with ScriptedEndpoint([overloaded(retry_after="200")]) as endpoint:
        is_stopped(model_of(endpoint, max_wait=600), lambda: endpoint.chats)


def test_stop_works_while_the_connection_is_not_even_made():
    with contextlib.ExitStack() as open_sockets:
        listener = open_sockets.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):  # with a full backlog the next connection hangs
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        model = EndpointModel(url, Capabilities("tgi", "tgi", "m"), retries=0)
        is_stopped(model, lambda: threading.Event().wait(0.2) or True)


def test_who_stops_listening_ends_the_generation_too():
    with ScriptedEndpoint([reply("word " * 10_000, delay=0.02)]) as endpoint:
        stream = model_of(endpoint).generate_stream(QUESTION)
        assert next(stream).content == "word"
        stream.close()
        assert endpoint.requests[-1].hung_up.wait(30)


def test_two_runs_at_once_do_not_stop_each_other():
    with ScriptedEndpoint(lambda body: reply("word " * 100, delay=0.02)) as endpoint:
        first, second = model_of(endpoint), model_of(endpoint)
        answers: list[str] = []
        other = threading.Thread(target=lambda: answers.append(second.generate(QUESTION).content))
        other.start()
        stream = first.generate_stream(QUESTION)
        next(stream)
        first.cancel.set()
        with pytest.raises(Stopped):
            list(stream)
        other.join()
    assert answers == ["word " * 100]


def test_no_thread_or_connection_is_left_behind():
    with ScriptedEndpoint(lambda body: reply("a b c d", delay=0.01)) as endpoint:
        model = model_of(endpoint)
        before = threading.active_count()
        for _ in range(4):
            model.generate(QUESTION)
            model.generate_stream(QUESTION).close()
            next(model.generate_stream(QUESTION))
            gc.collect()
        until(lambda: threading.active_count() <= before)


def test_tokens_are_shown_as_they_come():
    with ScriptedEndpoint([reply("word " * 10_000, delay=0.02)]) as endpoint:
        stream = model_of(endpoint).generate_stream(QUESTION)
        assert "".join(next(stream).content for _ in range(5)).startswith("word word")
        stream.close()
