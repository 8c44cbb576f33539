"""Which conversation sits in which slot of our own llama.cpp server.

A slot remembers what it has read, so that a step only costs what is new in it.
Left to itself the server puts whoever asks into the slot with the longest common
prefix, and as all our prompts begin alike, two visitors who take turns throw each
other's memory away. So each conversation keeps to its slot while it is going on.
"""

import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

# Idle for so many seconds, a conversation has ended or its visitor is thinking; its slot may go to another.
_LAPSE = 20.0


@dataclass
class _Slot:
    number: int
    owner: "weakref.ref[object] | None" = None
    used: float = 0.0
    waiting: int = 0  # calls that are in it or wait for it


class Slots:
    """The slots of one server; threads may share it."""

    def __init__(self, count: int) -> None:
        self._slots = [_Slot(number) for number in range(count)]
        self._lock = threading.Lock()

    @contextmanager
    def taken(self, owner: object) -> Iterator[int]:
        """The slot to use for one call of that conversation."""
        with self._lock:
            slot = min(self._slots, key=lambda slot: self._rank(slot, owner))
            slot.owner, slot.waiting = weakref.ref(owner), slot.waiting + 1
        try:
            yield slot.number
        finally:
            with self._lock:
                slot.waiting, slot.used = slot.waiting - 1, time.monotonic()

    @staticmethod
    def _rank(slot: _Slot, owner: object) -> tuple[int, int, float]:
        """Free ones first: one's own, then one that nobody needs (warm before cold), then the longest unused."""
        holder = slot.owner() if slot.owner else None
        if holder is owner:
            return slot.waiting, 0, 0.0
        if slot.owner is None:
            return slot.waiting, 2, 0.0
        if holder is None or time.monotonic() - slot.used > _LAPSE:
            return slot.waiting, 1, -slot.used
        return slot.waiting, 3, slot.used


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
