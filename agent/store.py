"""Runs, their events and the pages they read, in one SQLite file.

The event log is append-only: a run writes, everybody else reads. Readers poll
`last_seq`, which costs nothing, and then read what is new.
"""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agent.database import Database
from agent.errors import RunError
from agent.events import Event, Outcome, RunEnded, from_json, to_json
from agent.ledger import RunLedger, SharedPageCache
from agent.processes import process_named
from agent.retention import let_oldest_go
from tools.ledger import Attempt

log = logging.getLogger(__name__)

# A page that shows more gets slow.
_MOST_TURNS = 50


@dataclass(frozen=True)
class RunRecord:
    """One run as the store knows it; `ended` is None while it goes on. Times are Unix seconds."""

    id: str
    question: str
    started: float
    ended: float | None
    outcome: Outcome | None


@dataclass(frozen=True)
class OpenRun:
    """A run without an end. `process`: which one began it; `last`: when it wrote its newest event. Unix seconds."""

    id: str
    process: str
    started: float
    last: float


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

    def __init__(
        self,
        path: Path,
        page_age: float = 24 * 3600,
        page_bytes: int = 500_000_000,
        most_bytes: int = 0,
    ) -> None:
        """`page_age`: seconds for which a cached page is served again, 0 for none; `page_bytes`: of all of them.

        `most_bytes`: of the whole file, beyond which the oldest runs go; 0 without a limit.
        """
        self._most_bytes = most_bytes
        self._database = Database(path)
        self._pages = SharedPageCache(self._database, page_age, page_bytes)
        self._lock = threading.RLock()
        self._seqs: dict[str, int] = {}
        self._unwritten: dict[str, list[tuple[int, Event]]] = {}

    def close(self) -> None:
        self._database.close()

    def create_run(self, run_id: str, question: str) -> None:
        """Open the log of a run. RunError when it cannot be written, as on a full disk."""
        let_oldest_go(self._database, self._most_bytes)
        with self._lock, self._database.cursor() as db:
            try:
                db.execute(
                    "INSERT INTO runs (id, question, process, started) VALUES (?, ?, ?, ?)",
                    (run_id, question, process_named(os.getpid()), time.time()),
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
        with self._lock, self._database.cursor() as db:
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
            rows = self._database.rows("SELECT max(seq) FROM events WHERE run_id = ?", run_id)
            seq = (rows[0][0] if rows else None) or 0
        return seq

    def events(self, run_id: str, after: int = 0) -> list[tuple[int, Event]]:
        """What was written after place `after`, oldest first."""
        with self._lock:
            rows = self._database.rows(
                "SELECT seq, body FROM events WHERE run_id = ? AND seq > ? ORDER BY seq", run_id, after
            )
            unwritten = [entry for entry in self._unwritten.get(run_id, ()) if entry[0] > after]
        return sorted([*_events(rows), *unwritten], key=lambda entry: entry[0])

    def run(self, run_id: str) -> RunRecord | None:
        rows = self._database.rows(
            "SELECT id, question, started, ended, outcome FROM runs WHERE id = ?", run_id
        )
        if not rows:
            return None
        row = rows[0]
        return RunRecord(row[0], row[1], row[2], row[3], Outcome(row[4]) if row[4] else None)

    def own(self, run_id: str, visitor: str, previous: str) -> None:
        """Note whose run it is, and which of their runs it follows, if any."""
        with self._database.dispensable("whose run it is") as db:
            db.execute("INSERT OR REPLACE INTO turns VALUES (?, ?, ?)", (run_id, visitor, previous))

    def conversation(self, run_id: str, visitor: str) -> list[str]:
        """The runs of a conversation up to this one, oldest first; empty when the run is not that visitor's."""
        rows = self._database.rows(
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

    def open_runs(self) -> list[OpenRun]:
        """The runs whose log has no end yet, those of other processes too."""
        rows = self._database.rows(
            "SELECT id, process, started, (SELECT max(time) FROM events WHERE run_id = id) FROM runs"
            " WHERE ended IS NULL"
        )
        return [OpenRun(row[0], str(row[1]), row[2], row[3] or row[2]) for row in rows]

    def ledger(self, run_id: str) -> RunLedger:
        return RunLedger(self._database, run_id)

    def page_cache(self) -> SharedPageCache:
        return self._pages

    def attempts(self, run_id: str) -> list[Attempt]:
        """Every address that the run tried, in order."""
        rows = self._database.rows(
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
        rows = self._database.rows(
            "SELECT url, title, text, time FROM snapshots JOIN texts ON text_sha256 = sha256"
            " WHERE run_id = ? ORDER BY time",
            run_id,
        )
        return [Snapshot(*row) for row in rows]

    def listed(self, run_id: str) -> list[Listed]:
        """Every search result that the run was shown, in order."""
        rows = self._database.rows(
            "SELECT url, title, snippet FROM listed WHERE run_id = ? ORDER BY place", run_id
        )
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
