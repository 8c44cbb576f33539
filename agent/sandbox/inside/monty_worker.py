"""The child side at level 3: the model's code runs in Monty, a Python in Rust that has no way out.

Monty is a process of its own below this one; it reaches nothing but the functions
that it is given. What is interrupted leaves its heap in an unknown state, so a
step begins with a copy of the session, which an interrupted one goes back to.
"""

import ast
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lock.process import CannotLock, drop_privileges, hide_process, readable, set_rlimits

from ..wire.codec import Decoder, Encoder
from ..wire.frames import CannotCross
from ..wire.limits import Limits
from .channel import Channel
from .monty_errors import explain, is_memory_limit, is_time_limit
from .monty_values import PRELUDE, inward, outward
from .printed import Printed, capped
from .traces import remember

_FILES = "/files"
_POLL_SECONDS = 0.02
_GRACE_SECONDS = 0.5  # that Monty has beyond its time limit, before its process is killed
_OWN_ROOM = 512 << 20  # that this process, with pandas, and Monty may each use besides the memory of the code
_UNDONE = "What this step had assigned is undone."


class StepOver(BaseException):
    """The step has ended: nothing after it runs. Monty lets no `except Exception` catch it."""


class MontyWorker:
    """Serves the host as `worker.Worker` does, with another interpreter."""

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self._channel = channel
        self._limits = channel.limits = limits
        self._printed = Printed(channel)
        self._tools_source = ""
        self._step = self._call = 0
        self._sources: dict[str, str] = {}
        self._folder: dict[str, Any] = {}
        self._feeds = 0
        self._feed_name = ""
        self._running = False
        self._reason = ""
        self._over = False
        self._tool_said = ""

    def open(self, files_dir: str) -> str:
        """Start Monty; says as which user it runs. CannotLock when Monty is not there or does not start."""
        if files_dir:
            os.chdir(files_dir)
        user = f"runs as user {os.geteuid()}"
        if sys.platform == "linux":
            memory = self._limits.memory_bytes + _OWN_ROOM
            set_rlimits(memory, self._limits.open_files, self._limits.life_seconds)
            needed = [*readable(), os.path.dirname(sys.executable)]  # noqa: PTH120 - a leaf without pathlib
            user = drop_privileges([*needed, *([files_dir] if files_dir else [])])
            hide_process()
        try:
            import pydantic_monty
        except ImportError as error:
            raise CannotLock("the package pydantic-monty is not installed") from error
        self._monty = pydantic_monty
        try:
            if files_dir:
                mount = pydantic_monty.MountDir(host_path=files_dir, virtual_path=_FILES, mode="read-only")
                self._folder = {"mount": mount, "cwd": _FILES}
            pool = pydantic_monty.Monty(max_processes=2, feed_duration_limit_grace=_GRACE_SECONDS)
            self._pool = pool.__enter__()
            self._begin(None)
        except (OSError, RuntimeError, pydantic_monty.MontyError) as error:
            raise CannotLock(f"Monty does not start ({str(error) or type(error).__name__})") from error
        return f"{user}, in Monty {pydantic_monty.__version__}"

    def serve(self) -> None:
        handlers: dict[str, Callable[[dict[str, Any], Decoder], None]] = {
            "tools": self._tools,
            "set": self._set,
            "run": self._run,
        }
        signal.signal(signal.SIGINT, lambda *_: self._interrupt())
        while True:
            message, decoder = self._channel.receive()
            handler = handlers.get(message["op"])
            if handler is not None:  # else the late reply to a call that was interrupted
                handler(message, decoder)

    def _begin(self, state: bytes | None) -> None:
        """A new interpreter: an empty one, or one that goes on where `state` was written."""
        limits: Any = {
            "max_feed_duration_secs": self._limits.cpu_seconds,
            "max_memory": self._limits.memory_bytes,
            "max_suspensions": 1 << 31,
        }
        checkout = self._pool.checkout(limits=limits, os_policy={"sleep": "zero"})
        self._session = checkout.__enter__()
        self._pid = self._session.worker_pid
        if state is None:
            self._feeds, self._sources = 0, {}
            self._feed(PRELUDE)
        else:
            self._session.load_session(state)

    def _feed(self, code: str, **options: Any) -> Any:
        self._feeds += 1
        told = {"print_callback": lambda stream, text: self._printed.write(text), **self._folder}
        return self._session.feed_run(code, external_lookup={"_call": self._serve_call}, **told, **options)

    def _tools(self, message: dict[str, Any], decoder: Decoder) -> None:
        names = [tool["name"] for tool in decoder.value(message["tools"])]
        self._tools_source = "\n".join(
            f"def {name}(*args, **kwargs):\n    return _made(_call({name!r}, args, kwargs))" for name in names
        )

    def _set(self, message: dict[str, Any], decoder: Decoder) -> None:
        for name, value in decoder.value(message["variables"]).items():
            self._feed(f"{name} = _made(_given)", inputs={"_given": inward(value)})

    def _run(self, message: dict[str, Any], decoder: Decoder) -> None:
        self._step, self._call, self._reason, self._over = message["step"], 0, "", False
        self._printed.begin(self._step)
        replies: list[dict[str, Any]] = []
        self._running = True
        # A thread of its own, since signals are served only while this one is not inside of Monty.
        runner = threading.Thread(target=lambda: replies.append(self._guarded(message["code"])))
        runner.start()
        runner.join()
        self._running = False
        self._printed.end()
        reply = replies[0] if replies else {"op": "failed", "trace": "the step ended in an unknown way"}
        self._channel.send({**reply, "step": self._step})

    def _guarded(self, code: str) -> dict[str, Any]:
        state, feeds = self._saved()
        errors = self._monty
        try:
            value = self._execute(code)
            if not self._reason:
                shown = None if value is None else capped(value, self._limits.output_chars)
                return {"op": "done", "value": shown}
            trace, undo = "", True
        except (errors.MontyRuntimeError, errors.MontySyntaxError) as error:
            if self._over:
                return {"op": "done", "value": None}
            if is_time_limit(error):
                self._reason = self._reason or "cpu"
            trace = capped(explain(error, self._feed_name, self._sources, self._tool_said), 8000)
            undo = bool(self._reason) or is_memory_limit(error)
        except (
            errors.MontyError
        ) as error:  # the process is gone: killed here, by its own watchdog, or crashed
            if getattr(error, "timed_out", False):
                self._reason = self._reason or "cpu"
            trace, undo = f"The interpreter broke down ({error}). {_UNDONE}", True
        if undo:
            self._go_back(state, feeds)
        if self._reason:
            return {"op": "interrupted", "reason": self._reason, "trace": _UNDONE}
        return {"op": "failed", "trace": trace}

    def _execute(self, code: str) -> str | None:
        """Run the code; the text of its last expression's value, None when it ends with a statement or None."""
        if self._tools_source:  # an earlier step may have used a tool's name for a variable
            self._feed(self._tools_source)
        name = f"<step {self._step}>"
        remember(name, code)
        self._feed_name = f"<python-input-{self._feeds}>"  # what Monty calls its next one
        self._sources[self._feed_name] = name
        self._feed(_keeping_last(code))
        text = self._feed("None if _ is None else _text(_)")
        return None if text is None else str(text)

    def _saved(self) -> tuple[bytes | None, int]:
        try:
            return self._session.dump(), self._feeds
        except self._monty.MontyError:
            self._go_back(None, 0)  # too large to be copied, which ended it
            self._printed.write("[Variables of earlier steps are gone: they filled the memory.]\n")
            return self._session.dump(), self._feeds

    def _go_back(self, state: bytes | None, feeds: int) -> None:
        with suppress(self._monty.MontyError, RuntimeError):
            self._session.__exit__(None, None, None)
        self._begin(state)
        if state is not None:
            self._feeds = feeds

    def _interrupt(self) -> None:
        """In the main thread, on SIGINT: end what Monty does, wherever it is."""
        if self._running and not self._reason:
            self._reason = "host"
            if self._pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, signal.SIGKILL)

    def _serve_call(self, tool: str, args: Any, kwargs: Any) -> Any:
        """In the runner's thread, called from Monty: the value of a tool that the host runs."""
        self._printed.flush()
        self._call += 1
        encoder = Encoder(self._limits)
        try:
            arguments = {"args": encoder.value(outward(list(args))), "kwargs": encoder.value(outward(kwargs))}
            call = {"op": "call", "step": self._step, "call": self._call, "tool": tool, **arguments}
            self._channel.send(call, encoder.blobs)
        except CannotCross as error:
            self._tool_said = f"the arguments of {tool} cannot be sent: {error}"
            raise RuntimeError(self._tool_said) from None
        message, decoder = self._reply()
        if message["op"] == "final":
            self._over = True
            raise StepOver
        if message["op"] == "error":
            self._tool_said = str(message["message"])
            raise RuntimeError(self._tool_said)
        return inward(decoder.value(message["value"]))

    def _reply(self) -> tuple[dict[str, Any], Decoder]:
        while True:
            while not self._channel.ready(_POLL_SECONDS):
                if self._reason:
                    raise StepOver
            message, decoder = self._channel.receive()
            if message.get("call") == self._call and message.get("step") == self._step:
                return message, decoder


def _keeping_last(code: str) -> str:
    """The code with its last expression's value kept in `_`, on the same lines; None when it ends with a statement."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError):
        return code  # Monty says what is wrong with it
    last = body[-1] if body else None
    if not isinstance(last, ast.Expr) or last.end_lineno is None or last.end_col_offset is None:
        return f"{code}\n_ = None"
    lines = code.encode().split(b"\n")
    lines[last.end_lineno - 1] = _inserted(lines[last.end_lineno - 1], last.end_col_offset, b")")
    lines[last.lineno - 1] = _inserted(lines[last.lineno - 1], last.col_offset, b"_ = (")
    return b"\n".join(lines).decode()


def _inserted(line: bytes, at: int, text: bytes) -> bytes:
    return line[:at] + text + line[at:]
