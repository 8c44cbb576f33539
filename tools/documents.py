"""Bytes to a Document: what they are is decided by the bytes first, then the type, then the name."""

import json
import re
from pathlib import Path

from tools.charset import charset_in, decode, unmistakable
from tools.errors import DocumentError
from tools.page import Document, resolve_links
from tools.pdf import pdf_document
from tools.sheets import csv_document, workbook_document
from tools.webpage import html_document

_HTML_START = re.compile(
    rb"^(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body|title|meta|div|p|h1|table|script)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_HTML_NAMES = (".html", ".htm", ".xhtml")
_MARKDOWN_NAMES = (".md", ".markdown")
_MAGIC = (
    (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"), (b"GIF8", "a GIF image"), (b"RIFF", "a media file"),
    (b"PK\x03\x04", "a ZIP archive or an Office file"), (b"\x1f\x8b", "a gzip archive"), (b"7z\xbc\xaf", "a 7z archive"),
    (b"\xd0\xcf\x11\xe0", "an Office file of the old format"), (b"ID3", "a sound file"), (b"OggS", "a media file"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"SQLite format 3", "a database"), (b"\0\0\0", "a media file"),
)  # fmt: skip


def read_file(path: str | Path, url: str | None = None, main_only: bool = True) -> Document:
    """The document in a file. `url`: where it came from, so that its links become absolute.

    `main_only`: of a web page only the main content. Raises DocumentError when
    no reader can read it.
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path.name} cannot be read: {error.strerror or error}.") from None
    return read_bytes(content, url=url or "", name=path.name, main_only=main_only)


def read_bytes(
    content: bytes, *, url: str = "", name: str = "", content_type: str = "", main_only: bool = True
) -> Document:
    """The document in `content`; `name` and `content_type` are hints that the bytes may overrule."""
    shown = name or url or "the file"
    suffix = Path(name).suffix.lower()
    media_type = content_type.split(";")[0].strip().lower()
    if not content.strip(b"\0 \t\r\n"):
        raise DocumentError(f"{shown} is empty: there is nothing to read in it.")
    if b"%PDF-" in content[:1024]:
        return pdf_document(content, url=url, name=shown)
    if content.startswith(b"PK\x03\x04") and b"xl/" in content:
        return workbook_document(content, url=url, name=shown)
    if suffix == ".pdf" or (media_type == "application/pdf" and not _HTML_START.match(content[:4096])):
        raise DocumentError(f"{shown} is not a PDF although it is called one: its content is something else.")
    if suffix in (".xlsx", ".xlsm"):
        raise DocumentError(
            f"{shown} is not an Excel workbook although it is called one: its content is something else."
        )
    if (problem := _binary(content)) and not unmistakable(content):
        raise DocumentError(
            f"{shown} is {problem}, which cannot be read as text here: use another file or source."
        )
    charset = charset_in(content_type)
    looks_html = _HTML_START.match(content[:4096]) or media_type in _HTML_TYPES
    if suffix not in _MARKDOWN_NAMES and (looks_html or (not media_type and suffix in _HTML_NAMES)):
        text, _ = decode(content, charset)
        return html_document(text, url=url, name=name, main_only=main_only)
    text, _ = decode(content, charset, markup=content.lstrip().startswith(b"<?xml"))
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    if suffix in (".csv", ".tsv") or media_type in ("text/csv", "text/tab-separated-values"):
        return csv_document(text, url=url, name=name)
    if suffix in _MARKDOWN_NAMES or media_type == "text/markdown":
        return markdown_document(text, url=url, name=name)
    if suffix == ".json" or media_type.endswith("json"):
        return Document(url, name, _json(text))
    return Document(url, name, text.strip())


def markdown_document(text: str, *, url: str = "", name: str = "") -> Document:
    """A Markdown file: its first heading is the title, its links become absolute."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
    heading = re.search(r"(?m)^#{1,2}\s+(.+?)\s*#*$", text)
    return Document(url, heading[1] if heading else name, resolve_links(text, url).strip())


def _json(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text


def _binary(content: bytes) -> str:
    """What kind of binary this is, or nothing for text."""
    head = content[:4096]
    for magic, kind in _MAGIC:
        if head.startswith(magic) and (b"\0" in head or kind.startswith("a ZIP")):
            return kind
    odd = sum(byte < 32 and byte not in b"\t\n\r\x0c\x1b" for byte in head)
    return "a binary file" if odd > len(head) / 20 else ""
