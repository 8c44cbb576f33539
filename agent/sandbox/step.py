"""One step of the model's code, as the host sees it: its clock, its output, its end."""

import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from smolagents.local_python_executor import CodeOutput

from agent.errors import BoxLost, CodeError, Stopped

from .incoming import Frame
from .wire.limits import Limits

_LOST = "; all variables are lost, as are files that the code wrote, and the next step starts in a new box."


class ExecutionObserver(Protocol):
    """Is told what a step does while it does it, in the thread that runs the step."""

    def tool_started(self, call: int, tool: str, arguments: str) -> None: ...
    def tool_ended(self, call: int, ok: bool, seconds: float, summary: str) -> None: ...
    def printed(self, text: str) -> None: ...
    def figure(self, png: bytes) -> None: ...


@dataclass
class Step:
    """ending: why the step is being ended ("" while it is not): stopped, slow, fatal or answered."""

    number: int
    limits: Limits
    observer: ExecutionObserver | None
    started: float = field(default_factory=time.monotonic)
    tool_seconds: float = 0.0
    calls: int = 0
    figures: int = 0
    lent: int = 0
    ending: str = ""
    kill_at: float = 0.0
    answer: Any = None
    fatal: BaseException | None = None
    over: bool = False
    _printed: list[str] = field(default_factory=list)
    _printed_chars: int = 0

    @property
    def logs(self) -> str:
        """What was printed so far."""
        return "".join(self._printed)

    @property
    def slow(self) -> bool:
        """Whether its own code, tools not counted, has used up its time."""
        return time.monotonic() - self.started - self.tool_seconds > self.limits.step_seconds

    def end(self, why: str, grace: float) -> None:
        """Begin its end; the box is killed when it has not unwound in `grace` seconds."""
        self.ending, self.kill_at = why, time.monotonic() + grace

    def print(self, text: object) -> None:
        """Keep and show a piece of output, which the box may have made as large as a frame."""
        room = 2 * self.limits.output_chars - self._printed_chars
        piece = text_of(text, max(room, 0))
        if piece:
            self._printed.append(piece)
            self._printed_chars += len(piece)
            if self.observer is not None:
                self.observer.printed(piece)

    def show(self, png: bytes, width: int, height: int) -> None:
        """Show a figure to the visitor, and tell the model that it was shown."""
        self.figures += 1
        if self.figures > self.limits.figures:
            if self.figures == self.limits.figures + 1:
                self.print(f"[more figures are not shown: a step may show {self.limits.figures}]\n")
            return
        if self.observer is not None:
            self.observer.figure(png)
        self.print(f"[figure {self.figures}: {width}x{height}]\n")

    def finished(self, frame: Frame) -> CodeOutput:
        """What the last frame of the box makes of the step: its output, or the error it raises."""
        self.over = True
        self._raise_or_go_on()
        if self.ending == "answered":
            return CodeOutput(output=self.answer, logs=self.logs, is_final_answer=True)
        trace = text_of(frame.message.get("trace"), 10_000)
        if self.ending == "slow" and frame.op != "done":  # else it was done at the last moment
            limit = f"ran longer than {self.limits.step_seconds:g} s (the time in tools not counted)"
            raise CodeError(
                f"{trace}\nThe code {limit} and was interrupted; the variables are kept.".lstrip()
            )
        if frame.op == "interrupted":
            limit = f"used more than {self.limits.cpu_seconds:g} s of CPU time"
            raise CodeError(
                f"{trace}\nThe code {limit} and was interrupted; the variables are kept.".lstrip()
            )
        if frame.op == "failed":
            raise CodeError(trace)
        value = frame.message.get("value")
        return CodeOutput(
            None if value is None else text_of(value, 2 * self.limits.output_chars), self.logs, False
        )

    def lost(self, why: str) -> CodeOutput:
        """What the step comes to when its box is gone."""
        self._raise_or_go_on()
        if self.ending == "answered":
            return CodeOutput(output=self.answer, logs=self.logs, is_final_answer=True)
        raise BoxLost(why + _LOST)

    def _raise_or_go_on(self) -> None:
        if self.fatal is not None:
            raise self.fatal
        if self.ending == "stopped":
            raise Stopped("The run was stopped.")


def text_of(value: object, size: int) -> str:
    """Text of the box, which may have sent anything at all, without halves of characters."""
    return str(value)[:size].encode("utf-8", "replace").decode()
