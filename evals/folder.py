"""The folder of one evaluation: what was asked, of what, and what was answered.

    run.json          the set, the model, the side: what makes the results comparable
    questions.jsonl   the questions with their true answers
    results.jsonl     one line a result, appended; traces included
    NOTICE.txt        what the set's owners ask of everyone who keeps its content
    report.html, results.csv, submission.jsonl

Git is told to leave the folder alone: a set may be one that nobody may publish.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from agent.errors import ResearchError
from evals.questions import BadQuestions, Question, QuestionSet, by_id, load_rows
from evals.results import Key, Result, ResultsFile

_WHAT = {
    "name": "questions",
    "world": "pages",
    "model": "model",
    "side": "side",
    "steps": "number of steps",
    "code": "state of the code",
}


# What the runs that go on write meanwhile.
_LEAST_ROOM = 5_000_000


class BadFolder(ResearchError):
    """The folder holds no evaluation, or another one."""


@dataclass(frozen=True)
class About:
    """What an evaluation is of. Prices are dollars a million tokens, 0 when not known."""

    name: str
    world: str
    model: str
    side: str
    steps: int
    code: str
    scorer: str = "leaderboard"
    form: str = ""
    notice: str = ""
    prompt_price: float = 0.0
    completion_price: float = 0.0
    machine: str = ""


class Folder:
    """An evaluation on disk. `write` before a run, `read` for a report."""

    def __init__(self, path: Path, about: About, questions: dict[str, Question]) -> None:
        self.path, self.about, self.questions = path, about, questions

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises BadFolder."""
        try:
            about = About(**json.loads((path / "run.json").read_text("utf-8")))
        except (FileNotFoundError, NotADirectoryError) as error:
            raise BadFolder(f"{path} holds no evaluation: name the folder that a run was given.") from error
        except (OSError, ValueError, TypeError) as error:
            raise BadFolder(
                f"run.json in {path} cannot be read ({error}): run again in a new folder."
            ) from error
        try:
            rows = load_rows(path / "questions.jsonl", ("id", "question", "answer"))
            return cls(path, about, by_id(map(_question, rows)))
        except (BadQuestions, KeyError, TypeError) as error:
            raise BadFolder(
                f"questions.jsonl in {path} is damaged ({error}): run again in a new folder."
            ) from error

    @classmethod
    def write(cls, path: Path, about: About, asked: QuestionSet) -> Self:
        """The folder, made or taken up again. Raises BadFolder when it holds something else."""
        new = by_id(asked.questions)
        known: dict[str, Question] = {}
        if (path / "run.json").exists():
            before = cls.read(path)
            known = before.questions
            _compare(path, before.about, about)
            _same_questions(path, known, new)
        try:
            path.mkdir(parents=True, exist_ok=True)
            _keep(path / ".gitignore", "*\n")
            if about.notice:
                _keep(path / "NOTICE.txt", about.notice + "\n")
            rows = [question.row() for question in (known | new).values()]
            _keep(
                path / "questions.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            )
            _keep(path / "run.json", json.dumps(asdict(about), indent=1, ensure_ascii=False) + "\n")
        except OSError as error:
            raise BadFolder(f"{path} cannot be written ({error.strerror}): name another folder.") from error
        return cls(path, about, known | new)

    def results_file(self) -> ResultsFile:
        return ResultsFile(self.path / "results.jsonl")

    def results(self) -> list[Result]:
        """The newest result of each question and repeat that belongs to this evaluation."""
        about = self.about
        newest: dict[Key, Result] = {}
        for result in self.results_file().lines:
            key = result.key
            of = replace(key, question="", repeat=0)
            ours = Key(about.side, "", about.world, about.model, about.steps, about.code)
            if of == ours and key.question in self.questions and not result.interrupted:
                newest[key] = result
        order = {name: place for place, name in enumerate(self.questions)}
        return sorted(newest.values(), key=lambda result: (order[result.key.question], result.key.repeat))


@contextmanager
def held(path: Path) -> Iterator[Path]:
    """A place in that folder for what a run needs only while it goes on. No second process gets in.

    Raises BadFolder.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / ".lock").open("w")
    except OSError as error:
        raise BadFolder(f"{path} cannot be written ({error.strerror}): name another folder.") from error
    if (room := shutil.disk_usage(path).free) < _LEAST_ROOM:
        raise BadFolder(
            f"The disk of {path} has {room / 1e6:.1f} MB left: make room, or name another folder with --out."
        )
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BadFolder(
                f"Another process is at work in {path}: wait for it, or name another folder."
            ) from error
        work = path / ".work"
        shutil.rmtree(work, ignore_errors=True)  # a killed run left it
        work.mkdir()
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _question(row: dict[str, Any]) -> Question:
    lists = {"accept": tuple(row["accept"]), "files": tuple(Path(name) for name in row["files"])}
    return Question(**{**row, **lists})


def _compare(path: Path, before: About, now: About) -> None:
    for name, what in _WHAT.items():
        if getattr(before, name) != getattr(now, name):
            raise BadFolder(
                f"{path} holds results of another {what} ({getattr(before, name)}, now {getattr(now, name)}):"
                " name a new folder with --out."
            )


def _same_questions(path: Path, before: dict[str, Question], now: dict[str, Question]) -> None:
    changed = [
        name for name, question in now.items() if name in before and before[name].row() != question.row()
    ]
    if changed:
        raise BadFolder(
            f"Of the questions, {len(changed)} changed since {path} was begun, such as {changed[0]}:"
            " name a new folder with --out."
        )


def _keep(path: Path, text: str) -> None:
    """Write it whole or not at all."""
    draft = path.with_name(path.name + ".part")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
