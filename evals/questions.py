"""Questions with known answers, one JSON object a line."""

import json
from dataclasses import dataclass
from pathlib import Path

from agent.errors import ResearchError


class BadQuestions(ResearchError):
    """A file of questions or pages cannot be used."""


@dataclass(frozen=True)
class Question:
    """One question. `accept`: other answers that are as good. `example`: shown on the empty page."""

    id: str
    question: str
    answer: str
    accept: tuple[str, ...] = ()
    kind: str = ""
    example: bool = False

    @property
    def answers(self) -> tuple[str, ...]:
        """All answers that count as right."""
        return (self.answer, *self.accept)


def load_questions(path: Path) -> list[Question]:
    """The questions of a JSONL file: `question` and `answer`, and what else a Question has. Raises BadQuestions."""
    return [
        Question(
            id=str(row.get("id") or number),
            question=row["question"],
            answer=row["answer"],
            accept=tuple(row.get("accept") or ()),
            kind=str(row.get("kind") or row.get("type") or ""),
            example=bool(row.get("example")),
        )
        for number, row in enumerate(load_rows(path, ("question", "answer")), 1)
    ]


def load_rows(path: Path, wanted: tuple[str, ...]) -> list[dict[str, str]]:
    """The objects of a JSONL file, each with the `wanted` texts. Raises BadQuestions, which names the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
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
