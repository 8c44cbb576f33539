"""The file that GAIA's leaderboard takes, written and checked against what it refuses.

It takes one JSON object a line: `task_id`, `model_answer` and, if wanted,
`reasoning_trace`; every question of a split, and each of them once.
"""

import json
from collections import Counter
from pathlib import Path

from agent.errors import ResearchError
from evals.gaia.dataset import SPLITS
from evals.questions import Question
from evals.summary import Asked, Summary

QUESTIONS = {"validation": {1: 53, 2: 86, 3: 26}, "test": {1: 93, 2: 159, 3: 49}}
"""How many questions of each level the leaderboard wants of a split."""


class BadSubmission(ResearchError):
    """The leaderboard would refuse the file."""


def write_submission(summary: Summary, path: Path, *, by_majority: bool = False) -> int:
    """Write the file; how many lines. The first repeat of each question counts, or what most repeats say."""
    rows = [_row(each, by_majority) for each in summary.asked]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return len(rows)


def check_submission(path: Path, questions: dict[str, Question], split: str) -> None:
    """Raises BadSubmission with the first thing for which the leaderboard would refuse the file."""
    assert split in SPLITS, split
    seen: Counter[str] = Counter()
    levels: Counter[int] = Counter()
    for number, line in enumerate(path.read_text("utf-8").removesuffix("\n").split("\n"), 1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadSubmission(f"Line {number} of {path.name} is no JSON: write the file again.") from error
        for name in ("task_id", "model_answer"):
            if not isinstance(row, dict) or not isinstance(row.get(name), str):
                raise BadSubmission(
                    f"Line {number} of {path.name} has no text {name!r}: write the file again."
                )
        if row["task_id"] not in questions:
            raise BadSubmission(
                f"Line {number} of {path.name} answers {row['task_id']}, which is no question of {split}:"
                " submit to the split that was asked."
            )
        seen[row["task_id"]] += 1
        levels[questions[row["task_id"]].level] += 1
    twice = [name for name, count in seen.items() if count > 1]
    if twice:
        raise BadSubmission(f"{twice[0]} stands in {path.name} twice: each question is answered once.")
    if dict(levels) != QUESTIONS[split]:
        found, wanted = (
            " + ".join(str(counts.get(level, 0)) for level in (1, 2, 3))
            for counts in (levels, QUESTIONS[split])
        )
        raise BadSubmission(
            f"{path.name} answers {found} questions of levels 1 to 3 and the leaderboard wants {wanted}:"
            f" run all of {split} first."
        )


def _row(each: Asked, by_majority: bool) -> dict[str, str]:
    result = each.results[0]
    if by_majority and each.majority:
        result = next(result for result in each.results if result.answer == each.majority)
    return {
        "task_id": each.question.id,
        "model_answer": result.answer,
        "reasoning_trace": "\n\n".join(result.trace),
    }
