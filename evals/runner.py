"""Asks the questions of a set, several at once, and keeps each result the moment it is there.

What is stored is not asked again, so that the same call goes on where a kill,
Ctrl-C or a used-up budget broke it off.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from agent.errors import ResearchError, RunError
from agent.events import Outcome
from agent.services import Services
from evals.budget import Meter
from evals.engine import Engine, Threads
from evals.questions import Question, QuestionSet
from evals.results import Key, Result, ResultsFile
from evals.sides import Side

# So many failures in a row are the endpoint's or the machine's, not the questions'.
_MOST_FAILURES = 5

Tell = Callable[[Question, Result], None]


class EvaluationHalted(ResearchError):
    """The evaluation ended before all was asked; what was answered is stored."""


class Runner:
    """One side and one set of questions. `run` may be called once."""

    def __init__(
        self,
        services: Services,
        side: Side,
        asked: QuestionSet,
        stored: ResultsFile,
        *,
        engine: Engine | None = None,
        repeats: int = 1,
        concurrency: int = 1,
        meter: Meter | None = None,
        again: Callable[[Result], bool] = lambda result: False,
        tell: Tell = lambda question, result: None,
    ) -> None:
        """`engine`: where the questions are asked, in this process if not given. `again` says which stored results are asked anew; `tell` hears of each, the stored ones first.

        Raises ModelError when the endpoint does not answer.
        """
        self._set, self._stored = asked, stored
        self._engine = engine or Threads(services, side)
        self._concurrency, self._tell = concurrency, tell
        self._meter = meter or Meter()
        self._failures = 0
        services.endpoint.capabilities()  # the name of the model is part of every key
        # Whole passes first, so that what was broken off is as complete as can be.
        self._jobs: list[tuple[Question, Key]] = [
            (question, side.key(services, question, asked.world, repeat))
            for repeat in range(repeats)
            for question in asked.questions
        ]
        self._open = [job for job in self._jobs if (kept := stored.get(job[1])) is None or again(kept)]

    @property
    def open(self) -> int:
        """How many questions are still to be asked, each repeat counted."""
        return len(self._open)

    def run(self) -> list[Result]:
        """All results, in the order of the repeats and of the questions.

        Raises EvaluationHalted and ResultsNotKept; KeyboardInterrupt passes once all runs have ended.
        """
        waiting = {key for _, key in self._open}
        for question, key in self._jobs:
            if key not in waiting:
                self._tell(question, self._kept(key))
        if self._open:
            self._engine.warm()
            self._ask_all()
        return [self._kept(key) for _, key in self._jobs]

    def _ask_all(self) -> None:
        with ThreadPoolExecutor(self._concurrency, "evaluation") as pool:
            futures = {pool.submit(self._ask, *job): job[0] for job in self._open}
            try:
                for future in as_completed(futures):
                    self._take(futures[future], future)
            except BaseException:
                self._meter.stop()
                raise
        if self._meter.used_up:
            left = sum(self._stored.get(key) is None for _, key in self._jobs)
            raise EvaluationHalted(
                f"The evaluation used its budget of {self._meter.used_up} with {left} of {len(self._jobs)}"
                " answers missing: give the same command with a larger budget to go on."
            )

    def _ask(self, question: Question, key: Key) -> Result | None:
        text, result = self._set.text(question), None
        # A result that is interrupted although the meter is open was lost with its machine.
        while (result is None or result.interrupted) and not self._meter.closed():
            watch = self._meter.watch()
            try:
                result = self._engine.ask(text, key, files=question.files, watch=watch)
            except RunError as error:
                result = Result.failed(key, str(error))
            watch.ended(result)
            self._stored.add(result)
        return result

    def _take(self, question: Question, future: Future[Result | None]) -> None:
        result = future.result()
        if result is None or result.interrupted:
            return
        self._tell(question, result)
        self._failures = self._failures + 1 if result.outcome is Outcome.FAILED else 0
        if self._failures >= _MOST_FAILURES:
            raise EvaluationHalted(
                f"The last {self._failures} questions failed, the newest because: {result.reason.rstrip('.')};"
                " when that is mended, the same command with --failed asks them again."
            )

    def _kept(self, key: Key) -> Result:
        result = self._stored.get(key)
        assert result is not None
        return result
