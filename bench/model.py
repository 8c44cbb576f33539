"""The model's speed as the agent meets it: over HTTP, by the clock."""

import secrets
import statistics
import time

from smolagents import ChatMessage
from smolagents.models import MessageRole

from agent.model.capabilities import read_capabilities
from agent.model.endpoint import EndpointModel
from agent.settings import ROUTER_URL
from bench.stage import Stage
from evals.figures import Figure

_FILLER = "The river {} rises in the hills, flows past {} villages and ends in the sea. "
_WRITTEN = 128


def measure(stage: Stage) -> list[Figure]:
    """Load time, tokens a second in and out, and the wait for the first token of a prompt that was read before."""
    settings = stage.settings
    token = settings.tgi_token or settings.hf_token
    secret = token.get_secret_value() if token else None
    url = settings.tgi_url or ROUTER_URL
    capabilities = read_capabilities(url, secret, settings.model_id or None)
    model = EndpointModel(url, capabilities, token=secret, max_tokens=_WRITTEN)
    figures = []
    if stage.load_seconds is not None:
        figures.append(Figure("load", stage.load_seconds, "s"))
    reading = [_reading_speed(model) for _ in range(3)]
    prompt = _long_text()
    _first_token(model, prompt)
    known = model.last_usage.prompt_tokens
    warm = [_first_token(model, f"{prompt}\nHow many rivers are named, {n}?") for n in range(5)]
    writing = [_writing_speed(model) for _ in range(3)]
    return [
        *figures,
        Figure("prompt read", statistics.median(reading), "tokens/s"),
        Figure("written", statistics.median(writing), "tokens/s"),
        Figure(
            "first token, prompt read before",
            statistics.median(warm),
            "s",
            aim="within 3 s",
            note=f"of {known} tokens",
        ),
    ]


def _long_text(sentences: int = 30) -> str:
    """Text that no server has in its cache."""
    return "".join(_FILLER.format(secrets.token_hex(2), secrets.randbelow(90)) for _ in range(sentences))


def _chat(text: str) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole.USER, content=text)]


def _reading_speed(model: EndpointModel) -> float:
    began = time.perf_counter()
    model.generate(_chat(_long_text()), max_tokens=1)
    return model.last_usage.prompt_tokens / (time.perf_counter() - began)


def _first_token(model: EndpointModel, text: str) -> float:
    began, first = time.perf_counter(), 0.0
    for delta in model.generate_stream(_chat(text), max_tokens=4):
        if not first and (delta.content or delta.reasoning):
            first = time.perf_counter() - began
    return first


def _writing_speed(model: EndpointModel) -> float:
    """From the first token to the last."""
    first = 0.0
    for delta in model.generate_stream(_chat("Write the numbers from one to five hundred as words.")):
        first = first or (time.perf_counter() if delta.content else 0.0)
    return (model.last_usage.completion_tokens - 1) / (time.perf_counter() - first)
