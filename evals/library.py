"""The questions about the sample library, asked of the configured model.

`python -m evals.library` prints a table and fails when fewer than 8 of the 12 are right.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent.errors import ResearchError
from agent.events import Outcome
from agent.services import Services
from agent.settings import PROJECT, load_settings
from evals.figures import Figure
from evals.questions import Question, load_questions
from evals.results import Result
from evals.scorer import accepts
from evals.sides import SIDES
from evals.stage import library_services

QUESTIONS = PROJECT / "evals" / "library_questions.jsonl"
ENOUGH = 8


@dataclass(frozen=True)
class Answered:
    """A question and what became of it.

    `right`: the run was closed with an accepted answer. `held`: an accepted
    answer stands in what the run ended with, closed or not. `sourced`: a source
    was verified or located.
    """

    question: Question
    result: Result

    @property
    def right(self) -> bool:
        return self.held and self.result.outcome is Outcome.ANSWERED

    @property
    def held(self) -> bool:
        return accepts(self.result.answer, self.question.answers)

    @property
    def sourced(self) -> bool:
        return any(source.startswith(("verified", "located")) for source in self.result.sources)


def ask_library(services: Services, questions: Sequence[Question], console: Console) -> list[Answered]:
    """Each question in a session of its own, always anew; a line is shown for each."""
    side = SIDES["research"]
    side.warm(services)
    answered = []
    for question in questions:
        with console.status(question.question):
            result = side.ask(services, question.question, side.key(services, question, "library"))
        answered.append(Answered(question, result))
        console.print(_line(answered[-1]), soft_wrap=True)
    return answered


def figures(answered: Sequence[Answered]) -> list[Figure]:
    """How many are right, and what they cost."""
    count = len(answered)
    examples = [a for a in answered if a.question.example]

    def mean(value: str) -> float:
        return sum(float(getattr(a.result, value)) for a in answered) / count

    return [
        Figure(f"right of {count}", sum(a.right for a in answered), aim=f"at least {ENOUGH}"),
        Figure(f"right of the {len(examples)} on the page", sum(a.right for a in examples), aim="all"),
        Figure("right, closed or not", sum(a.held for a in answered)),
        Figure("with a source that was checked", sum(a.sourced for a in answered)),
        Figure("prompt tokens a question", mean("prompt_tokens")),
        Figure("seconds a question", mean("seconds"), "s"),
        Figure("steps a question", mean("steps")),
    ]


def table(answered: Sequence[Answered], title: str) -> Table:
    """Every question with what was answered."""
    shown = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE)
    for column in ("question", "expected", "answered", "", "ended", "source", "steps", "s"):
        shown.add_column(column, justify="right" if column in ("steps", "s") else "left")
    for each in answered:
        result = each.result
        shown.add_row(
            Text(each.question.id + (" *" if each.question.example else "")),
            Text(each.question.answer),
            Text(result.answer[:60] or result.reason),
            Text("right", "green") if each.right else Text("wrong", "red"),
            str(result.outcome),
            "checked" if each.sourced else "",
            str(result.steps),
            f"{result.seconds:.0f}",
        )
    right = sum(each.right for each in answered)
    shown.caption = f"{right} of {len(answered)} right; * is an example on the page"
    return shown


def _line(each: Answered) -> Text:
    said = " ".join((each.result.answer or each.result.reason).split())[:70]
    text = f"{'right' if each.right else 'wrong'}  {each.result.seconds:6.1f} s  {each.question.id}: {said!r}"
    return Text(text, "green" if each.right else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    options = argparse.ArgumentParser(prog="python -m evals.library", description=__doc__.split("\n\n")[0])
    options.add_argument("--only", nargs="*", default=[], help="ids of the questions to ask")
    options.add_argument("--at-least", type=int, default=ENOUGH, help="how many must be right")
    given = options.parse_args(arguments)
    console = Console()
    try:
        questions = [q for q in load_questions(QUESTIONS) if not given.only or q.id in given.only]
        if not questions:
            options.error(f"there is no question {given.only[0]!r} in {QUESTIONS.name}")
        with library_services(load_settings(), console) as services:
            answered = ask_library(services, questions, console)
            name = services.endpoint.name
    except ResearchError as error:
        Console(stderr=True).print(Text(str(error), "red"), soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 130
    console.print(table(answered, f"The library's questions, {name}"))
    return 0 if sum(each.right for each in answered) >= min(given.at_least, len(questions)) else 1


if __name__ == "__main__":
    sys.exit(main())
