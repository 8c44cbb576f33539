"""The options that all sets share."""

import argparse
from dataclasses import replace
from pathlib import Path

from evals.budget import Limit, Prices
from evals.questions import QuestionSet, chosen
from evals.sides import SIDES

_CONCURRENCY = 4


def run_options(command: argparse.ArgumentParser) -> None:
    """How to run."""
    command.add_argument("--out", type=Path, help="folder of the evaluation; taken up again when it is there")
    command.add_argument("--concurrency", type=_positive, default=_CONCURRENCY, help="questions at once")
    command.add_argument(
        "--engine",
        choices=("threads", "ray"),
        default="threads",
        help="this process, or the cluster at RAY_ADDRESS",
    )
    command.add_argument("--repeat", type=_positive, default=1, metavar="N", help="ask each question N times")
    command.add_argument("--failed", action="store_true", help="ask again what ended in an error")
    command.add_argument("--max-steps", type=_positive, help="steps a question; MAX_STEPS if not given")
    command.add_argument("--tokens", type=_positive, default=0, help="budget of the whole evaluation")
    command.add_argument("--seconds", type=float, default=0, help="budget of this call")
    command.add_argument(
        "--dollars", type=float, default=0, help="budget of the whole evaluation, with prices"
    )
    command.add_argument("--question-tokens", type=_positive, default=0, help="budget of a question")
    command.add_argument("--question-seconds", type=float, default=0, help="budget of a question")
    command.add_argument(
        "--question-dollars", type=float, default=0, help="budget of a question, with prices"
    )
    command.add_argument("--price", type=float, nargs=2, default=(0.0, 0.0), metavar=("READ", "WRITTEN"), help="dollars a million tokens")  # fmt: skip


def side_option(command: argparse.ArgumentParser) -> None:
    command.add_argument("--side", choices=list(SIDES), default="research", help="which agent")


def filter_options(command: argparse.ArgumentParser) -> None:
    """Which questions."""
    command.add_argument("--level", type=int, choices=(1, 2, 3), nargs="*", default=[])
    command.add_argument("--attachment", choices=("yes", "no"), help="only with, or only without attachment")
    command.add_argument("--id", nargs="*", default=[], help="only these questions")
    command.add_argument("--first", type=_positive, default=0, metavar="N", help="at most N questions")


def filtered(asked: QuestionSet, given: argparse.Namespace) -> QuestionSet:
    """The set with the chosen questions only. Raises BadQuestions."""
    attachment = None if given.attachment is None else given.attachment == "yes"
    found = chosen(
        asked.questions, levels=given.level, ids=given.id, attachment=attachment, first=given.first
    )
    return replace(asked, questions=found)


def question_limit(given: argparse.Namespace) -> Limit:
    return Limit(given.question_tokens, given.question_seconds, given.question_dollars)


def total_limit(given: argparse.Namespace) -> Limit:
    return Limit(given.tokens, given.seconds, given.dollars)


def prices(given: argparse.Namespace) -> Prices:
    return Prices(*given.price)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("it takes a whole number from 1 up")
    return number
