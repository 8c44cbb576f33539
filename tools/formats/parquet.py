"""Parquet: the columns with their types, how many rows there are, and the first of them. To be run apart."""

import io
import struct

from tools.formats.source import Source
from tools.page import Document
from tools.tables import table_text

_KIND = "a Parquet file"
_FIRST_ROWS = 200
_MAX_CELL = 500


def parquet_document(source: Source) -> Document:
    """A .parquet file. Raises DocumentError."""
    from fastparquet import ParquetFile
    from fastparquet.util import ParquetException

    try:
        table = ParquetFile(io.BytesIO(source.content))
        count = int(table.count())
        frame = table.head(_FIRST_ROWS)
        types = [f"{name}: {kind}" for name, kind in table.dtypes.items()]
        header = tuple(str(name) for name in frame.columns)
        rows = tuple(tuple(_text(value) for value in row) for row in frame.itertuples(index=False, name=None))
    except (ParquetException, ValueError, TypeError, KeyError, IndexError, AttributeError, RuntimeError, EOFError,
            OSError, OverflowError, NotImplementedError, ImportError, struct.error, MemoryError):  # fmt: skip
        raise source.damaged(_KIND) from None
    more = f"the first {len(rows):,} of its {count:,} rows are shown" if count > len(rows) else ""
    parts = [f"{count:,} rows. Columns: {', '.join(types)}", table_text(header, rows)]
    return source.document("\n\n".join(parts), note=more, sheets=((header, *rows),))


def _text(value: object) -> str:
    if value is None or value != value:  # NaN is not itself
        return ""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text if len(text) <= _MAX_CELL else text[:_MAX_CELL] + "…"
