"""Excel's old workbooks (.xls). To be run apart: a few bytes of them can claim millions of cells."""

import io
from collections import defaultdict
from datetime import date, datetime, time, timedelta

import xlrd
from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetVisibleEnum

from tools.formats.cells import Number, number_text, ranges
from tools.formats.grid import Grid
from tools.formats.source import Source
from tools.formats.styles import colour_name, date_parts
from tools.page import Document

_KIND = "an Excel workbook"
_MAX_CELLS = 600_000
_MAX_LISTED = 200
_TROUBLE = (xlrd.XLRDError, xlrd.compdoc.CompDocError, xlrd.formula.FormulaError, ValueError, TypeError, KeyError, IndexError,
            AttributeError, AssertionError, OverflowError, UnicodeError, EOFError, NotImplementedError, ArithmeticError)  # fmt: skip


def oldsheets_document(source: Source) -> Document:
    """An .xls file. Raises DocumentError."""
    try:
        return _with_colours(source)
    except xlrd.XLRDError as error:
        if "encrypted" in str(error).lower():
            raise source.locked(_KIND) from None
        return _values_alone(source)
    except _TROUBLE:
        return _values_alone(source)


class _Styles:
    """The styles of a workbook that xlrd opened, by their numbers."""

    def __init__(self, book: xlrd.Book) -> None:
        self._book = book

    def date_parts(self, style: str) -> str:
        """Any of "d" and "t": the style shows a day, a time, both or neither."""
        code = self._book.format_map.get(self._book.xf_list[int(style)].format_key)
        return date_parts(str(code.format_str)) if code else ""

    def fill(self, style: int) -> str:
        """The fill colour as a name and its code; nothing without one."""
        background = self._book.xf_list[style].background
        colour = self._book.colour_map.get(background.pattern_colour_index)
        if not background.fill_pattern or not colour:
            return ""
        code = "".join(f"{part:02X}" for part in colour)
        return f"{colour_name(code)} {code}" if code != "FFFFFF" else ""


def _with_colours(source: Source) -> Document:
    # What xlrd finds odd it writes to a log, by default to the terminal.
    book = xlrd.open_workbook(file_contents=source.content, formatting_info=True, logfile=io.StringIO())
    styles = _Styles(book)
    numbers = Number(styles, book.datemode == 1)
    parts: list[str] = []
    tables: list[tuple[tuple[str, ...], ...]] = []
    left = _MAX_CELLS
    for sheet in book.sheets():
        grid = Grid()
        colours: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row in range(sheet.nrows):
            for column, cell in enumerate(sheet.row(row)):
                left -= 1
                if cell.ctype not in (xlrd.XL_CELL_EMPTY, xlrd.XL_CELL_BLANK):
                    grid.put(row + 1, column + 1, _shown(cell, numbers))
                if cell.xf_index is not None and (colour := styles.fill(cell.xf_index)):
                    colours[colour].append((row + 1, column + 1))
            if left <= 0:
                break
        for top, bottom, first, last in sheet.merged_cells:
            grid.span(top + 1, first + 1, bottom, last)
        texts, found = grid.blocks()
        hidden = " (hidden)" if sheet.visibility else ""
        parts += [f"## {sheet.name}{hidden}", *(texts or ["(empty)"])]
        tables += found
        remarks = [
            f"- {grid.name(row + 1, column + 1)}: {' '.join(str(note.text).split())}"
            for (row, column), note in sorted(sheet.cell_note_map.items())
        ]
        filled = [
            f"- {colour}: {', '.join(ranges(cells)[:_MAX_LISTED])}" for colour, cells in colours.items()
        ]
        for head, lines in (("Comments", remarks), ("Fill colours", filled)):
            parts += [f"{head}:\n\n" + "\n".join(lines)] if lines else []
        if left <= 0:
            break
    note = f"only the first {_MAX_CELLS:,} cells were read" if left <= 0 else ""
    return source.document("\n\n".join(parts), note=note, sheets=tuple(tables))


def _shown(cell: xlrd.sheet.Cell, numbers: Number) -> str:
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    if cell.ctype in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
        return numbers.shown(repr(float(cell.value)), str(cell.xf_index or 0))
    return str(cell.value)


def _values_alone(source: Source) -> Document:
    """The same by another library, which forgives more and tells less."""
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(source.content))
    except PasswordError:
        raise source.locked(_KIND) from None
    except CalamineError:
        raise source.damaged(_KIND) from None
    parts: list[str] = []
    tables: list[tuple[tuple[str, ...], ...]] = []
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
                break
        texts, found = grid.blocks()
        hidden = "" if about.visible == SheetVisibleEnum.Visible else " (hidden)"
        parts += [f"## {about.name}{hidden}", *(texts or ["(empty)"])]
        tables += found
        if left <= 0:
            break
    note = f"only the first {_MAX_CELLS:,} cells were read" if left <= 0 else ""
    return source.document("\n\n".join(parts), note=note, sheets=tuple(tables))


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
