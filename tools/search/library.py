"""Your own documents, searched by passage.

The index holds passages, so that a result shows the very place that answers.
Files that are added, changed or deleted are noticed: before each search, or in
the background once `start` was called; searches then work on what is there.
Addresses are library://<path in the folder>.
"""

import difflib
import math
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from tools.errors import FetchError, SearchError
from tools.page import Document
from tools.search.embeddings import Embedder
from tools.search.folder import is_searched
from tools.search.fusion import fused
from tools.search.index import Index
from tools.search.indexing import Indexer, Progress
from tools.search.meaning import Meaning
from tools.search.ranking import Ranked, ranked
from tools.search.reading import SCHEME, address_of, library_document
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult
from tools.search.snapshot import Snapshot
from tools.search.snippet import mentions, snippet_of
from tools.search.words import Term, terms_of

__all__ = ["SCHEME", "Library", "Progress", "address_of"]

_WEAKEST = 0.3
_LIKENED = 2000


class Library:
    """A folder of documents and its index. Thread-safe."""

    name = "library"
    local = True
    home = ""
    filters: frozenset[Filter] = frozenset()

    def __init__(
        self,
        folder: Path,
        index_path: Path | None,
        *,
        scan_seconds: float = 2.0,
        embedder: Embedder | None = None,
    ) -> None:
        """`index_path`: the index's file, made when missing; None keeps it in memory.

        `scan_seconds`: how often the folder is looked at, at most. `embedder`: searches by meaning too.
        """
        self.folder = folder.resolve()
        self._index = Index(index_path, self.folder)
        self._meaning = Meaning(self._index, embedder) if embedder else None
        self._indexer = Indexer(self.folder, self._index, scan_seconds, self._meaning)

    def start(self) -> None:
        """Reads in the background from now on; returns at once."""
        self._indexer.start()

    def refresh(self, seconds: float = math.inf) -> int:
        """Brings the index up to date; how many files were added, changed or deleted since.

        `seconds`: after which the rest is left to the next time; files are then read in a process apart.
        """
        return self._indexer.refresh(seconds)

    def notice(self) -> None:
        """Has the background look at the folder, so that the next search knows what changed; returns at once."""
        self._indexer.look_soon()

    @property
    def progress(self) -> Progress:
        """How much of the folder was read when it was last looked at."""
        return self._indexer.progress

    def search(self, query: str, limit: int = 5, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """The best passage of each of the best documents. Any text is a valid query. Raises SearchError."""
        terms = terms_of(query)
        if not terms:
            return []
        try:
            self._indexer.before_search()
            meant = self._meaning.vector_of(query) if self._meaning else None
            with self._index.reading() as index:
                found = list(_worth_showing(index, terms, ranked(index, terms)))
                if self._meaning and meant is not None:
                    found = fused(found, self._meaning.nearest(index, meant))
                results = [self._result(index, terms, each) for each in found[:limit]]
            self._indexer.look_soon()
            return results
        except (sqlite3.Error, OSError) as error:
            raise SearchError(
                f"The library's index cannot be used ({error}): delete its file and start again."
            ) from error

    def caveat(self) -> str:
        """What a search leaves out now, in a few words; empty when nothing."""
        progress = self._indexer.progress
        unread = "" if progress.is_whole else str(progress)
        return "; ".join(filter(None, [unread, self._meaning.problem if self._meaning else ""]))

    def read(self, url: str) -> Document:
        """The document at a library:// address. Raises FetchError or DocumentError."""
        wanted = unquote(url.split("#")[0].removeprefix(SCHEME).removeprefix("library:").strip("/ "))
        if wanted and is_searched(self.folder, wanted):
            return library_document(self.folder, wanted)
        self._indexer.before_search()
        with self._index.reading() as index:
            paths = list(index.files())
        path = _meant(wanted, paths)
        if path is None:
            raise FetchError(f"{url} is not in the library: {_hint(wanted, paths)}.", url, 404)
        return library_document(self.folder, path)

    def documents(self) -> list[tuple[str, str]]:
        """(address, title) of every document that was read, by path."""
        self._indexer.before_search()
        with self._index.reading() as index:
            return [(address_of(path), title) for path, title in index.titles()]

    def problems(self) -> list[str]:
        """One sentence for each file that could not be read, or not to its end."""
        with self._index.reading() as index:
            return index.problems() + sorted(self._indexer.nameless)

    def close(self) -> None:
        if self._meaning is not None:
            self._meaning.close()
        self._indexer.close()
        self._index.close()

    def _result(self, index: Snapshot, terms: list[Term], found: Ranked) -> SearchResult:
        path, title = index.about(found.number)
        snippet = snippet_of(*index.around(found.row), terms, title)
        return SearchResult(title, address_of(path), snippet, self.name, round(found.match, 3))


def _worth_showing(index: Snapshot, terms: list[Term], found: list[Ranked]) -> Iterator[Ranked]:
    """Those with enough of the question's words, or with some of them in their title."""
    weakest = max(_WEAKEST, 0.45 * max((each.match for each in found), default=0.0))
    own = [term[:1] for term in terms]
    for each in found:
        if each.match >= weakest or (
            each.match >= _WEAKEST / 2 and mentions(own, index.about(each.number)[1])
        ):
            yield each


def _meant(wanted: str, paths: Iterable[str]) -> str | None:
    """The path that an address names without its folder or suffix, when only one fits."""
    name = PurePosixPath(wanted.casefold()).name
    for part in ("name", "stem"):
        fitting = [path for path in paths if getattr(PurePosixPath(path.casefold()), part) == name]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _hint(wanted: str, paths: list[str]) -> str:
    """What to do instead; likeness is looked for only among as many names as takes a moment."""
    first = PurePosixPath(wanted).name[:2].casefold()
    if len(paths) > _LIKENED:
        paths = [path for path in paths if PurePosixPath(path).name.casefold().startswith(first)][:_LIKENED]
    near = [address_of(path) for path in difflib.get_close_matches(wanted, paths, 3, cutoff=0.3)]
    return f"the closest are {', '.join(near)}" if near else "search for it with web_search"
