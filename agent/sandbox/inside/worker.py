"""The child side of the box: runs the model's code, one step after the other.

It is sent to the child as text and imports only the modules sent with it, so
that it runs the same behind any command.
"""

import ast
import builtins
import gc
import importlib
import io
import os
import signal
import sys
import types
from collections.abc import Callable
from typing import Any

from lock.process import CannotLock, lock

from ..wire.codec import Decoder, Encoder
from ..wire.frames import CannotCross
from ..wire.limits import Limits
from ..wire.records import Record, RecordList
from . import libraries
from .channel import Channel, Interrupted
from .figures import Figures
from .files import Files
from .monty_worker import MontyWorker
from .printed import Printed, capped
from .tool_function import ToolError, ToolFunction
from .traces import explain, locate, remember


class StepOver(BaseException):
    """The final answer was taken: nothing after it runs."""


class Worker:
    """The namespace of one session and the loop that serves the host."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._files = Files()
        self._module = types.ModuleType("__main__")
        self._space = self._module.__dict__
        self._space.update(__builtins__=builtins, ToolError=ToolError)
        self._printed = Printed(channel)
        self._figures = Figures(self._send_figure, self._printed.write)
        self._libraries = libraries.install(
            {
                "matplotlib.pyplot": self._figures.take_over,
                "tempfile": self._files.take_tempfile,
                "shutil": self._files.take_shutil,
            }
        )
        self._tool_functions: dict[str, ToolFunction] = {}
        self._step = 0
        self._call = 0
        self._asked = 0

    def serve(self) -> None:
        """Do what the host says, until it closes the pipe."""
        self.channel.send({"op": "ready"})
        handlers: dict[str, Callable[[dict[str, Any], Decoder], None]] = {
            "open": self._open,
            "tools": self._tools,
            "set": self._set,
            "file": self._file,
            "run": self._run,
        }
        while True:
            message, decoder = self.channel.receive()
            handler = handlers.get(message["op"])
            if handler is not None:  # else the late reply to a call that was interrupted
                handler(message, decoder)

    def _open(self, message: dict[str, Any], decoder: Decoder) -> None:
        self.channel.limits = self._figures.limits = Limits(**message["limits"])
        sys.modules["__main__"] = self._module
        builtins.input = _no_input
        try:
            if message["level"] == 3:
                monty = MontyWorker(self.channel, self.channel.limits)
                self.channel.send({"op": "opened", "user": monty.open(message["files_dir"])})
                monty.serve()
            limits, folder = self.channel.limits, message["files_dir"]
            if folder:
                os.chdir(folder)
            files = [folder] if folder else []
            user = lock(message["level"], limits.memory_bytes, limits.open_files, files, limits.life_seconds)
        except CannotLock as error:
            self.channel.send({"op": "refused", "why": str(error)})
            os._exit(1)
        self._files.begin(self.channel.limits)
        if message["shelf"]:
            self._libraries.ask, self._files.elsewhere = self._ask_module, self._ask_data
        elif message["level"] == 2:
            self._libraries.ask = lambda name: None  # so that an import says what there is
        self.channel.send({"op": "opened", "user": user})

    def _tools(self, message: dict[str, Any], decoder: Decoder) -> None:
        told = decoder.value(message["tools"])
        self._tool_functions = {
            tool["name"]: ToolFunction(self.call, tool["name"], tool["doc"], tool["parameters"])
            for tool in told
        }

    def _set(self, message: dict[str, Any], decoder: Decoder) -> None:
        self._space.update(decoder.value(message["variables"]))

    def _file(self, message: dict[str, Any], decoder: Decoder) -> None:
        self._files.attach(message["name"], decoder.value(message["content"]))

    def _run(self, message: dict[str, Any], decoder: Decoder) -> None:
        self._step, self._call = message["step"], 0
        filename = f"<step {self._step}>"
        self._printed.begin(self._step)
        self._space.update(self._tool_functions)  # an earlier step may have used a tool's name for a variable
        sys.stdout = sys.stderr = self._printed
        sys.stdin = io.StringIO()
        signal.signal(signal.SIGINT, lambda *_: self.channel.interrupt("host"))
        signal.signal(signal.SIGPROF, lambda *_: self.channel.interrupt("cpu"))
        signal.setitimer(signal.ITIMER_PROF, self.channel.limits.cpu_seconds)
        try:
            reply = self._guarded(filename, message["code"])
        except Interrupted as stop:  # while the error was being told
            reply = {"op": "interrupted", "reason": str(stop), "trace": ""}
        except BaseException:  # noqa: BLE001 - raised by the error itself while it was being told
            reply = {
                "op": "failed",
                "trace": "The code raised an exception that cannot be shown: its own methods fail.",
            }
        self.channel.interruptible = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._printed.end()
        self.channel.send({**reply, "step": self._step})

    def _guarded(self, filename: str, code: str) -> dict[str, Any]:
        try:
            self.channel.interruptible = True
            value = self._execute(filename, code)
            self._figures.show_value(value)
            self._figures.show_open()
            return {"op": "done", "value": self._shown(value)}
        except StepOver:
            return {"op": "done", "value": None}
        except Interrupted as stop:
            return {"op": "interrupted", "reason": str(stop), "trace": capped(locate(stop, filename), 4000)}
        except BaseException as error:  # noqa: BLE001 - whatever the code raises is told to the model
            return {"op": "failed", "trace": capped(explain(error, filename) + self._shadowed(error), 8000)}

    def _shadowed(self, error: BaseException) -> str:
        """What to do when the code calls its own variable in a tool's place."""
        if not isinstance(error, TypeError) or "not callable" not in str(error):
            return ""
        own = [name for name, tool in self._tool_functions.items() if self._space.get(name) is not tool]
        return f" ({', '.join(own)} is a tool: give your variable another name)" if own else ""

    def _execute(self, filename: str, code: str) -> Any:
        """Run the code; the value of its last expression, None when it ends with a statement."""
        remember(filename, code)
        tree = ast.parse(code, filename)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, filename, "exec", dont_inherit=True), self._space)  # noqa: S102 - what the box is for
        if not isinstance(last, ast.Expr):
            return None
        shown = compile(ast.Expression(last.value), filename, "eval", dont_inherit=True)
        return eval(shown, self._space)  # noqa: S307 - what the box is for

    def _shown(self, value: Any) -> str | None:
        if value is None:
            return None
        self._space["_"] = value
        text = str(value) if isinstance(value, str | Record | RecordList) else repr(value)
        return capped(text, self.channel.limits.output_chars)

    def _send_figure(self, data: bytes) -> None:
        self._printed.flush()
        encoder = Encoder(self.channel.limits)
        self.channel.send({"op": "figure", "step": self._step, **encoder.blob(data)}, encoder.blobs)

    def call(self, tool: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The value of a tool that the host runs; ToolError when it fails."""
        self._printed.flush()
        self._call += 1
        call = self._call
        encoder = Encoder(self.channel.limits)
        try:
            arguments = {"args": encoder.value(args), "kwargs": encoder.value(kwargs)}
            self.channel.send(
                {"op": "call", "step": self._step, "call": call, "tool": tool, **arguments}, encoder.blobs
            )
        except CannotCross as error:
            raise ToolError(f"the arguments of {tool} cannot be sent: {error}") from None
        self._note(f"{tool} was sent only the repr of", encoder.replaced)
        while True:
            message, decoder = self.channel.receive()
            if message.get("call") == call and message.get("step") == self._step:
                break
        if message["op"] == "final":
            raise StepOver
        if message["op"] == "error":
            raise ToolError(message["message"])
        self._note(f"{tool} gave only the repr of", message["replaced"])
        return decoder.value(message["value"])

    def _ask_module(self, name: str) -> tuple[str, str, bytes] | None:
        message, decoder = self._asks("module", name)
        code = decoder.value(message["code"])
        return None if code is None else (message["origin"], message["folder"], code)

    def _ask_data(self, path: str) -> bytes | None:
        message, decoder = self._asks("data", path)
        content: bytes | None = decoder.value(message["content"])
        return content

    def _asks(self, what: str, name: str) -> tuple[dict[str, Any], Decoder]:
        """What the host has of Python's own files, where this process cannot open them."""
        self._asked += 1
        ask = self._asked
        self.channel.send({"op": what, "step": self._step, "ask": ask, "name": name})
        while True:
            message, decoder = self.channel.receive()
            if message.get("ask") == ask:
                return message, decoder

    def _note(self, what: str, kinds: list[str]) -> None:
        if kinds:
            self._printed.write(f"[{what}: {', '.join(sorted(set(kinds)))}]\n")


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot be used: nobody is there to type; decide yourself and go on")


def main(preload: list[str]) -> None:
    """Serve the host on what were stdin and stdout, until they close."""
    channel = Channel()
    channel.begin()
    prepared(preload, channel).serve()


def prepared(preload: list[str], channel: Channel) -> Worker:
    """A worker with all that it needs loaded. The collector of garbage is off till then."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = Worker(channel)
    for name in preload:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # the image behind a command may lack it; the model is told when it imports it
    libraries.hide_environment()
    if "pandas" in sys.modules:
        pandas = sys.modules["pandas"]
        pandas.set_option("display.width", 120, "display.max_columns", 20, "display.max_colwidth", 80)
    gc.freeze()  # what was loaded is never garbage
    gc.enable()
    return worker
