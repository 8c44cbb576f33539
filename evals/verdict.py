"""What became of a question: right, or why it is not."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from enum import StrEnum

from agent.events import Outcome
from evals.leaderboard import elements, matches, number_of, plain
from evals.questions import Question
from evals.results import Result
from evals.scorer import accepts, exact_match

Match = Callable[[str, str], bool]

SCORERS: dict[str, Match] = {"leaderboard": matches, "exact": exact_match, "accepts": accepts}
"""How an answer is compared with the true one, by the name that a run keeps."""

_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


class Verdict(StrEnum):
    """What became of a question, in the order in which a reader looks for reasons.

    wrong form: the true answer stands there, but not in the form that is scored
    (a unit, a sentence around it, another order, another separator). blocked
    page: wrong, and a page refused to be read on the way. partial: no steps or
    seconds were left. unscored: the true answer is not known.
    """

    RIGHT = "right"
    WRONG_FORM = "wrong form"
    WRONG = "wrong"
    BLOCKED = "blocked page"
    PARTIAL = "partial"
    STOPPED = "stopped"
    ERROR = "error"
    UNSCORED = "unscored"


def verdict(question: Question, result: Result, match: Match = matches) -> Verdict:
    """The verdict on one result. An answer that matches is right however its run ended, as on the leaderboard."""
    truths = [truth for truth in question.answers if truth]
    if result.outcome is Outcome.FAILED:
        return Verdict.ERROR
    if not truths:
        return Verdict.UNSCORED
    if is_right(question, result, match):
        return Verdict.RIGHT
    if result.outcome is Outcome.STOPPED:
        return Verdict.STOPPED
    if result.outcome is Outcome.ANSWERED and any(holds(result.answer, truth) for truth in truths):
        return Verdict.WRONG_FORM
    if result.blocked:
        return Verdict.BLOCKED
    return Verdict.PARTIAL if result.outcome is Outcome.PARTIAL else Verdict.WRONG


def is_right(question: Question, result: Result, match: Match = matches) -> bool:
    """Whether the result's answer matches one of the true ones. An empty answer never does."""
    return bool(result.answer.strip()) and any(
        match(result.answer, truth) for truth in question.answers if truth
    )


def holds(answer: str, truth: str) -> bool:
    """Whether the true answer can be found in `answer`, whatever its form."""
    if (wanted := number_of(truth)) is not None and plain(truth):
        return any(number_of(found) == wanted for found in _NUMBER.findall(answer))
    parts = _bag(elements(truth))
    if len(parts) > 1 and _bag(re.split(r"[,;\n]|\band\b", answer)) == parts:
        return True
    return accepts(answer, truth)


def _bag(parts: Iterable[str]) -> Counter[str]:
    return Counter(part for part in map(plain, parts) if part)
