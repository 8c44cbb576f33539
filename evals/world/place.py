"""Where a world is kept. Imports nothing of what makes one, so that a world that is there is used at once."""

from pathlib import Path

from agent.settings import PROJECT
from evals.questions import Question, load_questions
from evals.results import fingerprint

_CODE = Path("evals/world")
_PINS = PROJECT / "requirements-evals.txt"


def world_version(seed: int) -> str:
    """What decides a world: its seed, the code that makes it and the data that it is made from."""
    return fingerprint([_CODE, _PINS, f"{seed}"])


def world_place(folder: Path, seed: int) -> Path:
    """The folder of a world, which is whole when it is there."""
    return folder / f"world-{seed}-{world_version(seed)}"


def world_questions(place: Path) -> list[Question]:
    """The questions of a world that is built, with their attachments."""
    return load_questions(place / "questions.jsonl")
