"""The library's index: documents and their passages in one SQLite file.

One process writes at a time; others, and other threads, search meanwhile.
"""

import fcntl
import logging
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tools.search.embeddings import Vectors
from tools.search.reading import Parsed
from tools.search.snapshot import PER_DOCUMENT, Snapshot

_VERSION = 5
_MAPPED_BYTES = 1 << 30
_SCHEMA = """
CREATE TABLE docs(id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT UNIQUE, size INTEGER, changed INTEGER,
    title TEXT, problem TEXT, note TEXT, learned INTEGER DEFAULT 0);
CREATE INDEX unlearned ON docs(id) WHERE learned = 0;
CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, header, body, weight UNINDEXED, tokenize="porter unicode61 remove_diacritics 2");
CREATE TABLE vectors(row INTEGER PRIMARY KEY, vector BLOB);
CREATE TABLE model(name TEXT);
CREATE TABLE folder(path TEXT);
"""

_log = logging.getLogger(__name__)


class Index:
    """Thread-safe. `path` None keeps it in memory."""

    def __init__(self, path: Path | None, folder: Path) -> None:
        """An index of another folder or version, or a damaged one, is made anew."""
        self._folder = str(folder)
        self._path = path
        self._writer = threading.RLock()
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._db = self._opened(path)

    @contextmanager
    def reading(self) -> Iterator[Snapshot]:
        """What is committed now; it stays so for whoever reads, whatever is written meanwhile."""
        if self._path is None:
            with self._writer:
                yield Snapshot(self._db)
            return
        with self._lock:
            db = self._idle.pop() if self._idle else self._connected(str(self._path))
        try:
            db.execute("BEGIN")
            yield Snapshot(db)
        finally:
            db.rollback()
            with self._lock:
                self._idle.append(db)

    @contextmanager
    def writing(self, wait: bool) -> Iterator[bool]:
        """Whether this process may write until the end of the context; without `wait` only if no other does now."""
        with self._writer:
            if self._path is None:
                yield True
                return
            with Path(f"{self._path}.lock").open("w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    yield False
                    return
                try:
                    yield True
                finally:
                    self.commit()

    def put(self, path: str, size: int, changed: int, found: Parsed) -> None:
        """Adds a document or replaces it. Whoever writes holds `writing`."""
        with self._writer:
            old = self._db.execute("SELECT id FROM docs WHERE path = ?", (path,)).fetchone()
            if old is not None:
                self.drop(old[0])
            number = self._db.execute(
                "INSERT INTO docs(path, size, changed, title, problem, note) VALUES (?, ?, ?, ?, ?, ?)",
                (path, size, changed, found.title, found.problem, found.note),
            ).lastrowid
            first = (number or 0) * PER_DOCUMENT
            self._db.executemany(
                "INSERT INTO passages(rowid, title, heading, header, body, weight) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    (first + place, found.known_by, p.heading, p.header, p.text, p.weight)
                    for place, p in enumerate(found.passages[: PER_DOCUMENT - 1])
                ),
            )

    def drop(self, number: int) -> None:
        """Forgets a document."""
        with self._writer:
            first = number * PER_DOCUMENT
            self._db.execute(
                "DELETE FROM passages WHERE rowid BETWEEN ? AND ?", (first, first + PER_DOCUMENT - 1)
            )
            self._db.execute(
                "DELETE FROM vectors WHERE row BETWEEN ? AND ?", (first, first + PER_DOCUMENT - 1)
            )
            self._db.execute("DELETE FROM docs WHERE id = ?", (number,))

    def take_vectors_of(self, model: str) -> None:
        """From now on vectors are this model's; those of another are forgotten."""
        with self._writer:
            if self._db.execute("SELECT name FROM model").fetchone() != (model,):
                for table in ("vectors", "model"):
                    self._db.execute(f"DELETE FROM {table}")  # noqa: S608 - two names that stand here
                self._db.execute("UPDATE docs SET learned = 0")
                self._db.execute("INSERT INTO model VALUES (?)", (model,))
                self._db.commit()

    def put_vectors(self, rows: Sequence[int], vectors: Vectors) -> None:
        """Keeps the vector of each of these passages, in half precision."""
        with self._writer:
            halves = vectors.astype(np.float16)
            self._db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                ((row, half.tobytes()) for row, half in zip(rows, halves, strict=True)),
            )

    def have_vectors(self, numbers: Iterable[int]) -> None:
        """Notes that these documents have all their vectors."""
        with self._writer:
            self._db.executemany(
                "UPDATE docs SET learned = 1 WHERE id = ?", ((number,) for number in numbers)
            )

    def commit(self) -> None:
        """Makes what was written last, and lets readers see it."""
        with self._writer:
            self._db.commit()

    def tidy(self) -> None:
        """Puts what was written in many pieces in order: searches then take a third of the time."""
        with self._writer:
            self._db.execute("INSERT INTO passages(passages) VALUES('optimize')")
            self._db.commit()

    def close(self) -> None:
        with self._writer, self._lock:
            self._db.close()
            for db in self._idle:
                db.close()
            self._idle.clear()

    def _opened(self, path: Path | None) -> sqlite3.Connection:
        if path is None:
            return self._prepared(":memory:")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with Path(f"{path}.opening").open("w") as lock:  # two that start at once make it once
                fcntl.flock(lock, fcntl.LOCK_EX)
                return self._made(path)
        except (OSError, sqlite3.Error) as error:
            _log.warning("The library's index cannot be kept in %s (%s); it is kept in memory.", path, error)
            self._path = None
            return self._prepared(":memory:")

    def _made(self, path: Path) -> sqlite3.Connection:
        try:
            return self._prepared(str(path))
        except sqlite3.OperationalError:  # busy or not to be written: another process may be using it
            raise
        except sqlite3.DatabaseError:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{path}{suffix}").unlink(missing_ok=True)
            return self._prepared(str(path))

    def _prepared(self, path: str) -> sqlite3.Connection:
        db = self._connected(path)
        db.execute("PRAGMA journal_mode=WAL")
        same_version = db.execute("PRAGMA user_version").fetchone()[0] == _VERSION
        if same_version and db.execute("SELECT path FROM folder").fetchone() == (self._folder,):
            return db
        for table in ("docs", "passages", "vectors", "model", "folder"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        db.executescript(_SCHEMA)
        db.execute("INSERT INTO folder VALUES (?)", (self._folder,))
        db.execute(f"PRAGMA user_version={_VERSION}")
        db.commit()
        return db

    @staticmethod
    def _connected(path: str) -> sqlite3.Connection:
        db = sqlite3.connect(path, check_same_thread=False, timeout=10)
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(
            f"PRAGMA mmap_size={_MAPPED_BYTES}"
        )  # a search reads hundreds of pages, which are not copied
        return db
