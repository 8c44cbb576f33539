"""What went wrong in the model's code, told with the model's own lines."""

import builtins
import difflib
import linecache
import traceback
from types import TracebackType

_SHOWN_FRAMES = 6
_HINTS: tuple[tuple[type[BaseException], str], ...] = (
    (MemoryError, "the box is out of memory; delete what is not needed, or work on a part"),
    (SystemExit, "exit() does not end anything here; use final_answer(...) to end, or let the step run out"),
    (
        PermissionError,
        "the box has no network, no subprocesses and no threads, and reads no files but the attached ones; use the tools",
    ),
)


def remember(filename: str, code: str) -> None:
    """Keep the source of a step, so that later errors can show its lines."""
    linecache.cache[filename] = (len(code), None, code.splitlines(keepends=True), filename)


def explain(error: BaseException, filename: str) -> str:
    """The traceback of the steps' own frames, the last one with its line marked, and the error.

    filename: the step that ran, "<step 3>"; frames of earlier steps name their step.
    """
    parts = []
    places = _places(error.__traceback__)
    if isinstance(error, SyntaxError) and error.filename == filename and error.lineno:
        parts.append(_excerpt(filename, error.lineno, f"line {error.lineno}:", error.offset))
    for i, (source, line, name) in enumerate(places):
        title = _title(source, line, name, filename)
        if 2 <= i < len(places) - _SHOWN_FRAMES:
            if i == 2:
                parts.append(f"... {len(places) - _SHOWN_FRAMES - 2} more calls ...")
        elif i < len(places) - 1:
            parts.append(f"{title} {linecache.getline(source, line).strip()}")
        elif not isinstance(error, SyntaxError) or error.filename != filename:
            parts.append(_excerpt(source, line, title))
    parts.append(describe(error))
    cause = error.__cause__
    if cause is not None and str(cause) != str(error):
        parts.append(f"caused by {describe(cause)}")
    parts.extend(f"Hint: {hint}" for kind, hint in _HINTS if isinstance(error, kind))
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


def _places(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """(filename, line, function) of the frames that are the model's own, outermost first."""
    frames = ((frame.f_code, line) for frame, line in traceback.walk_tb(trace))
    return [(c.co_filename, line, c.co_name) for c, line in frames if c.co_filename.startswith("<step ")]


def _title(source: str, line: int, name: str, filename: str) -> str:
    step = "" if source == filename else f"{source[1:-1]}, "
    inside = "" if name == "<module>" else f", in {name}"
    return f"{step}line {line}{inside}:"


def _excerpt(source: str, line: int, title: str, column: int | None = None) -> str:
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
