"""Where the questions of an evaluation are asked: in this process, or on the workers of a Ray cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agent.services import Services
from evals.budget import Watch, unwatched
from evals.results import Key, Result
from evals.sides import Side


class Engine(Protocol):
    """Asks one question a call, from as many threads as questions are asked at once."""

    def warm(self) -> None:
        """Let the model's server read the prompt that all questions begin with."""

    def ask(self, question: str, key: Key, *, files: Sequence[Path] = (), watch: Watch = unwatched) -> Result:
        """The answer, from a session of its own. Raises errors under ResearchError.

        A result that is interrupted although `watch` let it go on was lost with
        the machine that worked on it: the question is to be asked again.
        """


@dataclass(frozen=True)
class Threads:
    """The engine of one process: the caller's thread does the work."""

    services: Services
    side: Side

    def warm(self) -> None:
        self.side.warm(self.services)

    def ask(self, question: str, key: Key, *, files: Sequence[Path] = (), watch: Watch = unwatched) -> Result:
        return self.side.ask(self.services, question, key, files=files, watch=watch)
