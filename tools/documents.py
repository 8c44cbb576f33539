"""Bytes to a Document: what they are is decided by the bytes first, then the type, then the name.

A format is a reader in tools/formats and a line in the registry below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.charset import unmistakable
from tools.errors import Damaged, DocumentError
from tools.formats import apart, archive
from tools.formats.binarysheets import binarysheets_document
from tools.formats.book import book_document
from tools.formats.database import database_document
from tools.formats.delimited import delimited_document
from tools.formats.image import image_document
from tools.formats.mail import message_document, outlook_document
from tools.formats.oldsheets import oldsheets_document
from tools.formats.oldslides import oldslides_document
from tools.formats.oldword import oldword_document
from tools.formats.opendocument import opendocument_document
from tools.formats.parquet import parquet_document
from tools.formats.pdf import pdf_document
from tools.formats.pdfmended import mended_pdf_document
from tools.formats.rtf import rtf_document
from tools.formats.signature import INSTEAD, kind_of, name_of_binary
from tools.formats.slides import slides_document
from tools.formats.sound import sound_document
from tools.formats.source import Source
from tools.formats.structured import json_document, xml_document
from tools.formats.text import (
    looks_like_html,
    looks_like_mail,
    markdown_document,
    page_document,
    plain_document,
)
from tools.formats.word import word_document
from tools.formats.workbook import workbook_document
from tools.page import Document

_MAX_SQUEEZED = 4
# A page of more would hold up everything else in this process; one of fewer is read sooner than a process is asked.
_MOST_TAGS = 20_000
_PAGE_SECONDS = 40


@dataclass(frozen=True)
class Format:
    """One kind of file.

    `suffixes`: what such files are called. `opened`: how the files inside are reached.
    `apart`: read in a process of its own, locked: a hostile one of these may capture or crash its reader.
    `second`: the format whose reader is tried when this one finds the file damaged.
    """

    label: str
    reader: Callable[[Source], Document] | None
    suffixes: str = ""
    types: str = ""
    opened: Callable[[Source], archive.Archive] | None = None
    apart: bool = True
    second: str = ""


# Known by their bytes.
BINARY = {
    "pdf": Format("a PDF", pdf_document, ".pdf", "application/pdf", second="mended pdf"),
    "mended pdf": Format("a PDF", mended_pdf_document),
    "docx": Format("a Word document", word_document, ".docx .docm .dotx .dotm"),
    "xlsx": Format("an Excel workbook", workbook_document, ".xlsx .xlsm .xltx .xltm"),
    "pptx": Format("a PowerPoint presentation", slides_document, ".pptx .pptm .ppsx .potx"),
    "xlsb": Format("an Excel workbook", binarysheets_document, ".xlsb"),
    "xls": Format("an Excel workbook", oldsheets_document),
    "doc": Format("a Word document", oldword_document),
    "ppt": Format("a PowerPoint presentation", oldslides_document),
    "msg": Format("a message", outlook_document, ".msg", opened=archive.open_outlook),
    "odf": Format("an OpenDocument file", opendocument_document, ".odt .ods .odp .ott .ots .otp"),
    "epub": Format("an EPUB book", book_document, ".epub"),
    "rtf": Format("an RTF text", rtf_document, ".rtf"),
    "sqlite": Format("a SQLite database", database_document, ".sqlite .sqlite3"),
    "parquet": Format("a Parquet file", parquet_document, ".parquet"),
    "image": Format("a picture", image_document, ".png .jpg .jpeg .gif .webp .tif .tiff .bmp"),
    "sound": Format("a recording", sound_document, ".mp3 .wav .m4a .flac .ogg .oga .opus"),
    "zip": Format("a ZIP archive", None, ".zip", opened=archive.open_zip),
    "tar": Format("a TAR archive", None, ".tar", opened=archive.open_tar),
    "7z": Format("a 7z archive", None, ".7z", opened=archive.open_seven_zip),
}
# Known by their type or name.
TEXT = {
    "csv": Format("a table", delimited_document, ".csv .tsv .tab", "text/csv text/tab-separated-values"),
    "markdown": Format("a Markdown text", markdown_document, ".md .markdown", "text/markdown", apart=False),
    "json": Format("JSON", json_document, ".json .jsonl .ndjson .geojson .ipynb", "application/x-ndjson application/jsonl"),
    "xml": Format("XML", xml_document, ".xml .rss .atom .nxml .opml .kml .gpx .xsd", "text/xml application/xml"),
    "mail": Format("a message", message_document, ".eml", "message/rfc822", opened=archive.open_message),
    "html": Format("a web page", page_document, ".html .htm .xhtml", "text/html application/xhtml+xml", apart=False),
    "text": Format("a text", plain_document, ".txt .text .log .rst .yaml .yml .toml .ini .tex .srt .vtt .pdb .py .js .ts .java .c .h "
                   ".cpp .go .rs .rb .sh .sql .r .bib", "text/plain", apart=False),
}  # fmt: skip
_SQUEEZED = ".gz .bz2 .xz .zst .tgz .tbz2 .txz"
# A file of these names may hold nearly anything: programs write HTML, CSV and XML under them.
_LOOSE = frozenset(".doc .xls .ppt .db".split())

SUFFIXES = frozenset(
    " ".join([*(each.suffixes for each in (BINARY | TEXT).values()), _SQUEEZED, *_LOOSE]).split()
)  # fmt: skip


def read_file(path: str | Path, url: str | None = None, main_only: bool = True) -> Document:
    """The document in a file. `url`: where it came from, so that its links become absolute.

    `main_only`: of a web page only the main content. A path that goes on inside an archive or a
    message (`bundle.zip/report.pdf`) means the file in it. Raises DocumentError when no reader can read it.
    """
    path = Path(path)
    file = path
    while not file.is_file() and file.parent != file and not file.is_dir():
        file = file.parent
    if not file.is_file():
        file = path
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path.name} cannot be read: {error.strerror or error}.") from None
    member = path.relative_to(file).as_posix() if file != path else ""
    return read_source(Source(content, url or "", file.name, "", main_only, member))


def read_bytes(
    content: bytes,
    *,
    url: str = "",
    name: str = "",
    content_type: str = "",
    main_only: bool = True,
    member: str = "",
) -> Document:
    """The document in `content`; `name` and `content_type` are hints that the bytes may overrule."""
    return read_source(Source(content, url, name, content_type, main_only, member))


def read_source(source: Source) -> Document:
    """The document in `source`. Raises DocumentError."""
    for _ in range(_MAX_SQUEEZED):
        inner = archive.unsqueezed(source)
        if inner is None:
            break
        source = inner
    else:
        raise DocumentError(
            f"{source.shown} is compressed more than {_MAX_SQUEEZED} times: it is not opened."
        )
    if not source.content.strip(b"\0 \t\r\n"):
        raise DocumentError(f"{source.shown} is empty: there is nothing to read in it.")
    key, found = _format(source)
    try:
        return _read(key, found, source)
    except Damaged:
        if not found.second:
            raise
    try:
        return _read(found.second, BINARY[found.second], source)
    except DocumentError:
        raise source.damaged(found.label) from None


def _read(key: str, found: Format, source: Source) -> Document:
    if apart.inside:
        return read_as(found, source)
    if found.apart:
        return apart.read_apart(source, key, found.label)
    if key == "html" and source.content.count(b"<") > _MOST_TAGS:
        return apart.read_apart(source, key, found.label, _PAGE_SECONDS)
    return read_as(found, source)


def read_as(found: Format, source: Source) -> Document:
    """The document in a file of a known format, in this process. Raises DocumentError."""
    if found.opened and (source.member or found.reader is None):
        return archive.archive_document(source, found.opened(source), read_source)
    if source.member:
        raise DocumentError(
            f"{source.shown} is {found.label}, which has no files in it: open it by its own name."
        )
    if found.reader is None:
        raise source.damaged(found.label)
    return found.reader(source)


def _format(source: Source) -> tuple[str, Format]:
    """The key and the line in the registry."""
    kind = kind_of(source.content)
    called = next((each for each in BINARY.values() if source.suffix in each.suffixes.split()), None)
    if kind in BINARY and not (kind == "zip" and called and called.opened is None):
        return kind, BINARY[kind]
    if kind == "locked":
        raise source.locked("an Office file")
    content, media_type = source.content, source.media_type
    html = looks_like_html(content)
    typed = next((each for each in BINARY.values() if media_type in each.types.split() and not html), None)
    if claimed := called or typed:
        raise DocumentError(
            f"{source.shown} is not {claimed.label} although it is called one: its content is something else."
        )
    if (problem := name_of_binary(content)) and not unmistakable(content):
        raise DocumentError(
            f"{source.shown} is {problem}, which cannot be read as text here: {INSTEAD.get(problem, 'use another file or source')}."
        )
    key = _text_kind(source, html)
    return key, TEXT[key]


def _text_kind(source: Source, html: bool) -> str:
    """Which of TEXT it is."""
    suffix, media_type = source.suffix, source.media_type
    named = next((key for key, each in TEXT.items() if suffix in each.suffixes.split()), "")
    typed = next((key for key, each in TEXT.items() if media_type in each.types.split()), "")
    if media_type.endswith("json"):
        typed = "json"
    elif media_type.endswith("+xml") and typed != "html":
        typed = "xml"
    if named == "markdown":
        return named
    if named == "mail" or typed == "mail":
        return "mail"
    if html or typed == "html":
        return "html"
    start = source.content[:100].lstrip(b"\xef\xbb\xbf \t\r\n")
    if named in ("csv", "json", "xml") or typed in ("csv", "json", "xml", "markdown"):
        return named if named in ("csv", "json", "xml") else typed
    if start.startswith((b"<?xml", b"<rss", b"<feed")):
        return "xml"
    if looks_like_mail(source.content):
        return "mail"
    if named == "html" and not media_type:
        return "html"
    if not named and not typed and start[:1] in (b"{", b"["):
        return "json"
    return "text"
