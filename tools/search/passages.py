"""A document cut into passages: what a search ranks, and what a result shows.

A passage is a few sentences, some items of a list or some rows of a table,
about 350 characters long, and knows the heading it stands under and, for rows,
the header of its table.
"""

import re
from dataclasses import dataclass

from tools.page import plain_text
from tools.tables import table_spans

SIZE = 350

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[]?[A-Z0-9À-Þ])|(?<=[。！？])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Dr|St|Mt|No|vs|etc|ca|approx|Prof|Jr|Sr|e\.g|i\.e|c|b|d))\.$"
)


@dataclass(frozen=True)
class Passage:
    """`header` is the header row of the table that `text` holds rows of, else empty."""

    heading: str
    header: str
    text: str

    def __str__(self) -> str:
        return f"{self.header}\n{self.text}" if self.header else self.text


def passages_of(markdown: str) -> list[Passage]:
    """The passages of a document in reading order."""
    found: list[Passage] = []
    heading = ""
    at = 0
    for start, end in [*table_spans(markdown), (len(markdown), len(markdown))]:
        heading = _running(markdown[at:start], heading, found)
        if end > start:
            _rows(plain_text(markdown[start:end]), heading, found)
        at = end
    return found


def sentences(text: str) -> list[str]:
    """A paragraph's sentences; a full stop after an initial or a title ends none."""
    result: list[str] = []
    for piece in _SENTENCE.split(text):
        if result and _ABBREVIATION.search(result[-1]):
            result[-1] += " " + piece
        elif piece.strip():
            result.append(piece.strip())
    return result


def _running(markdown: str, heading: str, found: list[Passage]) -> str:
    """Adds the passages of text without tables; the heading in force at its end."""
    gathered = ""

    def flush() -> None:
        nonlocal gathered
        if gathered.strip():
            found.append(Passage(heading, "", gathered.strip()))
        gathered = ""

    for block in re.split(r"\n\s*\n", markdown):
        if not block.strip() or block.strip() == "---":
            continue
        first, _, rest = block.strip().partition("\n")
        if title := _HEADING.match(first):
            flush()
            heading = plain_text(title[2])
            block = rest
        for piece in _pieces(plain_text(block)):
            joint = "\n" if re.match(r"\s*([-*+]|\d+[.)]) ", piece) or "\n" in piece else " "
            if gathered and len(gathered) + len(piece) > SIZE:
                flush()
            gathered = gathered + joint + piece if gathered else piece
        if len(gathered) > SIZE / 2:
            flush()
    flush()
    return heading


def _pieces(block: str) -> list[str]:
    """A block's smallest parts: sentences, or lines where they are list items; none longer than a passage."""
    lines = block.split("\n")
    parts: list[str] = []
    if len(lines) > 1 and any(re.match(r"\s*([-*+]|\d+[.)]) ", line) for line in lines):
        parts = [line.rstrip() for line in lines if line.strip()]
    else:
        parts = sentences(" ".join(block.split()))
    result: list[str] = []
    for part in parts:
        while len(part) > 2 * SIZE:
            cut = part.rfind(" ", SIZE, 2 * SIZE)
            cut = cut if cut > 0 else 2 * SIZE
            result.append(part[:cut])
            part = part[cut:].lstrip()
        result.append(part)
    return result


def _rows(table: str, heading: str, found: list[Passage]) -> None:
    header, _, *rows = table.split("\n")
    room = max(120, SIZE - len(header))
    header = header if header.strip("| ") else ""
    group: list[str] = []
    for row in rows:
        if group and sum(map(len, group)) + len(row) > room:
            found.append(Passage(heading, header, "\n".join(group)))
            group = []
        group.append(row)
    if group:
        found.append(Passage(heading, header, "\n".join(group)))
