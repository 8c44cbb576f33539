"""A text browser: addresses, library documents and attached files as pages of text."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tools.anchors import is_route, place_of
from tools.archive import day
from tools.download import save
from tools.errors import BadArguments, DocumentError
from tools.fetch import Fetcher
from tools.find import FoldedText
from tools.ledger import Ledger
from tools.page import Document, Link, Page, links_of, plain_text, without_targets
from tools.reader import HTML_TYPES, Reader, Shelf
from tools.rendering.visited import Rendering
from tools.search.snippet import best_passages
from tools.senses import Senses
from tools.tables import frame_of, table_spans
from tools.viewport import page_spans, window

if TYPE_CHECKING:
    import pandas as pd

_KEPT_DOCUMENTS = 30
_FOUND_CHARS = 1500


@dataclass
class _Open:
    """A document as this browser shows it; `text` is what is paged and searched, `places` those of fragments."""

    document: Document
    text: str
    spans: list[tuple[int, int]]
    fragment: str
    places: dict[str, int | None]

    @cached_property
    def folded(self) -> FoldedText:
        return FoldedText(self.text)

    def page_at(self, place: int) -> int:
        """The number of the page that has this place."""
        return next((i for i, (_, last) in enumerate(self.spans, 1) if place < last), len(self.spans))


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
        renderer: Rendering | None = None,
        senses: Senses | None = None,
    ) -> None:
        """`viewport_chars`: longest text of a page. `files_dir`: the files that a visitor attached.

        `show_targets`: whether the text of a page carries the addresses of its
        links; they are in `Page.links` in any case. `renderer`: runs the scripts
        of a page that is empty without them. `senses`: look at pictures and listen
        to recordings.
        """
        if viewport_chars < 100:
            raise ValueError("viewport_chars must be at least 100")
        self.ledger = ledger
        self._reader = Reader(fetcher, library, files_dir, renderer, senses)
        self._renderer = renderer
        self._vision = senses.vision if senses else None
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
        """Page `page` of the document at `url`; page_up, page_down and find go on from there.

        An address with a fragment (#history, #:~:text=…) opens at its place.
        """
        opened = self._opened(url)
        asked, _, fragment = url.partition("#")
        if not fragment and asked != opened.document.url:
            fragment = opened.fragment
        place = self._place(opened, url, fragment) if fragment and page == 1 else None
        shown = self._view_from(opened, place, fragment) if place else self._view(opened, page)
        with self._lock:
            self._url, self._page, self._found, self._wanted = url, shown.page, [], ""
        return shown

    def visit_archived(self, url: str, date: str = "") -> Page:
        """The first page of the Internet Archive's copy of `url` that is closest to `date` (YYYY-MM-DD)."""
        copy = self._reader.fetcher.find_copy(url.strip(), day(date) if date.strip() else "")
        page = self.visit(copy.url)
        return replace(page, note="; ".join(part for part in (str(copy), page.note) if part))

    def download(self, url: str) -> str:
        """Saves the file at `url` beside the attached ones; the name it got there."""
        folder = self._reader.files_dir
        if folder is None:
            raise DocumentError(f"{url} was not saved: there is no folder for files here.")
        return save(self._reader.fetcher.get(url), folder)

    @property
    def sees(self) -> bool:
        """Whether `look` can be used: there is a Chromium, and a vision model."""
        return self._renderer is not None and self._vision is not None

    def look(self, url: str, question: str = "") -> str:
        """What a vision model says of how the page at `url` looks in a browser. Raises FetchError, EndpointError."""
        fetcher = self._reader.fetcher
        if self._renderer is None or self._vision is None:
            raise BadArguments("No page can be looked at here: read it with visit_page.")
        fetched = fetcher.get(url)
        if fetched.media_type not in HTML_TYPES:
            raise BadArguments(f"{fetched.url} is no web page to look at: read it with visit_page.")
        picture = self._renderer.picture(fetched, fetcher).result
        return self._vision.look(picture, question, fetcher.cancel)

    def links(self, words: str = "") -> list[Link]:
        """All links of the document visited last, or those with `words` in their text or address."""
        wanted = words.casefold().split()
        found = self._current().document.links
        return [k for k in found if all(word in f"{k.text} {k.url}".casefold() for word in wanted)]

    def tables(self) -> "list[pd.DataFrame]":
        """All tables of the document visited last."""
        return list(self._current().document.tables)

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
        return self._reader.attachments()

    def visit_file(self, name: str, question: str = "") -> Page:
        """The first page of an attached file, named with or without a folder.

        With a `question`, of a file longer than a page: the passages that say most about it.
        """
        path = self._reader.attached(name)
        if question.strip() and self._reader.is_looked_at(path):
            self._opened(path, question)  # a picture is looked at anew for each question
        first = self.visit(path)
        if not question.strip() or first.pages == 1:
            return first
        text = best_passages(self._opened(path).text, question, self._limit)
        note = f"passages about the question, from all {first.pages} pages; visit_page({path!r}, 1) has the whole"
        return replace(first, text=text, note=note) if text else first

    def _opened(self, url: str, question: str = "") -> _Open:
        key = url.split("#")[0] if "://" in url and not is_route(url.partition("#")[2]) else url
        asked = f"{key}\n{question}" if question else key
        with self._lock:
            kept = self._kept.get(asked)
            if kept:
                self._kept[key] = kept
                self._kept.move_to_end(key)
                return kept
        reading = self._reader.read(url, question)
        document = reading.document
        if self.ledger is not None and not reading.doubtful:
            self.ledger.snapshot(document.url, document.title, plain_text(document.markdown))
        text = document.markdown if self._show_targets else without_targets(document.markdown)
        opened = _Open(document, text, page_spans(text, self._limit), reading.fragment, {})
        if fragment := url.partition("#")[2] or reading.fragment:
            opened.places[fragment] = place_of(fragment, text, opened.folded, reading.source)
        with self._lock:
            for name in (asked, key, document.url):
                self._kept[name] = opened
            while len(self._kept) > _KEPT_DOCUMENTS:
                self._kept.popitem(last=False)
        return opened

    def _place(self, opened: _Open, url: str, fragment: str) -> int | None:
        """Where a fragment points to in a document; its source is read again if it was not asked for then."""
        if fragment not in opened.places:
            source = self._reader.read(url).source if "://" in url else ""
            opened.places[fragment] = place_of(fragment, opened.text, opened.folded, source)
        return opened.places[fragment]

    def _view_from(self, opened: _Open, place: int, fragment: str) -> Page:
        line = opened.text.rfind("\n", 0, place) + 1
        place = line if place - line < 20 else place  # the mark of a heading or of a list belongs to it
        length = page_spans(opened.text[place : place + self._limit + 1], self._limit)[0][1]
        page, end = opened.page_at(place), place + length
        note = f"opened at #{fragment[:60]}, within page {page}"
        return self._page_of(opened, opened.text[place:end], page, (place, end), note)

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
        return Page(
            document.url,
            document.title,
            text,
            page,
            len(opened.spans),
            tuple(links),
            tables,
            notes,
            document.metadata,
        )

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
            self._page = page = opened.page_at(start)
        text = window(opened.text, start, end, min(self._limit, _FOUND_CHARS))
        return self._page_of(opened, text, page, (start, end), f"match {number} of {count} for {wanted!r}")


def _links_among(document: Document, text: str) -> list[Link]:
    """The links of a document whose words stand in `text`, which shows no targets."""
    return [link for link in document.links if link.text and link.text in text]
