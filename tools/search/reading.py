"""A file of the library as what the index keeps of it."""

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from urllib.parse import quote

from tools.documents import read_file
from tools.errors import DocumentError
from tools.page import Document
from tools.search.passages import Passage, passages_of

SCHEME = "library://"

_LARGEST_FILE = 50_000_000
# About a thousand pages; who looks for a word further on opens the document and finds it there.
_MOST_PASSAGES = 10_000


@dataclass(frozen=True)
class Parsed:
    """`problem`: why the file cannot be read, else empty. `note`: what of it is not searched.

    `known_by`: words that find each of its passages.
    """

    title: str
    known_by: str
    passages: tuple[Passage, ...] = ()
    problem: str = ""
    note: str = ""


def parsed(folder: Path, path: str, size: int) -> Parsed:
    """The passages of a document. Never raises for what is in the file."""
    if size > _LARGEST_FILE:
        return unread(path, f"{path} is larger than {_LARGEST_FILE // 1_000_000} MB: it is not searched.")
    try:
        document = library_document(folder, path)
    except DocumentError as error:
        return unread(path, str(error))
    passages = passages_of(document.markdown)
    note = ""
    if len(passages) > _MOST_PASSAGES:
        share = 100 * _MOST_PASSAGES // len(passages)
        note = f"{path} is very long: only its first {share}% is searched, split it to search all of it."
    return Parsed(
        document.title, f"{document.title} {spaced(path)}", tuple(passages[:_MOST_PASSAGES]), "", note
    )


def unread(path: str, problem: str) -> Parsed:
    """What the index keeps of a file that cannot be read: its name."""
    return Parsed(path, f"{path} {spaced(path)}", problem=problem)


def library_document(folder: Path, path: str) -> Document:
    """The document at a path in the folder. Raises DocumentError."""
    place = (folder / path).resolve()
    if not place.is_relative_to(folder):
        raise DocumentError(f"{path} leads out of the library's folder: it is not read.")
    document = read_file(place, url=address_of(path))
    if document.title and document.title != place.name:
        return document
    return replace(document, title=spaced(place.stem))


def address_of(path: str) -> str:
    """The library:// address of a path in the folder."""
    return SCHEME + quote(path, safe="/")


def spaced(path: str) -> str:
    """A file's name as words."""
    return str(PurePosixPath(path).with_suffix("")).replace("_", " ").replace("-", " ").replace("/", " ")
