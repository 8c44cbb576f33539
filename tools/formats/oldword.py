"""Word's old format (.doc), from Word 6 on: the text of its pieces, tables as rows, what stands apart at the end."""

import re
import struct
from itertools import pairwise

from tools.charset import decode
from tools.formats.ole import Compound
from tools.formats.source import Source
from tools.page import Document
from tools.tables import table_text

_KIND = "a Word document of the old format"
_PARTS = (
    "",
    "Footnotes",
    "Page headers and footers",
    "",
    "Comments",
    "Endnotes",
    "Text boxes",
    "Text boxes of headers",
)
_FIELD = re.compile("\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_SIGNS = {"\r": "\n", "\x0b": "\n", "\x0c": "\n\n", "\x0e": "\n", "\x1e": "-", "\x1f": "", "\xa0": " ", "\x01": "", "\x02": "",
          "\x03": "", "\x04": "", "\x05": "", "\x08": "", "\x13": "", "\x14": "", "\x15": ""}  # fmt: skip
_MAX_PIECES = 200_000
_WORD_97 = 193


def oldword_document(source: Source) -> Document:
    """A .doc file. Raises DocumentError."""
    stream = Compound(source).read("WordDocument")
    if len(stream) < 0x60:
        raise source.damaged(_KIND)
    (flags,) = struct.unpack_from("<H", stream, 0x0A)
    if flags & 0x0100:
        raise source.locked(_KIND)
    try:
        (version,) = struct.unpack_from("<H", stream, 2)
        if version < _WORD_97:
            start, end = struct.unpack_from("<II", stream, 0x18)
            text, _ = decode(
                stream[start:end], "windows-1252" if stream[:2] == b"\xdc\xa5" else "", markup=False
            )
            lengths = [len(text)]
        else:
            table = Compound(source).read("1Table" if flags & 0x0200 else "0Table")
            at, size = struct.unpack_from("<II", stream, 0x1A2)
            text = _pieces(stream, table[at : at + size])
            lengths = list(struct.unpack_from("<8I", stream, 0x4C))
    except (struct.error, IndexError):
        raise source.damaged(_KIND) from None
    blocks: list[str] = []
    at = 0
    for head, length in zip(_PARTS, lengths, strict=False):
        part = _markdown(text[at : at + length])
        at += length
        if part:
            blocks += [f"## {head}", part] if head else [part]
    return source.document("\n\n".join(blocks))


def _pieces(stream: bytes, clx: bytes) -> str:
    """The document's text, put together from the pieces that the table names."""
    at = 0
    while at < len(clx) and clx[at] == 1:
        at += 3 + struct.unpack_from("<H", clx, at + 1)[0]
    if at >= len(clx) or clx[at] != 2:
        return ""
    (size,) = struct.unpack_from("<I", clx, at + 1)
    plan = clx[at + 5 : at + 5 + size]
    count = min((len(plan) - 4) // 12, _MAX_PIECES)
    places = struct.unpack_from(f"<{count + 1}I", plan)
    text = []
    left = 4 * len(stream)
    for number, (first, last) in enumerate(pairwise(places)):
        (where,) = struct.unpack_from("<I", plan, 4 * (count + 1) + 8 * number + 2)
        length = max(0, min(last - first, left))
        left -= length
        if where & 0x40000000:
            start = (where & 0x3FFFFFFF) // 2
            text.append(stream[start : start + length].decode("cp1252", "replace"))
        else:
            text.append(stream[where : where + 2 * length].decode("utf-16-le", "replace"))
    return "".join(text)


def _markdown(text: str) -> str:
    for _ in range(8):  # fields stand within fields
        text = _FIELD.sub(lambda match: match[1] or "", text)
    blocks = []
    # A run of cells: each ends with \x07, and so does each row.
    for number, part in enumerate(re.split("((?:[^\x07\r\x0c]*(?:\r[^\x07\r\x0c]*){0,40}\x07)+)", text)):
        if number % 2:
            before, cells = _split_head(part)
            blocks += [_plain(before), _table(cells)]
        else:
            blocks.append(_plain(part))
    return "\n\n".join(block for block in blocks if block)


def _split_head(part: str) -> tuple[str, list[str]]:
    """The paragraphs before a table's first cell, which nothing divides from it, and the cells."""
    cells = part.split("\x07")[:-1]
    before, _, first = cells[0].rpartition("\r")
    return before, [first, *cells[1:]]


def _table(cells: list[str]) -> str:
    total = len(cells)
    width = next(
        (
            n
            for n in range(1, min(64, total))
            if total % (n + 1) == 0 and not any(cells[at].strip() for at in range(n, total, n + 1))
        ),
        0,
    )
    if width:
        rows = [cells[at : at + width] for at in range(0, total, width + 1)]
    else:
        rows = [row.split("\x07") for row in "\x07".join(cells).split("\x07\x07")]
    rows = [[_plain(cell) for cell in row] for row in rows if any(cell.strip() for cell in row)]
    return table_text(rows[0], rows[1:]) if rows else ""


def _plain(text: str) -> str:
    for sign, meaning in _SIGNS.items():
        text = text.replace(sign, meaning)
    return re.sub(r"\n\s*\n+", "\n\n", re.sub("[\x00-\x08\x0e-\x1f]", "", text).replace("\n", "\n\n")).strip()
