"""One agent's line to a scripted model server, for tests of that line alone."""

import pytest
from smolagents import ChatMessage, MessageRole

from agent.errors import ModelError
from agent.model.capabilities import read_capabilities
from agent.model.endpoint import EndpointModel
from tests.scripted_endpoint import ScriptedEndpoint

QUESTION = [ChatMessage(MessageRole.USER, [{"type": "text", "text": "How high is Mars' highest mountain?"}])]


def model_of(endpoint: ScriptedEndpoint, **options) -> EndpointModel:
    capabilities = options.pop("capabilities", None) or read_capabilities(endpoint.url, endpoint.token)
    return EndpointModel(endpoint.url, capabilities, **{"backoff": 0.01, "token": endpoint.token, **options})


def asked(*script, flavour="tgi", messages=QUESTION, stops=None, **options):
    """(message, endpoint, model) after one call to a server with that script."""
    with ScriptedEndpoint(script, flavour=flavour) as endpoint:
        model = model_of(endpoint)
        return model.generate(messages, stops, **options), endpoint, model


def failing(*script, flavour="tgi", **options) -> tuple[ModelError, ScriptedEndpoint]:
    with ScriptedEndpoint(script, flavour=flavour) as endpoint:
        model = model_of(endpoint, **options)
        with pytest.raises(ModelError) as caught:
            model.generate(QUESTION)
    text = str(caught.value)
    assert text.endswith(".") and "\n" not in text and text.count(". ") == 0, text
    return caught.value, endpoint
