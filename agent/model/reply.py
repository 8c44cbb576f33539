"""A model's reply as it streams in: the thought told from the code, and whether that may be run."""

import re
import textwrap
from dataclasses import dataclass

from agent.model.pieces import FINISHED, Piece, ReasoningSplitter, StopCutter, open_end

__all__ = ["Piece", "ReasoningSplitter", "Reply", "ReplyParser", "StopCutter"]


@dataclass(frozen=True)
class Reply:
    """A whole reply. `truncated`: text is missing, so what there is of `code` must not be run."""

    thought: str
    code: str | None
    truncated: bool


@dataclass(frozen=True)
class _Opening:
    """A line that opens a code block: the thought before it, what will close it, code on the same line."""

    before: str
    closer: str
    code: str
    named: bool  # the block says that it is code, while a bare fence may as well be a closing one


class ReplyParser:
    """Finds the thought and the first code block of a reply.

    A block stands between ```python, ```py or bare ``` fences, or in
    <code>…</code>. Only the first is the action: what follows is a guess of the
    model about what that will print. A block that a stop sequence ended needs no
    closing line. Decisions fall on whole lines; what cannot change any more is
    given out at once.
    """

    _FENCE = re.compile(r"(?P<before>.*?)```[ \t]*(?P<language>(?:python3?|py)?)[ \t\r]*$", re.IGNORECASE)
    _FENCE_WITH_CODE = re.compile(r"(?P<before>[ \t]*)```(?:python3?|py)[ \t]+(?P<code>[^`]+```)\s*$")
    _TAG = re.compile(r"(?P<before>.*?)<code>[ \t\r]*$")
    _TAG_WITH_CODE = re.compile(r"(?P<before>[ \t]*)<code>(?P<code>(?:(?!</code>).)+(?:</code>\s*)?)$")
    _MARKS = ("```", "<code>")

    def __init__(self) -> None:
        self._state = "thought"
        self._closer = ""
        self._foreign = False  # inside a block of another language, which is part of the thought
        self._line = ""  # the current line from its beginning …
        self._given = 0  # … and how much of it was already given out
        self._thought: list[str] = []
        self._code: list[str] = []

    @property
    def done(self) -> bool:
        """The first block is complete: nothing that follows changes the reply."""
        return self._state == "done"

    def feed(self, text: str) -> list[Piece]:
        """What is surely thought or code by now."""
        pieces: list[Piece] = []
        *whole, rest = text.split("\n")
        for part in whole:
            self._line += part + "\n"
            self._take_line(pieces)
        self._line += rest
        self._take_part(pieces)
        return pieces

    def flush(self) -> list[Piece]:
        """The held-back rest, at the end of the text."""
        pieces: list[Piece] = []
        self._take_line(pieces)
        return pieces

    def close(self, finish_reason: str | None) -> Reply:
        """The reply, once the model stopped for that reason (None: the stream named none)."""
        self.flush()
        code = "".join(self._code)
        if code.lstrip("\n")[:1].isspace():
            code = textwrap.dedent(code)
        truncated = finish_reason not in FINISHED and not self.done
        return Reply("".join(self._thought).strip(), code.strip("\n") if code.strip() else None, truncated)

    def _take_line(self, pieces: list[Piece]) -> None:
        line, given = self._line, self._given
        self._line, self._given = "", 0
        if self._state == "thought":
            self._take_thought(line, given, pieces)
        elif self._state == "code":
            self._take_code(line, given, pieces)

    def _take_thought(self, line: str, given: int, pieces: list[Piece]) -> None:
        opening = None if self._foreign else self._opening(line)
        if opening is None and line.lstrip().startswith("```") and line.count("```") == 1:
            self._foreign = not self._foreign
        self._give("thought", line[given:] if opening is None else opening.before[given:], pieces)
        if opening is not None:
            self._open(opening, pieces)

    def _take_code(self, line: str, given: int, pieces: list[Piece]) -> None:
        opening = None if self._has_code else self._opening(line)
        if opening and not opening.before.strip() and (opening.named or self._closer == "</code>"):
            self._open(opening, pieces)  # an inner fence is the real one
        elif line.lstrip().startswith(self._closer):
            self._end()
        elif line.rstrip().endswith(self._closer) and line.count(self._closer) == 1:
            self._give("code", line[given : line.index(self._closer)], pieces)
            self._end()
        else:
            self._give("code", line[given:], pieces)

    def _take_part(self, pieces: list[Piece]) -> None:
        """Give out what the rest of the line cannot change."""
        line = self._line
        if self._state == "code" and self._has_code and line.lstrip().startswith(self._closer):
            self._end()
        if self._state == "done" or not line.strip():
            return
        marks = (*self._MARKS, self._closer) if self._closer else self._MARKS
        sure = min((at for mark in marks if (at := line.find(mark)) >= 0), default=open_end(line, marks))
        if sure > self._given and line[:sure].strip():
            self._give(self._state, line[self._given : sure], pieces)
            self._given = sure

    def _opening(self, line: str) -> _Opening | None:
        line = line.rstrip("\n")
        if (match := self._FENCE.match(line)) and match["before"].count("```") % 2 == 0:
            return _Opening(match["before"], "```", "", bool(match["language"]))
        if match := self._FENCE_WITH_CODE.match(line):
            return _Opening(match["before"], "```", match["code"], True)
        if match := self._TAG.match(line):
            return _Opening(match["before"], "</code>", "", True)
        if match := self._TAG_WITH_CODE.match(line):
            return _Opening(match["before"], "</code>", match["code"] + "\n", True)
        return None

    def _open(self, opening: _Opening, pieces: list[Piece]) -> None:
        self._state, self._closer = "code", opening.closer
        self._code.clear()
        if opening.code:
            self._take_code(opening.code, 0, pieces)

    def _end(self) -> None:
        """The block is closed; an empty one was none."""
        self._state = "done" if self._has_code else "thought"
        self._closer = ""
        if not self._has_code:
            self._code.clear()

    @property
    def _has_code(self) -> bool:
        return any(not text.isspace() for text in self._code)

    def _give(self, kind: str, text: str, pieces: list[Piece]) -> None:
        if text:
            (self._thought if kind == "thought" else self._code).append(text)
            pieces.append(Piece(kind, text))
