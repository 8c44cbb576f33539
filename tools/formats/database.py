"""SQLite databases: every table with its columns, how many rows it has, and the first of them."""

import sqlite3
from contextlib import closing

from tools.formats.source import Source
from tools.page import Document
from tools.tables import table_text

_KIND = "a SQLite database"
_FIRST_ROWS = 50
_MAX_TABLES = 200
_MAX_CELL = 500
_MAX_STEPS = 40_000_000
_STEPS_A_LOOK = 100_000


def database_document(source: Source) -> Document:
    """A .sqlite or .db file, read in memory: nothing is written, nothing else is opened. Raises DocumentError."""
    content = bytearray(source.content)
    content[18:20] = b"\x01\x01"  # a database in WAL mode cannot be opened from memory otherwise
    left = _MAX_STEPS // _STEPS_A_LOOK

    def tired() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    parts: list[str] = []
    sheets: list[tuple[tuple[str, ...], ...]] = []
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(bytes(content))
            database.text_factory = lambda raw: raw.decode("utf-8", "replace")
            database.set_progress_handler(tired, _STEPS_A_LOOK)
            for rule in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON"):
                database.execute(f"PRAGMA {rule}")
            database.set_authorizer(_only_reading)
            found = database.execute(
                "SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY type, name"
            )
            for kind, name, sql in found.fetchmany(_MAX_TABLES):
                if kind == "view" or str(sql or "").upper().startswith("CREATE VIRTUAL"):
                    parts += [f"## {name} ({kind})", f"```sql\n{sql}\n```"]
                elif not str(name).startswith("sqlite_"):
                    parts += _table(database, str(name), str(sql or ""), sheets)
    except (sqlite3.Error, OverflowError, ValueError):
        if not parts:
            raise source.damaged(_KIND) from None
        return source.document(
            "\n\n".join(parts), note="the database is damaged or too slow: not all of it was read"
        )
    return source.document("\n\n".join(parts) or "(a database without tables)", sheets=tuple(sheets))


def _table(
    database: sqlite3.Connection, name: str, sql: str, sheets: list[tuple[tuple[str, ...], ...]]
) -> list[str]:
    quoted = '"' + name.replace('"', '""') + '"'
    cursor = database.execute(f"SELECT * FROM {quoted} LIMIT {_FIRST_ROWS}")  # noqa: S608 - quoted as SQLite wants it
    columns = tuple(str(each[0]) for each in cursor.description)
    rows = tuple(tuple(_text(value) for value in row) for row in cursor)
    (count,) = database.execute(f"SELECT count(*) FROM {quoted}").fetchone()  # noqa: S608
    sheets.append((columns, *rows))
    more = f", the first {len(rows)}" if count > len(rows) else ""
    return [f"## {name} ({count:,} rows{more})", f"```sql\n{sql.strip()}\n```", table_text(columns, rows)]


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bytes):
        return f"({len(value):,} bytes)"
    text = str(value)
    return text if len(text) <= _MAX_CELL else text[:_MAX_CELL] + "…"


def _only_reading(action: int, *_: object) -> int:
    allowed = (sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_FUNCTION)
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY
