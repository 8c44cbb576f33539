"""A text browser: addresses, library documents and attached files as pages of text."""

import re
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from tools.documents import read_bytes, read_file
from tools.errors import BadArguments, DocumentError, FetchError
from tools.fetch import Fetcher
from tools.find import FoldedText
from tools.ledger import Ledger
from tools.page import Document, Link, Page, links_of, plain_text, without_targets
from tools.search.snippet import best_passages
from tools.tables import frame_of, table_spans
from tools.viewport import page_spans, window

_KEPT_DOCUMENTS = 30
_FOUND_CHARS = 1500


class Shelf(Protocol):
    """Where library:// documents come from."""

    def read(self, url: str) -> Document: ...


@dataclass
class _Open:
    """A document as this browser shows it; `text` is what is paged and searched."""

    document: Document
    text: str
    spans: list[tuple[int, int]]
    folded: FoldedText | None = None


class TextBrowser:
    """One session's browser. Thread-safe: `visit` by address and page holds no state of a reader.

    `ledger` is a plain attribute: a run puts its own in before it starts.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        library: Shelf | None = None,
        ledger: Ledger | None = None,
        viewport_chars: int = 8000,
        files_dir: Path | None = None,
        *,
        show_targets: bool = True,
    ) -> None:
        """`viewport_chars`: longest text of a page. `files_dir`: the files that a visitor attached.

        `show_targets`: whether the text of a page carries the addresses of its
        links; they are in `Page.links` in any case.
        """
        if viewport_chars < 100:
            raise ValueError("viewport_chars must be at least 100")
        self.fetcher = fetcher
        self.library = library
        self.ledger = ledger
        self.files_dir = files_dir
        self._limit = viewport_chars
        self._show_targets = show_targets
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Open] = OrderedDict()
        self._url = ""
        self._page = 1
        self._found: list[tuple[int, int]] = []
        self._found_at = 0
        self._wanted = ""

    def open(self, url: str) -> Document:
        """The whole document at `url` (http, https, library:// or the name of an attached file).

        Raises FetchError, Refused or DocumentError.
        """
        return self._opened(url).document

    def visit(self, url: str, page: int = 1) -> Page:
        """Page `page` of the document at `url`; page_up, page_down and find go on from there."""
        opened = self._opened(url)
        shown = self._view(opened, page)
        with self._lock:
            self._url, self._page, self._found, self._wanted = url, shown.page, [], ""
        return shown

    def page_down(self) -> Page:
        """The next page of the document visited last."""
        return self._turn(1)

    def page_up(self) -> Page:
        """The page before, of the document visited last."""
        return self._turn(-1)

    def find(self, wanted: str) -> Page:
        """The first place of `wanted` in the whole of the document visited last; * stands for anything."""
        opened = self._current()
        if not wanted.strip(" *"):
            raise BadArguments("There is nothing to find: pass the words to look for.")
        if opened.folded is None:
            opened.folded = FoldedText(opened.text)
        found = opened.folded.find_all(wanted)
        if not found:
            raise BadArguments(
                f"{wanted!r} does not stand in {opened.document.title or opened.document.url} "
                f"({len(opened.spans)} pages searched): try one word of it, or another document."
            )
        with self._lock:
            self._found, self._found_at, self._wanted = found, 0, wanted
        return self._show_found(opened)

    def find_next(self) -> Page:
        """The next place of what was looked for last; after the last one the first again."""
        opened = self._current()
        with self._lock:
            if not self._found:
                raise BadArguments(
                    "Nothing was looked for in this document yet: use find_on_page_ctrl_f first."
                )
            self._found_at = (self._found_at + 1) % len(self._found)
        return self._show_found(opened)

    def attachments(self) -> list[str]:
        """Names of the attached files."""
        if self.files_dir is None or not self.files_dir.is_dir():
            return []
        return sorted(
            path.name for path in self.files_dir.iterdir() if path.is_file() and not path.is_symlink()
        )

    def visit_file(self, name: str, question: str = "") -> Page:
        """The first page of an attached file, named with or without a folder.

        With a `question`, of a file longer than a page: the passages that say most about it.
        """
        path = self._attachment(name)
        if path is None:
            names = self.attachments()
            there = f"attached are {', '.join(names)}" if names else "no file is attached to this question"
            raise DocumentError(f"There is no file {Path(name).name!r}: {there}.")
        inside = self._path_inside(name, path)
        first = self.visit(f"{path.name}/{inside}".rstrip("/"))
        if not question.strip() or first.pages == 1:
            return first
        text = best_passages(self._opened(first.url).text, question, self._limit)
        note = f"passages about the question, from all {first.pages} pages; visit_page({first.url!r}, 1) has the whole"
        return replace(first, text=text, note=note) if text else first

    def _attachment(self, name: str) -> Path | None:
        """The attached file that a name means: its last part, or the first one that is a file with others in it."""
        parts = _parts(name)
        attached = {known.casefold(): known for known in self.attachments()}
        for wanted in (parts[-1:] + parts)[: len(parts) + 1]:
            if known := attached.get(wanted.casefold()):
                return (self.files_dir or Path()) / known
        return None

    def _path_inside(self, name: str, attached: Path) -> str:
        """What follows the attached file's own name: the path of a file in it."""
        parts = _parts(name)
        names = [part.casefold() for part in parts]
        return "/".join(parts[names.index(attached.name.casefold()) + 1 :])

    def _opened(self, url: str) -> _Open:
        key = url.split("#")[0] if "://" in url else url
        with self._lock:
            kept = self._kept.get(key)
            if kept:
                self._kept.move_to_end(key)
                return kept
        document = self._read(url)
        if self.ledger is not None:
            self.ledger.snapshot(document.url, document.title, plain_text(document.markdown))
        text = document.markdown if self._show_targets else without_targets(document.markdown)
        opened = _Open(document, text, page_spans(text, self._limit))
        with self._lock:
            for name in (key, document.url):
                self._kept[name] = opened
            while len(self._kept) > _KEPT_DOCUMENTS:
                self._kept.popitem(last=False)
        return opened

    def _read(self, url: str) -> Document:
        if url.lower().startswith("library:"):
            if self.library is None:
                raise FetchError(f"{url} cannot be read: no library is set up here.", url)
            return self.library.read(url)
        if "://" not in url and (path := self._attachment(url)):
            inside = self._path_inside(url, path)
            return read_file(path / inside, url=f"{path.name}/{inside}".rstrip("/"), main_only=False)
        if self.library is not None and re.fullmatch(
            r"[\w '-]+(\.(md|html?|pdf|csv|xlsx|txt))?", url.strip()
        ):
            try:
                return self.library.read(f"library://{url.strip()}")
            except FetchError:
                pass  # no document of that name: the fetcher says what to do instead
        fetched = self.fetcher.get(url)
        if not fetched.content.strip():
            raise FetchError(
                f"{fetched.url} gave an empty answer (status {fetched.status}): use another source.",
                fetched.url,
                fetched.status,
            )
        document = read_bytes(
            fetched.content, url=fetched.url, name=fetched.filename, content_type=fetched.content_type
        )
        if not document.markdown:
            raise FetchError(
                f"{fetched.url} has no text without running its scripts: use another source.",
                fetched.url,
                fetched.status,
            )
        return replace(document, note="; ".join(note for note in (fetched.note, document.note) if note))

    def _view(self, opened: _Open, page: int) -> Page:
        count = len(opened.spans)
        if not 1 <= page <= count:
            raise BadArguments(f"There is no page {page}: this document has {count} page{'s' * (count > 1)}.")
        start, end = opened.spans[page - 1]
        return self._page_of(opened, opened.text[start:end], page, (start, end))

    def _page_of(self, opened: _Open, text: str, page: int, span: tuple[int, int], note: str = "") -> Page:
        document = opened.document
        if document.sheets and len(opened.spans) == 1:
            tables = document.tables
        else:
            near = [(a, b) for a, b in table_spans(opened.text) if a < span[1] and b > span[0]]
            tables = tuple(frame_of(opened.text[a:b]) for a, b in near)
        links = links_of(text) if self._show_targets else _links_among(document, text)
        notes = "; ".join(part for part in (note, document.note) if part)
        return Page(document.url, document.title, text, page, len(opened.spans), tuple(links), tables, notes)

    def _current(self) -> _Open:
        with self._lock:
            url = self._url
        if not url:
            raise BadArguments("No page is open yet: open one with visit_page(url).")
        return self._opened(url)

    def _turn(self, step: int) -> Page:
        opened = self._current()
        with self._lock:
            page = self._page + step
            if not 1 <= page <= len(opened.spans):
                where = "last" if step > 0 else "first"
                raise BadArguments(f"Page {self._page} is the {where} page of this document.")
            self._page = page
        return self._view(opened, page)

    def _show_found(self, opened: _Open) -> Page:
        with self._lock:
            start, end = self._found[self._found_at]
            number, count, wanted = self._found_at + 1, len(self._found), self._wanted
            page = next(
                i for i, (_, last) in enumerate(opened.spans, 1) if start < last or i == len(opened.spans)
            )
            self._page = page
        text = window(opened.text, start, end, min(self._limit, _FOUND_CHARS))
        return self._page_of(opened, text, page, (start, end), f"match {number} of {count} for {wanted!r}")


def _parts(name: str) -> list[str]:
    return [part for part in name.strip().strip("\"'").replace("\\", "/").split("/") if part] or [""]


def _links_among(document: Document, text: str) -> list[Link]:
    """The links of a document whose words stand in `text`, which shows no targets."""
    return [link for link in document.links if link.text and link.text in text]
