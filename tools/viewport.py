"""A text cut into pages that never exceed a number of characters."""

import re
import unicodedata

# Best places to cut first. Each is looked for in the last part of a page only, or pages would be tiny.
_CUTS = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n\n+"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?。！？]) +|(?<=[。！？])"),
    re.compile(r" "),
)
_EARLIEST = (0.6, 0.5, 0.5, 0.5, 0.3)


def page_spans(text: str, limit: int) -> list[tuple[int, int]]:
    """(start, end) of each page: at most `limit` characters, cut at headings, paragraphs, lines, sentences or words."""
    spans: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > limit:
        end = _cut(text, start, start + limit)
        spans.append((start, end))
        start = end
        while start < len(text) and text[start] in "\n ":
            start += 1
    if start < len(text) or not spans:
        spans.append((start, len(text)))
    return spans


def window(text: str, start: int, end: int, limit: int) -> str:
    """At most `limit` characters around text[start:end], cut at paragraphs, lines or words; "…" where cut."""
    limit = max(1, limit - 2)
    end = min(end, start + limit)
    before = max(0, start - (limit - (end - start)) // 3)
    first = _forward(text, before, start) if before else 0
    last = min(len(text), first + limit)
    if last < len(text):
        last = max(_cut(text, first, last), end)
    return ("…" if first else "") + text[first:last].strip() + ("…" if last < len(text) else "")


def _cut(text: str, start: int, latest: int) -> int:
    size = latest - start
    for pattern, share in zip(_CUTS, _EARLIEST, strict=True):
        found = [
            match.start() if pattern is not _CUTS[3] else match.end()
            for match in pattern.finditer(text, start + max(1, int(size * share)), latest)
        ]
        if found:
            return found[-1]
    # A letter keeps its marks.
    whole = latest
    while whole > start + 1 and latest - whole < 20 and unicodedata.combining(text[whole]):
        whole -= 1
    return whole if latest - whole < 20 else latest


def _forward(text: str, start: int, before: int) -> int:
    for pattern in (_CUTS[1], _CUTS[2], _CUTS[4]):
        if match := pattern.search(text, start, before):
            return match.end()
    return start
