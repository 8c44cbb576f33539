"""What went wrong in the model's code, told with the model's own lines."""

import builtins
import difflib
import errno
import linecache
import os
import resource
import traceback
from types import TracebackType

from .channel import Interrupted
from .libraries import offered

_SHOWN_FRAMES = 6
_NO_WAY_OUT = "there is no network, thread or subprocess here; call the tools instead, one after the other"
_WRITE_HERE = "files can be written only under plain names, such as open('rows.csv', 'w')"


def remember(filename: str, code: str) -> None:
    """Keep the source of a step, so that later errors can show its lines."""
    linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)


def explain(error: BaseException, filename: str) -> str:
    """Where it went wrong, and the error with what to do about it in the last line.

    filename: the step that ran, "<step 3>"; frames of earlier steps name their step.
    """
    hint = _hint(error)
    cause = error.__cause__
    parts = [locate(error, filename)]
    if cause is not None and _text(cause) != _text(error):
        parts.append(f"caused by {describe(cause)}")
    parts.append(f"{describe(error)} ({hint})" if hint else describe(error))
    return "\n".join(part for part in parts if part)


def locate(error: BaseException, filename: str) -> str:
    """The steps' own frames of a traceback; of the last one the lines around, its own marked."""
    if isinstance(error, SyntaxError) and error.filename == filename and error.lineno:
        return excerpt(filename, error.lineno, f"line {error.lineno}:", error.offset)
    places = _places(error.__traceback__)
    parts = []
    for i, (source, line, name) in enumerate(places):
        title = _title(source, line, name, filename)
        if i == len(places) - 1:
            parts.append(excerpt(source, line, title))
        elif i < 2 or i >= len(places) - _SHOWN_FRAMES:
            parts.append(f"{title} {linecache.getline(source, line).strip()}")
        elif i == 2:
            parts.append(f"... {len(places) - _SHOWN_FRAMES - 2} more calls ...")
    return "\n".join(parts)


def describe(error: BaseException) -> str:
    """The error's last line as CPython writes it, with its suggestions and notes."""
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    text = "".join(traceback.format_exception_only(error)).strip()
    if isinstance(error, NameError) and error.name and "Did you mean" not in text:
        text += _similar(error.name, error.__traceback__)  # CPython 3.11 suggests only when it prints itself
    return text


def _similar(name: str, trace: TracebackType | None) -> str:
    frames = [frame for frame, _ in traceback.walk_tb(trace)][-1:]
    known = [known for frame in frames for known in (*frame.f_locals, *frame.f_globals, *dir(builtins))]
    close = difflib.get_close_matches(name, known, 1, 0.75)
    return f". Did you mean: '{close[0]}'?" if close else ""


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Interrupted:
        raise
    except BaseException:  # noqa: BLE001 - the code's own __str__ may raise anything, SystemExit too
        return ""


def _hint(error: BaseException) -> str:
    """What the model can do instead, where the box is the reason."""
    text = _text(error)
    if isinstance(error, MemoryError):
        return "the memory of this session is used up; delete what is not needed, or work on a part at a time"
    if isinstance(error, SystemExit):
        return "exit() ends nothing here; call final_answer(...) when you are done"
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        return f"importable are the standard library, {', '.join(offered())}"
    if type(error).__name__ in ("URLError", "gaierror") or "can't start new thread" in text:
        return _NO_WAY_OUT
    if not isinstance(error, OSError):
        return ""
    if error.errno == errno.EMFILE:
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return f"at most {most} files and pipes may be open here at once; close those that are read"
    if error.errno == errno.EPERM:
        return _NO_WAY_OUT
    if error.errno == errno.EFBIG:
        return _WRITE_HERE
    if error.errno in (errno.EACCES, errno.ENOENT) and error.filename is not None:
        return f"only the attached files can be read ({_attached()}), and {_WRITE_HERE}"
    return ""


def _attached() -> str:
    try:
        names = sorted(os.listdir())  # noqa: PTH208 - the box stands in the folder of its files
    except OSError:
        names = []
    return ", ".join(names[:20]) or "there are none"


def _places(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """(filename, line, function) of the frames that are the model's own, outermost first."""
    frames = ((frame.f_code, line) for frame, line in traceback.walk_tb(trace))
    return [(c.co_filename, line, c.co_name) for c, line in frames if c.co_filename.startswith("<step ")]


def _title(source: str, line: int, name: str, filename: str) -> str:
    step = "" if source == filename else f"{source[1:-1]}, "
    inside = "" if name == "<module>" else f", in {name}"
    return f"{step}line {line}{inside}:"


def excerpt(source: str, line: int, title: str, column: int | None = None) -> str:
    """`title`, then the line with those beside it, marked; `source`: the name it is remembered by."""
    shown = [title]
    for number in (line - 1, line, line + 1):
        text = linecache.getline(source, number).rstrip()
        if not text.strip():
            continue
        lead = f"{'>>' if number == line else '  '} {number:>3} | "
        shown.append(f"{lead}{text[:200]}")
        if number == line and column:
            shown.append(" " * (len(lead) + min(column, 200) - 1) + "^")
    return "\n".join(shown)
