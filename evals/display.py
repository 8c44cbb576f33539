"""An evaluation as it goes on, in a terminal: a line a question, and a bar with time and cost.

Questions and answers are not shown: a set may be one that must not be published.
"""

from collections import Counter
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from evals.budget import Meter
from evals.questions import Question
from evals.results import Result
from evals.verdict import Match, Verdict, verdict


class Display:
    """A context manager; `tell` is what the runner calls."""

    def __init__(self, console: Console, meter: Meter, match: Match) -> None:
        self._console, self._meter, self._match = console, meter, match
        self._stored = self._left = 0
        self._concurrency = 1
        self._new: list[Result] = []
        self._verdicts: Counter[Verdict] = Counter()
        self._bar = Progress(
            BarColumn(24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[about]}"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._bar.add_task("", total=None, about="")

    def of(self, total: int, still_open: int, concurrency: int) -> Self:
        """How many are to be told in all, how many of them are not stored, and how many are asked at once."""
        self._stored, self._left = total - still_open, still_open
        self._concurrency = max(1, min(concurrency, still_open))
        self._bar.update(self._task, total=total)
        return self

    def tell(self, question: Question, result: Result) -> None:
        said = verdict(question, result, self._match)
        self._verdicts[said] += 1
        if self._stored:
            self._stored -= 1
        else:
            self._new.append(result)
            self._left -= 1
            self._console.print(_line(question, result, said), soft_wrap=True)
        self._bar.update(self._task, advance=1, about=self._about())

    def _about(self) -> str:
        words = [f"{self._verdicts[Verdict.RIGHT]} right"]
        if self._new and self._left:
            mean = sum(result.seconds for result in self._new) / len(self._new)
            words.append(f"about {_duration(mean * self._left / self._concurrency)} left")
        usage = self._meter.usage
        words.append(f"{usage.prompt_tokens + usage.completion_tokens:,} tokens")
        if self._meter.prices.known:
            words.append(f"${self._meter.dollars:,.2f}")
            if self._new and self._left:
                each = sum(self._meter.prices.of(result.usage) for result in self._new) / len(self._new)
                words.append(f"about ${self._meter.dollars + each * self._left:,.2f} in all")
        return ", ".join(words)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


def _line(question: Question, result: Result, said: Verdict) -> Text:
    level = f"level {question.level}  " if question.level else ""
    text = (
        f"{said:<12} {level}{result.seconds:6.1f} s {result.steps:3} steps"
        f" {result.prompt_tokens + result.completion_tokens:9,} tokens  {question.id}"
    )
    return Text(text, "green" if said is Verdict.RIGHT else "")


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    return (
        f"{seconds:.0f} s"
        if minutes < 2
        else f"{minutes:.0f} min"
        if minutes < 120
        else f"{minutes / 60:.1f} h"
    )
