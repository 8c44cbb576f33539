"""The host side of a session's box: sends its code, follows it, keeps its deadlines."""

import logging
import stat
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from smolagents.local_python_executor import CodeOutput, PythonExecutor

from agent.errors import BoxLost, CodeError, SandboxError, Stopped

from . import shelf
from .box import Box
from .calls import STOP_GRACE, CallDesk, broken
from .host_tool import Outcome
from .incoming import Frame
from .pool import BoxPool
from .probe import choose_level
from .step import ExecutionObserver, Step
from .wire.arrays import check_png
from .wire.codec import Encoder
from .wire.frames import BadFrame, CannotCross
from .wire.limits import Limits

_TICK = 0.02
_LENT = 5000
_log = logging.getLogger(__name__)


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
        self.level, self.lacks = str(self._pool.level), self._pool.level.lacks
        self._lends = self._pool.level.number == 2 and self._pool.command is None
        """Whether its box may ask for what it cannot open itself."""
        self.runs_as = ""
        """As which user the code of the present box runs, as words; empty before there is one."""
        self._files_dir = files_dir
        self._desk = CallDesk((*fatal, Stopped), self._stopping)
        self._variables: dict[str, Any] = {}
        self._box: Box | None = None
        self._sent_files: dict[str, tuple[int, int]] = {}
        self._busy = threading.Lock()
        self._interrupted = threading.Event()
        self._steps = 0

    def __bool__(self) -> bool:
        return True  # smolagents silently replaces a falsy executor by the one in this process

    def send_tools(self, tools: Mapping[str, Callable[..., Any]]) -> None:
        """The functions that the code may call; they stay here, the box gets their names and signatures."""
        self._desk.tools = dict(tools)
        if self._box is not None and self._box.alive:
            self._desk.tell(self._box)

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        """Values that the code finds under their names; sent again when a box is replaced."""
        self._variables.update(variables)
        if self._box is not None and self._box.alive:
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
            step = Step(self._steps, self._limits, self.observer)
            try:
                return self._run(step, code_action)
            finally:
                self.state["_print_outputs"] = step.logs
                if self._box is not None and step.over:
                    self._box.idle_since = time.monotonic()
                if not step.over:  # whatever happened, no code may go on in a box that nobody follows
                    self._drop()

    def call(self, number: int, tool: str, arguments: Mapping[str, Any]) -> Outcome:
        """Run one tool without any code, as the agent of level 4 does; its value, or an error for the model.

        number: of the call in its step. Raises Stopped, or the fatal exception of the tool.
        """
        self._interrupted.clear()
        called = self._desk.tools.get(tool)
        if called is None:
            return Outcome(error=self._desk.unknown())
        outcome, _ = self._desk.call(self.observer, number, tool, called, [], arguments)
        if outcome.fatal is not None:
            raise outcome.fatal
        if outcome.stopped:
            raise Stopped("The run was stopped.")
        return outcome

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
            self._desk.close()

    def _drop(self) -> None:
        if self._box is not None:
            self._pool.watch.forget(self._box)
            self._box.close()
            self._box = None

    def _run(self, step: Step, code: str) -> CodeOutput:
        try:
            box = self._open_box(step)
            self._send_files(box, step)
            step.started = time.monotonic()
            box.send({"op": "run", "step": step.number, "code": code}, [])
        except CannotCross as error:
            step.over = True
            raise CodeError(f"The code cannot be run, because {error}; write less at once.") from error
        except SandboxError as error:
            if self._stopping():
                raise Stopped("The run was stopped.") from None
            if isinstance(error, BoxLost):
                return step.lost(str(error))
            raise
        try:
            return self._follow(box, step)
        except BoxLost as error:
            if self._stopping() and not step.ending:
                step.end("stopped", 0)
            return step.lost(str(error))

    def _open_box(self, step: Step) -> Box:
        if self._stopping():
            raise Stopped("The run was stopped.")
        if self._box is not None and self._box.alive:
            self._box.cancel, self._box.idle_since = self.cancel, 0.0
            return self._box
        self._drop()
        if step.number > 1:
            step.print("[This step runs in a new box: variables of earlier steps are gone.]\n")
        self._sent_files = {}
        self._box = self._pool.take()
        self._box.cancel = self.cancel
        self._pool.watch.follow(self._box)
        try:
            level = self._pool.level.number
            self.runs_as = self._box.open(level, self._limits, self._files_dir, shelf=self._lends)
            _log.info("box %d at level %s: the code %s", self._box.pid, self.level, self.runs_as)
            self._desk.tell(self._box)
            self._send_variables(self._box)
        except BoxLost as error:
            raise SandboxError(f"The sandbox cannot be started. {error}.") from error
        return self._box

    def _send_variables(self, box: Box) -> None:
        encoder = Encoder(self._limits)
        box.send({"op": "set", "variables": encoder.value(self._variables)}, encoder.blobs)

    def _send_files(self, box: Box, step: Step) -> None:
        """Hand the attached files over the pipe where the box cannot open them itself."""
        if self._files_dir is None or not (self._pool.level.number == 2 or self._pool.command):
            return
        for path in sorted(self._files_dir.iterdir()):
            found = path.lstat()  # a link is no attached file, wherever it leads
            known = found.st_size, found.st_mtime_ns
            if not stat.S_ISREG(found.st_mode) or self._sent_files.get(path.name) == known:
                continue
            self._sent_files[path.name] = known
            encoder = Encoder(self._limits)
            try:
                encoder.fits(found.st_size)
                content = encoder.value(path.read_bytes())
            except CannotCross as error:
                step.print(f"[{path.name} cannot be read from the code: {error}.]\n")
                continue
            box.send({"op": "file", "name": path.name, "content": content}, encoder.blobs)

    def _follow(self, box: Box, step: Step) -> CodeOutput:
        while True:
            frame = box.receive(_TICK)
            self._watch(box, step)
            if frame is None:
                continue
            if frame.message.get("step") != step.number:
                raise broken(box, "spoke of another step")
            match frame.op:
                case "print":
                    step.print(frame.message.get("text"))
                case "figure":
                    self._show(box, step, frame)
                case "call":
                    self._desk.serve(box, step, frame)
                case "module" | "data" if self._lends:
                    self._lend(box, step, frame)
                case "done" | "failed" | "interrupted":
                    return step.finished(frame)
                case _:
                    raise broken(box, "sent an unknown message")

    def _lend(self, box: Box, step: Step, frame: Frame) -> None:
        """Answer a box that may not open Python's own files."""
        step.lent += 1
        if step.lent > _LENT:
            raise broken(box, f"asked for more than {_LENT:,} modules")
        find = shelf.module if frame.op == "module" else shelf.data
        reply, blobs = find(frame.message.get("name"), self._limits)
        ask = frame.message.get("ask")
        box.send({"op": frame.op, "ask": ask if type(ask) is int else 0, **reply}, blobs)

    def _watch(self, box: Box, step: Step) -> None:
        """Start the end of a step whose time is up or that was stopped; kill what does not unwind."""
        if step.ending and time.monotonic() > step.kill_at:
            box.kill()
            limit = f"{self._limits.step_seconds:g} s"
            raise BoxLost(f"The code ran longer than {limit} and did not let itself be interrupted")
        if step.ending or not (self._stopping() or step.slow):
            return
        if self._stopping():
            step.end("stopped", STOP_GRACE)
        else:
            step.end("slow", self._limits.grace_seconds)
        box.interrupt()

    def _show(self, box: Box, step: Step, frame: Frame) -> None:
        try:
            png = frame.decoder.bytes(frame.message)
            if len(png) > self._limits.figure_bytes:
                raise BadFrame("a figure with too many bytes")
            width, height = check_png(png, self._limits.pixels)
        except (BadFrame, KeyError) as error:
            raise broken(box, f"sent {error}") from error
        step.show(png, width, height)

    def _stopping(self) -> bool:
        return self.cancel.is_set() or self._interrupted.is_set()
