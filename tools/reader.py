"""An address to a Document: from the web, the library or the attached files."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from tools.charset import charset_in, decode
from tools.documents import read_bytes, read_file
from tools.errors import DocumentError, FetchError
from tools.fetch import Fetched, Fetcher
from tools.page import Document
from tools.shell import is_shell, shell_document, ways_out

_HTML_TYPES = ("text/html", "application/xhtml+xml")
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

    def __init__(self, fetcher: Fetcher, library: Shelf | None = None, files_dir: Path | None = None) -> None:
        """`files_dir`: the files that a visitor attached."""
        self.fetcher = fetcher
        self.library = library
        self.files_dir = files_dir

    def read(self, url: str) -> Reading:
        """The document at `url`. Raises FetchError, Refused or DocumentError."""
        if url.lower().startswith("library:"):
            if self.library is None:
                raise FetchError(f"{url} cannot be read: no library is set up here.", url)
            return Reading(self.library.read(url))
        if self.files_dir is not None and "://" not in url and (path := self.attachment(url)):
            return Reading(read_file(self.files_dir / path, url=path, main_only=False))
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
        notes = "; ".join(note for note in (fetched.note, document.note) if note)
        return Reading(replace(document, note=notes), source, fetched.fragment, fetched.doubtful)

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

    def attached(self, name: str) -> str:
        """The same, or a DocumentError that names the files there are."""
        if path := self.attachment(name):
            return path
        names = self.attachments()
        there = f"attached are {', '.join(names)}" if names else "no file is attached to this question"
        raise DocumentError(f"There is no file {Path(name).name!r}: {there}.")


def _document(fetched: Fetched) -> tuple[Document, str]:
    """The document, and its HTML when it is a web page. A page that its scripts make is read from their data."""
    document = read_bytes(
        fetched.content, url=fetched.url, name=fetched.filename, content_type=fetched.content_type
    )
    source = ""
    if fetched.media_type in _HTML_TYPES or _HTML_START.search(fetched.content[:1024]):
        source = decode(fetched.content, charset_in(fetched.content_type))[0]
    if source and is_shell(document.markdown, source):
        made = shell_document(document, source)
        if made is None:
            way = ways_out(source, fetched.url)
            raise FetchError(
                f"{fetched.url} has no text without running its scripts (it needs JavaScript): "
                + (f"try {way}, or use another source." if way else "use another source."),
                fetched.url,
                fetched.status,
            )
        return made, source
    if not document.markdown:
        raise FetchError(f"{fetched.url} has no text: use another source.", fetched.url, fetched.status)
    return document, source
