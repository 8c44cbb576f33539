"""A model server that misbehaves, and what an agent is told of it."""

import pytest

from agent.errors import (
    ContextOverflow,
    EndpointRefused,
    StreamCut,
)
from agent.model.capabilities import Capabilities
from tests.asking import QUESTION, asked, failing, model_of
from tests.scripted_endpoint import (
    ScriptedEndpoint,
    broken_stream,
    refuse,
    too_long_llama,
    too_long_tgi,
    too_long_vllm,
)


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
