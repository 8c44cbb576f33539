"""Questions for the empty page, which what is configured can answer."""

import json
from pathlib import Path

_PROJECT = Path(__file__).resolve().parent.parent


def examples(library: Path) -> list[str]:
    """Four questions about the sample library; none about a team's own documents, which nobody here has read."""
    if library.resolve() != _PROJECT / "library":
        return []
    lines = (_PROJECT / "evals" / "library_questions.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [row["question"] for row in rows if row["example"]]
