"""What an evaluation found, as numbers: over all questions, by level, with and without attachments."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from agent.events import Usage
from evals.budget import Prices
from evals.folder import Folder
from evals.leaderboard import counted_as
from evals.questions import Question
from evals.results import Result
from evals.statistics import Paired, majority, paired, pass_at_k, wilson
from evals.verdict import SCORERS, Match, Verdict, verdict


@dataclass(frozen=True)
class Asked:
    """One question and its results, a repeat each."""

    question: Question
    results: tuple[Result, ...]
    match: Match

    @property
    def scored(self) -> bool:
        """Whether a true answer is known."""
        return any(self.question.answers)

    @property
    def right(self) -> int:
        """How many repeats are right."""
        return sum(self.verdict(result) is Verdict.RIGHT for result in self.results)

    @property
    def share(self) -> float:
        return self.right / len(self.results)

    @cached_property
    def majority(self) -> str:
        """The answer that most repeats gave; those that gave none have no vote."""
        answers = [result.answer for result in self.results if result.answer.strip()]
        return majority(answers, map(counted_as, answers))

    @property
    def majority_right(self) -> bool:
        return any(
            bool(self.majority) and self.match(self.majority, truth)
            for truth in self.question.answers
            if truth
        )

    def verdict(self, result: Result) -> Verdict:
        return verdict(self.question, result, self.match)


@dataclass(frozen=True)
class Group:
    """Some of the questions. The interval is over questions: repeats of one are no new evidence about others."""

    name: str
    asked: tuple[Asked, ...]

    @property
    def results(self) -> list[Result]:
        return [result for each in self.asked for result in each.results]

    @property
    def scored(self) -> list[Asked]:
        """Those whose true answer is known: only they can be right."""
        return [each for each in self.asked if each.scored]

    @property
    def pass_1(self) -> float:
        """The share of right answers, the mean over repeats."""
        return _mean(each.share for each in self.scored)

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.pass_1, len(self.scored))

    @property
    def k(self) -> int:
        """The number of repeats that every question has."""
        return min((len(each.results) for each in self.asked), default=0)

    @property
    def pass_k(self) -> float:
        return _mean(pass_at_k(each.right, len(each.results), self.k) for each in self.scored)

    @property
    def majority(self) -> float:
        return _mean(each.majority_right for each in self.scored)

    @property
    def seconds(self) -> float:
        return _mean(result.seconds for result in self.results)

    @property
    def steps(self) -> float:
        return _mean(result.steps for result in self.results)

    @property
    def tokens(self) -> float:
        return _mean(result.prompt_tokens + result.completion_tokens for result in self.results)

    @property
    def verdicts(self) -> Counter[Verdict]:
        return Counter(each.verdict(result) for each in self.asked for result in each.results)


class Summary:
    """All that a report tells of one folder."""

    def __init__(self, folder: Folder) -> None:
        self.about = folder.about
        match = SCORERS[folder.about.scorer]
        results: dict[str, list[Result]] = {name: [] for name in folder.questions}
        for result in folder.results():
            results[result.key.question].append(result)
        self.asked = tuple(
            Asked(question, tuple(results[name]), match)
            for name, question in folder.questions.items()
            if results[name]
        )
        self.missing = len(folder.questions) - len(self.asked)
        self.spent = sum((result.usage for result in folder.results_file().lines), Usage())
        """Over every call, those asked again and those broken off too."""
        self.prices = Prices(folder.about.prompt_price, folder.about.completion_price)

    @property
    def all(self) -> Group:
        return Group("all", self.asked)

    @property
    def groups(self) -> list[Group]:
        """All questions; then by level, and by attachment, where there is a difference."""
        levels = self._by(lambda q: f"level {q.level}" if q.level else "without level")
        files = self._by(lambda q: "with attachment" if q.files else "without attachment")
        return [self.all, *(levels if len(levels) > 1 else []), *(files if len(files) > 1 else [])]

    @property
    def estimated(self) -> bool:
        """Whether the server left some tokens to be estimated."""
        return self.spent.estimated

    def cost(self, group: Group) -> float:
        """Dollars a question."""
        return _mean(self.prices.of(result.usage) for result in group.results)

    def _by(self, name_of: Callable[[Question], str]) -> list[Group]:
        found: dict[str, list[Asked]] = {}
        for each in self.asked:
            found.setdefault(name_of(each.question), []).append(each)
        return [Group(name, tuple(found[name])) for name in sorted(found)]


def compared(first: Summary, second: Summary) -> Paired:
    """The questions that both were asked in the same words and that can be scored. One counts as right where at least half of its repeats are."""
    theirs = {each.question.id: each for each in second.asked}
    return paired(
        (each.share >= 0.5, theirs[each.question.id].share >= 0.5)
        for each in first.all.scored
        if each.question.id in theirs and each.question.question == theirs[each.question.id].question.question
    )


def _mean(values: Iterable[float]) -> float:
    given = list(values)
    return sum(given) / len(given) if given else 0.0
