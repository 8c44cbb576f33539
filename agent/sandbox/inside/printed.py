"""What the model's code prints and shows, under the cap of one step."""

import io

from .channel import Channel


class Printed(io.TextIOBase):
    """What the code prints: sent line by line up to a cap, then only the end is kept."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.begin(0)

    def begin(self, step: int) -> None:
        self._step, self._line, self._sent, self._tail, self._cut = step, "", 0, "", 0

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        head = self._channel.limits.output_chars * 3 // 4
        room = max(0, head - self._sent - len(self._line))
        self._line += text[:room]
        if len(text) > room:
            keep = self._channel.limits.output_chars - head
            tail = self._tail + text[room:]
            self._cut += max(0, len(tail) - keep)
            self._tail = tail[-keep:]
        if "\n" in text or len(self._line) > 4096:
            self.flush()
        return len(text)

    def flush(self) -> None:
        if self._line:
            line, self._line = self._line, ""
            self._sent += len(line)
            self._send(line)

    def end(self) -> None:
        self.flush()
        if self._tail:
            note = f"\n... {self._cut:,} characters left out ...\n" if self._cut else ""
            self._send(note + self._tail)

    def _send(self, text: str) -> None:
        self._channel.send({"op": "print", "step": self._step, "text": text})


def capped(text: str, size: int) -> str:
    """`text` with its middle left out when it is longer than `size` characters."""
    if len(text) <= size:
        return text
    head = size * 3 // 4
    return f"{text[:head]}\n... {len(text) - size:,} characters left out ...\n{text[head - size :]}"
