"""Excel's binary workbooks (.xlsb): the same parts as .xlsx, each a row of records instead of XML."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.formats.cells import Number
from tools.formats.grid import Grid
from tools.formats.ooxml import Package
from tools.formats.source import Source
from tools.formats.styles import STANDARD_DATES, date_parts
from tools.page import Document

_KIND = "an Excel workbook"
_MAX_CELLS = 600_000
_ROW, _BLANK, _RK, _ERROR, _BOOL, _REAL, _TEXT, _SHARED = range(8)
_RESULTS = {8: _TEXT, 9: _REAL, 10: _BOOL, 11: _ERROR}  # of formulas
_STRING, _FORMAT, _STYLE, _SHEET, _MERGED, _REMARK_AT, _REMARK = 19, 44, 47, 156, 176, 635, 637
_BEGIN_CELL_STYLES, _END_CELL_STYLES, _WORKBOOK = 617, 618, 153
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}


def binarysheets_document(source: Source) -> Document:
    """An .xlsb file. Raises DocumentError."""
    package = Package(source, _KIND)
    main = package.main_part(r"xl/workbook\.bin$")
    relations = package.relations(main)
    strings = [
        _text(body, 1) for kind, body in _records(package.zip.read("xl/sharedStrings.bin")) if kind == _STRING
    ]
    styles = _Styles.of(package.zip.read("xl/styles.bin"))
    sheets: list[tuple[str, bool, str]] = []
    since_1904 = False
    for kind, body in _records(package.zip.read(main)):
        if kind == _WORKBOOK:
            since_1904 = bool(body[:1] and body[0] & 1)
        elif kind == _SHEET and len(body) > 16:
            relation = _text(body, 8)
            title = _text(body, 12 + 2 * len(relation))
            if (target := relations.get(relation)) and not target.outside:
                sheets.append((title, body[0] != 0, target.place))
    if not sheets:
        sheets = [
            (name.rpartition("/")[2], False, name)
            for name in package.zip.matching(r"xl/worksheets/sheet\d+\.bin$")
        ]
    if not sheets:
        raise source.damaged(_KIND)
    numbers = Number(styles, since_1904)
    parts: list[str] = []
    tables: list[tuple[tuple[str, ...], ...]] = []
    left = _MAX_CELLS
    for title, hidden, name in sheets:
        grid = Grid()
        left -= _fill(grid, package.zip.read(name), strings, numbers, left)
        texts, found = grid.blocks()
        remarks = _remarks(package, name, grid)
        parts += [f"## {title}{' (hidden)' if hidden else ''}", *(texts or ["(empty)"])]
        parts += ["Comments:\n\n" + "\n".join(remarks)] if remarks else []
        parts += package.floating(package.relations(name))
        tables += found
    note = f"only the first {_MAX_CELLS:,} cells were read" if left <= 0 else package.note
    return source.document("\n\n".join(parts), title=package.title, note=note, sheets=tuple(tables))


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """(kind, body) of each record; a damaged end ends them."""
    at = 0
    while at + 1 < len(content):
        kind = content[at]
        at += 1
        if kind & 0x80:
            kind = (kind & 0x7F) | (content[at] & 0x7F) << 7
            at += 1
        size = shift = 0
        for _ in range(4):
            if at >= len(content):
                return
            size |= (content[at] & 0x7F) << shift
            shift += 7
            at += 1
            if not content[at - 1] & 0x80:
                break
        yield kind, content[at : at + size]
        at += size


def _text(body: bytes, at: int) -> str:
    """A text that its length stands before."""
    if len(body) < at + 4:
        return ""
    (length,) = struct.unpack_from("<I", body, at)
    return body[at + 4 : at + 4 + 2 * min(length, len(body))].decode("utf-16-le", "replace")


def _fill(grid: Grid, content: bytes, strings: list[str], numbers: Number, limit: int) -> int:
    row = cells = 0
    for kind, body in _records(content):
        if kind == _ROW and len(body) >= 4:
            row = struct.unpack_from("<I", body)[0] + 1
        elif kind == _MERGED and len(body) >= 16:
            top, bottom, first, last = struct.unpack_from("<IIII", body)
            grid.span(top + 1, first + 1, bottom + 1, last + 1)
        elif _BLANK < (kind := _RESULTS.get(kind, kind)) <= _SHARED and len(body) > 8:
            column, style = struct.unpack_from("<II", body)
            grid.put(row, column + 1, _value(kind, body, str(style & 0xFFFFFF), strings, numbers))
            cells += 1
            if cells >= limit:
                break
    return cells


def _value(kind: int, body: bytes, style: str, strings: list[str], numbers: Number) -> str:
    if kind == _TEXT:
        return _text(body, 8)
    if kind == _BOOL:
        return "TRUE" if body[8] else "FALSE"
    if kind == _ERROR:
        return _ERRORS.get(body[8], "#ERROR")
    if kind == _REAL and len(body) >= 16:
        return numbers.shown(repr(struct.unpack_from("<d", body, 8)[0]), style)
    if len(body) < 12:
        return ""
    (raw,) = struct.unpack_from("<I", body, 8)
    if kind == _SHARED:
        return strings[raw] if raw < len(strings) else ""
    number: float = (raw - (1 << 32) if raw >> 31 else raw) >> 2
    if not raw & 2:
        (number,) = struct.unpack("<d", struct.pack("<II", 0, raw & ~3))
    return numbers.shown(repr(number / 100 if raw & 1 else number), style)


def _remarks(package: Package, sheet: str, grid: Grid) -> list[str]:
    found = []
    for target in package.relations(sheet).values():
        if target.kind != "comments" or target.outside:
            continue
        place = ""
        for kind, body in _records(package.zip.read(target.place)):
            if kind == _REMARK_AT and len(body) >= 20:
                _, row, _, column, _ = struct.unpack_from("<IIIII", body)
                place = grid.name(row + 1, column + 1)
            elif kind == _REMARK:
                found.append(f"- {place}: {' '.join(_text(body, 1).split())}")
    return found


@dataclass
class _Styles:
    """Which cell styles show dates."""

    _dates: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, content: bytes) -> "_Styles":
        styles = cls()
        formats: dict[int, str] = {}
        counted = False
        for kind, body in _records(content):
            if kind == _FORMAT and len(body) > 6:
                formats[struct.unpack_from("<H", body)[0]] = _text(body, 2)
            elif kind in (_BEGIN_CELL_STYLES, _END_CELL_STYLES):
                counted = kind == _BEGIN_CELL_STYLES
                number = 0
            elif kind == _STYLE and counted and len(body) >= 4:
                code = struct.unpack_from("<H", body, 2)[0]
                styles._dates[str(number)] = (
                    date_parts(formats[code]) if code in formats else STANDARD_DATES.get(code, "")
                )
                number += 1
        return styles

    def date_parts(self, style: str) -> str:
        """Any of "d" and "t": the style shows a day, a time, both or neither."""
        return self._dates.get(style, "")
