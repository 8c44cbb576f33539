"""Questions with known answers, one JSON object a line."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.errors import ResearchError


class BadQuestions(ResearchError):
    """A file of questions or pages cannot be used."""


@dataclass(frozen=True)
class Question:
    """One question. `accept`: other answers that are as good. `example`: shown on the empty page.

    `level`: 1 to 3 where the set has levels, else 0. `files`: what is attached, and
    `content` a fingerprint of that. An empty `answer` is one that nobody here knows.
    """

    id: str
    question: str
    answer: str
    accept: tuple[str, ...] = ()
    kind: str = ""
    example: bool = False
    level: int = 0
    files: tuple[Path, ...] = ()
    content: str = field(default="", compare=False)

    @property
    def answers(self) -> tuple[str, ...]:
        """All answers that count as right."""
        return (self.answer, *self.accept)

    def row(self) -> dict[str, Any]:
        """The question as `load_questions` reads it; of its files only the names."""
        return {
            "id": self.id,
            "question": self.question,
            "answer": self.answer,
            "accept": list(self.accept),
            "kind": self.kind,
            "level": self.level,
            "files": [file.name for file in self.files],
            "content": self.content,
        }


@dataclass(frozen=True)
class QuestionSet:
    """Questions that are asked and scored together.

    `scorer`: a name in `evals.verdict.SCORERS`. `form`: what the agent is told
    about the form of an answer, after each question. `notice`: what has to stand
    beside everything that is stored of this set. `world`: a fingerprint of the
    pages, or "web".
    """

    name: str
    questions: tuple[Question, ...]
    scorer: str = "leaderboard"
    form: str = ""
    notice: str = ""
    world: str = "web"

    def text(self, question: Question) -> str:
        """What the agent is asked."""
        return f"{question.question}\n\n{self.form}" if self.form else question.question


def load_questions(path: Path) -> list[Question]:
    """The questions of a JSONL file: `question` and `answer`, and what else a Question has. Raises BadQuestions.

    `files` are paths beside the file; each must be there.
    """
    return [
        question_of(row, number, path.parent)
        for number, row in enumerate(load_rows(path, ("question", "answer")), 1)
    ]


def question_of(row: dict[str, Any], number: int, folder: Path) -> Question:
    """The question of one row; without an id its number is the id. Raises BadQuestions."""
    files = tuple(attachment(folder / name) for name in _texts(row, "files", number))
    return Question(
        id=str(row.get("id") or number),
        question=row["question"],
        answer=row["answer"],
        accept=_texts(row, "accept", number),
        kind=str(row.get("kind") or row.get("type") or ""),
        example=bool(row.get("example")),
        level=_level(row.get("level")),
        files=files,
        content=content_of(files),
    )


def _texts(row: dict[str, Any], name: str, number: int) -> tuple[str, ...]:
    given = row.get(name) or []
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise BadQuestions(f"Question {number} has no list of texts under {name!r}: write it in brackets.")
    return tuple(given)


def attachment(path: Path) -> Path:
    """The path, when a file is there. Raises BadQuestions."""
    if not path.is_file():
        raise BadQuestions(f"The attachment {path.name} is missing in {path.parent}: fetch the set again.")
    return path


def content_of(files: Iterable[Path]) -> str:
    """A fingerprint of what the files hold; empty for none. Raises BadQuestions."""
    digests = []
    for path in files:
        try:
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise BadQuestions(
                f"The attachment {path} cannot be read ({error.strerror}): fetch the set again."
            ) from error
    return digest(" ".join(digests)) if digests else ""


def by_id(questions: Iterable[Question]) -> dict[str, Question]:
    """The questions by their ids. Raises BadQuestions when two have the same."""
    found: dict[str, Question] = {}
    for question in questions:
        if question.id in found:
            raise BadQuestions(f"Two questions have the id {question.id!r}: give each its own.")
        found[question.id] = question
    return found


def chosen(
    questions: Iterable[Question],
    *,
    levels: Iterable[int] = (),
    ids: Iterable[str] = (),
    attachment: bool | None = None,
    first: int = 0,
) -> tuple[Question, ...]:
    """Those that pass every filter that is given. Raises BadQuestions when none does, or an id is not there."""
    given, wanted, at = tuple(questions), set(ids), set(levels)
    if missing := sorted(wanted - {question.id for question in given}):
        raise BadQuestions(f"There is no question with the id {missing[0]}: check the id and the set.")
    found = tuple(
        question
        for question in given
        if (not at or question.level in at)
        and (not wanted or question.id in wanted)
        and attachment in (None, bool(question.files))
    )
    if not found:
        raise BadQuestions("No question passes all filters: leave one of them out.")
    return found[:first] if first else found


def digest(text: str) -> str:
    """A short fingerprint of a text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def load_rows(path: Path, wanted: tuple[str, ...]) -> list[dict[str, Any]]:
    """The objects of a JSONL file, each with the `wanted` texts. Raises BadQuestions, which names the line."""
    try:
        # Not `splitlines`: a text may hold what Unicode counts as the end of a line.
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BadQuestions(f"{path.name} cannot be read ({error}): check the path.") from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadQuestions(f"Line {number} of {path.name} is no JSON ({error}): correct it.") from error
        missing = [key for key in wanted if not isinstance(row, dict) or not isinstance(row.get(key), str)]
        if missing:
            raise BadQuestions(
                f"Line {number} of {path.name} has no text under {missing[0]!r}: each line needs"
                f" {' and '.join(wanted)}."
            )
        rows.append(row)
    if not rows:
        raise BadQuestions(f"{path.name} is empty: it needs one JSON object a line.")
    return rows


def _level(value: Any) -> int:
    text = str(value or "")
    return int(text) if text.isdecimal() else 0
