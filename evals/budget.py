"""What an evaluation may spend: on a question, and in all."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agent.events import Usage
from evals.results import Result


@dataclass(frozen=True)
class Halt:
    """A run should end now. `interrupted`: the question is still to be asked. `reason`: one sentence."""

    reason: str
    interrupted: bool = False


Watch = Callable[[Usage], Halt | None]
"""Asked now and then with what a run has used so far; None while it may go on."""


def unwatched(usage: Usage) -> Halt | None:
    """A run without a budget of its own."""
    return None


@dataclass(frozen=True)
class Prices:
    """Dollars a million tokens; both 0 when not known."""

    prompt: float = 0.0
    completion: float = 0.0

    @property
    def known(self) -> bool:
        return bool(self.prompt or self.completion)

    def of(self, usage: Usage) -> float:
        """Dollars."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


@dataclass(frozen=True)
class Limit:
    """The most that may be used; 0 is no limit. `tokens` are read and written ones together."""

    tokens: int = 0
    seconds: float = 0.0
    dollars: float = 0.0

    def passed(self, usage: Usage, seconds: float, dollars: float) -> str:
        """Which limit is used up, in words; empty when none is."""
        tokens = usage.prompt_tokens + usage.completion_tokens
        if self.tokens and tokens >= self.tokens:
            return f"{self.tokens:,} tokens"
        if self.seconds and seconds >= self.seconds:
            return f"{self.seconds:,.10g} seconds"
        if self.dollars and dollars >= self.dollars:
            return f"${self.dollars:,.2f}"
        return ""


class Meter:
    """What is spent now: by the results that are stored, and by the runs that go on. Thread-safe.

    Tokens and dollars count over all calls that worked on the same results;
    seconds are those since this meter was made.
    """

    def __init__(
        self,
        stored: Iterable[Result] = (),
        *,
        question: Limit | None = None,
        total: Limit | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.prices = prices or Prices()
        self.used_up = ""
        """Which limit of the whole evaluation is used up."""
        self._question, self._total = question or Limit(), total or Limit()
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._ended = sum((result.usage for result in stored), Usage())
        self._running: dict[object, Usage] = {}

    @property
    def usage(self) -> Usage:
        with self._lock:
            return sum(self._running.values(), self._ended)

    @property
    def dollars(self) -> float:
        return self.prices.of(self.usage)

    def stop(self) -> None:
        """End every run that is watched, as interrupted."""
        self._stopped.set()

    def closed(self) -> bool:
        """Whether no further question may begin."""
        used, seconds = self.usage, time.monotonic() - self._began
        self.used_up = self.used_up or self._total.passed(used, seconds, self.prices.of(used))
        return bool(self.used_up) or self._stopped.is_set()

    def watch(self) -> "QuestionMeter":
        """For one question, which begins now."""
        return QuestionMeter(self, self._question)

    def running(self, question: object, usage: Usage) -> None:
        """What that question has used so far."""
        with self._lock:
            self._running[question] = usage

    def ended(self, question: object, result: Result) -> None:
        """That question has ended with this result."""
        with self._lock:
            self._running.pop(question, None)
            self._ended += result.usage


class QuestionMeter:
    """The Watch of one question."""

    def __init__(self, meter: Meter, limit: Limit) -> None:
        self._meter, self._limit = meter, limit
        self._began = time.monotonic()

    def __call__(self, usage: Usage) -> Halt | None:
        self._meter.running(self, usage)
        if self._meter.closed():
            return Halt("The evaluation ended before the answer.", interrupted=True)
        seconds = time.monotonic() - self._began
        passed = self._limit.passed(usage, seconds, self._meter.prices.of(usage))
        return Halt(f"The question used its budget of {passed}.") if passed else None

    def ended(self, result: Result) -> None:
        self._meter.ended(self, result)
