"""Following a run's log while somebody else writes it."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.events import Event
from agent.store import Store
from tests.recorded_run import RUN
from ui.follow import follow, follow_live


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "runs.sqlite")
    opened.create_run("r", "Why?")
    yield opened
    opened.close()


def write(store: Store, pauses: dict[int, float]) -> threading.Thread:
    """Write the recorded run from another thread, with a pause before some of its events."""

    def work() -> None:
        for place, event in enumerate(RUN):
            time.sleep(pauses.get(place, 0))
            store.append("r", event)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_reader_gets_every_event_once_in_order_and_ends_with_the_run(store: Store) -> None:
    writer = write(store, {5: 0.15, 20: 0.15})
    assert [event for events in follow(store, "r") for event in events] == RUN
    writer.join()
    assert [event for events in follow(store, "r") for event in events] == RUN


@pytest.mark.slow
def test_a_silent_run_still_gives_a_beat_every_second(store: Store) -> None:
    writer = write(store, {len(RUN) - 1: 1.3})
    began = time.monotonic()
    beats = [time.monotonic() - began for events in follow(store, "r") if not events]
    writer.join()
    assert beats and beats[0] > 0.9


class SlowStore(Store):
    """A store on a slow disk, which is done no sooner than somebody else was served."""

    served = threading.Event()

    def events(self, run_id: str, after: int = 0) -> list[tuple[int, Event]]:
        self.served.clear()
        assert self.served.wait(30)
        return super().events(run_id, after)


def test_a_slow_disk_does_not_hold_up_the_other_visitors(tmp_path: Path) -> None:
    store = SlowStore(tmp_path / "slow.sqlite")
    store.create_run("r", "Why?")
    for event in RUN:
        store.append("r", event)

    async def look() -> list[Event]:
        return [event async for events in follow_live(store, "r") for event in events]

    async def both() -> list[Event]:
        looking = asyncio.create_task(look())
        while not looking.done():
            await asyncio.sleep(0.005)
            store.served.set()
        return await looking

    assert asyncio.run(both()) == RUN
    store.close()
