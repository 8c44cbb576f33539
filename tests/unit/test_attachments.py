"""What a visitor asks and attaches: what is taken, under what name, and what is refused."""

import errno
import os
import re
import shutil
from pathlib import Path

import pytest

from agent.errors import BadQuestion, BadUpload, RunError
from agent.events import Outcome, OutputPrinted, RunStarted
from tests.agent_world import MakeWorld, answer, step

QUESTION = "How many moons has Mars?"


@pytest.mark.parametrize("question", ["", "   \n\t "])
def test_an_empty_question_is_refused_in_one_sentence(world: MakeWorld, question: str) -> None:
    with pytest.raises(BadQuestion, match=r"^The question is empty: write what you want to know\.$"):
        world().session.ask(question)


def test_twenty_thousand_characters_are_refused_with_what_to_do_instead(world: MakeWorld) -> None:
    app = world()
    with pytest.raises(
        BadQuestion, match=r"^The question has 20,000 characters and the limit is 8,000: shorten"
    ):
        app.session.ask("x" * 20_000)
    assert not app.session.busy


def test_a_question_with_half_a_character_is_taken(world: MakeWorld) -> None:
    app = world(answer("two"))
    assert app.ask("How many \ud83d moons?").end.outcome is Outcome.ANSWERED
    assert "How many ? moons?" in app.sent(0)


def test_files_that_cannot_be_used_are_refused_by_name_and_with_the_reason(
    world: MakeWorld, tmp_path: Path
) -> None:
    session = world(max_file_mb=1).session
    contents = {
        "empty.txt": (b"", "is empty"),
        "report.pdf": (b"<html>no such report</html>", "is called a PDF but is none"),
        "large.csv": (b"x" * (1 << 21), "has 2 MB and the limit is 1 MB"),
    }
    for name, (content, reason) in contents.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(BadUpload, match=rf"^The file {re.escape(name)} {reason}[^\n]*: attach [^\n]*\.$"):
            session.ask(QUESTION, [tmp_path / name])
    for path in (tmp_path / "gone.txt", tmp_path):
        with pytest.raises(BadUpload, match=rf"^The file {path.name} cannot be read"):
            session.ask(QUESTION, [path])
    assert not session.busy


def test_an_attached_file_is_read_by_the_tool_and_by_the_code_and_named_to_the_model(
    world: MakeWorld, tmp_path: Path
) -> None:
    notes = tmp_path / "my rivers.txt"
    notes.write_text("The Orme is 41 km long.\n")
    app = world(
        step(
            "I read it.",
            "print(inspect_file_as_text('my rivers.txt').text)\nprint(open('my rivers.txt').read())",
        ),
        answer("41", ("my rivers.txt", "Orme")),
    )
    told = app.ask("How long is the Orme?", [notes])
    assert "my rivers.txt" in app.sent(0)
    assert told.text(OutputPrinted).count("Orme") == 2
    assert [(source.url, source.status) for source in told.end.sources] == [("my rivers.txt", "verified")]


def test_two_attached_files_of_one_name_are_both_there_and_shown_under_the_names_they_have(
    world: MakeWorld, tmp_path: Path
) -> None:
    paths = [tmp_path / folder / name for folder, name in (("a", "data.csv"), ("b", "Data.csv"))]
    for path in paths:
        path.parent.mkdir()
        path.write_text(f"from\n{path.parent.name}\n")
    names = ["data.csv", "Data (2).csv", "data (3).csv"]
    app = world(
        step("I read both.", "print([open(name).read() for name in ('data.csv', 'Data (2).csv')])"),
        answer("a, b"),
        step("And the new one.", "print(open('data (3).csv').read())"),
        answer("a again"),
    )
    told = app.ask(QUESTION, paths)
    assert list(told.all(RunStarted)[0].files) == names[:2]
    assert all(name in app.sent(0) for name in names[:2])
    assert "['from\\na\\n', 'from\\nb\\n']" in told.text(OutputPrinted)
    later = app.ask(QUESTION, paths[:1])
    assert list(later.all(RunStarted)[0].files) == names[2:]
    assert later.text(OutputPrinted).startswith("from\na")


def test_files_of_a_question_that_was_refused_keep_their_names_when_it_is_asked_again(
    world: MakeWorld, tmp_path: Path
) -> None:
    good, empty = tmp_path / "good.csv", tmp_path / "empty.csv"
    good.write_text("a\n1\n")
    empty.write_text("")
    app = world(answer("1"))
    with pytest.raises(BadUpload, match=r"empty\.csv is empty"):
        app.session.ask(QUESTION, [good, empty])
    assert list(app.ask(QUESTION, [good]).all(RunStarted)[0].files) == ["good.csv"]


def test_more_files_than_a_question_may_have_are_refused_in_one_sentence(
    world: MakeWorld, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    with pytest.raises(
        BadUpload, match=r"^The question comes with 21 files and the limit is 20: attach fewer"
    ):
        world().session.ask(QUESTION, [path] * 21)


def test_a_full_disk_refuses_a_question_in_one_sentence_and_takes_it_once_there_is_room(
    world: MakeWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attached = tmp_path / "a.csv"
    attached.write_text("a\n1\n")
    app = world(answer("two"))
    session, database = app.session, app.services.store._database.connection
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}")
    full = (
        r"^The disk of DATA_DIR is full, so no question can be kept: free some space there, then ask again\.$"
    )
    with pytest.raises(RunError, match=full):
        for _ in range(50):  # what is left of the last page goes first
            app.services.store.create_run(os.urandom(8).hex(), "x" * 500)
    with pytest.raises(RunError, match=full):
        session.ask("x" * 5000, [attached])
    assert not session.busy
    database.execute("PRAGMA max_page_count = 100000")
    assert list(app.ask(QUESTION, [attached]).all(RunStarted)[0].files) == ["a.csv"]

    def no_space(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", no_space)
    with pytest.raises(RunError, match=full):
        session.ask(QUESTION, [attached])
    monkeypatch.setattr(Path, "mkdir", no_space)
    with pytest.raises(RunError, match=full):
        app.sessions.open()
