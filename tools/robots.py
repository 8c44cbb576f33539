"""What a site's robots.txt says of an address (RFC 9309)."""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote_to_bytes

RobotsMode = Literal["off", "warn", "obey"]

MAX_BYTES = 500_000
_KEPT_SITES = 1000
_KEPT_SECONDS = 24 * 3600.0
_UNKNOWN_SECONDS = 300.0
_LINE = re.compile(r"^\s*([A-Za-z-]+)\s*:\s*([^#]*)")


@dataclass(frozen=True)
class _Rule:
    path: str
    allow: bool

    def length_of_match(self, target: str) -> int:
        """How much of `target` it speaks of; -1 when it does not."""
        pattern = self.path.removesuffix("$")
        whole = self.path.endswith("$")
        pieces = pattern.split("*")
        if not target.startswith(pieces[0]):
            return -1
        at = len(pieces[0])
        for place, piece in enumerate(pieces[1:], 1):
            if whole and place == len(pieces) - 1:
                found = len(target) - len(piece) if target.endswith(piece) else -1
            else:
                found = target.find(piece, at)
            if found < at:
                return -1
            at = found + len(piece)
        if whole and at != len(target):
            return -1
        return len(self.path)


class RobotsFile:
    """The rules of one robots.txt for one program."""

    def __init__(self, text: str, agent: str) -> None:
        """`agent`: the product token of this program."""
        groups: dict[str, list[_Rule]] = {}
        names: list[str] = []
        open_group = False
        for line in text[:MAX_BYTES].removeprefix("\ufeff").splitlines():
            if (found := _LINE.match(line)) is None:
                continue
            key, value = found[1].lower(), found[2].strip()
            if key == "user-agent":
                names = names if open_group else []
                open_group = True
                name = re.match(r"[A-Za-z_-]+|\*", value)
                names.append(name[0].lower() if name else value.lower())
                groups.setdefault(names[-1], [])
            elif key in ("allow", "disallow"):
                open_group = False
                if value:
                    for name_ in names:
                        groups[name_].append(_Rule(_normal(value), key == "allow"))
        self._rules = groups.get(agent.lower(), groups.get("*", []))

    def forbids(self, target: str) -> bool:
        """Whether the path (with query) `target` is not to be read: the longest rule decides, Allow in a tie."""
        target = _normal(target)
        best = max(((rule.length_of_match(target), rule.allow) for rule in self._rules), default=(-1, True))
        return best[0] >= 0 and not best[1] and target != "/robots.txt"


class Robots:
    """What is done about robots.txt, and the files read so far; shared by all sessions. Thread-safe."""

    def __init__(self, mode: RobotsMode = "off", agent: str = "OpenDeepResearch") -> None:
        self.mode: RobotsMode = mode
        self._agent = agent
        self._lock = threading.Lock()
        self._files: OrderedDict[str, tuple[float, RobotsFile | None]] = OrderedDict()

    def forbids(self, origin: str, target: str, read: Callable[[str], str | None]) -> bool:
        """Whether the site at `origin` (scheme and host) asks not to read `target`. Always False when off.

        `read` gives the text of the robots.txt at an address, None when the
        site does not answer, which who obeys takes for a No (RFC 9309, 2.3.1.4).
        """
        if self.mode == "off":
            return False
        now = time.monotonic()
        with self._lock:
            until, rules = self._files.get(origin, (0.0, None))
        if until <= now:
            text = read(f"{origin}/robots.txt")
            rules = None if text is None else RobotsFile(text, self._agent)
            with self._lock:
                self._files[origin] = now + (_UNKNOWN_SECONDS if rules is None else _KEPT_SECONDS), rules
                while len(self._files) > _KEPT_SITES:
                    self._files.popitem(last=False)
        return self.mode == "obey" if rules is None else rules.forbids(target)


def _normal(path: str) -> str:
    """Percent signs in one form, so that /%7Ejoe and /~joe are the same."""
    return quote(unquote_to_bytes(path), safe="/?*$=&;:@!,+'()[]~-._%")
