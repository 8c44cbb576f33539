"""What an operator decides about every fetch, in one place; shared by all sessions."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tools.pace import Pace
from tools.proxy import Proxy
from tools.robots import Robots

ARCHIVE_HOME = "https://archive.org/"


Closed = Callable[[str], str]
"""Why an address is neither found nor read by anybody, empty when it may be: a part of a sentence."""


def all_open(url: str) -> str:
    """Nothing is closed."""
    return ""


@dataclass(frozen=True)
class Manners:
    """`ports`: open besides 80, 443 and 8080. `archive`: a page that answers 403 or 429 is read from the archive once.

    `closed`: what is not opened whatever page leads to it.
    """

    ports: frozenset[int] = frozenset()
    proxy: Proxy | None = None
    robots: Robots = field(default_factory=Robots)
    pace: Pace = field(default_factory=Pace)
    archive: bool = False
    archive_home: str = ARCHIVE_HOME
    closed: Closed = all_open
