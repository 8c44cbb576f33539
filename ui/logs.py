"""The log of the process, on standard error."""

import logging
from pathlib import Path
from traceback import walk_tb
from types import TracebackType

log = logging.getLogger(__name__)

# They tell every address that is read, which is the visitor's business.
_TALKATIVE = ("httpx", "httpx2", "httpcore", "primp", "ddgs", "asyncio")

_PROJECT = Path(__file__).resolve().parent.parent
_OURS = tuple(f"{_PROJECT / room}/" for room in ("agent", "tools", "ui"))
# Every request goes through it, those that fail in Gradio too.
_DOORS = str(_PROJECT / "ui" / "doors.py")


def keep_log(level: int) -> None:
    """Log from `level` up; what the libraries tell of each request only when something is wrong."""
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
    logging.getLogger("uvicorn.error").addFilter(ForgedCallFilter())


def in_our_code(trace: TracebackType | None, *besides: str) -> bool:
    """Whether an error went through a file of this project, one in `besides` not counted: it is ours to mend."""
    files = (frame.f_code.co_filename for frame, _ in walk_tb(trace))
    return any(file.startswith(_OURS) and file not in besides for file in files)


def tell_forged(error: BaseException) -> None:
    """One line for a call that the page never makes: the kind of error, and nothing of what was sent."""
    log.warning("a call of the page's API was not taken (%s)", type(error).__name__)
    log.debug("the call that was not taken", exc_info=error)


class ForgedCallFilter(logging.Filter):
    """Takes the traceback from the server's record of a request that failed outside our code."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or in_our_code(error.__traceback__, _DOORS):
            return True
        tell_forged(error)
        return False
