"""The log of the process, on standard error."""

import logging

# They tell every address that is read, which is the visitor's business.
_TALKATIVE = ("httpx", "httpx2", "httpcore", "primp", "ddgs", "asyncio")


def keep_log(level: int) -> None:
    """Log from `level` up; what the libraries tell of each request only when something is wrong."""
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))
