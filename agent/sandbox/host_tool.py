"""One tool, described to the box and run in the host."""

import contextvars
import inspect
import logging
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from smolagents.agents import MultiStepAgent

_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Outcome:
    """What a call came to: a value, an error for the model, or an exception that ends the run."""

    value: Any = None
    error: str = ""
    fatal: BaseException | None = None
    stopped: bool = False

    @property
    def ok(self) -> bool:
        return not (self.error or self.fatal or self.stopped)


class ToolThread:
    """The thread in which a session's tools run, one after the other, so that a stop need not wait for them."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] | None = None

    def call(
        self,
        name: str,
        tool: Callable[..., Any],
        args: list[Any],
        kwargs: Mapping[str, Any],
        fatal: tuple[type[BaseException], ...],
        stopping: Callable[[], bool],
    ) -> Outcome:
        """Run the tool and wait for it; when `stopping` turns true it is left to itself.

        fatal: exceptions that end the run; every other one is told to the model.
        """
        try:
            _signature(tool).bind(*args, **kwargs)
        except TypeError as error:
            return Outcome(error=f"{name}{_signature(tool)}: {error}")
        outcomes: list[Outcome] = []
        ended = threading.Event()

        def work() -> None:
            try:
                outcomes.append(Outcome(value=tool(*args, **kwargs)))
            except fatal as error:
                outcomes.append(Outcome(fatal=error))
            except Exception as error:  # noqa: BLE001 - whatever a tool raises is told to the model
                # One that was raised on purpose tells what was read, and code in a loop would fill the log.
                level = logging.DEBUG if getattr(error, "expected", False) else logging.WARNING
                _log.log(level, "tool %s failed", name, exc_info=True)
                outcomes.append(Outcome(error=_told(error)))
            except BaseException as error:  # noqa: BLE001 - SystemExit and the like, raised again in the run's thread
                outcomes.append(Outcome(fatal=error))
            finally:
                ended.set()

        context = contextvars.copy_context()
        self._begin(lambda: context.run(work))
        while not ended.wait(_POLL_SECONDS):
            if stopping():
                self.leave()
                return Outcome(stopped=True)
        return Outcome(stopped=True) if stopping() and not outcomes[0].ok else outcomes[0]

    def leave(self) -> None:
        """Let the thread end when its tool has; the next call gets a new one."""
        if self._work is not None:
            self._work.put(None)
            self._work = None

    def _begin(self, work: Callable[[], None]) -> None:
        if self._work is None:
            self._work = queue.SimpleQueue()
            threading.Thread(target=_serve, args=(self._work,), name="tools", daemon=True).start()
        self._work.put(work)


def _serve(work: "queue.SimpleQueue[Callable[[], None] | None]") -> None:
    while (task := work.get()) is not None:
        task()


def described(name: str, tool: Callable[..., Any]) -> dict[str, Any]:
    """What the box must know of a tool: name, doc, and parameters with their defaults (None: any)."""
    doc = getattr(tool, "description", None) or inspect.getdoc(tool) or ""
    return {"name": name, "doc": str(doc), "parameters": _parameters(tool)}


def shown_arguments(args: list[Any], kwargs: Mapping[str, Any]) -> str:
    """The arguments as a short readable text, e.g. `'mars', page=2`."""
    parts = [_short(value) for value in args]
    for name, value in kwargs.items():
        parts.append(_short(value) if not parts else f"{name}={_short(value)}")
    return ", ".join(parts)[:300]


def summary(tool: Callable[..., Any], outcome: Outcome) -> str:
    """One line for the visitor: what the tool gave, in its own words if it has some, or why it failed."""
    if outcome.stopped:
        return "stopped"
    if outcome.fatal is not None:
        return _told(outcome.fatal)
    if outcome.error:
        return outcome.error
    own = getattr(tool, "summary", None)
    text = str(own(outcome.value)) if callable(own) else str(outcome.value)
    line = text.strip().split("\n", 1)[0]
    return line if len(line) <= 120 else line[:117] + "..."


def _signature(tool: Callable[..., Any]) -> inspect.Signature:
    if isinstance(tool, MultiStepAgent):
        return inspect.signature(_managed)  # its own would let the code set `max_steps` and more
    return inspect.signature(getattr(tool, "forward", tool))


def _managed(task: str, additional_args: dict[str, Any] | None = None) -> None:
    """The arguments with which the code may call another agent."""


def _parameters(tool: Callable[..., Any]) -> list[dict[str, Any]] | None:
    parameters = list(_signature(tool).parameters.values())
    if any(p.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD for p in parameters):
        return None
    return [
        {"name": p.name} if p.default is inspect.Parameter.empty else {"name": p.name, "default": p.default}
        for p in parameters
    ]


def _told(error: BaseException) -> str:
    text = str(error).strip() or "it failed without saying why"
    return f"{type(error).__name__}: {text}" if type(error).__module__ == "builtins" else text


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
