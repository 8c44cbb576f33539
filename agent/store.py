"""Runs, their events and the pages they read, in one SQLite file.

The event log is append-only: a run writes, everybody else reads. Readers poll
`last_seq`, which costs nothing, and then read what is new.
"""

import hashlib
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from agent.errors import RunError
from agent.events import Event, Outcome, RunEnded, StepEnded, Usage, from_json, to_json
from tools.ledger import Attempt, CachedPage

log = logging.getLogger(__name__)

# A page that shows more gets slow.
_MOST_TURNS = 50

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


@dataclass(frozen=True)
class RunRecord:
    """One run as the store knows it; `ended` is None while it goes on. Times are Unix seconds."""

    id: str
    question: str
    started: float
    ended: float | None
    outcome: Outcome | None


@dataclass(frozen=True)
class Snapshot:
    """The whole text of one document as the agent read it. `time`: Unix seconds."""

    url: str
    title: str
    text: str
    time: float


@dataclass(frozen=True)
class Listed:
    """One search result that the agent was shown."""

    url: str
    title: str
    snippet: str


class Store:
    """All that outlives a run. Safe to use from several threads."""

    def __init__(self, path: Path, page_age: float = 24 * 3600, page_bytes: int = 500_000_000) -> None:
        """`page_age`: seconds for which a cached page is served again, 0 for none; `page_bytes`: of all of them."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.page_age = page_age
        self.page_bytes = page_bytes
        self._lock = threading.RLock()
        self._seqs: dict[str, int] = {}
        self._unwritten: dict[str, list[tuple[int, Event]]] = {}
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(_SCHEMA)
        known = {row[1] for row in self._db.execute("PRAGMA table_info(attempts)")}
        for name in {"hops", "replaced_by"} - known:  # a file of an older version
            self._db.execute(f"ALTER TABLE attempts ADD COLUMN {name} TEXT NOT NULL DEFAULT ''")

    @contextmanager
    def _cursor(self) -> Iterator[sqlite3.Cursor]:
        with self._lock:
            cursor = self._db.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def _dispensable(self, what: str) -> Iterator[sqlite3.Cursor]:
        """A cursor to write what a run goes on without, as when the disk is full."""
        try:
            with self._cursor() as db:
                yield db
        except sqlite3.DatabaseError as error:
            log.warning("%s cannot be kept: %s", what, error)

    def _rows(self, query: str, *parameters: object) -> list[Any]:
        """What a query finds; nothing in a file that was damaged, so that a run goes on and is shown from memory."""
        try:
            with self._cursor() as db:
                return db.execute(query, parameters).fetchall()
        except sqlite3.ProgrammingError:
            raise
        except sqlite3.DatabaseError as error:
            log.warning("the runs cannot be read: %s", error)
            return []

    def create_run(self, run_id: str, question: str) -> None:
        """Open the log of a run. RunError when it cannot be written, as on a full disk."""
        with self._cursor() as db:
            try:
                db.execute(
                    "INSERT INTO runs (id, question, process, started) VALUES (?, ?, ?, ?)",
                    (run_id, question, _process(os.getpid()), time.time()),
                )
            except sqlite3.OperationalError as error:
                raise RunError(no_room(error.sqlite_errorcode == sqlite3.SQLITE_FULL, str(error))) from error
            except sqlite3.DatabaseError as error:
                raise RunError(
                    f"The file of runs in DATA_DIR is damaged ({error}), so no question can be kept:"
                    " whoever runs this app must move it away and start again."
                ) from error
            self._seqs[run_id] = 0

    def append(self, run_id: str, event: Event) -> int:
        """Write one event; its place in the log, counted from 1.

        What a full disk or a damaged file does not take is kept in memory, so
        that a run is shown to its end all the same.
        """
        with self._cursor() as db:
            seq = self.last_seq(run_id) + 1
            now = time.time()
            try:
                db.execute("INSERT INTO events VALUES (?, ?, ?, ?)", (run_id, seq, now, to_json(event)))
                if isinstance(event, RunEnded):
                    db.execute(
                        "UPDATE runs SET ended = ?, outcome = ? WHERE id = ?", (now, event.outcome, run_id)
                    )
            except sqlite3.DatabaseError as error:
                log.error("run %s cannot be kept, and is lost when the app ends: %s", run_id, error)
                self._unwritten.setdefault(run_id, []).append((seq, event))
            self._seqs[run_id] = seq
            return seq

    def last_seq(self, run_id: str) -> int:
        """The place of the newest event, 0 when there is none; from memory for runs of this process."""
        seq = self._seqs.get(run_id)
        if seq is None:
            rows = self._rows("SELECT max(seq) FROM events WHERE run_id = ?", run_id)
            seq = (rows[0][0] if rows else None) or 0
        return seq

    def events(self, run_id: str, after: int = 0) -> list[tuple[int, Event]]:
        """What was written after place `after`, oldest first."""
        with self._lock:
            rows = self._rows(
                "SELECT seq, body FROM events WHERE run_id = ? AND seq > ? ORDER BY seq", run_id, after
            )
            unwritten = [entry for entry in self._unwritten.get(run_id, ()) if entry[0] > after]
        return sorted([*_events(rows), *unwritten], key=lambda entry: entry[0])

    def run(self, run_id: str) -> RunRecord | None:
        rows = self._rows("SELECT id, question, started, ended, outcome FROM runs WHERE id = ?", run_id)
        if not rows:
            return None
        row = rows[0]
        return RunRecord(row[0], row[1], row[2], row[3], Outcome(row[4]) if row[4] else None)

    def own(self, run_id: str, visitor: str, previous: str) -> None:
        """Note whose run it is, and which of their runs it follows, if any."""
        with self._dispensable("whose run it is") as db:
            db.execute("INSERT OR IGNORE INTO turns VALUES (?, ?, ?)", (run_id, visitor, previous))

    def conversation(self, run_id: str, visitor: str) -> list[str]:
        """The runs of a conversation up to this one, oldest first; empty when the run is not that visitor's."""
        rows = self._rows(
            "WITH RECURSIVE talk(run_id, previous, back) AS (SELECT run_id, previous, 0 FROM turns"
            " WHERE run_id = ? AND visitor = ? UNION ALL SELECT turns.run_id, turns.previous, back + 1"
            " FROM turns JOIN talk ON turns.run_id = talk.previous WHERE visitor = ? AND back < ?)"
            " SELECT run_id FROM talk ORDER BY back DESC",
            run_id,
            visitor,
            visitor,
            _MOST_TURNS - 1,
        )
        return [row[0] for row in rows]

    def end_orphans(self, reason: str) -> int:
        """Close the log of every run whose process is gone; how many there were. `reason`: one sentence."""
        with self._cursor() as db:
            rows = db.execute("SELECT id, process, started FROM runs WHERE ended IS NULL").fetchall()
        orphans = [(run_id, started) for run_id, process, started in rows if not _lives(str(process))]
        for run_id, started in orphans:
            with self._cursor() as db:
                last = db.execute("SELECT max(time) FROM events WHERE run_id = ?", (run_id,)).fetchone()[0]
            steps = [event for _, event in self.events(run_id) if isinstance(event, StepEnded)]
            usage = sum((step.usage for step in steps), Usage())
            seconds = max(0.0, (last or started) - started)  # the clock may have been set back
            self.append(run_id, RunEnded(Outcome.FAILED, "", (), reason, seconds, usage, len(steps)))
        return len(orphans)

    def ledger(self, run_id: str) -> "RunLedger":
        return RunLedger(self, run_id)

    def page_cache(self) -> "SharedPageCache":
        return SharedPageCache(self)

    def attempts(self, run_id: str) -> list[Attempt]:
        """Every address that the run tried, in order."""
        rows = self._rows(
            "SELECT url, final_url, status, media_type, bytes, seconds, cached, error, hops, replaced_by FROM attempts"
            " WHERE run_id = ? ORDER BY time",
            run_id,
        )
        return [
            Attempt(
                url, final, status, kind, size, seconds, bool(cached), error, tuple(hops.split()), instead
            )
            for url, final, status, kind, size, seconds, cached, error, hops, instead in rows
        ]

    def snapshots(self, run_id: str) -> list[Snapshot]:
        """Every document that the run read, oldest first."""
        rows = self._rows(
            "SELECT url, title, text, time FROM snapshots JOIN texts ON text_sha256 = sha256"
            " WHERE run_id = ? ORDER BY time",
            run_id,
        )
        return [Snapshot(*row) for row in rows]

    def listed(self, run_id: str) -> list[Listed]:
        """Every search result that the run was shown, in order."""
        rows = self._rows("SELECT url, title, snippet FROM listed WHERE run_id = ? ORDER BY place", run_id)
        return [Listed(*row) for row in rows]


def no_room(full: bool, why: str) -> str:
    """Why no question can be taken while DATA_DIR cannot be written."""
    what = "is full" if full else f"cannot be written ({why})"
    return f"The disk of DATA_DIR {what}, so no question can be kept: free some space there, then ask again."


def _events(rows: list[tuple[int, str]]) -> Iterator[tuple[int, Event]]:
    """The events of another version of this app are left out where they have changed since."""
    for seq, body in rows:
        try:
            yield seq, from_json(body)
        except ValueError as error:
            log.warning("an event of an older version cannot be shown: %s", str(error).splitlines()[0])


def _lives(process: str) -> bool:
    return _process(int(process.split()[0])) == process


def _process(number: int) -> str:
    """A process and when it began: its number alone is given to another one after it."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{number}"
    return f"{number} {stat.rpartition(')')[2].split()[19]}"


class RunLedger:
    """What one run tried, listed and read; the `Ledger` that the tools write to."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id

    def attempt(self, attempt: Attempt) -> None:
        with self._store._dispensable("an address that was tried") as db:
            db.execute(
                "INSERT INTO attempts (run_id, time, url, final_url, status, media_type, bytes, seconds, cached, error,"
                " hops, replaced_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self._run_id,
                    time.time(),
                    *astuple(attempt)[:8],
                    " ".join(attempt.hops),
                    attempt.replaced_by,
                ),
            )

    def snapshot(self, url: str, title: str, text: str) -> None:
        content = text.encode("utf-8", "replace")
        digest = hashlib.sha256(content).hexdigest()
        with self._store._dispensable("a page that was read") as db:
            db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, content.decode()))
            db.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
                (self._run_id, url, title, digest, time.time()),
            )

    def listed(self, url: str, title: str, snippet: str) -> None:
        with self._store._dispensable("a search result") as db:
            place = db.execute("SELECT count(*) FROM listed WHERE run_id = ?", (self._run_id,)).fetchone()[0]
            db.execute(
                "INSERT INTO listed VALUES (?, ?, ?, ?, ?)", (self._run_id, place, url, title, snippet)
            )


class SharedPageCache:
    """Pages of the web, shared by all runs; the `PageCache` that the fetcher asks."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, url: str) -> CachedPage | None:
        oldest = time.time() - self._store.page_age
        rows = self._store._rows(
            "SELECT final_url, content_type, filename, content FROM page_cache WHERE url = ? AND time > ?",
            url,
            oldest,
        )
        return CachedPage(*rows[0]) if rows else None

    def put(self, url: str, page: CachedPage) -> None:
        if self._store.page_age <= 0:
            return
        with self._store._dispensable("a page for other runs") as db:
            db.execute("DELETE FROM page_cache WHERE time < ?", (time.time() - self._store.page_age,))
            db.execute(
                "INSERT OR REPLACE INTO page_cache VALUES (?, ?, ?, ?, ?, ?)",
                (url, page.url, page.content_type, page.filename, page.content, time.time()),
            )
            db.execute(
                "DELETE FROM page_cache WHERE url IN (SELECT url FROM"
                " (SELECT url, sum(length(content)) OVER (ORDER BY time DESC, url) AS total FROM page_cache)"
                " WHERE total > ?)",
                (self._store.page_bytes,),
            )
