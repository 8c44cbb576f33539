"""Who has the page open.

A browser keeps a secret of its own, and the server its digest: so a visitor who
reloads the page, or comes back to a run later, is known as the one who asked.
Whoever only has the link of a run sees that run and nothing else.
"""

import hashlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.run import Run

# Whoever calls the app may name a new page each time.
MOST_PAGES = 2000
# How long the box and the files of a closed page are kept: closing is also the first half of reloading.
AWAY_SECONDS = 10.0

_SECRET_CHARS = range(20, 200)


@dataclass(eq=False)
class Visitor:
    """One conversation of one browser. `key`: the digest of its secret; `last`: its newest run."""

    key: str
    last: str = ""
    session_id: str = ""
    run: Run | None = None
    asking: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class OpenPage:
    """One open page: whose it is, and which run it shows."""

    visitor: Visitor
    shows: str = ""


class Visitors:
    """The open pages; threads may share it."""

    def __init__(self, live: Callable[[str], bool], let_go: Callable[[str], None]) -> None:
        """`live`: whether a session is still there. `let_go`: told a session that nobody needs any more."""
        self._live = live
        self._let_go = let_go
        self._lock = threading.Lock()
        self._pages: dict[str, OpenPage] = {}
        self._away: set[Visitor] = set()

    def __len__(self) -> int:
        return len(self._pages)

    def page(self, name: str) -> OpenPage:
        """The page of that name; one that never said that it arrived is a stranger's."""
        with self._lock:
            return self._pages.get(name) or self._open(name, Visitor(key_of(new_secret())))

    def known(self, name: str) -> OpenPage | None:
        return self._pages.get(name)

    def arrive(self, name: str, key: str, own: str) -> OpenPage:
        """A page is opened. `own`: the run in its address when it is this browser's, whose conversation goes on.

        One that is open already, since its first question overtook it, stays as it is: its visitor has another key.
        """
        with self._lock:
            if (early := self._pages.get(name)) is not None:
                return early
            at_hand = [*(page.visitor for page in self._pages.values()), *self._away]
            found = (visitor for visitor in at_hand if own and visitor.last == own and visitor.key == key)
            return self._open(name, next(found, None) or Visitor(key, own))

    def leave(self, name: str) -> None:
        """A page is closed; unless its visitor is back soon, the session goes."""
        with self._lock:
            page = self._pages.pop(name, None)
            if page is None or not page.visitor.session_id or self._has_page(page.visitor):
                return
            self._away.add(page.visitor)
        timer = threading.Timer(AWAY_SECONDS, self._stayed_away, [page.visitor])
        timer.daemon = True
        timer.start()

    def _stayed_away(self, visitor: Visitor) -> None:
        with self._lock:
            self._away.discard(visitor)
            if self._has_page(visitor):
                return
        self._let_go(visitor.session_id)

    def _has_page(self, visitor: Visitor) -> bool:
        return any(page.visitor is visitor for page in self._pages.values())

    def _open(self, name: str, visitor: Visitor) -> OpenPage:
        if name not in self._pages and len(self._pages) >= MOST_PAGES:
            self._forget_one()
        self._pages[name] = page = OpenPage(visitor)
        return page

    def _forget_one(self) -> None:
        """The oldest page that never asked or whose session has ended goes, before one at work."""
        names = list(self._pages)
        idle = (name for name in names if not self._live(self._pages[name].visitor.session_id))
        del self._pages[next(idle, names[0])]


def new_secret() -> str:
    return secrets.token_urlsafe(24)


def is_secret(given: object) -> bool:
    """Whether a browser sent what can be a secret of ours."""
    return isinstance(given, str) and given.isascii() and len(given) in _SECRET_CHARS


def key_of(secret: str) -> str:
    """What the server keeps of a browser's secret."""
    return hashlib.sha256(secret.encode()).hexdigest()
