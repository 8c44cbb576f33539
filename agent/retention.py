"""Which runs are let go, so that the file of all runs does not grow for ever."""

import logging

from agent.database import Database

log = logging.getLogger(__name__)

# At one question, so that none waits long for it.
_AT_ONCE = 5


def let_oldest_go(database: Database, most_bytes: int) -> None:
    """Forget the oldest runs that have ended, with the pages that only they read, while the file holds too much."""
    if not most_bytes or _held_bytes(database) <= most_bytes:
        return
    oldest = database.rows("SELECT id FROM runs WHERE ended IS NOT NULL ORDER BY started LIMIT ?", _AT_ONCE)
    with database.dispensable("less than before") as db:
        for (run_id,) in oldest:
            for table in ("events", "turns", "attempts", "snapshots", "listed"):
                db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 - names of ours
            db.execute("DELETE FROM runs WHERE id = ?", (run_id,))
        db.execute("DELETE FROM texts WHERE sha256 NOT IN (SELECT text_sha256 FROM snapshots)")
    log.info("the oldest %d runs were let go: the file of runs holds more than RUNS_MB", len(oldest))


def _held_bytes(database: Database) -> int:
    """What is in use; the rest of the file is written again."""
    pages, free, size = (
        int(rows[0][0]) if (rows := database.rows(f"PRAGMA {name}")) else 0
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
