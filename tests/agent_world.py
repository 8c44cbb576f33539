"""A whole app without a page: real sessions, sandbox, library and store, and a model that answers from a script.

def test_something(world: MakeWorld) -> None:
    app = world(step("I look.", "print(web_search('Mars'))"), answer("two"))
    told = app.ask("How many moons has Mars?")
    assert told.end.outcome is Outcome.ANSWERED
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from agent.events import Event, RunEnded
from agent.registry import SessionRegistry
from agent.run import Run
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from agent.services import Endpoint, Services
from agent.session import Session
from agent.settings import Settings
from agent.store import Store
from tests.scripted_endpoint import Item, ScriptedEndpoint, reply
from tools.search.chain import SearchChain
from tools.search.library import Library

MARS = "library://mars.md"
LIBRARY = {
    "mars.md": (
        "# Mars\n\nMars is the fourth planet from the Sun.\n\n## Moons\n\n"
        "Mars has two moons, **Phobos** and [Deimos](venus.md). Both were found in 1877.\n\n"
        "## Name\n\nIt’s called the “Red Planet” – because of its iron oxide.\n"
    ),
    "venus.md": "# Venus\n\nVenus has no moon. A day on Venus lasts 243 Earth days.\n",
    "rivers.csv": "river,km\nOrme,41\nQuill,57\n",
}

E = TypeVar("E")


def step(thought: str, source: str, **options: Any) -> Item:
    """A reply of the model: a thought and one block of code."""
    return reply(f"{thought}\n```python\n{source}\n```\n", **options)


def answer(text: str, *sources: tuple[str, str]) -> Item:
    """A reply that ends the work."""
    return step("That is it.", f"final_answer({text!r}, sources={list(sources)!r})")


@dataclass
class Told:
    """A run that has ended, as its log tells it."""

    run: Run
    events: list[Event]

    @property
    def end(self) -> RunEnded:
        assert isinstance(self.events[-1], RunEnded), self.events[-1]
        return self.events[-1]

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def text(self, kind: type[Any]) -> str:
        return "".join(event.text for event in self.all(kind))


@dataclass
class App:
    endpoint: ScriptedEndpoint
    services: Services
    sessions: SessionRegistry
    _session: Session | None = field(default=None)

    @property
    def session(self) -> Session:
        """The visitor who asks when no other is named."""
        if self._session is None:
            self._session = self.sessions.open()
        return self._session

    def ask(
        self,
        question: str,
        files: Sequence[Path] = (),
        *,
        session: Session | None = None,
        seconds: float = 60,
    ) -> Told:
        """Ask and wait for the end."""
        return self.told((session or self.session).ask(question, files), seconds)

    def told(self, run: Run, seconds: float = 60) -> Told:
        """What the log says once the run has ended."""
        assert run.wait(seconds), "the run does not end"
        return Told(run, [event for _, event in self.services.store.events(run.id)])

    def sent(self, request: int) -> str:
        """The text of the last message of that request to the model."""
        return str(self.endpoint.chats[request]["messages"][-1]["content"])


class MakeWorld(Protocol):
    def __call__(
        self,
        *script: Item,
        server: dict[str, Any] | None = None,
        limits: Limits | None = None,
        **settings: Any,
    ) -> App:
        """An app whose model answers from `script`. `server`: options of the ScriptedEndpoint."""


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    """Wait for what another thread does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(0.01)


@pytest.fixture(scope="session")
def box_pool() -> Iterator[BoxPool]:
    """Boxes for all tests, at the level of this machine, without pandas, which takes a second to load."""
    pool = BoxPool(choose_level(), size=1, preload=())
    yield pool
    pool.close()


def open_app(
    folder: Path,
    pool: BoxPool,
    script: Sequence[Item],
    enter: Callable[[AbstractContextManager[ScriptedEndpoint]], ScriptedEndpoint],
    server: dict[str, Any],
    limits: Limits | None,
    settings: dict[str, Any],
) -> App:
    library = folder / "library"
    if not library.exists():
        library.mkdir()
        for name, text in LIBRARY.items():
            (library / name).write_text(text, encoding="utf-8")
    endpoint = enter(ScriptedEndpoint(script, **server))
    chosen = Settings(
        _env_file=None,
        **{"tgi_url": endpoint.url, "search": "library", "library_dir": library, "data_dir": folder}
        | settings,
    )
    shelf = Library(chosen.library_dir, None)
    token = chosen.tgi_token.get_secret_value() if chosen.tgi_token else None
    services = Services(
        chosen,
        Endpoint(chosen.tgi_url, token, chosen.model_id or None, None),
        Store(chosen.data_dir / "research.sqlite"),
        shelf,
        SearchChain([shelf], mode=chosen.search),
        pool,
        limits or Limits(step_seconds=chosen.step_seconds, memory_bytes=chosen.box_memory_mb << 20),
    )
    return App(endpoint, services, SessionRegistry(services))
