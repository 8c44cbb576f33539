"""Text that arrives in pieces, cut where it must be, wherever the pieces break.

    ReasoningSplitter   "<think>a</think>b"   -> reasoning "a", content "b"
    StopCutter          "b</code>\\n"          -> "b", and it says that it stopped

How the text is cut into pieces never changes the outcome, only when it is known.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# What a server names when the model itself was done; anything else means that text is missing.
FINISHED = ("stop", "stop_sequence", "eos_token", "tool_calls")


@dataclass(frozen=True)
class Piece:
    """A stretch of text of one kind: "reasoning", "content", "restart", "thought" or "code"."""

    kind: str
    text: str


def open_end(text: str, marks: Iterable[str]) -> int:
    """Where the longest end of `text` begins that could still grow into one of the marks."""
    longest = max((len(mark) for mark in marks), default=0)
    for start in range(max(0, len(text) - longest + 1), len(text)):
        if any(mark.startswith(text[start:]) for mark in marks):
            return start
    return len(text)


class StopCutter:
    """Cuts the text at the first stop sequence, wherever the pieces break.

    A server ends at the stop text that is complete first; so does this.
    """

    def __init__(self, stops: Iterable[str] | None) -> None:
        self._stops = [stop for stop in stops or () if stop]
        self._held = ""
        self.stopped = False

    def feed(self, text: str) -> str:
        """What is surely before a stop."""
        if self.stopped:
            return ""
        self._held += text
        found = [(at + len(stop), at) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            self.stopped = True
            kept, self._held = self._held[: min(found)[1]], ""
            return kept
        safe = open_end(self._held, self._stops)
        kept, self._held = self._held[:safe], self._held[safe:]
        return kept

    def close(self) -> str:
        """What was held back and turned out to be no stop."""
        kept, self._held = self._held, ""
        return kept


class ReasoningSplitter:
    """Tells what the model thinks to itself from what it says, by the <think> tags.

    `opened`: the chat template has already opened <think>, so that the text
    begins inside it and only a lone </think> comes. When that is not known, a
    lone </think> outside a code block is a surprise: a "restart" piece then says
    that all content until there was reasoning and is to be forgotten.
    """

    # Fences and code tags matter only because a tag inside code is text of the program.
    _MARKS = ("<think>", "</think>", "```", "<code>", "</code>")
    _MARK = re.compile("|".join(_MARKS))

    def __init__(self, opened: bool = False) -> None:
        self._inside = opened
        self._guessed = opened
        self._fenced = False
        self._tagged = False
        self._held = ""
        self._seen: list[str] = []
        self.surprised = False

    def feed(self, text: str) -> list[Piece]:
        pieces: list[Piece] = []
        self._held += text
        while mark := self._MARK.search(self._held):
            self._say(self._held[: mark.start()], pieces)
            self._held = self._held[mark.end() :]
            self._turn(mark.group(), pieces)
        safe = open_end(self._held, self._MARKS)
        self._say(self._held[:safe], pieces)
        self._held = self._held[safe:]
        return pieces

    def close(self, finish_reason: str | None = None) -> list[Piece]:
        """The rest. A reply that was taken for reasoning, but ended well without </think>, is content."""
        pieces: list[Piece] = []
        self._say(self._held, pieces)
        self._held = ""
        if self._guessed and finish_reason in FINISHED and self._seen:
            pieces.append(Piece("content", "".join(self._seen)))
        return pieces

    def _turn(self, mark: str, pieces: list[Piece]) -> None:
        in_code = not self._inside and (self._fenced or self._tagged)
        if mark == "<think>" and not in_code:
            self._inside = True
        elif mark == "</think>" and self._inside:
            self._inside = self._guessed = self._fenced = self._tagged = False
        elif mark == "</think>" and not in_code:
            self.surprised = True
            self._seen.clear()
            pieces.append(Piece("restart", ""))
        else:
            if mark == "```":
                self._fenced = not self._fenced
            elif not self._fenced:
                self._tagged = mark == "<code>"
            self._say(mark, pieces)

    def _say(self, text: str, pieces: list[Piece]) -> None:
        if not text:
            return
        if self._guessed:
            self._seen.append(text)
        pieces.append(Piece("reasoning" if self._inside else "content", text))
