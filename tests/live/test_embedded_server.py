"""The real embedded model behind its server: what is kept between steps, how it stops and how it ends."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from smolagents import ChatMessage, MessageRole

from agent.errors import ContextOverflow
from agent.model.capabilities import read_capabilities
from agent.model.embedded import EmbeddedServer, fetch_model
from agent.model.endpoint import EndpointModel
from agent.settings import Settings

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

RULES = "You are a helpful agent. " + " ".join(f"Rule {n}: check fact {n} twice." for n in range(15))


@pytest.fixture(scope="module")
def gguf() -> Path:
    settings = Settings(_env_file=None)
    return fetch_model(settings.cache_dir, settings.embedded_gguf, lambda done, total, source: None)


@pytest.fixture(scope="module")
def server(gguf: Path) -> Iterator[str]:
    server = EmbeddedServer(gguf)
    yield server.start()
    server.close()
    assert not server.alive


class Visitor:
    """A conversation that grows by a question and an answer at a time."""

    def __init__(self, url: str) -> None:
        self.model = EndpointModel(url, read_capabilities(url, None), max_tokens=8)
        self.messages = [ChatMessage(MessageRole.SYSTEM, RULES)]

    def ask(self, question: str) -> None:
        self.messages.append(ChatMessage(MessageRole.USER, question))
        self.messages.append(self.model.generate(self.messages))


def test_two_visitors_who_take_turns_have_only_what_is_new_read(server: str) -> None:
    first, second = Visitor(server), Visitor(server)
    first.ask("Name two planets.")
    second.ask("Name two rivers.")
    known = first.model.last_usage.prompt_tokens
    first.ask("And two more?")
    second.ask("And two more?")
    first.ask("And one?")
    assert first.model.last_cached is not None
    assert first.model.last_cached > known
    assert first.model.last_usage.prompt_tokens - first.model.last_cached < 40


def test_a_next_run_finds_the_instructions_read_already(server: str) -> None:
    Visitor(server).ask("Name two planets.")
    late = Visitor(server)
    late.ask("Name two lakes.")
    assert late.model.last_usage.prompt_tokens - (late.model.last_cached or 0) < 30


def test_who_stops_listening_frees_the_model(server: str) -> None:
    visitor = Visitor(server)
    visitor.model.max_tokens = 1000
    stream = visitor.model.generate_stream([ChatMessage(MessageRole.USER, "Count from 1 to 1000 in words.")])
    next(stream)
    stream.close()
    assert not visitor.model.last_usage.estimated
    deadline = time.monotonic() + 60
    while any(slot["is_processing"] for slot in httpx.get(f"{server}/slots", timeout=60).json()):
        assert time.monotonic() < deadline, "the server goes on writing"
        time.sleep(0.1)


def test_a_prompt_beyond_the_context_is_told_with_its_numbers(server: str) -> None:
    with pytest.raises(ContextOverflow) as caught:
        Visitor(server).ask("word " * 9000)
    assert caught.value.limit == 8192
    assert (caught.value.prompt_tokens or 0) > 9000


PARENT = """
import sys, time
from pathlib import Path
from agent.model.embedded import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
time.sleep(600)
"""


def test_the_model_is_gone_from_memory_when_the_app_is_killed(gguf: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(gguf)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.kill()
    deadline = time.monotonic() + 60
    while Path(f"/proc/{child}/exe").exists():
        assert time.monotonic() < deadline, "the child lives on"
        time.sleep(0.05)
