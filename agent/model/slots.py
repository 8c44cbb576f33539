"""Which conversation sits in which slot of our own llama.cpp server.

A slot remembers what it has read, so that a step only costs what is new in it.
Left to itself the server puts whoever asks into the slot with the longest common
prefix, and as all our prompts begin alike, two visitors who take turns throw each
other's memory away. So each conversation keeps to its slot while it is going on.

Who finds no free slot waits here, in the order of coming, and knows its place.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from agent.errors import Stopped

# Idle for so many seconds, a conversation has ended or its visitor is thinking; its slot may go to another.
_LAPSE = 20.0
# How long a Stop may go unnoticed in the line.
_NOTICED_SECONDS = 0.05


@dataclass
class _Slot:
    number: int
    owner: "weakref.ref[object] | None" = None
    used: float = 0.0
    busy: bool = False


class Slots:
    """The slots of one server; threads may share it."""

    def __init__(self, count: int) -> None:
        self._slots = [_Slot(number) for number in range(count)]
        self._line: list[object] = []
        self._changed = threading.Condition()

    @contextmanager
    def taken(
        self, owner: object, cancel: threading.Event, on_place: Callable[[int], None] = lambda place: None
    ) -> Iterator[int]:
        """The slot to use for one call of that conversation, as soon as one is free.

        `on_place`: told the place in the line, counted from 1, whenever it is another
        one. Raises Stopped when `cancel` is set before there is a slot.
        """
        slot = self._wait(owner, cancel, on_place)
        try:
            yield slot.number
        finally:
            with self._changed:
                slot.busy, slot.used = False, time.monotonic()
                self._changed.notify_all()

    def _wait(self, owner: object, cancel: threading.Event, on_place: Callable[[int], None]) -> _Slot:
        ticket, told = object(), 0
        with self._changed:
            self._line.append(ticket)
        try:
            while True:
                with self._changed:
                    slot, place = self._best(ticket, owner)
                    if slot is None and place == told:
                        self._changed.wait(_NOTICED_SECONDS)
                        slot, place = self._best(ticket, owner)
                    if slot is not None:
                        slot.owner, slot.busy = weakref.ref(owner), True
                        return slot
                if cancel.is_set():
                    raise Stopped("The run was stopped.")
                if place != told:
                    told = place
                    on_place(place)
        finally:
            with self._changed:
                self._line.remove(ticket)
                self._changed.notify_all()

    def _best(self, ticket: object, owner: object) -> tuple[_Slot | None, int]:
        """The slot for whoever holds the ticket, when it is its turn, and its place among those who wait."""
        free = sorted((slot for slot in self._slots if not slot.busy), key=lambda s: self._rank(s, owner))
        ahead = self._line.index(ticket)
        return (free[0], 0) if ahead < len(free) else (None, ahead - len(free) + 1)

    @staticmethod
    def _rank(slot: _Slot, owner: object) -> tuple[int, float]:
        """One's own first, then one that nobody needs (warm before cold), then the longest unused."""
        holder = slot.owner() if slot.owner else None
        if holder is owner:
            return 0, 0.0
        if slot.owner is None:
            return 2, 0.0
        if holder is None or time.monotonic() - slot.used > _LAPSE:
            return 1, -slot.used
        return 3, slot.used


_servers: dict[str, Slots] = {}


def announce(base_url: str, count: int) -> None:
    """A server of this process has so many slots."""
    _servers[base_url] = Slots(count)


def withdraw(base_url: str) -> None:
    """That server is gone."""
    _servers.pop(base_url, None)


def slots_of(base_url: str) -> Slots | None:
    """The slots of a server of this process; None for any other, which shares them out as it likes."""
    return _servers.get(base_url)
