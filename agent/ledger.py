"""What the tools write: what one run tried, listed and read; and the pages that all runs share."""

import hashlib
import time
from dataclasses import astuple

from agent.database import Database
from tools.ledger import Attempt, CachedPage


class RunLedger:
    """What one run tried, listed and read; the `Ledger` that the tools write to."""

    def __init__(self, database: Database, run_id: str) -> None:
        self._database = database
        self._run_id = run_id

    def attempt(self, attempt: Attempt) -> None:
        with self._database.dispensable("an address that was tried") as db:
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
        with self._database.dispensable("a page that was read") as db:
            db.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, content.decode()))
            db.execute(
                "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)",
                (self._run_id, url, title, digest, time.time()),
            )

    def listed(self, url: str, title: str, snippet: str) -> None:
        with self._database.dispensable("a search result") as db:
            place = db.execute("SELECT count(*) FROM listed WHERE run_id = ?", (self._run_id,)).fetchone()[0]
            db.execute(
                "INSERT INTO listed VALUES (?, ?, ?, ?, ?)", (self._run_id, place, url, title, snippet)
            )


class SharedPageCache:
    """Pages of the web, shared by all runs; the `PageCache` that the fetcher asks."""

    def __init__(self, database: Database, age: float, most_bytes: int) -> None:
        """`age`: seconds for which a page is served again, 0 for none; `most_bytes`: of all of them."""
        self._database, self._age, self._bytes = database, age, most_bytes

    def get(self, url: str) -> CachedPage | None:
        oldest = time.time() - self._age
        rows = self._database.rows(
            "SELECT final_url, content_type, filename, content FROM page_cache WHERE url = ? AND time > ?",
            url,
            oldest,
        )
        return CachedPage(*rows[0]) if rows else None

    def put(self, url: str, page: CachedPage) -> None:
        if self._age <= 0:
            return
        with self._database.dispensable("a page for other runs") as db:
            db.execute("DELETE FROM page_cache WHERE time < ?", (time.time() - self._age,))
            db.execute(
                "INSERT OR REPLACE INTO page_cache VALUES (?, ?, ?, ?, ?, ?)",
                (url, page.url, page.content_type, page.filename, page.content, time.time()),
            )
            db.execute(
                "DELETE FROM page_cache WHERE url IN (SELECT url FROM"
                " (SELECT url, sum(length(content)) OVER (ORDER BY time DESC, url) AS total FROM page_cache)"
                " WHERE total > ?)",
                (self._bytes,),
            )
