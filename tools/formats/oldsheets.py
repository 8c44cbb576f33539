"""Workbooks in binary forms: .xls and .xlsb. To be run apart: a few bytes of them can claim billions of cells."""

import io
from datetime import date, datetime, time, timedelta

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

from tools.formats.cells import number_text
from tools.formats.grid import Grid
from tools.formats.source import Source
from tools.page import Document

_MAX_CELLS = 600_000


def oldsheets_document(source: Source) -> Document:
    """An .xls or .xlsb file. Raises DocumentError."""
    kind = "an Excel workbook"
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(source.content))
    except PasswordError:
        raise source.locked(kind) from None
    except CalamineError:
        raise source.damaged(kind) from None
    parts: list[str] = []
    sheets: list[tuple[tuple[str, ...], ...]] = []
    note = ""
    left = _MAX_CELLS
    for about in book.sheets_metadata:
        grid = Grid()
        try:
            sheet = book.get_sheet_by_name(about.name)
        except CalamineError:
            continue  # a sheet of macros or charts has no cells
        first_row, first_column = sheet.start or (0, 0)
        for row, values in enumerate(sheet.iter_rows(), first_row + 1):
            for column, value in enumerate(values, first_column + 1):
                if value != "":
                    grid.put(row, column, _text(value))
                    left -= 1
            if left <= 0:
                note = f"only the first {_MAX_CELLS:,} cells were read"
                break
        for (top, left_side), (bottom, right_side) in sheet.merged_cell_ranges or ():
            grid.span(top + 1, left_side + 1, bottom + 1, right_side + 1)
        texts, tables = grid.blocks()
        hidden = "" if about.visible == SheetVisibleEnum.Visible else " (hidden)"
        parts += [f"## {about.name}{hidden}", *(texts or ["(empty)"])]
        sheets += tables
        if left <= 0:
            break
    return source.document("\n\n".join(parts), note=note, sheets=tuple(sheets))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime):
        return (
            value.date().isoformat()
            if value.time() == time(0)
            else value.isoformat(sep=" ", timespec="seconds")
        )
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return str(value)
    return number_text(value) if isinstance(value, float) else str(value)
