"""The library's index: what is found, what is shown, what is noticed, and what is never served."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.errors import FetchError
from tools.search.library import Library
from tools.search.passages import passages_of, sentences

MARS = """# Mars

Mars is the fourth planet from the [Sun](sun.html#size) and is called the Red Planet.

## Moons

Mars has two moons, Phobos and Deimos. They were found in 1877 by Asaph Hall.

See also: [Sun](sun.html), [bridges](../bridges.csv).
"""
BRIDGES = "Bridge,Opened,Span (m)\n" + "".join(f"Bridge number {n},{1800 + n},{n * 10}\n" for n in range(60)) + (
    "Golden Gate Bridge,1937,1280\nBrooklyn Bridge,1883,486\n"
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "planets").mkdir(parents=True)
    (root / "planets" / "mars.md").write_text(MARS)
    (root / "planets" / "sun.html").write_text(
        "<title>The Sun</title><body><p>The Sun is a star. Its surface has 5,772 K."
    )
    (root / "bridges.csv").write_text(BRIDGES)
    (root / "broken.pdf").write_text("not a pdf")
    (root / ".hidden.md").write_text("# Hidden secret")
    return root


def library(folder: Path, index: Path | None = None) -> Library:
    return Library(folder, index, scan_seconds=0)


def test_the_passage_that_answers_is_shown(folder: Path) -> None:
    best = library(folder).search("How many moons does Mars have?")[0]
    assert (best.title, best.url) == ("Mars", "library://planets/mars.md")
    assert best.snippet.startswith("Mars has two moons, Phobos and Deimos.")
    assert best.match == 1.0


def test_a_table_shows_its_header_and_the_rows_that_were_asked_for(folder: Path) -> None:
    best = library(folder).search("How long after the Brooklyn Bridge was the Golden Gate Bridge opened?")[0]
    assert best.snippet.split("\n") == [
        "| Bridge | Opened | Span (m) |", "| Golden Gate Bridge | 1937 | 1280 |", "| Brooklyn Bridge | 1883 | 486 |", "(2 of 62 rows)",
    ]  # fmt: skip


def test_snippets_are_short_whatever_the_document(folder: Path) -> None:
    (folder / "long.md").write_text(
        "# Long\n\n" + "word " * 5000 + "\n\n| a |\n|---|\n" + "| needle row |\n" * 500
    )
    for result in library(folder).search("needle word row"):
        assert 0 < len(result.snippet) < 800


def test_any_text_is_a_valid_query(folder: Path) -> None:
    books = library(folder)
    for query in ('"', "'", "AND OR NOT", "NEAR(", "a*", "title:x", "-", "()", "{}", "^", "the of", "", "  ", "😀", "x" * 5000,
                  "moons' \"red\" (planet) * : ^ -", "中文 维基", "\0"):  # fmt: skip
        assert isinstance(books.search(query), list)


@settings(max_examples=50, deadline=None)
@given(query=st.text(max_size=80))
def test_no_query_makes_the_index_fail(query: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("fuzz")
    (root / "a.md").write_text(MARS)
    library(root).search(query)


def test_words_that_no_document_has_find_nothing(folder: Path) -> None:
    assert library(folder).search("quantum chromodynamics lattice") == []


def test_added_changed_and_deleted_files_are_noticed(folder: Path, tmp_path: Path) -> None:
    books = library(folder, tmp_path / "index.sqlite")
    assert books.refresh() == 4
    assert books.refresh() == 0
    (folder / "venus.txt").write_text("Venus is the hottest planet.")
    assert books.search("hottest planet")[0].url == "library://venus.txt"
    (folder / "venus.txt").write_text("Venus turns backwards, very slowly.")
    assert books.search("turns backwards")[0].url == "library://venus.txt"
    assert "hottest" not in str(books.search("hottest"))
    (folder / "venus.txt").unlink()
    assert books.search("turns backwards") == []


def test_the_index_is_kept_between_starts_and_rebuilt_when_it_is_damaged(
    folder: Path, tmp_path: Path
) -> None:
    index = tmp_path / "deep" / "index.sqlite"
    first = library(folder, index)
    assert first.refresh() == 4
    first.close()
    second = library(folder, index)
    assert second.refresh() == 0
    assert second.search("moons")[0].title == "Mars"
    second.close()
    index.write_bytes(b"no database at all" * 100)
    assert library(folder, index).search("moons")[0].title == "Mars"


def test_an_index_of_another_folder_is_not_taken_for_this_one(folder: Path, tmp_path: Path) -> None:
    library(folder, tmp_path / "i.sqlite").refresh()
    (tmp_path / "other").mkdir()
    assert library(tmp_path / "other", tmp_path / "i.sqlite").search("moons") == []


def test_a_place_where_nothing_can_be_written_does_not_end_the_library(folder: Path) -> None:
    assert library(folder, Path("/proc/no/index.sqlite")).search("moons")[0].title == "Mars"


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_found(folder: Path) -> None:
    books = library(folder)
    books.refresh()
    assert [problem.split(" is ")[0] for problem in books.problems()] == ["broken.pdf"]
    assert ("library://bridges.csv", "bridges") in books.documents()


def test_documents_are_read_by_their_address_and_their_links_stay_inside(folder: Path) -> None:
    books = library(folder)
    document = books.read("library://planets/mars.md#moons")
    assert [link.url for link in document.links] == [
        "library://planets/sun.html#size",
        "library://planets/sun.html",
        "library://bridges.csv",
    ]
    assert books.read("library://planets/sun.html").title == "The Sun"
    assert books.read("library://Mars").title == "Mars"
    assert books.read("library:/sun.html").title == "The Sun"


def test_nothing_outside_the_folder_is_ever_served(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "up").symlink_to(tmp_path)
    books = library(folder)
    for path in ("../secret.md", "planets/../../secret.md", "%2e%2e/secret.md", "/etc/passwd", f"/{tmp_path}/secret.md",
                 "link.md", "up/secret.md", ".hidden.md", "planets/%2e%2e/%2e%2e/secret.md", "..\\secret.md", "secret"):  # fmt: skip
        with pytest.raises(FetchError, match="not in the library"):
            books.read(f"library://{path}")
    assert books.search("secret") == []


def test_a_missing_address_names_the_closest(folder: Path) -> None:
    with pytest.raises(FetchError, match=r"closest are library://planets/mars\.md"):
        library(folder).read("library://planets/marss.md")


def test_names_with_spaces_and_accents_are_addresses_too(folder: Path) -> None:
    (folder / "Größe der Welt.md").write_text("# Welt\n\nDie Erde hat 12.756 km Durchmesser.")
    books = library(folder)
    found = books.search("Durchmesser Erde grosse")[0]
    assert " " not in found.url
    assert books.read(found.url).title == "Welt"


def test_searches_and_changes_from_many_threads_do_not_meet(folder: Path, tmp_path: Path) -> None:
    books = library(folder, tmp_path / "index.sqlite")
    failed: list[Exception] = []

    def work(number: int) -> None:
        try:
            (folder / f"n{number}.md").write_text(f"# Number {number}\n\nword{number} stands here.")
            assert books.search(f"word{number}")[0].title == f"Number {number}"
            assert books.search("moons of Mars")
        except Exception as error:  # noqa: BLE001 - whatever it is, it must reach the assertion
            failed.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_sentences_end_at_full_stops_and_not_at_initials() -> None:
    assert sentences("J. S. Bach and Dr. King met. It was 3.5 km away! Was it? (Yes.) St. Louis is a city.") == [
        "J. S. Bach and Dr. King met.", "It was 3.5 km away!", "Was it?", "(Yes.)", "St. Louis is a city.",
    ]  # fmt: skip


def test_lists_of_links_are_passages_that_count_little() -> None:
    assert [(p.heading, p.weight < 0.5) for p in passages_of(MARS)] == [
        ("Mars", False),
        ("Moons", False),
        ("Moons", True),
    ]


def test_a_name_that_is_not_utf8_is_named_and_the_others_are_found(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / os.fsdecode(b"dir\xfe")).mkdir()
    (folder / os.fsdecode(b"bad\xff.md")).write_text("# Bad\n\nzebra\n")
    books = library(folder)
    assert books.search("moons")[0].title == "Mars" and books.search("zebra") == []
    assert books.problems()[1:] == [
        f"{name} is not searched: its name is not UTF-8; rename it." for name in (r"bad\xff.md", r"dir\xfe")
    ]
    assert len(caplog.messages) == 2  # once, though the folder was looked at twice
