"""EPUB: the chapters of a book in the order in which they are read."""

import posixpath
from urllib.parse import unquote

from tools.charset import decode
from tools.formats.source import Source
from tools.formats.xml import attribute, child, every, words
from tools.formats.zipped import Zipped
from tools.page import Document
from tools.webpage import html_document

_KIND = "an EPUB book"
_MAX_CHAPTERS = 5_000
_MAX_BYTES = 30_000_000


def book_document(source: Source) -> Document:
    """An .epub file. Raises DocumentError."""
    zipped = Zipped(source, _KIND)
    root_file = next(
        (attribute(each, "full-path") for each in every(zipped.xml("META-INF/container.xml"), "rootfile")), ""
    )
    if root_file not in zipped:
        root_file = next(iter(zipped.matching(r".*\.opf$")), "")
    package = zipped.xml(root_file)
    folder = posixpath.dirname(root_file)
    items = {
        attribute(each, "id"): (
            posixpath.normpath(posixpath.join(folder, unquote(attribute(each, "href")))),
            attribute(each, "media-type"),
        )
        for each in every(child(package, "manifest"), "item")
    }
    spine = [items.get(attribute(each, "idref"), ("", "")) for each in every(package, "itemref")]
    chapters = [name for name, kind in spine if name in zipped and "html" in kind]
    chapters = chapters or [name for name, kind in spine if name in zipped and "svg" in kind]
    chapters = list(dict.fromkeys(chapters or zipped.matching(r".*\.x?html?$")))
    parts = []
    left = _MAX_BYTES
    for name in chapters[:_MAX_CHAPTERS]:
        content = zipped.read(name)
        left -= len(content)
        if left < 0:
            break
        text, _ = decode(content)
        parts.append(html_document(text, main_only=False).markdown)
    metadata = child(package, "metadata")
    title = words(metadata, "title") if metadata is not None else ""
    people = ", ".join(
        name for each in every(metadata, "creator") if (name := " ".join((each.text or "").split()))
    )
    about = " ".join(" ".join(each.text or "" for each in every(metadata, "description")).split())
    head = [f"# {' '.join(title.split())}" if title.strip() else "", f"by {people}" if people else "", about]
    if not any(parts + head):
        raise source.damaged(_KIND)
    return source.document(
        "\n\n".join(part for part in [*head, *parts] if part),
        title=title,
        note="only the first chapters were read" if left < 0 else "",
    )
