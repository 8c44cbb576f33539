"""The far end of the Ray engine: one process of the cluster, with services of its own.

It is sent the settings once, then texts and attachments; true answers and the
results file stay with the driver. It knows nothing of Ray, which makes an actor of it.
"""

import socket
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from agent.errors import ResearchError, RunError
from agent.events import Usage
from agent.settings import Settings
from evals.budget import Halt
from evals.results import Key, Result
from evals.sides import Side
from evals.stage import OpenServices

Attached = tuple[str, bytes | None]
"""The name and the content of a file; None when it could not be read."""


class Worker:
    """Asks several questions at once, each in a thread of its own, which Ray gives it."""

    def __init__(
        self, open_services: OpenServices, settings: Settings, side: Side, model: str, code: str
    ) -> None:
        """`model`, `code`: what the driver's keys say; another one's answers would not be comparable."""
        self._side = side
        self._used: dict[int, Usage] = {}
        self._halts: dict[int, Halt] = {}
        self._open = ExitStack()
        self._problem = ""
        try:
            self._services = self._open.enter_context(open_services(settings, Console(quiet=True), None))
            found = self._services.endpoint.capabilities().name
        except ResearchError as error:
            self._problem = str(error)
        else:
            if found != model:
                self._problem = f"It meets the model {found}, and the evaluation is of {model}."
            elif self._side.fingerprint() != code:
                self._problem = "It has another state of the code: give the same command again."

    def problem(self) -> str:
        """Why this worker cannot be used, in one sentence with the name of its machine; empty when it can."""
        return f"{socket.gethostname()}: {self._problem}" if self._problem else ""

    def ask(self, number: int, question: str, key: Key, files: Sequence[Attached]) -> Result:
        """The answer. `number` names this call to `used` and `halt`."""

        def watch(usage: Usage) -> Halt | None:
            self._used[number] = usage
            return self._halts.get(number)

        with tempfile.TemporaryDirectory(prefix="attached-") as place:
            try:
                paths = _written(files, Path(place))
                return self._side.ask(self._services, question, key, files=paths, watch=watch)
            except RunError as error:
                return Result.failed(key, str(error))
            finally:
                self._used.pop(number, None)
                self._halts.pop(number, None)

    def used(self, number: int) -> Usage:
        """What that call has used so far."""
        return self._used.get(number, Usage())

    def halt(self, number: int, halt: Halt) -> None:
        """End that call."""
        self._halts[number] = halt

    def close(self) -> None:
        self._open.close()


def _written(files: Sequence[Attached], place: Path) -> list[Path]:
    paths = []
    for number, (name, content) in enumerate(files):
        path = place / f"{number}" / name  # two files may have one name
        path.parent.mkdir()
        if content is not None:
            path.write_bytes(content)
        paths.append(path)
    return paths
