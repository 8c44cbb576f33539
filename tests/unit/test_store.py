"""What is kept of runs and pages: for a reader in another process, after a crash, and from many threads."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from agent.errors import RunError
from agent.events import (
    Notice,
    Outcome,
    OutputPrinted,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    Usage,
)
from agent.orphans import end_orphans
from agent.settings import PROJECT
from agent.store import Listed, Store
from tools.ledger import Attempt, CachedPage

STARTED = RunStarted("How many?", "model", "library only", "1 full")
END = RunEnded(Outcome.ANSWERED, "two", (), "", 3.0, Usage(10, 2), 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "research.sqlite"


@pytest.fixture
def store(path: Path) -> Store:
    return Store(path)


def in_another_process(code: str, path: Path) -> str:
    """What this code prints there; `store` is a Store on the same file."""
    head = f"from pathlib import Path; from agent.store import Store; from agent.orphans import end_orphans; store = Store(Path({str(path)!r}))\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_a_log_can_be_read_from_where_a_reader_left_off(store: Store) -> None:
    store.create_run("r", "How many?")
    assert store.last_seq("r") == 0
    for number in range(1, 6):
        assert store.append("r", StepStarted(number)) == number
    assert store.last_seq("r") == 5
    assert store.events("r", after=3) == [(4, StepStarted(4)), (5, StepStarted(5))]
    assert store.events("r", after=5) == []


def test_a_run_is_known_by_its_question_and_its_outcome(store: Store) -> None:
    store.create_run("r", "How many?")
    store.append("r", STARTED)
    going = store.run("r")
    assert going is not None
    assert (going.question, going.ended, going.outcome) == ("How many?", None, None)
    store.append("r", END)
    ended = store.run("r")
    assert ended is not None
    assert ended.outcome is Outcome.ANSWERED
    assert ended.ended is not None
    assert ended.ended >= ended.started


def test_a_run_that_never_was_is_none_and_has_an_empty_log(store: Store) -> None:
    assert store.run("../../etc/passwd") is None
    assert (store.last_seq("nothing"), store.events("nothing"), store.snapshots("nothing")) == (0, [], [])


def test_another_process_reads_the_log_while_the_run_goes_on(store: Store, path: Path) -> None:
    store.create_run("r", "How many?")
    store.append("r", STARTED)
    store.append("r", ThoughtWritten(1, "“two” — ½"))
    code = "print(store.last_seq('r'), ascii(store.events('r')[1][1].text), store.run('r').ended)"
    assert in_another_process(code, path) == f"2 {'“two” — ½'!a} None"


def test_a_run_whose_process_is_gone_is_closed_when_the_app_starts_again(store: Store, path: Path) -> None:
    in_another_process(
        "from agent.events import *\n"
        "store.create_run('dead', 'How many?')\n"
        "store.append('dead', StepStarted(1))\n"
        "store.append('dead', StepEnded(1, 2.0, Usage(100, 5), 'searched', ''))\n"
        "store.append('dead', StepStarted(2))\n"
        "store.append('dead', ThoughtWritten(2, 'Mars has '))\n"
        "store.append('dead', ThoughtWritten(2, 'two moons.'))\n"
        "store.append('dead', StepStarted(3))\n"
        "store.ledger('dead').snapshot('library://mars.md', 'Mars', 'Mars has two moons.')\n",
        path,
    )
    assert end_orphans(store, "The app was ended.") == 1
    end = store.events("dead")[-1][1]
    assert isinstance(end, RunEnded)
    assert (end.outcome, end.reason, end.usage, end.steps) == (
        Outcome.FAILED,
        "The app was ended.",
        Usage(100, 5),
        1,
    )
    assert end.answer == "Mars has two moons."
    assert [(source.url, source.place) for source in end.sources] == [
        ("library://mars.md", "read, but not quoted")
    ]
    record = store.run("dead")
    assert record is not None
    assert record.outcome is Outcome.FAILED
    assert end_orphans(store, "The app was ended.") == 0


def test_a_run_of_a_process_that_lives_is_left_alone_by_another_one_that_starts(
    store: Store, path: Path
) -> None:
    store.create_run("mine", "How many?")
    assert in_another_process("print(end_orphans(store, 'ended'))", path) == "0"
    assert end_orphans(store, "ended") == 0


def test_a_process_that_got_the_number_of_a_dead_one_does_not_keep_its_run_open(store: Store) -> None:
    store.create_run("r", "How many?")
    store._database.connection.execute("UPDATE runs SET process = ?", (f"{os.getppid()} 1",))
    assert end_orphans(store, "ended") == 1


def test_many_threads_write_one_log_and_no_event_is_lost_or_doubled(store: Store) -> None:
    store.create_run("r", "How many?")

    def write(number: int) -> None:
        for each in range(50):
            store.append("r", Notice(f"{number}-{each}"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = store.events("r")
    assert [seq for seq, _ in events] == list(range(1, 201))
    assert len({event for _, event in events}) == 200


def test_two_processes_write_at_once_without_locking_each_other_out(store: Store, path: Path) -> None:
    store.create_run("here", "?")
    other = threading.Thread(
        target=in_another_process,
        args=(
            "from agent.events import Notice\nstore.create_run('there', '?')\n"
            "for n in range(100): store.append('there', Notice(str(n)))",
            path,
        ),
    )
    other.start()
    while other.is_alive():
        store.append("here", OutputPrinted(1, "x"))
        time.sleep(0.001)  # as a run does: it never writes without a break
    other.join()
    assert store.last_seq("there") == 100


def test_the_ledger_of_a_run_tells_what_was_tried_listed_and_read_in_order(store: Store) -> None:
    ledger, other = store.ledger("r"), store.ledger("other")
    good = Attempt("http://a.example", "http://a.example/", 200, "text/html", 500, 0.2, cached=True)
    bad = Attempt(
        "http://b.example", "http://c.example/", 403, "", 0, 1.0, error="It lets nobody in.",
        hops=("http://b.example/", "http://c.example/"), replaced_by="http://archive.example/b",
    )  # fmt: skip
    ledger.attempt(good)
    ledger.attempt(bad)
    other.listed("http://else.example", "Else", "")
    for number in range(3):
        ledger.listed(f"http://{number}.example", f"Title {number}", "words")
    ledger.snapshot("http://a.example/", "A", "the text")
    assert store.attempts("r") == [good, bad]
    assert store.listed("r") == [Listed(f"http://{n}.example", f"Title {n}", "words") for n in range(3)]
    assert [(s.url, s.title, s.text) for s in store.snapshots("r")] == [
        ("http://a.example/", "A", "the text")
    ]
    assert store.snapshots("other") == []


def test_a_page_read_by_two_runs_is_kept_once(store: Store) -> None:
    for run in ("r", "s"):
        store.ledger(run).snapshot("http://a.example/", "A", "the same text" * 1000)
    assert store._database.connection.execute("SELECT count(*) FROM texts").fetchone() == (1,)
    assert store.snapshots("r")[0].text == store.snapshots("s")[0].text


def test_a_page_with_half_a_character_is_kept_too(store: Store) -> None:
    store.ledger("r").snapshot("http://a.example/", "A", "half \ud83d here")
    assert store.snapshots("r")[0].text == "half ? here"


def test_a_page_is_served_from_the_cache_until_it_is_too_old(path: Path) -> None:
    page = CachedPage("http://a.example/", "text/html; charset=latin1", "a.html", b"\xe9\x00")
    store = Store(path, page_age=60)
    store.page_cache().put("http://a.example", page)
    assert store.page_cache().get("http://a.example") == page
    assert store.page_cache().get("http://b.example") is None
    store._database.connection.execute("UPDATE page_cache SET time = time - 61")
    assert store.page_cache().get("http://a.example") is None
    store.page_cache().put("http://b.example", page)
    assert store._database.connection.execute("SELECT url FROM page_cache").fetchall() == [
        ("http://b.example",)
    ]


def test_the_cache_lets_the_oldest_pages_go_when_it_is_full_and_keeps_none_if_that_is_wished(
    path: Path,
) -> None:
    store = Store(path, page_bytes=250)
    for name in "abcd":
        store.page_cache().put(name, CachedPage(name, "text/html", "", bytes(100)))
    assert [bool(store.page_cache().get(name)) for name in "abcd"] == [False, False, True, True]
    without = Store(path.with_name("other.sqlite"), page_age=0)
    without.page_cache().put("a", CachedPage("a", "text/html", "", b"x"))
    assert without.page_cache().get("a") is None


def test_a_file_of_an_older_version_gets_the_columns_that_it_lacks(path: Path) -> None:
    store = Store(path)
    for name in ("hops", "replaced_by"):
        store._database.connection.execute(f"ALTER TABLE attempts DROP COLUMN {name}")
    store.close()
    attempt = Attempt(
        "http://a.example", "http://a.example/", 200, "text/html", 5, 0.1, hops=("http://a.example/",)
    )
    again = Store(path)
    again.ledger("r").attempt(attempt)
    assert again.attempts("r") == [attempt]


def test_steps_of_an_earlier_app_are_read_back_after_a_restart(store: Store, path: Path) -> None:
    store.create_run("r", "How many?")
    for event in (STARTED, StepStarted(1), StepEnded(1, 1.0, Usage(), "answered"), END):
        store.append("r", event)
    store.close()
    again = Store(path)
    assert [event for _, event in again.events("r")][-1] == END
    assert again.append("r", Notice("more")) == 5


def test_a_full_disk_does_not_leave_the_readers_of_a_run_waiting(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.sqlite")
    store.create_run("r", "?")
    (pages,) = store._database.connection.execute("PRAGMA page_count").fetchone()
    store._database.connection.execute(f"PRAGMA max_page_count = {pages}")
    for _ in range(200):
        store.append("r", Notice("x" * 500))
    last = store.append("r", RunEnded(Outcome.ANSWERED, "2", (), "", 1.0, Usage(), 1))
    events = store.events("r")
    assert [seq for seq, _ in events] == list(range(1, last + 1))
    assert isinstance(events[-1][1], RunEnded) and store.last_seq("r") == last == 201


def test_an_event_of_an_older_version_does_not_hide_the_rest_of_a_run(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.sqlite")
    store.create_run("r", "?")
    store.append("r", Notice("first"))
    store._database.connection.execute("INSERT INTO events VALUES ('r', 2, 0, '{\"kind\": \"Forgotten\"}')")
    store._database.connection.execute(
        'INSERT INTO events VALUES (\'r\', 3, 0, \'{"kind": "Notice", "words": 1}\')'
    )
    assert [event for _, event in store.events("r")] == [Notice("first")]


def test_a_full_disk_loses_the_pages_and_the_addresses_of_a_run_but_not_the_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(tmp_path / "runs.sqlite")
    store.create_run("r", "?")
    (pages,) = store._database.connection.execute("PRAGMA page_count").fetchone()
    store._database.connection.execute(f"PRAGMA max_page_count = {pages}")
    ledger, long = store.ledger("r"), "x" * 10_000
    ledger.attempt(
        Attempt(f"http://a.example/{long}", "http://a.example/", 200, "text/html", 1, 0.1, False, "")
    )
    ledger.snapshot("http://a.example/", "A", long)
    ledger.listed("http://a.example/", "A", long)
    store.page_cache().put(
        "http://a.example/", CachedPage("http://a.example/", "text/html", "", long.encode())
    )
    assert store.attempts("r") == store.snapshots("r") == store.listed("r") == []
    assert store.page_cache().get("http://a.example/") is None
    assert len([record for record in caplog.records if "is full" in record.getMessage()]) == 4


def _damage(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("CREATE TABLE later (x)")  # else the store reads on from its cache
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x5a" * (path.stat().st_size - 4096))


def test_a_file_of_runs_that_is_damaged_while_the_app_works_takes_no_run_but_ends_what_goes_on(
    tmp_path: Path,
) -> None:
    store = Store(tmp_path / "runs.sqlite")
    store.create_run("r", "?")
    first = store.append("r", STARTED)
    _damage(tmp_path / "runs.sqlite")
    store.append("r", END)
    assert [event for _, event in store.events("r", first)] == [END] and store.last_seq("r") == first + 1
    store.ledger("r").snapshot("http://a.example/", "A", "text")
    assert (
        store.attempts("r") == store.snapshots("r") == store.listed("r") == store.conversation("r", "v") == []
    )
    assert store.run("r") is None
    with pytest.raises(RunError, match=r"^The file of runs in DATA_DIR is damaged \(.*start again\.$"):
        store.create_run("s", "?")


def test_runs_do_not_fill_the_disk_for_ever_the_oldest_are_let_go(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.sqlite", most_bytes=2_000_000)

    def ask(run_id: str, *, ends: bool = True) -> None:
        store.create_run(run_id, "?")
        store.own(run_id, "v", "")
        store.append(run_id, STARTED)
        store.ledger(run_id).snapshot("http://a.example/", "A", f"{run_id} " * 50_000)
        store.ledger(run_id).snapshot("http://b.example/", "B", "read by all " * 1000)
        if ends:
            store.append(run_id, END)

    ask("goes on", ends=False)
    for number in range(60):
        ask(f"run {number:03d}")
    assert (tmp_path / "runs.sqlite").stat().st_size < 6_000_000
    assert store.run("run 000") is None and not store.events("run 000") and not store.snapshots("run 000")
    assert not store.conversation("run 000", "v")
    for kept in ("goes on", "run 059"):
        assert store.run(kept) and store.events(kept)
        assert [snapshot.title for snapshot in store.snapshots(kept)] == ["A", "B"]


def test_runs_stay_where_no_limit_is_set(tmp_path: Path) -> None:
    store = Store(tmp_path / "runs.sqlite")
    for number in range(20):
        store.create_run(f"{number}", "?")
        store.append(f"{number}", END)
        store.ledger(f"{number}").snapshot("http://a.example/", "A", f"{number} " * 50_000)
    assert all(store.run(f"{number}") for number in range(20))
