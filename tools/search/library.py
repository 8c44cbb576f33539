"""Your own documents, searched by passage.

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

from tools.documents import BINARY, SUFFIXES, read_file
from tools.errors import DocumentError, FetchError, SearchError
from tools.page import Document
from tools.search.index import Index, document_of, place_in
from tools.search.passages import passages_of
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult
from tools.search.snippet import mentions, snippet_of
from tools.search.words import Term, terms_of

SCHEME = "library://"

# A picture has no words to search.
_SEARCHED = SUFFIXES - frozenset(BINARY["image"].suffixes.split())
_CANDIDATES = 80
_WEAKEST = 0.3
_LARGEST_FILE = 50_000_000

_log = logging.getLogger(__name__)


class Library:
    """A folder of documents and its index. Thread-safe."""

    name = "library"
    local = True
    home = ""
    filters: frozenset[Filter] = frozenset()

    def __init__(self, folder: Path, index_path: Path | None, *, scan_seconds: float = 2.0) -> None:
        """`index_path`: the index's file, made when missing; None keeps it in memory.

        `scan_seconds`: how often the folder is looked at, at most.
        """
        self.folder = folder.resolve()
        self._scan_seconds = scan_seconds
        self._lock = threading.RLock()
        self._scanned = -math.inf
        self._nameless: set[str] = set()
        self._index = Index(index_path, self.folder)

    def refresh(self) -> int:
        """Brings the index up to date; how many files were added, changed or deleted since."""
        with self._lock:
            if time.monotonic() - self._scanned < self._scan_seconds:
                return 0
            known = self._index.files()
            changes = 0
            before, self._nameless = self._nameless, set()
            for path, size, changed in self._files():
                if known.pop(path, (0, -1, -1))[1:] != (size, changed):
                    self._take_in(path, size, changed)
                    changes += 1
            for number, _, _ in known.values():
                self._index.drop(number)
                changes += 1
            self._index.commit()
            for problem in self._nameless - before:
                _log.warning("%s", problem)
            self._scanned = time.monotonic()
            return changes

    def search(self, query: str, limit: int = 5, filters: Filters = NO_FILTERS) -> list[SearchResult]:
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
            paths = list(self._index.files())
        path = _meant(wanted, paths)
        if path is None:
            near = [address_of(path) for path in difflib.get_close_matches(wanted, paths, 3, cutoff=0.3)]
            hint = f"the closest are {', '.join(near)}" if near else "search for it with web_search"
            raise FetchError(f"{url} is not in the library: {hint}.", url, 404)
        return self._document(path)

    def documents(self) -> list[tuple[str, str]]:
        """(address, title) of every document, by path."""
        with self._lock:
            self.refresh()
            return [(address_of(path), title) for path, title in self._index.titles()]

    def problems(self) -> list[str]:
        """One sentence for each file that could not be read."""
        with self._lock:
            return self._index.problems() + sorted(self._nameless)

    def close(self) -> None:
        with self._lock:
            self._index.close()

    def _files(self) -> Iterator[tuple[str, int, int]]:
        """(path in the folder, bytes, time of change) of every document; links are not followed."""
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
                try:
                    entry.name.encode()
                except UnicodeEncodeError:  # no address and no index can hold such a name
                    shown = os.fsencode(entry.name).decode("utf-8", "backslashreplace")
                    self._nameless.add(f"{shown} is not searched: its name is not UTF-8; rename it.")
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                elif Path(entry.name).suffix.lower() in _SEARCHED and entry.is_file(follow_symlinks=False):
                    path = Path(entry.path).relative_to(self.folder).as_posix()
                    about = entry.stat(follow_symlinks=False)
                    yield path, about.st_size, about.st_mtime_ns

    def _take_in(self, path: str, size: int, changed: int) -> None:
        document, problem = Document(address_of(path), path, ""), ""
        try:
            if size > _LARGEST_FILE:
                raise DocumentError(
                    f"{path} is larger than {_LARGEST_FILE // 1_000_000} MB: it is not searched."
                )
            document = self._document(path)
        except DocumentError as error:
            problem = str(error)
        known_by = f"{document.title} {_spaced(path)}"
        self._index.put(
            path, size, changed, document.title, problem, known_by, passages_of(document.markdown)
        )

    def _document(self, path: str) -> Document:
        place = (self.folder / path).resolve()
        if not place.is_relative_to(self.folder):
            raise DocumentError(f"{path} leads out of the library's folder: it is not read.")
        document = read_file(place, url=address_of(path))
        if document.title and document.title != place.name:
            return document
        return replace(document, title=_spaced(place.stem))

    def _ranked(self, terms: list[Term], limit: int) -> list[SearchResult]:
        """By the share of the question's words, weighed by rarity, in the passage and in its document; then by bm25."""
        candidates = self._index.candidates(terms, _CANDIDATES)
        if not candidates:
            return []
        passages = [self._index.rows_with(term) for term in terms]
        documents = [{document_of(row) for row in rows} for rows in passages]
        total = self._index.count()
        # A word that no document has says little about which one is meant.
        rarity = [math.log(1 + total / (0.5 + len(each))) * (1 if each else 0.5) for each in documents]

        def share(number: int, having: list[set[int]]) -> float:
            return sum(w for w, each in zip(rarity, having, strict=True) if number in each) / sum(rarity)

        sharpest = min(rank for _, rank, _ in candidates) or -1.0
        matches = {document_of(row): share(document_of(row), documents) for row, _, _ in candidates}
        best: dict[int, tuple[float, int]] = {}
        for row, rank, weight in candidates:
            number, place = document_of(row), place_in(row)
            early = 0.03 if place == 0 else -0.0005 * min(place, 40)
            score = weight * (share(row, passages) + 0.35 * matches[number] + 0.4 * rank / sharpest + early)
            best[number] = max(best.get(number, (-1.0, 0)), (score, row))
        weakest = max(_WEAKEST, 0.45 * max(matches.values()))
        own = [term[:1] for term in terms]
        results: list[SearchResult] = []
        for number, (_, row) in sorted(best.items(), key=lambda item: -item[1][0]):
            path, title = self._index.about(number)
            if matches[number] >= (_WEAKEST / 2 if mentions(own, title) else weakest):
                snippet = snippet_of(*self._index.around(row), terms, title)
                results.append(
                    SearchResult(title, address_of(path), snippet, self.name, round(matches[number], 3))
                )
            if len(results) == limit:
                break
        return results


def address_of(path: str) -> str:
    """The library:// address of a path in the folder."""
    return SCHEME + quote(path, safe="/")


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


def _spaced(path: str) -> str:
    """A file's name as words."""
    return str(PurePosixPath(path).with_suffix("")).replace("_", " ").replace("-", " ").replace("/", " ")
