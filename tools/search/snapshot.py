"""What the library's index holds at one moment, asked in the terms of a search."""

import json
import sqlite3
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from tools.search.passages import Passage
from tools.search.words import Term, quoted

PER_DOCUMENT = 100_000
"""Passages of document n have the row numbers n * PER_DOCUMENT + 0, 1, 2 …"""

_AROUND = 200
# Of a word that more passages have, it is estimated how many documents do.
_COUNTED = 5_000
# Of passages that have nothing but common words, so many are ranked.
_RANKED = 500


@dataclass(frozen=True)
class Spread:
    """In how many passages and documents a term is; both exact up to a limit, above it `passages` is the limit."""

    passages: int
    documents: float

    @property
    def is_everywhere(self) -> bool:
        """Whether it was not counted to the end."""
        return self.passages >= _COUNTED


class Snapshot:
    """Valid while its transaction is open."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def files(self) -> dict[str, tuple[int, int, int]]:
        """(number, size, time of change) of each document, by its path."""
        rows = self._db.execute("SELECT path, id, size, changed FROM docs")
        return {path: (number, size, changed) for path, number, size, changed in rows}

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
        """Why documents could not be read, or not to their end, by path."""
        rows = self._db.execute(
            "SELECT problem, note FROM docs WHERE problem <> '' OR note <> '' ORDER BY path"
        )
        return [problem or note for problem, note in rows]

    def spread(self, term: Term) -> Spread:
        """How common a term is."""
        passages, documents, last = self._db.execute(
            "SELECT count(*), count(DISTINCT row / :size), max(row) FROM"
            " (SELECT rowid AS row FROM passages WHERE passages MATCH :words LIMIT :most)",
            {"size": PER_DOCUMENT, "words": quoted(term), "most": _COUNTED},
        ).fetchone()
        if passages < _COUNTED:
            return Spread(passages, documents)
        newest = self._db.execute("SELECT max(id) FROM docs").fetchone()[0]
        return Spread(passages, documents * newest / document_of(last))

    def candidates(self, terms: Iterable[Term], limit: int) -> list[tuple[int, float, float]]:
        """(row, bm25 with the best one lowest, weight) of the passages with any of the terms, best first."""
        return self._db.execute(
            "SELECT best.row, best.rank, weight FROM"
            " (SELECT rowid AS row, bm25(passages, 2.0, 1.5, 1.0, 1.0) AS rank FROM passages"
            " WHERE passages MATCH ? ORDER BY rank LIMIT ?) AS best"
            " JOIN passages ON passages.rowid = best.row ORDER BY best.rank, best.row",
            (" OR ".join(quoted(term) for term in terms), limit),
        ).fetchall()

    def with_all(self, terms: Iterable[Term], limit: int) -> list[tuple[int, float, float]]:
        """The same for passages with all of the terms; of very many the first few hundred are ranked."""
        return self._db.execute(
            "SELECT * FROM (SELECT rowid, bm25(passages, 2.0, 1.5, 1.0, 1.0) AS rank, weight FROM passages"
            " WHERE passages MATCH ? LIMIT ?) ORDER BY rank LIMIT ?",
            (" AND ".join(f"({quoted(term)})" for term in terms), _RANKED, limit),
        ).fetchall()

    def rows_with(self, term: Term) -> set[int]:
        """The passages that have a term."""
        found = self._db.execute("SELECT rowid FROM passages WHERE passages MATCH ?", (quoted(term),))
        return {row for (row,) in found}

    def having(self, term: Term, rows: Collection[int]) -> set[int]:
        """Which of these passages have a term."""
        found = self._db.execute(
            "SELECT rowid FROM passages WHERE passages MATCH ? AND rowid IN (SELECT value FROM json_each(?))",
            (quoted(term), json.dumps([*rows])),
        )
        return {row for (row,) in found}

    def documents_having(self, term: Term, numbers: Collection[int]) -> set[int]:
        """Which of these documents have a term in any passage."""
        found = self._db.execute(
            "SELECT value FROM json_each(:numbers) WHERE EXISTS (SELECT 1 FROM passages WHERE passages MATCH :words"
            " AND passages.rowid BETWEEN value * :size AND value * :size + :size - 1)",
            {"numbers": json.dumps([*numbers]), "words": quoted(term), "size": PER_DOCUMENT},
        )
        return {number for (number,) in found}

    def passages(self, number: int) -> list[tuple[int, Passage]]:
        """(row, passage) of a document, in order."""
        first = number * PER_DOCUMENT
        found = self._db.execute(
            "SELECT rowid, heading, header, body, weight FROM passages WHERE rowid BETWEEN ? AND ? ORDER BY rowid",
            (first, first + PER_DOCUMENT - 1),
        )
        return [(row, Passage(*fields)) for row, *fields in found]

    def without_vectors(self) -> list[int]:
        """The documents that lack theirs."""
        return [number for (number,) in self._db.execute("SELECT id FROM docs WHERE learned = 0 ORDER BY id")]

    def has_vectors_of(self, model: str) -> bool:
        """Whether there are vectors, and they are this model's."""
        is_this = self._db.execute("SELECT name FROM model").fetchone() == (model,)
        return is_this and self._db.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None

    def vectors_after(self, row: int) -> tuple[list[int], list[bytes]]:
        """The rows above `row`, and their vectors in half precision."""
        found = self._db.execute(
            "SELECT row, vector FROM vectors WHERE row > ? ORDER BY row", (row,)
        ).fetchall()
        return [row for row, _ in found], [vector for _, vector in found]

    def existing(self, numbers: Iterable[int]) -> set[int]:
        """Which of these documents there are."""
        found = self._db.execute(
            "SELECT id FROM docs WHERE id IN (SELECT value FROM json_each(?))", (json.dumps([*numbers]),)
        )
        return {number for (number,) in found}

    def around(self, row: int) -> tuple[int, list[Passage]]:
        """A document's passages (of a long one those near to `row`) in order, and the place of `row` among them."""
        first = row - place_in(row)
        found = self._db.execute(
            "SELECT rowid, heading, header, body, weight FROM passages WHERE rowid BETWEEN ? AND ? ORDER BY rowid",
            (max(first, row - _AROUND), min(first + PER_DOCUMENT - 1, row + _AROUND)),
        ).fetchall()
        return [each[0] for each in found].index(row), [Passage(*each[1:]) for each in found]


def document_of(row: int) -> int:
    """The number of the document that a passage belongs to."""
    return row // PER_DOCUMENT


def place_in(row: int) -> int:
    """Which passage of its document it is, from 0."""
    return row % PER_DOCUMENT
