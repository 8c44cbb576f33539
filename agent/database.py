"""The one SQLite file of all runs and pages, and what is done when it cannot be read or written."""

import logging
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

log = logging.getLogger(__name__)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id TEXT PRIMARY KEY, question TEXT NOT NULL, process TEXT NOT NULL, started REAL NOT NULL, ended REAL, outcome TEXT
);
CREATE TABLE IF NOT EXISTS events (
    run_id TEXT NOT NULL, seq INTEGER NOT NULL, time REAL NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (run_id, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS turns (
    run_id TEXT PRIMARY KEY, visitor TEXT NOT NULL, previous TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS attempts (
    run_id TEXT NOT NULL, time REAL NOT NULL, url TEXT NOT NULL, final_url TEXT NOT NULL, status INTEGER,
    media_type TEXT NOT NULL, bytes INTEGER NOT NULL, seconds REAL NOT NULL, cached INTEGER NOT NULL, error TEXT NOT NULL,
    hops TEXT NOT NULL DEFAULT '', replaced_by TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS snapshots (
    run_id TEXT NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, text_sha256 TEXT NOT NULL, time REAL NOT NULL,
    PRIMARY KEY (run_id, url)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS texts (sha256 TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS listed (
    run_id TEXT NOT NULL, place INTEGER NOT NULL, url TEXT NOT NULL, title TEXT NOT NULL, snippet TEXT NOT NULL,
    PRIMARY KEY (run_id, place)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS page_cache (
    url TEXT PRIMARY KEY, final_url TEXT NOT NULL, content_type TEXT NOT NULL, filename TEXT NOT NULL,
    content BLOB NOT NULL, time REAL NOT NULL
);
"""


class Database:
    """One connection that threads share."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self.connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=NORMAL")
        self.connection.executescript(_SCHEMA)
        known = {row[1] for row in self.connection.execute("PRAGMA table_info(attempts)")}
        for name in {"hops", "replaced_by"} - known:  # a file of an older version
            self.connection.execute(f"ALTER TABLE attempts ADD COLUMN {name} TEXT NOT NULL DEFAULT ''")

    def close(self) -> None:
        with self._lock:
            self.connection.close()

    @contextmanager
    def cursor(self) -> Iterator[sqlite3.Cursor]:
        with self._lock:
            cursor = self.connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    @contextmanager
    def dispensable(self, what: str) -> Iterator[sqlite3.Cursor]:
        """A cursor to write what a run goes on without, as when the disk is full."""
        try:
            with self.cursor() as db:
                yield db
        except sqlite3.DatabaseError as error:
            log.warning("%s cannot be kept: %s", what, error)

    def rows(self, query: str, *parameters: object) -> list[Any]:
        """What a query finds; nothing in a file that was damaged, so that a run goes on and is shown from memory."""
        try:
            with self.cursor() as db:
                return db.execute(query, parameters).fetchall()
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.DatabaseError as error:
            log.warning("the runs cannot be read: %s", error)
            return []
