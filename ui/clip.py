"""Text that grows without end, shown within bounds."""

from collections import deque

TEXT_CHARS = 8_000
OUTPUT_CHARS = 4_000


class Clip:
    """Text that grows; beyond `limit` characters its middle is left out and counted."""

    def __init__(self, limit: int) -> None:
        self._room = limit * 3 // 4
        self._keep = limit - self._room
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_chars = 0
        self._dropped = 0

    def __bool__(self) -> bool:
        return bool(self._head)

    def add(self, text: str) -> None:
        if self._room:
            self._head.append(text[: self._room])
            text, self._room = text[self._room :], max(0, self._room - len(text))
        if not text:
            return
        self._dropped += max(0, len(text) - self._keep)
        self._tail.append(text[-self._keep :])
        self._tail_chars += len(self._tail[-1])
        while self._tail_chars - len(self._tail[0]) >= self._keep:
            gone = len(self._tail.popleft())
            self._tail_chars -= gone
            self._dropped += gone

    def __str__(self) -> str:
        note = f"\n\n… {self._dropped:,} characters are not shown here …\n\n" if self._dropped else ""
        return "".join(self._head) + note + "".join(self._tail)
