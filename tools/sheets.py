"""CSV and Excel workbooks to Markdown tables, and to DataFrames for the agent's code."""

import csv
import io
import warnings
import zipfile
import zlib
from datetime import date, datetime, time

from tools.errors import DocumentError
from tools.page import Document
from tools.tables import frame_of_rows, table_text

_MAX_CELLS = 2_000_000


def csv_document(text: str, *, url: str = "", name: str = "") -> Document:
    """A CSV or TSV file, its delimiter guessed from its lines."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=_delimiter(text)) if any(row)]
    except csv.Error:  # a field of over 128 KB: no table that anybody can read
        return Document(url, name, text.strip())
    if not rows:
        raise DocumentError(f"{name or url or 'the file'} has no rows: there is nothing to read in it.")
    return Document(url, name, table_text(rows[0], rows[1:]), frames=(frame_of_rows(rows),))


def workbook_document(content: bytes, *, url: str = "", name: str = "") -> Document:
    """An .xlsx workbook, a heading and a table a sheet. Raises DocumentError."""
    import openpyxl

    shown = name or url or "the file"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except (
        zipfile.BadZipFile,
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        OSError,
        SyntaxError,
        IndexError,
    ):
        raise DocumentError(
            f"{shown} is no Excel workbook that can be opened: it is damaged or locked."
        ) from None
    parts: list[str] = []
    frames = []
    cells = 0
    note = ""
    try:
        for sheet in book.worksheets:
            sheet.reset_dimensions()
            rows: list[list[str]] = []
            for values in sheet.iter_rows(values_only=True):
                row = [_cell(value) for value in values]
                while row and not row[-1]:
                    row.pop()
                rows.append(row)
                cells += len(row)
                if cells > _MAX_CELLS:
                    note = f"only the first {_MAX_CELLS:,} cells were read"
                    break
            rows = [row for row in rows if row]
            hidden = "" if sheet.sheet_state == "visible" else " (hidden)"
            parts.append(
                f"## {sheet.title}{hidden}\n\n" + (table_text(rows[0], rows[1:]) if rows else "(empty)")
            )
            if rows:
                frames.append(frame_of_rows(rows))
    except (
        KeyError,
        ValueError,
        TypeError,
        AttributeError,
        zipfile.BadZipFile,
        SyntaxError,
        IndexError,
        zlib.error,
    ):
        if not parts:
            raise DocumentError(f"{shown} is a damaged Excel workbook: its sheets cannot be read.") from None
        note = "the workbook is damaged: some of its sheets are missing"
    finally:
        book.close()
    title = " ".join(str(book.properties.title or "").split())
    return Document(url, title or name, "\n\n".join(parts), note, tuple(frames))


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime) and value.time() == time(0):
        return value.date().isoformat()
    if isinstance(value, datetime | date | time):
        return value.isoformat(sep=" ") if isinstance(value, datetime) else value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value)


def _delimiter(text: str) -> str:
    """The character that splits the first lines into the same number of columns, the most of them."""
    lines = [line for line in text[:20_000].split("\n")[:20] if line.strip()]

    def columns(mark: str) -> tuple[float, int]:
        counts = [line.count(mark) for line in lines]
        common = max(set(counts), key=counts.count) if counts else 0
        return (counts.count(common) / max(1, len(counts)) if common else 0.0, common)

    best = max(",;\t|", key=columns)
    return best if columns(best)[1] else ","
