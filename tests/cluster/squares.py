"""Ten questions, the model that answers them, and what an evaluation kept of that."""

import re
import threading
from pathlib import Path
from typing import Any

from evals.bare import SYSTEM
from evals.folder import Folder
from evals.results import Result
from evals.summary import Summary
from tests.scripted_endpoint import Answer, reply

COUNT = 10
SECRET = "tgi-notforanylog"


class Squares:
    """Looks once, then answers with the square of the number in the question; each third answer is wrong.

    Questions from `held_from` on wait at the endpoint until `go` is set, those in `held`.
    """

    def __init__(self) -> None:
        self.held_from = COUNT
        self.held: set[int] = set()
        self.go = threading.Event()

    def __call__(self, body: dict[str, Any]) -> Answer:
        talk = " ".join(str(message["content"]) for message in body["messages"])
        found = re.findall(r"word(\d+)", talk)
        if not found:
            return reply("Ready.")  # to the warming
        number = int(found[-1])
        if number >= self.held_from:
            self.held.add(number)
            self.go.wait(240)
        if talk.startswith(SYSTEM):
            return reply(f"ANSWER: {number * number}", usage=(50, 5))
        looked = sum(
            message["role"] == "assistant" and "look(" in str(message["content"])
            for message in body["messages"]
        )
        code = (
            f"final_answer({number * number + (number % 3 == 0)})" if looked else "look = print\nlook('here')"
        )
        return reply(f"On it.\n```python\n{code}\n```\n", usage=(100 + number, 10), silent=0.2)


def table(folder: Path) -> list[tuple[Any, ...]]:
    """What a report tells of each result, but for the seconds."""
    summary = Summary(Folder.read(folder))
    return [
        (each.question.id, each.verdict(result), result.answer, result.usage, result.steps, len(result.trace))
        for each in summary.asked
        for result in each.results
    ]


def stored(folder: Path) -> list[Result]:
    return Folder.read(folder).results_file().lines if (folder / "run.json").exists() else []
