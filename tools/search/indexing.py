"""Keeps the library's index up to date with its folder, at once or in the background."""

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tools.search.apart import ReadApart
from tools.search.folder import Scan, scan
from tools.search.index import Index
from tools.search.meaning import Meaning
from tools.search.reading import Parsed, parsed

Read = Callable[[str, int], Parsed]
"""A file, by its path and size, as what the index keeps of it."""

_COMMIT_SECONDS = 0.5
# How long changes go unnoticed while nobody asks.
_IDLE_SECONDS = 30.0
# After so many changes it pays to put the index in order.
_MANY = 500
_OTHER_SECONDS = 2.0
# A look at the folder takes no more than this share of the time.
_SHARE = 0.05
# How long a search waits for the change of a moment ago.
_PATIENCE = 0.02

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Progress:
    """How many of the folder's documents the index holds as they are now."""

    read: int = 0
    total: int = 0

    @property
    def is_whole(self) -> bool:
        return self.read >= self.total

    def __str__(self) -> str:
        if self.is_whole:
            return f"{self.total:,} documents"
        return f"{self.read:,} of {self.total:,} read"


class Indexer:
    """Thread-safe."""

    def __init__(
        self, folder: Path, index: Index, scan_seconds: float, meaning: Meaning | None = None
    ) -> None:
        """`scan_seconds`: how often the folder is looked at, at most. `meaning`: what gives passages their vectors."""
        self._folder = folder
        self._index = index
        self._meaning = meaning
        self._scan_seconds = scan_seconds
        self._updating = threading.RLock()
        self._scanned = -math.inf
        self._pause = scan_seconds
        self._looking = 0.0
        self._wanted = threading.Event()
        self._current = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._apart = ReadApart(folder)
        self.progress = Progress()
        self.nameless: frozenset[str] = frozenset()

    def start(self) -> None:
        """Reads in the background from now on, in a process apart."""
        self._thread = threading.Thread(target=self._work, name="library", daemon=True)
        self._thread.start()

    def before_search(self) -> None:
        """Sees to it that the search knows what changed, as far as that takes a moment."""
        if self._thread is None:
            self.refresh()
        elif self._is_due and self._looking <= _PATIENCE:
            self._current.clear()
            self._wanted.set()
            if self.progress.is_whole:
                self._current.wait(_PATIENCE)

    def look_soon(self) -> None:
        """Has the background look at the folder; in a large one not while a search is being made."""
        if self._thread is not None and self._is_due:
            self._wanted.set()

    @property
    def _is_due(self) -> bool:
        return time.monotonic() - self._scanned >= self._pause

    def refresh(self, seconds: float = math.inf) -> int:
        """Brings the index up to date here and now; how many files were added, changed or deleted since.

        `seconds`: after which it leaves the rest to the next time.
        """
        with self._updating:
            if time.monotonic() - self._scanned < self._scan_seconds:
                return 0
            if seconds < math.inf:
                with self._apart as apart:
                    return self._update(apart.read, time.monotonic() + seconds, wait=False) or 0
            changes = self._update(partial(parsed, self._folder), math.inf, wait=True) or 0
            if self._meaning is not None:
                self._meaning.learn(self._closing.is_set)
            return changes

    def close(self) -> None:
        """Ends the reading in the background; what was read is kept."""
        self._closing.set()
        self._wanted.set()
        if self._thread is not None:
            self._apart.close()  # a file may take long
            self._thread.join()

    def _work(self) -> None:
        while not self._closing.is_set():
            self._wanted.clear()
            done = None
            try:
                with self._updating, self._apart as apart:
                    done = self._update(apart.read, math.inf, wait=False)
            except (OSError, sqlite3.Error) as error:
                _log.warning(
                    "The library's index cannot be brought up to date (%s); it is tried again.", error
                )
            self._current.set()
            if done is not None and self._meaning is not None:
                self._meaning.learn(lambda: self._closing.is_set() or self._wanted.is_set())
            self._closing.wait(self._pause)
            self._wanted.wait(_OTHER_SECONDS if done is None else _IDLE_SECONDS)

    def _update(self, read: Read, deadline: float, *, wait: bool) -> int | None:
        """How many changes there were; None when another process writes, which then reads for all."""
        began = time.monotonic()
        with self._index.writing(wait) as may_write:
            found = self._look()
            with self._index.reading() as kept:
                known = kept.files()
            self._looking = time.monotonic() - began
            self._pause = max(self._scan_seconds, self._looking / _SHARE)
            new = [path for path, about in found.files.items() if known.get(path, (0, -1, -1))[1:] != about]
            gone = [number for path, (number, _, _) in known.items() if path not in found.files]
            self.progress = Progress(len(found.files) - len(new), len(found.files))
            if not may_write:
                return None
            for number in gone:
                self._index.drop(number)
            committed = time.monotonic()
            for place, path in enumerate(new):
                if self._closing.is_set() or time.monotonic() > deadline:
                    break
                size, changed = found.files[path]
                got = read(path, size)
                if self._closing.is_set():  # then the reader was ended, not by the file
                    break
                self._index.put(path, size, changed, got)
                if time.monotonic() - committed > _COMMIT_SECONDS:
                    self._index.commit()
                    self.progress = Progress(len(found.files) - len(new) + place + 1, len(found.files))
                    committed = time.monotonic()
            else:
                self.progress = Progress(len(found.files), len(found.files))
                if len(new) + len(gone) > _MANY:
                    self._index.tidy()
        self._scanned = time.monotonic()
        return len(new) + len(gone)

    def _look(self) -> Scan:
        found = scan(self._folder)
        for problem in found.problems - self.nameless:
            _log.warning("%s", problem)
        self.nameless = found.problems
        return found
