"""The child side of the box: runs the model's code, one step after the other.

It is sent to the child as text and imports only the modules sent with it, so
that it runs the same behind any command. The pipe is moved away from stdin and
stdout before anything else runs: model code that prints or reads cannot touch it.
"""

import ast
import builtins
import importlib
import inspect
import io
import os
import select
import signal
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import lock
from .attached import AttachedFiles
from .codec import Decoder, Encoder
from .frames import HEADER, CannotCross, frame_size, pack, unpack
from .limits import Limits
from .records import Record, RecordList
from .traces import explain, remember


class Interrupted(BaseException):
    """The host, or the CPU timer, wants the step to end; not an Exception, so that code rarely catches it."""


class StepOver(BaseException):
    """The final answer was taken: nothing after it runs."""


class ToolError(Exception):
    """A tool could not do what it was asked; the message says why."""


ToolError.__module__ = "builtins"


class Channel:
    """Frames over two descriptors; an interrupt never cuts one in two."""

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.close(nothing)
        self.limits = Limits()
        self.interruptible = False
        self._held = False
        self._reason = ""

    def interrupt(self, reason: str) -> None:
        """Raise Interrupted in the step, now or as soon as no frame is half done."""
        if self.interruptible and self._held:
            self._reason = reason
        elif self.interruptible:
            raise Interrupted(reason)

    def send(self, message: dict[str, Any], blobs: list[bytes] | None = None) -> None:
        frame = memoryview(pack(message, blobs or [], self.limits))
        with self._whole():
            while frame:
                frame = frame[os.write(self._out, frame) :]

    def receive(self) -> tuple[dict[str, Any], Decoder]:
        select.select([self._in], [], [])
        with self._whole():
            text, blobs = frame_size(self._read(HEADER.size), self.limits)
            message = unpack(self._read(text))
            return message, Decoder(self._read(blobs), self.limits, typed=True)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        self._held = True
        try:
            yield
        finally:
            self._held = False
        reason, self._reason = self._reason, ""
        if reason and self.interruptible:
            raise Interrupted(reason)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = os.read(self._in, min(size - len(data), 1 << 20))
            if not piece:
                os._exit(0)  # the host is gone: so are we, whatever the code does in its `finally`
            data += piece
        return bytes(data)


class Printed(io.TextIOBase):
    """What the code prints: sent line by line up to a cap, then only the end is kept."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.begin(0)

    def begin(self, step: int) -> None:
        self._step, self._line, self._sent, self._tail, self._cut = step, "", 0, "", 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        head = self._channel.limits.output_chars * 3 // 4
        room = max(0, head - self._sent - len(self._line))
        self._line += text[:room]
        if len(text) > room:
            keep = self._channel.limits.output_chars - head
            tail = self._tail + text[room:]
            self._cut += max(0, len(tail) - keep)
            self._tail = tail[-keep:]
        if "\n" in text or len(self._line) > 4096:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._line:
            line, self._line = self._line, ""
            self._sent += len(line)
            self._send(line)

    def end(self) -> None:
        self.flush()
        if self._tail:
            note = f"\n... {self._cut:,} characters left out ...\n" if self._cut else ""
            self._send(note + self._tail)

    def _send(self, text: str) -> None:
        self._channel.send({"op": "print", "step": self._step, "text": text})


class ToolFunction:
    """A tool as the model's code sees it: a function whose body runs in the host."""

    def __init__(
        self, worker: "Worker", name: str, doc: str, parameters: list[dict[str, Any]] | None
    ) -> None:
        self._worker = worker
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        if parameters is not None:
            made = [
                inspect.Parameter(
                    p["name"],
                    inspect.Parameter.POSITIONAL_OR_KEYWORD,
                    default=p.get("default", inspect.Parameter.empty),
                )
                for p in parameters
            ]
            self.__signature__ = inspect.Signature(made)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if hasattr(self, "__signature__"):
            try:
                kwargs = self.__signature__.bind(*args, **kwargs).arguments
            except TypeError as error:
                raise TypeError(f"{self.__name__}{self.__signature__}: {error}") from None
            args = ()
        return self._worker.call(self.__name__, list(args), dict(kwargs))

    def __repr__(self) -> str:
        return f"<tool {self.__name__}{getattr(self, '__signature__', '(...)')}>"


class Worker:
    """The namespace of one session and the loop that serves the host."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self._module = types.ModuleType("__main__")
        self._space = self._module.__dict__
        self._space.update(__builtins__=builtins, ToolError=ToolError)
        self._printed = Printed(channel)
        self._files: AttachedFiles | None = None
        self._step = 0
        self._call = 0

    def serve(self) -> None:
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
        self.channel.limits = Limits(**message["limits"])
        sys.modules["__main__"] = self._module
        builtins.input = _no_input
        try:
            user = lock.lock(message["level"], self.channel.limits, message["files_dir"])
        except lock.CannotLock as error:
            self.channel.send({"op": "refused", "why": str(error)})
            os._exit(1)
        self.channel.send({"op": "opened", "user": user})

    def _tools(self, message: dict[str, Any], decoder: Decoder) -> None:
        for tool in decoder.value(message["tools"]):
            self._space[tool["name"]] = ToolFunction(self, tool["name"], tool["doc"], tool["parameters"])

    def _set(self, message: dict[str, Any], decoder: Decoder) -> None:
        self._space.update(decoder.value(message["variables"]))

    def _file(self, message: dict[str, Any], decoder: Decoder) -> None:
        self._files = self._files or AttachedFiles()
        self._files.add(message["name"], decoder.value(message["content"]))

    def _run(self, message: dict[str, Any], decoder: Decoder) -> None:
        self._step, self._call = message["step"], 0
        filename = f"<step {self._step}>"
        self._printed.begin(self._step)
        sys.stdout = sys.stderr = self._printed
        sys.stdin = io.StringIO()
        signal.signal(signal.SIGINT, lambda *_: self.channel.interrupt("host"))
        signal.signal(signal.SIGPROF, lambda *_: self.channel.interrupt("cpu"))
        signal.setitimer(signal.ITIMER_PROF, self.channel.limits.cpu_seconds)
        try:
            reply = self._guarded(filename, message["code"])
        except BaseException:  # noqa: BLE001 - an interrupt while the error was being told
            reply = {"op": "interrupted", "reason": "host", "trace": ""}
        self.channel.interruptible = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        self._printed.end()
        self.channel.send({**reply, "step": self._step})

    def _guarded(self, filename: str, code: str) -> dict[str, Any]:
        try:
            self.channel.interruptible = True
            return {"op": "done", "value": self._execute(filename, code)}
        except StepOver:
            return {"op": "done", "value": None}
        except Interrupted as stop:
            return {"op": "interrupted", "reason": str(stop), "trace": _capped(explain(stop, filename), 4000)}
        except BaseException as error:  # noqa: BLE001 - whatever the code raises is told to the model
            return {"op": "failed", "trace": _capped(explain(error, filename), 8000)}

    def _execute(self, filename: str, code: str) -> str | None:
        remember(filename, code)
        tree = ast.parse(code, filename)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, filename, "exec", dont_inherit=True), self._space)  # noqa: S102 - what the box is for
        if not isinstance(last, ast.Expr):
            return None
        shown = compile(ast.Expression(last.value), filename, "eval", dont_inherit=True)
        value = eval(shown, self._space)  # noqa: S307 - what the box is for
        if value is None:
            return None
        self._space["_"] = value
        plain = isinstance(value, str | Record | RecordList)
        return _capped(str(value) if plain else repr(value), self.channel.limits.output_chars)

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

    def _note(self, what: str, kinds: list[str]) -> None:
        if kinds:
            self._printed.write(f"[{what}: {', '.join(sorted(set(kinds)))}]\n")


def _capped(text: str, size: int) -> str:
    if len(text) <= size:
        return text
    head = size * 3 // 4
    return f"{text[:head]}\n... {len(text) - size:,} characters left out ...\n{text[head - size :]}"


def _no_input(prompt: object = "") -> str:
    raise RuntimeError("input() cannot be used: nobody is there to type; decide yourself and go on")


def main(preload: list[str]) -> None:
    """Serve the host on what were stdin and stdout, until they close."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel()
    for name in preload:
        try:
            importlib.import_module(name)
        except ImportError:
            continue  # the image behind a command may lack it; the model is told when it imports it
    os.environ.clear()
    if "pandas" in sys.modules:
        pandas = sys.modules["pandas"]
        pandas.set_option("display.width", 120, "display.max_columns", 20, "display.max_colwidth", 80)
    channel.send({"op": "ready"})
    Worker(channel).serve()
