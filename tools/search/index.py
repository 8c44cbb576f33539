"""The library's index: documents and their passages in one SQLite file."""

import logging
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.search.passages import Passage
from tools.search.words import Term, quoted

_VERSION = 3
_PER_DOCUMENT = 100_000  # passages of document n have the row numbers n * _PER_DOCUMENT + 0, 1, 2 …
_AROUND = 200
_SCHEMA = """
CREATE TABLE docs(id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, changed INTEGER, title TEXT, problem TEXT);
CREATE VIRTUAL TABLE passages USING fts5(
    title, heading, header, body, weight UNINDEXED, tokenize="porter unicode61 remove_diacritics 2");
CREATE TABLE folder(path TEXT);
"""

_log = logging.getLogger(__name__)


class Index:
    """Not thread-safe: whoever uses it holds a lock. `path` None keeps it in memory."""

    def __init__(self, path: Path | None, folder: Path) -> None:
        """An index of another folder or version, or a damaged one, is made anew."""
        self._folder = str(folder)
        self._db = self._opened(path)

    def files(self) -> dict[str, tuple[int, int, int]]:
        """(number, size, time of change) of each document, by its path."""
        rows = self._db.execute("SELECT path, id, size, changed FROM docs")
        return {path: (number, size, changed) for path, number, size, changed in rows}

    def put(
        self,
        path: str,
        size: int,
        changed: int,
        title: str,
        problem: str,
        known_by: str,
        passages: Sequence[Passage],
    ) -> None:
        """Adds a document or replaces it. `known_by`: words that find each of its passages."""
        if (old := self._db.execute("SELECT id FROM docs WHERE path = ?", (path,)).fetchone()) is not None:
            self.drop(old[0])
        row = (path, size, changed, title, problem)
        number = self._db.execute(
            "INSERT INTO docs(path, size, changed, title, problem) VALUES (?, ?, ?, ?, ?)", row
        ).lastrowid
        first = (number or 0) * _PER_DOCUMENT
        self._db.executemany(
            "INSERT INTO passages(rowid, title, heading, header, body, weight) VALUES (?, ?, ?, ?, ?, ?)",
            (
                (first + place, known_by, p.heading, p.header, p.text, p.weight)
                for place, p in enumerate(passages[: _PER_DOCUMENT - 1])
            ),
        )

    def drop(self, number: int) -> None:
        first = number * _PER_DOCUMENT
        self._db.execute(
            "DELETE FROM passages WHERE rowid BETWEEN ? AND ?", (first, first + _PER_DOCUMENT - 1)
        )
        self._db.execute("DELETE FROM docs WHERE id = ?", (number,))

    def commit(self) -> None:
        self._db.commit()

    def close(self) -> None:
        self._db.close()

    def count(self) -> int:
        """How many documents there are."""
        return int(self._db.execute("SELECT count(*) FROM docs").fetchone()[0])

    def about(self, number: int) -> tuple[str, str]:
        """(path, title) of a document."""
        path, title = self._db.execute("SELECT path, title FROM docs WHERE id = ?", (number,)).fetchone()
        return path, title

    def titles(self) -> list[tuple[str, str]]:
        """(path, title) of every document that could be read, by path."""
        return list(self._db.execute("SELECT path, title FROM docs WHERE problem = '' ORDER BY path"))

    def problems(self) -> list[str]:
        """Why documents could not be read, by path."""
        rows = self._db.execute("SELECT problem FROM docs WHERE problem <> '' ORDER BY path")
        return [problem for (problem,) in rows]

    def candidates(self, terms: Iterable[Term], limit: int) -> list[tuple[int, float, float]]:
        """(row, bm25 with the best one lowest, weight) of the passages with any of the terms, best first."""
        return self._db.execute(
            "SELECT rowid, bm25(passages, 2.0, 1.5, 1.0, 1.0) AS rank, weight FROM passages"
            " WHERE passages MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(quoted(term) for term in terms), limit),
        ).fetchall()

    def rows_with(self, term: Term) -> set[int]:
        """The passages that have a term."""
        found = self._db.execute("SELECT rowid FROM passages WHERE passages MATCH ?", (quoted(term),))
        return {row for (row,) in found}

    def around(self, row: int) -> tuple[int, list[Passage]]:
        """A document's passages (of a long one those near to `row`) in order, and the place of `row` among them."""
        first = row - place_in(row)
        found = self._db.execute(
            "SELECT rowid, heading, header, body, weight FROM passages WHERE rowid BETWEEN ? AND ? ORDER BY rowid",
            (max(first, row - _AROUND), min(first + _PER_DOCUMENT - 1, row + _AROUND)),
        ).fetchall()
        return [each[0] for each in found].index(row), [Passage(*each[1:]) for each in found]

    def _opened(self, path: Path | None) -> sqlite3.Connection:
        if path is None:
            return self._prepared(":memory:")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                return self._prepared(str(path))
            except sqlite3.OperationalError:  # busy or not to be written: another process may be using it
                raise
            except sqlite3.DatabaseError:
                for suffix in ("", "-wal", "-shm"):
                    Path(f"{path}{suffix}").unlink(missing_ok=True)
                return self._prepared(str(path))
        except (OSError, sqlite3.Error) as error:
            _log.warning("The library's index cannot be kept in %s (%s); it is kept in memory.", path, error)
            return self._prepared(":memory:")

    def _prepared(self, path: str) -> sqlite3.Connection:
        db = sqlite3.connect(path, check_same_thread=False, timeout=10)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        same_version = db.execute("PRAGMA user_version").fetchone()[0] == _VERSION
        if same_version and db.execute("SELECT path FROM folder").fetchone() == (self._folder,):
            return db
        for table in ("docs", "passages", "folder"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        db.executescript(_SCHEMA)
        db.execute("INSERT INTO folder VALUES (?)", (self._folder,))
        db.execute(f"PRAGMA user_version={_VERSION}")
        db.commit()
        return db


def document_of(row: int) -> int:
    """The number of the document that a passage belongs to."""
    return row // _PER_DOCUMENT


def place_in(row: int) -> int:
    """Which passage of its document it is, from 0."""
    return row % _PER_DOCUMENT
