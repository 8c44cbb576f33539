"""Serves the tool calls of a session's box: checks what was asked, runs it here, sends what it gave."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from agent.errors import BoxLost

from .box import Box
from .host_tool import Outcome, ToolThread, described, shown_arguments, summary
from .incoming import Frame
from .step import ExecutionObserver, Step
from .wire.codec import Encoder
from .wire.frames import BadFrame, CannotCross

STOP_GRACE = 0.07


class CallDesk:
    """The tools of one session. fatal, stopping: as in `ToolThread.call`."""

    def __init__(self, fatal: tuple[type[BaseException], ...], stopping: Callable[[], bool]) -> None:
        self.tools: Mapping[str, Callable[..., Any]] = {}
        self._fatal = fatal
        self._stopping = stopping
        self._thread = ToolThread()

    def tell(self, box: Box) -> None:
        """Send the box the tools' names, signatures and descriptions; their code stays here."""
        encoder = Encoder(box.limits)
        told = encoder.value([described(name, tool) for name, tool in self.tools.items()])
        box.send({"op": "tools", "tools": told}, encoder.blobs)

    def serve(self, box: Box, step: Step, frame: Frame) -> None:
        """Answer one "call" frame. BoxLost when it is none, or its reply is not read."""
        if step.ending:
            return  # the box is being ended and waits for no reply
        name, call = frame.message.get("tool"), frame.message.get("call")
        if type(call) is not int:
            raise broken(box, "sent a call without a number")
        step.calls += 1
        reply = {"step": step.number, "call": call}
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            box.send({**reply, "op": "error", "message": self.unknown()}, [])
        elif step.calls > step.limits.tool_calls:
            error = f"This step has used its {step.limits.tool_calls} tool calls; go on in the next step."
            box.send({**reply, "op": "error", "message": error}, [])
        else:
            self._run(box, step, reply, str(name), tool, *_arguments(box, frame))

    def call(
        self,
        observer: ExecutionObserver | None,
        number: int,
        name: str,
        tool: Callable[..., Any],
        args: list[Any],
        kwargs: Mapping[str, Any],
    ) -> tuple[Outcome, float]:
        """Run one tool and tell the observer; what it came to, and the seconds it took."""
        began = time.monotonic()
        if observer is not None:
            observer.tool_started(number, name, shown_arguments(args, kwargs))
        outcome = self._thread.call(name, tool, args, kwargs, self._fatal, self._stopping)
        seconds = time.monotonic() - began
        if observer is not None:
            observer.tool_ended(number, outcome.ok, seconds, summary(tool, outcome))
        return outcome, seconds

    def unknown(self) -> str:
        """What is said of a tool that is not there."""
        return f"There is no tool of that name; there are: {', '.join(self.tools)}."

    def close(self) -> None:
        """Let the tools' thread end."""
        self._thread.leave()

    def _run(
        self,
        box: Box,
        step: Step,
        reply: dict[str, Any],
        name: str,
        tool: Callable[..., Any],
        args: list[Any],
        kwargs: dict[str, Any],
    ) -> None:
        outcome, seconds = self.call(step.observer, step.calls, name, tool, args, kwargs)
        step.tool_seconds += seconds
        if outcome.stopped or outcome.fatal is not None:
            step.fatal = outcome.fatal
            step.end("stopped" if outcome.stopped else "fatal", STOP_GRACE)
            box.interrupt()
        elif outcome.error:
            box.send({**reply, "op": "error", "message": outcome.error[:10_000]}, [])
        elif name == "final_answer":
            step.answer = outcome.value
            step.end("answered", step.limits.grace_seconds)
            box.send({**reply, "op": "final"}, [])
        else:
            _give(box, name, reply, outcome.value)


def broken(box: Box, what: str) -> BoxLost:
    """Kill a box that did what no honest one does."""
    box.kill()
    return BoxLost(f"The box was ended because it {what}")


def _give(box: Box, name: str, reply: dict[str, Any], value: Any) -> None:
    encoder = Encoder(box.limits)
    try:
        message = {**reply, "op": "result", "value": encoder.value(value), "replaced": encoder.replaced}
        box.send(message, encoder.blobs)
    except CannotCross as error:
        text = f"{name} did its work, but its result cannot be sent: {error}."
        box.send({**reply, "op": "error", "message": text}, [])


def _arguments(box: Box, frame: Frame) -> tuple[list[Any], dict[str, Any]]:
    try:
        args = frame.decoder.value(frame.message.get("args"))
        kwargs = frame.decoder.value(frame.message.get("kwargs"))
    except BadFrame as error:
        raise broken(box, f"sent {error}") from error
    if type(args) is not list or type(kwargs) is not dict or not all(type(key) is str for key in kwargs):
        raise broken(box, "sent arguments that are none")
    return args, kwargs
