"""A document cut into passages: what a search ranks, and what a result shows.

A passage is a few sentences, some items of a list or some rows of a table,
about 350 characters long, and knows the heading it stands under and, for rows,
the header of its table.
"""

import re
from dataclasses import dataclass

from tools.page import plain_text, without_links
from tools.tables import table_spans

SIZE = 350
_CAPTION = 150

_HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_ITEM = re.compile(r"\s*([-*+]|\d+[.)]) ")
_PAGE_MARK = re.compile(r"\A\s*\[page \d+\](\n|\Z)")
_SENTENCE = re.compile(r"([.!?][\"')\]]*) (?=[\"'(\[]?[A-Z0-9À-Þ])|(?<=[。！？])")
_ABBREVIATION = re.compile(r"\b([A-Z]|Mr|Mrs|Dr|St|Mt|No|vs|etc|ca|approx|Prof|Jr|Sr|e\.g|i\.e|c|b|d)\.$")


@dataclass(frozen=True)
class Passage:
    """`header` is the header row of the table that `text` holds rows of, else empty.

    `weight`, 0 to 1: how much it can say; a list of links says little.
    """

    heading: str
    header: str
    text: str
    weight: float = 1.0


def passages_of(markdown: str) -> list[Passage]:
    """The passages of a document in reading order."""
    found: list[Passage] = []
    heading = ""
    at = 0
    for start, end in [*table_spans(markdown), (len(markdown), len(markdown))]:
        heading = _running(markdown[at:start], heading, found)
        if end > start:
            # A short line right above a table is its caption: words to find it by, not a passage.
            above = found.pop().text if found and _is_caption(found[-1], markdown[at:start]) else ""
            _rows(plain_text(markdown[start:end]), f"{heading} {above}".strip(), found)
        at = end
    return found


def sentences(text: str) -> list[str]:
    """A paragraph's sentences; a full stop after an initial or a title ends none."""
    result: list[str] = []
    for piece in _SENTENCE.sub(lambda end: f"{end[1] or ''}\n", " ".join(text.split())).split("\n"):
        if result and _ABBREVIATION.search(result[-1]):
            result[-1] += " " + piece
        elif piece.strip():
            result.append(piece.strip())
    return result


def _running(markdown: str, heading: str, found: list[Passage]) -> str:
    """Adds the passages of text without tables; the heading in force at its end."""
    gathered = ""

    def flush(weight: float = 1.0) -> None:
        nonlocal gathered
        if gathered:
            found.append(Passage(heading, "", gathered, weight if len(gathered) > 60 else 0.6 * weight))
        gathered = ""

    for block in re.split(r"\n\s*\n", markdown):
        block = _PAGE_MARK.sub("", block).strip()
        if not block or block == "---":
            continue
        first, _, rest = block.partition("\n")
        if title := _HEADING.match(first):
            flush()
            heading = plain_text(title[2])
            block = rest
        plain = plain_text(block).strip()
        mostly_links = len(without_links(block).strip()) < 0.6 * len(plain)
        if mostly_links or (_is_title(plain) and len(gathered) > SIZE / 3):
            flush()
        between = "\n"
        for piece in _pieces(plain):
            if gathered and len(gathered) + len(piece) > SIZE:
                flush(0.4 if mostly_links else 1.0)
            between = "\n" if _ITEM.match(piece) else between
            gathered = gathered + between + piece if gathered else piece
            between = " "
        if mostly_links or len(gathered) > SIZE / 2:
            flush(0.4 if mostly_links else 1.0)
    flush()
    return heading


def _is_title(block: str) -> bool:
    """Whether a block reads like a heading that lost its mark, as those of PDFs do."""
    return len(block) < 60 and "\n" not in block and block[-1:].isalnum()


def _is_caption(passage: Passage, above: str) -> bool:
    last = above.strip().rpartition("\n\n")[2]
    return len(passage.text) < _CAPTION and not passage.header and plain_text(last).strip() == passage.text


def _pieces(block: str) -> list[str]:
    """A block's smallest parts: sentences, or lines where they are list items; none longer than a passage."""
    lines = block.split("\n")
    if len(lines) > 1 and any(_ITEM.match(line) for line in lines):
        parts = [line.rstrip() for line in lines if line.strip()]
    else:
        parts = sentences(block)
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
    header = header if header.strip("| ") else ""
    room = max(120, SIZE - len(header))
    group: list[str] = []
    for row in rows:
        if group and sum(map(len, group)) + len(row) > room:
            found.append(Passage(heading, header, "\n".join(group)))
            group = []
        group.append(row)
    if group:
        found.append(Passage(heading, header, "\n".join(group)))
