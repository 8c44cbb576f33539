"""Reading a run's log while it grows: what the page, the API and the terminal have in common."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Protocol

from agent.events import Event, RunEnded

POLL_SECONDS = 0.1
BEAT_SECONDS = 1.0
_FEW = 8


class Log(Protocol):
    """What a reader needs of the store."""

    def last_seq(self, run_id: str) -> int: ...

    def events(self, run_id: str, after: int = 0) -> list[tuple[int, Event]]: ...


class Reader:
    """A place in the log of one run."""

    def __init__(self, log: Log, run_id: str) -> None:
        self.ended = False
        self._log = log
        self._run_id = run_id
        self._seen = 0

    @property
    def behind(self) -> bool:
        """Whether there is more; it costs nothing while the run goes on."""
        return self._log.last_seq(self._run_id) > self._seen

    def new(self) -> list[Event]:
        """What was written since the last call; `ended` is true once the last event was given out."""
        if not self.behind:
            return []
        rows = self._log.events(self._run_id, self._seen)
        if rows:
            self._seen = rows[-1][0]
            self.ended = isinstance(rows[-1][1], RunEnded)
        return [event for _, event in rows]


def follow(log: Log, run_id: str) -> Iterator[list[Event]]:
    """The run's events as they come, and an empty list every second without any; ends with the run."""
    reader = Reader(log, run_id)
    last = time.monotonic()
    while not reader.ended:
        events = reader.new()
        if events or time.monotonic() - last >= BEAT_SECONDS:
            last = time.monotonic()
            yield events
        if not reader.ended:
            time.sleep(POLL_SECONDS)


async def follow_live(
    log: Log, run_id: str, readers: Callable[[], int] = lambda: 1
) -> AsyncIterator[list[Event]]:
    """`follow` for an event loop, which reading the log does not hold up.

    `readers`: how many follow a run now; where many do, each is told less often, so that all cost no more than a few.
    """
    reader = Reader(log, run_id)
    last = time.monotonic()
    while not reader.ended:
        events = await asyncio.to_thread(reader.new) if reader.behind else []
        if events or time.monotonic() - last >= BEAT_SECONDS:
            last = time.monotonic()
            yield events
        if not reader.ended:
            await asyncio.sleep(POLL_SECONDS * max(1.0, readers() / _FEW))
