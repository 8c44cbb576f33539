"""The library's passages as vectors: what a question means is found, whatever its words."""

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tools.errors import SearchError
from tools.search.embeddings import Embedder, Vectors
from tools.search.index import Index
from tools.search.passages import Passage
from tools.search.snapshot import Snapshot, document_of

# A vector stands for about so many characters of neighbouring passages.
_CHUNK = 1000
_SHORTENED = 300
_NEAREST = 30
# To mean the same, a passage must be so far above the library's mean likeness, as a share of what the best of as
# many would reach by chance. Below 1, since passages are alike; found with E5 on the sample library, where what is
# asked for lies above and what no document is about lies below.
_LEAST = 0.83
_REST_SECONDS = 60.0
_COMMIT_SECONDS = 0.5
_BLOCK = 2048
_MOSTLY = 0.75
# Up to here the vectors are kept as the processor likes them, above it in half the room.
_FAST_BYTES = 128_000_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Near:
    """A document, and the first passage of its part that is nearest to the question."""

    number: int
    row: int


class Meaning:
    """Thread-safe. When the model fails, searches go on without it, and `problem` says so."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._lock = threading.Lock()
        self._rows = np.empty(0, np.int64)
        self._vectors: npt.NDArray[np.floating] = np.empty((0, 0), np.float32)
        self._resting_until = 0.0
        self._closed = False
        self.problem = ""

    def learn(self, stop: Callable[[], bool]) -> None:
        """Gives every document that was read its vectors, until all have them, the model fails or `stop` says so."""
        if self._rests():
            return
        with self._index.writing(wait=False) as may_write:
            if not may_write:
                return
            self._index.take_vectors_of(self._embedder.name)
            with self._index.reading() as kept:
                waiting = kept.without_vectors()
            try:
                self._learn(waiting, stop)
                self._answered()
            except SearchError as error:
                self._failed(error)

    def vector_of(self, question: str) -> Vectors | None:
        """What is asked as one vector; None while the model does not answer."""
        if self._rests():
            return None
        try:
            wanted = self._embedder.embed([question], question=True)
        except SearchError as error:
            self._failed(error)
            return None
        self._answered()
        return wanted

    def nearest(self, kept: Snapshot, question: Vectors) -> list[Near]:
        """The documents that mean what is asked, nearest first."""
        if not kept.has_vectors_of(self._embedder.name):
            return []
        wanted = question[0]
        with self._lock:
            self._load(kept)
            rows, vectors = self._rows, self._vectors
        if not len(rows) or vectors.shape[1:] != wanted.shape:
            return []
        # Not BLAS: its threads wait for each other where anything else runs.
        likeness = np.concatenate(
            [np.vecdot(vectors[at : at + _BLOCK].astype(np.float32, copy=False), wanted) for at in range(0, len(rows), _BLOCK)]
        )  # fmt: skip
        by_chance = math.sqrt(2 * math.log(len(rows) + 1))
        least = likeness.mean() + _LEAST * by_chance * likeness.std()
        best: dict[int, Near] = {}
        most = min(4 * _NEAREST, len(rows))
        highest = np.argpartition(-likeness, most - 1)[:most]
        for place in highest[np.argsort(-likeness[highest], kind="stable")]:
            row = int(rows[place])
            if likeness[place] < least:
                break
            best.setdefault(document_of(row), Near(document_of(row), row))
        there = kept.existing(best)
        if len(there) < _MOSTLY * len(best):
            with self._lock:  # too many are of documents that are gone: they are read anew
                self._rows = np.empty(0, np.int64)
        return [near for number, near in best.items() if number in there][:_NEAREST]

    def close(self) -> None:
        self._closed = True
        self._embedder.close()

    def _learn(self, waiting: list[int], stop: Callable[[], bool]) -> None:
        committed = time.monotonic()
        pending: list[tuple[int, str]] = []
        learned: list[int] = []
        for number in [*waiting, 0]:
            if stop():
                return
            if number:
                with self._index.reading() as kept:
                    pending += _chunks(kept.passages(number))
                learned.append(number)
            while len(pending) >= self._embedder.batch or (pending and not number):
                part, pending = pending[: self._embedder.batch], pending[self._embedder.batch :]
                self._index.put_vectors(
                    [row for row, _ in part], self._vectors_for([text for _, text in part])
                )
                first = document_of(pending[0][0]) if pending else math.inf
                self._index.have_vectors(each for each in learned if each < first)
                learned = [each for each in learned if each >= first]
                if stop():
                    return
                if time.monotonic() - committed > _COMMIT_SECONDS:
                    self._index.commit()
                    committed = time.monotonic()
        self._index.have_vectors(learned)

    def _vectors_for(self, texts: list[str]) -> Vectors:
        """Those of a batch; when it is refused, as too long for the model, of each text's beginning."""
        try:
            return self._embedder.embed(texts)
        except SearchError as error:
            if error.rest != 0:
                raise
        return np.concatenate([self._embedder.embed([text[:_SHORTENED]]) for text in texts])

    def _load(self, kept: Snapshot) -> None:
        """Brings the vectors in memory up to what is kept. Rows only grow."""
        last = int(self._rows[-1]) if len(self._rows) else -1
        rows, vectors = kept.vectors_after(last)
        if not rows:
            return
        added = np.frombuffer(b"".join(vectors), np.float16).reshape(len(rows), -1)
        if last < 0 or added.shape[1] != self._vectors.shape[1]:
            self._rows, self._vectors = np.empty(0, np.int64), np.empty((0, added.shape[1]), np.float32)
        kind = np.float32 if 4 * (len(self._rows) + len(rows)) * added.shape[1] <= _FAST_BYTES else np.float16
        self._rows = np.concatenate([self._rows, np.array(rows, np.int64)])
        self._vectors = np.concatenate([self._vectors.astype(kind, copy=False), added.astype(kind)])

    def _rests(self) -> bool:
        return self._closed or time.monotonic() < self._resting_until

    def _answered(self) -> None:
        if self.problem:
            _log.info("The library is searched by meaning again.")
        self.problem = ""

    def _failed(self, error: SearchError) -> None:
        if self._closed:
            return
        self._resting_until = time.monotonic() + (error.rest or _REST_SECONDS)
        if not self.problem:
            _log.warning("The library is searched by words only: the model of embeddings fails, %s", error)
        self.problem = "by words only, the model of embeddings fails"


def _chunks(passages: list[tuple[int, Passage]]) -> Iterator[tuple[int, str]]:
    """(row of the first passage, text) of each group of neighbours, with the heading that it stands under."""
    first, text = -1, ""
    for row, passage in passages:
        said = f"{passage.header}\n{passage.text}" if passage.header else passage.text
        if text and len(text) + len(said) > _CHUNK:
            yield first, text
            text = ""
        if not text:
            first, text = row, passage.heading
        text = f"{text}\n{said}"[: 2 * _CHUNK]
    if text:
        yield first, text
