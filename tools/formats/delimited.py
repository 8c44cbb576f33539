"""CSV and its kin: the delimiter is guessed from the first lines."""

import csv
import io

from tools.errors import DocumentError
from tools.formats.cells import MAX_COLUMNS, MAX_TABLE_CELLS
from tools.formats.source import Source
from tools.page import Document
from tools.tables import table_text


def delimited_document(source: Source) -> Document:
    """A CSV or TSV file as a table. Raises DocumentError."""
    text = source.text()
    try:
        rows, note = _rows(text)
    except csv.Error:  # a field of over 128 KB: no table that anybody can read
        return source.document(text)
    if not rows:
        raise DocumentError(f"{source.shown} has no rows: there is nothing to read in it.")
    return source.document(table_text(rows[0], rows[1:]), note=note, sheets=(tuple(rows),))


def _rows(text: str) -> tuple[list[tuple[str, ...]], str]:
    """The rows, and what of them was left out. A row counts as wide as the widest before it, as it is shown."""
    rows: list[tuple[str, ...]] = []
    width, note = 0, ""
    for row in csv.reader(io.StringIO(text), delimiter=_delimiter(text)):
        if not any(row):
            continue
        if len(row) > MAX_COLUMNS:
            note = f"only the first {MAX_COLUMNS:,} columns were read"
        width = max(width, min(len(row), MAX_COLUMNS))
        if (len(rows) + 1) * width > MAX_TABLE_CELLS:
            return rows, f"only the first {len(rows):,} rows were read"
        rows.append(tuple(row[:MAX_COLUMNS]))
    return rows, note


def _delimiter(text: str) -> str:
    """The character that splits the first lines into the same number of columns, the most of them."""
    lines = [line for line in text[:20_000].split("\n")[:20] if line.strip()]

    def columns(mark: str) -> tuple[float, int]:
        counts = [line.count(mark) for line in lines]
        common = max(set(counts), key=counts.count) if counts else 0
        return (counts.count(common) / max(1, len(counts)) if common else 0.0, common)

    best = max(",;\t|", key=columns)
    return best if columns(best)[1] else ","
