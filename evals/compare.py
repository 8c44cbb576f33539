"""Our agent against stock smolagents, on questions about a closed web.

`python -m evals.compare --pages pages.jsonl --questions questions.jsonl --first 10`

What is stored is not asked again: a run that was broken off goes on where it was.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agent.errors import ResearchError
from agent.events import Outcome
from agent.services import Services
from agent.settings import PROJECT, load_settings
from evals.figures import Figure, save, show
from evals.questions import Question, QuestionSet, load_questions
from evals.results import Result, ResultsFile, fingerprint
from evals.runner import Runner
from evals.scorer import accepts, exact_match, f1
from evals.sides import SIDES, Side
from evals.stage import closed_web_services

RAW = PROJECT / "bench" / "raw" / "compare.jsonl"
MAX_STEPS = 6
AGENTS = ("research", "stock")
STOCK = "stock CodeAgent"


def ask_all(
    services: Services,
    side: Side,
    questions: Sequence[Question],
    world: str,
    stored: ResultsFile,
    console: Console,
    *,
    again: bool = False,
) -> list[Result]:
    """The side's results in the order of the questions, one after the other. `again`: ask what is stored too."""
    asked = QuestionSet("compare", tuple(questions), scorer="exact", world=world)
    number = iter(range(1, len(questions) + 1))

    def tell(question: Question, result: Result) -> None:
        place = f"{side.name} {next(number)}/{len(questions)}"
        console.print(_line(place, question, result), soft_wrap=True)

    runner = Runner(services, side, asked, stored, again=lambda result: again, tell=tell)
    return runner.run()


def figures(questions: Sequence[Question], results: Mapping[str, Sequence[Result]]) -> list[Figure]:
    """The comparison of what the sides answered; every figure is a mean over the questions, or a count."""

    def figure(name: str, unit: str, values: Mapping[str, float], aim: str = "") -> Figure:
        ours, *theirs = values.values()
        return Figure(name, ours, unit, theirs[0] if theirs else None, aim)

    def mean(value: str) -> dict[str, float]:
        return {
            side: sum(float(getattr(result, value)) for result in rows) / len(rows)
            for side, rows in results.items()
        }

    def scored(score: object) -> dict[str, float]:
        assert callable(score)
        return {
            side: sum(
                max(float(score(row.answer, answer)) for answer in question.answers)
                for question, row in zip(questions, rows, strict=True)
            )
            for side, rows in results.items()
        }

    overlap = {side: total / len(questions) for side, total in scored(f1).items()}
    answered = {
        side: float(sum(row.outcome is Outcome.ANSWERED for row in rows)) for side, rows in results.items()
    }
    return [
        figure(f"right of {len(questions)} (exact match)", "", scored(exact_match), "more"),
        figure("F1", "", overlap),
        figure("the right answer stands in the answer", "", scored(accepts)),
        figure("closed with an answer", "", answered),
        figure("prompt tokens a question", "", mean("prompt_tokens"), "at most 1/4"),
        figure("written tokens a question", "", mean("completion_tokens")),
        figure("seconds a question", "s", mean("seconds"), "at most 1/3"),
        figure("steps a question", "", mean("steps")),
    ]


def compare(
    services: Services,
    pages: Path,
    questions: Sequence[Question],
    sides: Sequence[str],
    stored: ResultsFile,
    console: Console,
    *,
    again: bool = False,
) -> list[Figure]:
    """Every side answers every question. One side after the other: each then finds its prompt in the server's cache."""
    world = fingerprint([pages.resolve()])
    results = {
        name: ask_all(services, SIDES[name], questions, world, stored, console, again=again) for name in sides
    }
    return figures(questions, results)


def _line(place: str, question: Question, result: Result) -> Text:
    right = any(exact_match(result.answer, answer) for answer in question.answers)
    said = " ".join((result.answer or result.reason).split())[:70]
    return Text(
        f"{place:<15} {'right' if right else 'wrong'}  {result.seconds:6.1f} s"
        f" {result.prompt_tokens:7,} tokens {result.steps} steps  {said!r} for {question.answer!r}",
        style="green" if right else "",
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    options = argparse.ArgumentParser(prog="python -m evals.compare", description=__doc__.split("\n\n")[0])
    options.add_argument("--pages", type=Path, required=True, help="JSONL, title and text a line")
    options.add_argument("--questions", type=Path, required=True, help="JSONL, question and answer a line")
    options.add_argument("--first", type=int, default=10, help="how many of the questions")
    options.add_argument("--side", choices=[*AGENTS, "both"], default="both")
    options.add_argument("--max-steps", type=int, default=MAX_STEPS)
    options.add_argument("--out", type=Path, default=RAW, help="file of the raw results")
    options.add_argument("--again", action="store_true", help="ask what is stored already, too")
    given = options.parse_args(arguments)
    console = Console()
    try:
        questions = load_questions(given.questions)[: given.first]
        sides = AGENTS if given.side == "both" else (given.side,)
        with closed_web_services(load_settings(), console, given.pages, given.max_steps) as services:
            stored = ResultsFile(given.out)
            found = compare(services, given.pages, questions, sides, stored, console, again=given.again)
            about = about_run(services, len(questions))
    except ResearchError as error:
        Console(stderr=True).print(Text(str(error), "red"), soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        Console(stderr=True).print("Stopped; the same command goes on from here.")
        return 130
    show(console, about, found, STOCK if len(sides) > 1 else "")
    if len(sides) > 1:
        save("hotpot", found, other=STOCK, about=about)
    return 0


def about_run(services: Services, count: int) -> str:
    """What was compared, in one line."""
    return (
        f"{count} questions on a closed web, {services.endpoint.name}, greedy,"
        f" at most {services.settings.max_steps} steps"
    )


if __name__ == "__main__":
    sys.exit(main())
