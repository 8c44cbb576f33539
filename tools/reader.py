"""An address to a Document: from the web, the library or the attached files."""

import logging
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from tools.address import parse_address
from tools.anchors import is_route
from tools.charset import charset_in, decode
from tools.documents import read_bytes, read_file
from tools.errors import DocumentError, FetchError, NotRendered
from tools.exchange import Answer
from tools.fetch import Fetched, Fetcher
from tools.judgement import judged, noted
from tools.ledger import CachedPage
from tools.page import Document
from tools.rendering.visited import Rendering
from tools.senses import Senses
from tools.shell import is_shell, shell_document, ways_out
from tools.video import video_document
from tools.vision import media_type_of

log = logging.getLogger(__name__)

_RENDERED = "text/html; charset=utf-8"
HTML_TYPES = ("text/html", "application/xhtml+xml")
_HTML_START = re.compile(rb"(?i)<(!doctype\s+html|html|head|body)\b")
_LIBRARY_NAME = re.compile(r"[\w '-]+(\.(md|html?|pdf|csv|xlsx|txt))?")


class Shelf(Protocol):
    """Where library:// documents come from."""

    def read(self, url: str) -> Document: ...


@dataclass(frozen=True)
class Reading:
    """A document as it was read.

    `source` is its HTML, empty for other kinds; `fragment` is the place in it
    that the address named; `doubtful`: it is no evidence of anything.
    """

    document: Document
    source: str = ""
    fragment: str = ""
    doubtful: bool = False


class Reader:
    """Reads for one session. Thread-safe."""

    def __init__(
        self,
        fetcher: Fetcher,
        library: Shelf | None = None,
        files_dir: Path | None = None,
        renderer: Rendering | None = None,
        senses: Senses | None = None,
    ) -> None:
        """`files_dir`: the files that a visitor attached. `renderer`: runs scripts where a page needs them.

        `senses`: what looks at pictures and listens to recordings.
        """
        self._renderer = renderer
        self._senses = senses or Senses()
        self.fetcher = fetcher
        self.library = library
        self.files_dir = files_dir

    def read(self, url: str, question: str = "") -> Reading:
        """The document at `url`; `question`: what to look for in a picture. Raises FetchError, Refused or DocumentError."""
        if url.lower().startswith("library:"):
            if self.library is None:
                raise FetchError(f"{url} cannot be read: no library is set up here.", url)
            return Reading(self.library.read(url))
        if self.files_dir is not None and "://" not in url and (path := self.attachment(url)):
            file = self.files_dir / path
            document = read_file(file, url=path, main_only=False)
            content = file.read_bytes() if file.is_file() else b""
            return Reading(self._perceived(document, content, file.name, question))
        if self.library is not None and _LIBRARY_NAME.fullmatch(url.strip()):
            try:
                return Reading(self.library.read(f"library://{url.strip()}"))
            except FetchError:
                pass  # no document of that name: the fetcher says what to do instead
        fetched = self.fetcher.get(url)
        if not fetched.content.strip():
            raise FetchError(
                f"{fetched.url} gave an empty answer (status {fetched.status}): use another source.",
                fetched.url,
                fetched.status,
            )
        document, source = _document(fetched)
        document = self._perceived(document, fetched.content, fetched.filename, question)
        if source and (film := video_document(source, fetched.url, lambda at: self.fetcher.get(at).content)):
            document = film
        elif source and is_shell(document.markdown, source):
            fetched, document, source = self._beyond_scripts(fetched, document, source)
        if not document.markdown:
            raise FetchError(f"{fetched.url} has no text: use another source.", fetched.url, fetched.status)
        notes = "; ".join(note for note in (fetched.note, document.note) if note)
        return Reading(replace(document, note=notes), source, fetched.fragment, fetched.doubtful)

    def _perceived(self, document: Document, content: bytes, name: str, question: str) -> Document:
        return self._senses.perceived(document, content, name, question, self.fetcher.cancel)

    def _beyond_scripts(
        self, fetched: Fetched, document: Document, source: str
    ) -> tuple[Fetched, Document, str]:
        """A page that is empty without its scripts, from what they make, else from the data that it carries."""
        why = "without running its scripts (it needs JavaScript)"
        if self._renderer is not None:
            why = "though its scripts were run"
            try:
                rendered = self._rendered(self._renderer, fetched)
            except NotRendered as error:
                log.info("%s", error)
                why = f"without its scripts, which could not be run ({error.why})"
            else:
                made, html = _document(rendered)
                if not is_shell(made.markdown, html):
                    return rendered, made, html
        data = shell_document(document, source)
        if data is None:
            way = ways_out(source, fetched.url)
            raise FetchError(
                f"{fetched.url} has no text {why}: {f'try {way}, or ' if way else ''}use another source.",
                fetched.url,
                fetched.status,
            )
        return fetched, data, source

    def _rendered(self, renderer: Rendering, fetched: Fetched) -> Fetched:
        """The page as its scripts made it, judged and kept like one that came so. Raises FetchError."""
        route = f"#{fetched.fragment}" if is_route(fetched.fragment) else ""
        key, cache = f"rendered:{fetched.url}{route}", self.fetcher.cache
        if cache is not None and (kept := cache.get(key)):
            url, content = kept.url, kept.content
        else:
            visited = renderer.html(fetched, self.fetcher)
            url, content = visited.url, visited.result.encode("utf-8", "replace")
            if cache is not None:
                cache.put(key, CachedPage(url, _RENDERED, fetched.filename, content))
        answer = Answer(fetched.status, {"content-type": _RENDERED}, content)
        rendered, _ = judged(parse_address(url, allow_local=True), answer)
        return noted(replace(rendered, fragment=fetched.fragment), "its scripts were run to read it")

    def attachments(self) -> list[str]:
        """Names of the attached files."""
        if self.files_dir is None or not self.files_dir.is_dir():
            return []
        return sorted(
            path.name for path in self.files_dir.iterdir() if path.is_file() and not path.is_symlink()
        )

    def attachment(self, name: str) -> str:
        """The attached file that a name means, whatever folder it is said to be in; nothing when there is none.

        What follows a file's own name stays: it is the path of a file in it (`bundle.zip/data.csv`).
        """
        parts = [part for part in name.strip().strip("\"'").replace("\\", "/").split("/") if part]
        known = {each.casefold(): each for each in self.attachments()}
        for at in [len(parts) - 1, *range(len(parts) - 1)]:
            if parts and (found := known.get(parts[at].casefold())):
                return "/".join([found, *parts[at + 1 :]])
        return ""

    def is_looked_at(self, path: str) -> bool:
        """Whether an attached file is a picture that a vision model is asked about."""
        if self._senses.vision is None or self.files_dir is None or not (self.files_dir / path).is_file():
            return False
        with (self.files_dir / path).open("rb") as file:
            return bool(media_type_of(file.read(16)))

    def attached(self, name: str) -> str:
        """The same, or a DocumentError that names the files there are."""
        if path := self.attachment(name):
            return path
        names = self.attachments()
        there = f"attached are {', '.join(names)}" if names else "no file is attached to this question"
        raise DocumentError(f"There is no file {Path(name).name!r}: {there}.")


def _document(fetched: Fetched) -> tuple[Document, str]:
    """The document, and its HTML when it is a web page."""
    document = read_bytes(
        fetched.content, url=fetched.url, name=fetched.filename, content_type=fetched.content_type
    )
    source = ""
    if fetched.media_type in HTML_TYPES or _HTML_START.search(fetched.content[:1024]):
        source = decode(fetched.content, charset_in(fetched.content_type))[0]
    return document, source
