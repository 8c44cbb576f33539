"""Your own documents, searched with SQLite FTS5.

The index holds passages, so that a result shows the very place that answers.
Files that were added, changed or deleted are noticed before each search.
Addresses are library://<path in the folder>.
"""

import difflib
import logging
import math
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from tools.documents import read_file
from tools.errors import DocumentError, FetchError, SearchError
from tools.page import Document
from tools.search.passages import Passage, passages_of
from tools.search.results import SearchResult
from tools.search.snippet import mentions, row_snippet, text_snippet
from tools.search.words import quoted, terms_of

SCHEME = "library://"
SUFFIXES = frozenset(
    ".md .markdown .html .htm .xhtml .txt .pdf .csv .tsv .xlsx .xlsm .json .rst .log .xml .yaml .yml".split()
)

_VERSION = 2
_DOCUMENT = 100_000  # passages of document n have the row numbers n * _DOCUMENT + 0, 1, 2 …
_CANDIDATES = 80
_WEAKEST = 0.3
_LARGEST_FILE = 50_000_000
_SCHEMA = """
CREATE TABLE docs(id INTEGER PRIMARY KEY, path TEXT UNIQUE, size INTEGER, changed INTEGER, title TEXT, problem TEXT);
CREATE VIRTUAL TABLE passages USING fts5(title, heading, header, body, weight UNINDEXED, tokenize="porter unicode61 remove_diacritics 2");
CREATE TABLE folder(path TEXT);
"""

_log = logging.getLogger(__name__)


class Library:
    """A folder of documents and its index. Thread-safe."""

    name = "library"
    local = True
    home = ""

    def __init__(self, folder: Path, index_path: Path | None, *, scan_seconds: float = 2.0) -> None:
        """`index_path`: the index's file, made when missing; None keeps it in memory. `scan_seconds`: how often
        the folder is looked at, at most."""
        self.folder = folder.resolve()
        self._index_path = index_path
        self._scan_seconds = scan_seconds
        self._lock = threading.RLock()
        self._scanned = -math.inf
        self._db = self._open_index()

    def refresh(self, *, force: bool = False) -> int:
        """Brings the index up to date; how many files were added, changed or deleted since."""
        with self._lock:
            if not force and time.monotonic() - self._scanned < self._scan_seconds:
                return 0
            known = {
                path: (number, size, changed)
                for number, path, size, changed in self._db.execute(
                    "SELECT id, path, size, changed FROM docs"
                )
            }
            changes = 0
            for path, size, changed in self._files():
                number, *before = known.pop(path, (None, None, None))
                if before == [size, changed]:
                    continue
                changes += 1
                self._index(number, path, size, changed)
            for number, _, _ in known.values():
                changes += 1
                self._forget(number)
            self._db.commit()
            self._scanned = time.monotonic()
            return changes

    def search(self, query: str, limit: int = 5) -> list[SearchResult]:
        """The best passage of each of the best documents. Any text is a valid query. Raises SearchError."""
        terms = terms_of(query)
        if not terms:
            return []
        try:
            with self._lock:
                self.refresh()
                return self._ranked(terms, limit)
        except (sqlite3.Error, OSError) as error:
            raise SearchError(
                f"The library's index cannot be used ({error}): delete its file and start again."
            ) from error

    def read(self, url: str) -> Document:
        """The document at a library:// address. Raises FetchError or DocumentError."""
        wanted = unquote(url.split("#")[0].removeprefix(SCHEME).removeprefix("library:").strip("/ "))
        with self._lock:
            self.refresh()
            paths = [path for (path,) in self._db.execute("SELECT path FROM docs")]
        path = self._meant(wanted, paths)
        if path is None:
            near = difflib.get_close_matches(wanted, paths, 3, cutoff=0.3)
            hint = (
                f"the closest are {', '.join(address_of(p) for p in near)}"
                if near
                else "search for it with web_search"
            )
            raise FetchError(f"{url} is not in the library: {hint}.", url, 404)
        return self._document(path)

    def documents(self) -> list[tuple[str, str]]:
        """(address, title) of every document, by path."""
        with self._lock:
            self.refresh()
            rows = self._db.execute(
                "SELECT path, title FROM docs WHERE problem = '' ORDER BY path"
            ).fetchall()
        return [(address_of(path), title) for path, title in rows]

    def problems(self) -> list[str]:
        """One sentence for each file that could not be read."""
        with self._lock:
            return [
                problem
                for (problem,) in self._db.execute(
                    "SELECT problem FROM docs WHERE problem <> '' ORDER BY path"
                )
            ]

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _open_index(self) -> sqlite3.Connection:
        """The index's file if it is one of this folder and version, else a new one."""
        if self._index_path is not None:
            try:
                self._index_path.parent.mkdir(parents=True, exist_ok=True)
                try:
                    return self._prepared(str(self._index_path))
                except sqlite3.DatabaseError:
                    for suffix in ("", "-wal", "-shm"):
                        Path(f"{self._index_path}{suffix}").unlink(missing_ok=True)
                    return self._prepared(str(self._index_path))
            except (OSError, sqlite3.Error) as error:
                _log.warning(
                    "The library's index cannot be kept in %s (%s); it is kept in memory.",
                    self._index_path,
                    error,
                )
        return self._prepared(":memory:")

    def _prepared(self, path: str) -> sqlite3.Connection:
        db = sqlite3.connect(path, check_same_thread=False, timeout=10)
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        same_version = db.execute("PRAGMA user_version").fetchone()[0] == _VERSION
        if same_version and db.execute("SELECT path FROM folder").fetchone() == (str(self.folder),):
            return db
        for table in ("docs", "passages", "folder"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        db.executescript(_SCHEMA)
        db.execute("INSERT INTO folder VALUES (?)", (str(self.folder),))
        db.execute(f"PRAGMA user_version={_VERSION}")
        db.commit()
        return db

    def _files(self) -> Iterator[tuple[str, int, int]]:
        """(path in the folder, bytes, time of change) of every document."""
        waiting = [self.folder]
        while waiting:
            try:
                entries = sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name)
            except OSError as error:
                _log.warning("A folder of the library cannot be read: %s", error)
                continue
            for entry in entries:
                if entry.name.startswith((".", "~$")):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif Path(entry.name).suffix.lower() in SUFFIXES and entry.is_file(follow_symlinks=False):
                    about = entry.stat(follow_symlinks=False)
                    yield (
                        Path(entry.path).relative_to(self.folder).as_posix(),
                        about.st_size,
                        about.st_mtime_ns,
                    )

    def _index(self, number: int | None, path: str, size: int, changed: int) -> None:
        if number is not None:
            self._forget(number)
        document, problem = Document(address_of(path), path, ""), ""
        try:
            if size > _LARGEST_FILE:
                raise DocumentError(
                    f"{path} is larger than {_LARGEST_FILE // 1_000_000} MB: it is not searched."
                )
            document = self._document(path)
        except DocumentError as error:
            problem = str(error)
        row = (number, path, size, changed, document.title, problem)
        number = self._db.execute("INSERT INTO docs VALUES (?, ?, ?, ?, ?, ?)", row).lastrowid or 0
        found = passages_of(document.markdown)[: _DOCUMENT - 1]
        known_by = f"{document.title} {_spaced(path)}"
        self._db.executemany(
            "INSERT INTO passages(rowid, title, heading, header, body, weight) VALUES (?, ?, ?, ?, ?, ?)",
            (
                (number * _DOCUMENT + place, known_by, p.heading, p.header, p.text, p.weight)
                for place, p in enumerate(found)
            ),
        )

    def _forget(self, number: int) -> None:
        first = number * _DOCUMENT
        self._db.execute("DELETE FROM passages WHERE rowid BETWEEN ? AND ?", (first, first + _DOCUMENT - 1))
        self._db.execute("DELETE FROM docs WHERE id = ?", (number,))

    def _document(self, path: str) -> Document:
        place = (self.folder / path).resolve()
        if not place.is_relative_to(self.folder):
            raise DocumentError(f"{path} leads out of the library's folder: it is not read.")
        document = read_file(place, url=address_of(path))
        title = document.title
        if not title or title == place.name:
            title = _spaced(place.stem)
        return replace(document, title=title)

    @staticmethod
    def _meant(wanted: str, paths: list[str]) -> str | None:
        """The path that an address names, also without its folder or suffix when only one fits."""
        if wanted in paths:
            return wanted
        name = PurePosixPath(wanted.casefold()).name
        for part in ("name", "stem"):
            fitting = [path for path in paths if getattr(PurePosixPath(path.casefold()), part) == name]
            if len(fitting) == 1:
                return fitting[0]
        return None

    def _ranked(self, terms: list[tuple[str, ...]], limit: int) -> list[SearchResult]:
        rows = self._db.execute(
            "SELECT rowid, bm25(passages, 2.0, 1.5, 1.0, 1.0) AS rank, weight FROM passages"
            " WHERE passages MATCH ? ORDER BY rank LIMIT ?",
            (" OR ".join(quoted(term) for term in terms), _CANDIDATES),
        ).fetchall()
        if not rows:
            return []
        total = self._db.execute("SELECT count(*) FROM docs").fetchone()[0]
        passages = [self._matching(term) for term in terms]
        documents = [{row // _DOCUMENT for row in each} for each in passages]
        # A word that no document has says little about which one is meant.
        rarity = [math.log(1 + total / (0.5 + len(each))) * (1 if each else 0.5) for each in documents]
        sharpest = min(rank for _, rank, _ in rows) or -1.0
        best: dict[int, tuple[float, int]] = {}
        for row, rank, weight in rows:
            number = row // _DOCUMENT
            here = sum(w for w, each in zip(rarity, passages, strict=True) if row in each)
            near = sum(w for w, each in zip(rarity, documents, strict=True) if number in each)
            first = 0.03 if row % _DOCUMENT == 0 else -0.0005 * min(row % _DOCUMENT, 40)
            score = weight * ((here + 0.35 * near) / sum(rarity) + 0.4 * rank / sharpest + first)
            if number not in best or score > best[number][0]:
                best[number] = (score, row)
        shares = {
            number: sum(w for w, each in zip(rarity, documents, strict=True) if number in each) / sum(rarity)
            for number in best
        }
        weakest = max(_WEAKEST, 0.45 * max(shares.values()))
        results = []
        for number, (_, row) in sorted(best.items(), key=lambda item: -item[1][0]):
            path, title = self._db.execute("SELECT path, title FROM docs WHERE id = ?", (number,)).fetchone()
            if shares[number] >= (weakest if not mentions(terms, title) else _WEAKEST / 2):
                snippet = self._snippet(row, terms, title)
                results.append(
                    SearchResult(title, address_of(path), snippet, self.name, round(shares[number], 3))
                )
            if len(results) == limit:
                break
        return results

    def _matching(self, term: tuple[str, ...]) -> set[int]:
        found = self._db.execute("SELECT rowid FROM passages WHERE passages MATCH ?", (quoted(term),))
        return {row for (row,) in found}

    def _snippet(self, row: int, terms: list[tuple[str, ...]], title: str) -> str:
        first = row - row % _DOCUMENT
        # Of a very long document only what stands around the place.
        found = self._db.execute(
            "SELECT rowid, heading, header, body, weight FROM passages WHERE rowid BETWEEN ? AND ? ORDER BY rowid",
            (max(first, row - 200), min(first + _DOCUMENT - 1, row + 200)),
        ).fetchall()
        best = next(place for place, each in enumerate(found) if each[0] == row)
        passages = [Passage(*each[1:]) for each in found]
        if passages[best].header:
            return row_snippet(best, passages, terms)
        return text_snippet(best, passages, terms, title)


def address_of(path: str) -> str:
    """The library:// address of a path in the folder."""
    return SCHEME + quote(path, safe="/")


def _spaced(path: str) -> str:
    """A file's name as words."""
    return str(PurePosixPath(path).with_suffix("")).replace("_", " ").replace("-", " ").replace("/", " ")
