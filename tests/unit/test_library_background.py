"""A library that is read in the background: what a user can find meanwhile, and what nothing can spoil."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.library_folder import TeamFolder
from tools.search import ranking, reading, snapshot
from tools.search.apart import ReadApart
from tools.search.chain import SearchChain
from tools.search.index import Index
from tools.search.indexing import Progress
from tools.search.library import Library

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for number in range(12):
        (root / f"n{number}.md").write_text(f"# Number {number}\n\nThe word{number} stands here.")
    (root / "broken.pdf").write_text("not a pdf")
    return root


@contextmanager
def in_background(folder: Path, index: Path) -> Iterator[Library]:
    books = Library(folder, index, scan_seconds=0)
    books.start()
    try:
        yield books
    finally:
        books.close()


def eventually(holds: Callable[[], object], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(holds())


def is_read(books: Library) -> bool:
    return books.progress.total > 0 and books.progress.is_whole


def test_the_app_starts_at_once_and_a_search_says_how_much_of_the_library_it_knows(
    folder: Path, tmp_path: Path
) -> None:
    index = tmp_path / "index.sqlite"
    other = Index(index, folder)
    with other.writing(wait=True), in_background(folder, index) as books:  # another process reads it just now
        assert eventually(lambda: books.progress == Progress(0, 13))
        chain = SearchChain([books])
        assert chain.status() == "library only (0 of 13 read)"
        told = "Nothing was found for 'word3' (library: 0 of 13 read)"
        assert str(chain.search("word3")).startswith(told)
        other.put("n3.md", *books._indexer._look().files["n3.md"], reading.parsed(folder, "n3.md", 40))
        other.commit()
        assert eventually(lambda: books.progress == Progress(1, 13))
        assert str(chain.search("word3")).endswith("(library: 1 of 13 read)")
    other.close()


def test_what_is_added_changed_or_deleted_while_the_app_runs_is_noticed(folder: Path, tmp_path: Path) -> None:
    with in_background(folder, tmp_path / "index.sqlite") as books:
        assert eventually(lambda: is_read(books))
        assert str(books.progress) == "13 documents"
        (folder / "new.md").write_text("A zebra.")
        books.notice()
        assert eventually(lambda: books.search("zebra"))
        (folder / "new.md").write_text("A giraffe.")
        assert eventually(lambda: books.search("giraffe") and not books.search("zebra"))
        (folder / "new.md").unlink()
        assert eventually(lambda: not books.search("giraffe"))
        assert [problem.split(" is ")[0] for problem in books.problems()] == ["broken.pdf"]


def test_a_document_is_read_by_its_address_before_the_index_has_it(folder: Path, tmp_path: Path) -> None:
    other = Index(tmp_path / "index.sqlite", folder)
    with other.writing(wait=True), in_background(folder, tmp_path / "index.sqlite") as books:
        assert books.read("library://n7.md").title == "Number 7"
    other.close()


def test_the_next_start_reads_nothing_again(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite"
    with in_background(folder, index) as books:
        assert eventually(lambda: is_read(books))
    again = Library(folder, index)
    assert again.search("word5")[0].title == "Number 5"
    assert again.refresh() == 0
    again.close()


def test_two_apps_with_one_library_do_not_spoil_it(folder: Path, tmp_path: Path) -> None:
    index = tmp_path / "index.sqlite"
    with in_background(folder, index) as one, in_background(folder, index) as two:
        for books in (one, two):
            assert eventually(lambda books=books: is_read(books))
            assert books.search("word5")[0].title == "Number 5"
        (folder / "new.md").write_text("A zebra.")
        for books in (one, two):
            assert eventually(lambda books=books: len(books.search("zebra")) == 1)


def test_a_file_that_hangs_or_kills_its_reader_costs_only_itself(folder: Path) -> None:
    with ReadApart(folder) as apart:
        for signal_number, said in ((signal.SIGSTOP, "does not end within 1 s"), (signal.SIGKILL, "ended its reader")):  # fmt: skip
            assert apart.read("n1.md", 40).title == "Number 1" and apart._process is not None
            apart._seconds = 1 if signal_number == signal.SIGSTOP else 60
            os.kill(apart._process.pid, signal_number)
            assert said in apart.read("n2.md", 40).problem
            apart._seconds = 60


def test_of_a_very_long_file_the_beginning_is_searched_and_the_rest_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "_MOST_PASSAGES", 50)
    (folder / "long.txt").write_text("\n\n".join(f"Line {n} " + "of many words " * 20 for n in range(200)))
    books = Library(folder, None)
    assert "Line 3" in books.search("line 3")[0].snippet
    assert (
        "long.txt is very long: only its first 25% is searched, split it to search all of it."
        in books.problems()
    )
    assert ("library://long.txt", "long") in books.documents()


def test_words_that_all_documents_have_find_something_and_a_rare_one_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "_COUNTED", 20)
    monkeypatch.setattr(ranking, "_MOST_RANKED", 30)
    for number in range(60):
        (tmp_path / f"{number}.txt").write_text(f"Report {number} about the common topic, page {number % 9}.")
    books = Library(tmp_path, None)
    assert len(books.search("common topic report", 5)) == 5
    assert books.search("common topic report 37")[0].url == "library://37.txt"
    assert all("page 4" in each.snippet for each in books.search("common page 4", 5))


READ_UNTIL_KILLED = """
import sys
from pathlib import Path
from tools.search.library import Library
books = Library(Path(sys.argv[1]), Path(sys.argv[2]))
books.start()
while books.progress.read < 40:
    pass
print(books.progress.read, flush=True)
import time; time.sleep(60)
"""


def test_three_hundred_documents_survive_a_kill_in_the_middle(tmp_path: Path) -> None:
    team = TeamFolder(tmp_path / "team", 300)
    team.write()
    index = tmp_path / "index.sqlite"
    reader = subprocess.Popen(
        [sys.executable, "-c", READ_UNTIL_KILLED, str(team.folder), str(index)], cwd=PROJECT, stdout=subprocess.PIPE
    )  # fmt: skip
    assert reader.stdout is not None and int(reader.stdout.readline()) >= 40
    reader.kill()
    reader.wait()
    with in_background(team.folder, index) as books:
        assert eventually(lambda: books.progress.read >= 40)
        assert eventually(lambda: is_read(books))
        assert books.problems() == []
        asked = [each for each in team.questions(60) if each.path]
        found = [books.search(each.question)[0].url.endswith(each.path) for each in asked]
        assert sum(found) >= 0.95 * len(asked)
