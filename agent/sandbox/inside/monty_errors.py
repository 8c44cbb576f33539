"""What went wrong in code that ran in Monty, told with the model's own lines."""

import linecache
import os
import re
from collections.abc import Mapping
from typing import Any

from ..wire.importable import OF_MONTY
from .traces import excerpt

_NOT_SUPPORTED = re.compile(r"The monty syntax parser does not yet support (.*)")
_SHOWN_FRAMES = 6


def explain(error: Any, feed: str, sources: Mapping[str, str], tool_said: str) -> str:
    """Where it went wrong, and the error with what to do about it in the last line.

    error: a MontyError; feed: Monty's name of the step that ran; sources: Monty's names of steps and the
    linecache names of theirs; tool_said: the message of the tool that failed last.
    """
    frames = [frame for frame in error.traceback() if frame.filename in sources]
    parts = []
    for i, frame in enumerate(frames):
        step = "" if frame.filename == feed else f"{sources[frame.filename][1:-1]}, "
        inside = "" if frame.function_name in (None, "<module>") else f", in {frame.function_name}"
        title = f"{step}line {frame.line}{inside}:"
        if i == len(frames) - 1:
            parts.append(excerpt(sources[frame.filename], frame.line, title))
        elif i < 2 or i >= len(frames) - _SHOWN_FRAMES:
            parts.append(f"{title} {linecache.getline(sources[frame.filename], frame.line).strip()}")
        elif i == 2:
            parts.append(f"... {len(frames) - _SHOWN_FRAMES - 2} more calls ...")
    return "\n".join([*parts, _described(error, tool_said)])


def is_time_limit(error: Any) -> bool:
    """Whether Monty ended the step because it computed too long."""
    return isinstance(error.exception(), TimeoutError) and "feed time limit" in str(error)


def is_memory_limit(error: Any) -> bool:
    """Whether Monty ended the step because its memory was full."""
    return isinstance(error.exception(), MemoryError)


def _described(error: Any, tool_said: str) -> str:
    exception, text = error.exception(), str(error.display("msg"))
    if tool_said and text == tool_said:
        return f"ToolError: {text}"
    if is_memory_limit(error):
        return "MemoryError: the memory of this session is used up; what this step had assigned is undone, so work on a part at a time"
    if unsupported := _NOT_SUPPORTED.search(text):
        return f"SyntaxError: this small Python has no {unsupported[1]}; write it with functions, lists and loops"
    if isinstance(exception, ModuleNotFoundError):
        return f"{type(exception).__name__}: {text} (importable are {', '.join(OF_MONTY)})"
    if isinstance(exception, OSError):
        return f"{type(exception).__name__}: {text} (only the attached files can be read, by their names ({_attached()}), and none can be written)"
    if isinstance(exception, NameError) and "'exit'" in text:
        return f"NameError: {text} (call final_answer(...) when you are done)"
    return str(error.display("type-msg"))


def _attached() -> str:
    names = sorted(os.listdir())  # noqa: PTH208 - the box stands in the folder of the attached files
    return ", ".join(names[:20]) if os.getcwd() != "/" and names else "there are none"  # noqa: PTH109
