"""The host side of a session's box: sends code, serves its tool calls, keeps its deadlines."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from smolagents.local_python_executor import CodeOutput, PythonExecutor

from agent.errors import BoxLost, CodeError, SandboxError, Stopped

from .box import Box, Frame
from .calls import described, shown_arguments, summary, use_tool
from .codec import Encoder
from .frames import BadFrame, CannotCross
from .limits import Limits
from .pool import BoxPool
from .probe import choose_level

_TICK = 0.05
_STOP_GRACE = 0.1
_LOST = "; all variables are lost, and the next step starts in a new box."


class ExecutionObserver(Protocol):
    """Is told what a step does while it does it, in the thread that runs the step."""

    def tool_started(self, call: int, tool: str, arguments: str) -> None: ...
    def tool_ended(self, call: int, ok: bool, seconds: float, summary: str) -> None: ...
    def printed(self, text: str) -> None: ...
    def figure(self, png: bytes) -> None: ...


@dataclass
class _Step:
    """What the host knows of the step that runs now."""

    number: int
    started: float = field(default_factory=time.monotonic)
    tool_seconds: float = 0.0
    calls: int = 0
    printed: list[str] = field(default_factory=list)
    printed_chars: int = 0
    ending: str = ""
    kill_at: float = 0.0
    answer: Any = None
    fatal: BaseException | None = None

    def end(self, why: str, grace: float) -> None:
        self.ending, self.kill_at = why, time.monotonic() + grace

    def code_seconds(self) -> float:
        return time.monotonic() - self.started - self.tool_seconds


class SandboxExecutor(PythonExecutor):  # type: ignore[misc]  # smolagents ships no types
    """Runs the code of one session in one box; a lost box is replaced at the next call.

    fatal: exceptions of tools that end the run instead of being told to the model.
    pool: where its boxes come from, and at which level they are locked; None
    probes the machine and starts a box only when it is needed.
    Tools run in threads of their own, so that a stop need not wait for them.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        pool: BoxPool | None = None,
        files_dir: Path | None = None,
        fatal: tuple[type[BaseException], ...] = (),
    ) -> None:
        self.observer: ExecutionObserver | None = None
        self.cancel = threading.Event()
        self.state: dict[str, Any] = {"_print_outputs": ""}
        self._limits = limits
        self._pool = pool if pool is not None else BoxPool(choose_level(), size=0)
        self.level = str(self._pool.level)
        self._files_dir = files_dir
        self._fatal = (*fatal, Stopped)
        self._tools: dict[str, Callable[..., Any]] = {}
        self._variables: dict[str, Any] = {}
        self._box: Box | None = None
        self._sent: dict[str, tuple[int, int]] = {}
        self._busy = threading.Lock()
        self._interrupted = threading.Event()
        self._steps = 0

    def __bool__(self) -> bool:
        return True  # smolagents silently replaces a falsy executor by the one in this process

    def send_tools(self, tools: Mapping[str, Callable[..., Any]]) -> None:
        """The functions that the code may call; they stay here, the box gets their names and signatures."""
        self._tools = dict(tools)
        if self._box is not None:
            self._send_tools(self._box)

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Values that the code finds under their names; sent again when a box is replaced."""
        self._variables.update(variables)
        if self._box is not None:
            self._send_variables(self._box)

    def __call__(self, code_action: str) -> CodeOutput:
        """Run one step and wait for its end.

        `logs` is what it printed, `output` the text of its last expression's
        value, or the object that the tool `final_answer` returned. Raises
        CodeError (variables kept), BoxLost (variables lost), Stopped, or the
        fatal exception of a tool.
        """
        with self._busy:
            self._interrupted.clear()
            self._steps += 1
            step = _Step(self._steps)
            try:
                return self._run(step, code_action)
            finally:
                self.state["_print_outputs"] = "".join(step.printed)
                if self._box is not None and not self._box.alive:
                    self._drop()

    def interrupt(self) -> None:
        """Stop the step that runs now, from any thread; its call raises Stopped within 0.2 s."""
        self._interrupted.set()

    def cleanup(self) -> None:
        """End the box and free all it held; a later call would start a new one."""
        self.interrupt()
        box = self._box
        if box is not None:
            box.kill()
        with self._busy:
            self._drop()

    def _drop(self) -> None:
        if self._box is not None:
            self._box.close()
            self._box = None

    def _run(self, step: _Step, code: str) -> CodeOutput:
        if self._stopping():
            raise Stopped("The run was stopped.")
        try:
            box = self._open_box(step)
            self._send_files(box, step)
            step.started = time.monotonic()
            box.send({"op": "run", "step": step.number, "code": code}, [], self.cancel)
            return self._follow(box, step)
        except CannotCross as error:
            raise CodeError(f"The code cannot be run: {error}; write less at once.") from error
        except BoxLost as error:
            self._drop()
            if self._stopping() and not step.ending:
                raise Stopped("The run was stopped.") from None
            return self._lost(step, str(error))

    def _open_box(self, step: _Step) -> Box:
        if self._box is not None and self._box.alive:
            return self._box
        if step.number > 1:
            self._print(step, "[This step runs in a new box: variables of earlier steps are gone.]\n")
        self._sent = {}
        box = self._pool.take()
        self._box = box
        try:
            box.open(self._pool.level.number, self._limits, self._files_dir, self.cancel)
        except SandboxError as error:
            self._drop()
            if self._stopping():
                raise Stopped("The run was stopped.") from None
            raise SandboxError(f"The sandbox cannot be started. {error}") from error
        self._send_tools(box)
        self._send_variables(box)
        return box

    def _send_tools(self, box: Box) -> None:
        encoder = Encoder(self._limits)
        tools = [described(name, tool) for name, tool in self._tools.items()]
        box.send({"op": "tools", "tools": encoder.value(tools)}, encoder.blobs)

    def _send_variables(self, box: Box) -> None:
        encoder = Encoder(self._limits)
        box.send({"op": "set", "variables": encoder.value(self._variables)}, encoder.blobs)

    def _send_files(self, box: Box, step: _Step) -> None:
        """Hand the attached files over the pipe where the box cannot open them itself."""
        if self._files_dir is None or self._pool.level.number != 2:
            return
        for path in sorted(self._files_dir.iterdir()):
            known = path.stat().st_size, path.stat().st_mtime_ns
            if not path.is_file() or self._sent.get(path.name) == known:
                continue
            self._sent[path.name] = known
            encoder = Encoder(self._limits)
            try:
                message = {"op": "file", "name": path.name, "content": encoder.value(path.read_bytes())}
                box.send(message, encoder.blobs, self.cancel)
            except CannotCross as error:
                self._print(step, f"[{path.name} cannot be read from the code: {error}.]\n")

    def _follow(self, box: Box, step: _Step) -> CodeOutput:
        while True:
            frame = box.receive(_TICK)
            self._watch(box, step)
            if frame is None:
                continue
            if frame.message.get("step") != step.number:
                if frame.op == "print":
                    continue
                raise self._broken(box, "spoke of another step")
            match frame.op:
                case "print":
                    self._print(step, str(frame.message.get("text")))
                case "call":
                    self._call(box, step, frame)
                case "done" | "failed" | "interrupted":
                    return self._finished(step, frame)
                case _:
                    raise self._broken(box, "sent an unknown message")

    def _watch(self, box: Box, step: _Step) -> None:
        """Start the end of a step whose time is up or that was stopped; kill what does not unwind."""
        if not step.ending:
            if self._stopping():
                step.end("stopped", _STOP_GRACE)
            elif step.code_seconds() > self._limits.step_seconds:
                step.end("slow", self._limits.grace_seconds)
            else:
                return
            box.interrupt()
        elif time.monotonic() > step.kill_at:
            box.kill()
            raise BoxLost(
                f"The code ran longer than {self._limits.step_seconds:g} s and did not let itself be interrupted"
            )

    def _stopping(self) -> bool:
        return self.cancel.is_set() or self._interrupted.is_set()

    def _broken(self, box: Box, what: str) -> BoxLost:
        box.kill()
        return BoxLost(f"The box was ended because it {what}")

    def _print(self, step: _Step, text: str) -> None:
        room = 2 * self._limits.output_chars - step.printed_chars
        text = text.encode("utf-8", "replace").decode()[: max(room, 0)]
        if text:
            step.printed.append(text)
            step.printed_chars += len(text)
            if self.observer is not None:
                self.observer.printed(text)

    def _finished(self, step: _Step, frame: Frame) -> CodeOutput:
        logs = "".join(step.printed)
        trace = _text(frame.message.get("trace"), 10_000)
        if step.ending == "answered":
            return CodeOutput(output=step.answer, logs=logs, is_final_answer=True)
        if step.fatal is not None:
            raise step.fatal
        if step.ending == "stopped":
            raise Stopped("The run was stopped.")
        if step.ending == "slow":
            limit = f"{self._limits.step_seconds:g} s (the time in tools not counted)"
            raise CodeError(
                f"The code ran longer than {limit} and was interrupted; the variables are kept.\n{trace}"
            )
        if frame.op == "interrupted":
            limit = f"{self._limits.cpu_seconds:g} s of CPU time"
            raise CodeError(
                f"The code used more than {limit} and was interrupted; the variables are kept.\n{trace}"
            )
        if frame.op == "failed":
            raise CodeError(trace)
        value = frame.message.get("value")
        return CodeOutput(None if value is None else _text(value, 2 * self._limits.output_chars), logs, False)

    def _lost(self, step: _Step, why: str) -> CodeOutput:
        if step.ending == "answered":
            return CodeOutput(output=step.answer, logs="".join(step.printed), is_final_answer=True)
        if step.fatal is not None:
            raise step.fatal
        if step.ending == "stopped":
            raise Stopped("The run was stopped.")
        raise BoxLost(why + _LOST)

    def _call(self, box: Box, step: _Step, frame: Frame) -> None:
        if step.ending:
            return  # the box is being ended and waits for no reply
        name, step.calls = frame.message.get("tool"), step.calls + 1
        reply = {"step": step.number, "call": frame.message.get("call")}
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            error = f"There is no tool of that name; there are: {', '.join(self._tools)}."
        elif step.calls > self._limits.tool_calls:
            error = f"This step has used its {self._limits.tool_calls} tool calls; go on in the next step."
        else:
            self._serve(box, step, str(name), tool, reply, frame)
            return
        box.send({**reply, "op": "error", "message": error}, [], self.cancel)

    def _serve(
        self, box: Box, step: _Step, name: str, tool: Callable[..., Any], reply: dict[str, Any], frame: Frame
    ) -> None:
        args, kwargs = self._arguments(box, frame)
        number, began = step.calls, time.monotonic()
        if self.observer is not None:
            self.observer.tool_started(number, name, shown_arguments(args, kwargs))
        outcome = use_tool(name, tool, args, kwargs, self._fatal, self._stopping)
        seconds = time.monotonic() - began
        step.tool_seconds += seconds
        if self.observer is not None:
            self.observer.tool_ended(number, outcome.ok, seconds, summary(tool, outcome))
        if outcome.stopped or outcome.fatal is not None:
            step.fatal = outcome.fatal
            step.end("stopped" if outcome.stopped else "fatal", _STOP_GRACE)
            box.interrupt()
        elif outcome.error:
            box.send({**reply, "op": "error", "message": outcome.error}, [], self.cancel)
        elif name == "final_answer":
            step.answer = outcome.value
            step.end("answered", self._limits.grace_seconds)
            box.send({**reply, "op": "final"}, [], self.cancel)
        else:
            self._give(box, name, reply, outcome.value)

    def _arguments(self, box: Box, frame: Frame) -> tuple[list[Any], dict[str, Any]]:
        try:
            args = frame.decoder.value(frame.message.get("args"))
            kwargs = frame.decoder.value(frame.message.get("kwargs"))
        except BadFrame as error:
            raise self._broken(box, f"sent {error}") from error
        if type(args) is not list or type(kwargs) is not dict or not all(type(key) is str for key in kwargs):
            raise self._broken(box, "sent arguments that are none")
        return args, kwargs

    def _give(self, box: Box, name: str, reply: dict[str, Any], value: Any) -> None:
        encoder = Encoder(self._limits)
        try:
            message = {**reply, "op": "result", "value": encoder.value(value), "replaced": encoder.replaced}
            box.send(message, encoder.blobs, self.cancel)
        except CannotCross as error:
            text = f"{name} did its work, but its result cannot be sent: {error}."
            box.send({**reply, "op": "error", "message": text}, [], self.cancel)


def _text(value: Any, size: int) -> str:
    """Text of the box, which may have sent anything at all."""
    return str(value).encode("utf-8", "replace").decode()[:size]
