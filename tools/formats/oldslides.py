"""PowerPoint's old format (.ppt): the text of each slide as it was last saved, notes and comments."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.formats.ole import Compound
from tools.formats.source import Source
from tools.page import Document

_KIND = "a PowerPoint presentation of the old format"
_TEXT_UNICODE, _TEXT_BYTES, _STRING = 4000, 4008, 4026
_SLIDE_PERSIST, _SLIDE_LIST, _COMMENT, _NOTES_ATOM = 1011, 4080, 12000, 1009
_ENCRYPTED = 0xF3D1C4DF
_MAX_RECORDS = 500_000


@dataclass(frozen=True)
class _Record:
    kind: int
    instance: int
    holds: bool
    start: int
    end: int


def oldslides_document(source: Source) -> Document:
    """A .ppt file. Raises DocumentError."""
    compound = Compound(source)
    stream = compound.read("PowerPoint Document")
    current = compound.read("Current User")
    if len(current) >= 20 and struct.unpack_from("<I", current, 12)[0] == _ENCRYPTED:
        raise source.locked(_KIND)
    if not stream:
        raise source.damaged(_KIND)
    show = _Show(stream)
    try:
        blocks = show.slides(struct.unpack_from("<I", current, 16)[0])
    except (struct.error, KeyError, IndexError):
        blocks = []
    if not blocks:
        blocks = list(dict.fromkeys(show.texts(0, len(stream))))
    return source.document("\n\n".join(blocks))


@dataclass
class _Show:
    stream: bytes
    _seen: int = field(default=0)

    def records(self, start: int, end: int) -> Iterator[_Record]:
        """The records side by side in a range."""
        while start + 8 <= min(end, len(self.stream)) and self._seen < _MAX_RECORDS:
            self._seen += 1
            version, kind, length = struct.unpack_from("<HHI", self.stream, start)
            last = min(start + 8 + length, end)
            yield _Record(kind, version >> 4, version & 15 == 15, start + 8, last)
            start = start + 8 + length

    def within(self, start: int, end: int) -> Iterator[_Record]:
        """All records in a range, at any depth, in their order."""
        waiting = [self.records(start, end)]
        while waiting:
            record = next(waiting[-1], None)
            if record is None:
                waiting.pop()
                continue
            yield record
            if record.holds and len(waiting) < 100:
                waiting.append(self.records(record.start, record.end))

    def text(self, record: _Record) -> str:
        """What a record of text says."""
        raw = self.stream[record.start : record.end]
        said = raw.decode("latin-1") if record.kind == _TEXT_BYTES else raw.decode("utf-16-le", "replace")
        return "\n".join(
            line.strip() for line in said.replace("\x0b", "\n").replace("\0", "").split("\r") if line.strip()
        )

    def texts(self, start: int, end: int) -> list[str]:
        """The texts in a range, empty ones left out."""
        found = [
            self.text(each) for each in self.within(start, end) if each.kind in (_TEXT_UNICODE, _TEXT_BYTES)
        ]
        return [text for text in found if text and text != "*"]

    def slides(self, edit: int) -> list[str]:
        """The blocks of all slides, found by the directory that the last save at `edit` wrote."""
        places, document = self._directory(edit)
        blocks: list[str] = []
        slides: list[tuple[int, int, list[str]]] = []
        notes: dict[int, list[str]] = {}
        for part in self.records(*self._body(places[document])):
            if part.kind != _SLIDE_LIST or part.instance == 1:
                continue
            for record in self.records(part.start, part.end):
                if record.kind == _SLIDE_PERSIST:
                    place, _, _, number = struct.unpack_from("<IIII", self.stream, record.start)
                    if part.instance == 0:
                        slides.append((places.get(place, -1), number, []))
                    elif place in places:
                        start, end = self._body(places[place])
                        about = next(
                            (each for each in self.records(start, end) if each.kind == _NOTES_ATOM), None
                        )
                        owner = struct.unpack_from("<I", self.stream, about.start)[0] if about else 0
                        notes.setdefault(owner, []).extend(self.texts(start, end))
                elif record.kind in (_TEXT_UNICODE, _TEXT_BYTES) and part.instance == 0 and slides:
                    slides[-1][2].append(self.text(record))
        for count, (place, number, outline) in enumerate(slides, 1):
            start, end = self._body(place) if place >= 0 else (0, 0)
            own = [text for text in self.texts(start, end) if text not in outline]
            blocks += [
                f"## Slide {count}",
                *(text for text in outline if text),
                *own,
                *self._comments(start, end),
            ]
            if notes.get(number):
                blocks.append("Notes: " + "\n".join(notes[number]))
        return blocks

    def _body(self, place: int) -> tuple[int, int]:
        (length,) = struct.unpack_from("<I", self.stream, place + 4)
        return place + 8, min(place + 8 + length, len(self.stream))

    def _directory(self, edit: int) -> tuple[dict[int, int], int]:
        """Where each part stands, the latest save first, and the number of the document's own part."""
        places: dict[int, int] = {}
        document = 0
        seen: set[int] = set()
        while edit and edit not in seen and len(seen) < 1000:
            seen.add(edit)
            before, directory, number = struct.unpack_from("<III", self.stream, edit + 16)
            document = document or number
            start, end = self._body(directory)
            while start + 4 <= end:
                (head,) = struct.unpack_from("<I", self.stream, start)
                first, count = head & 0xFFFFF, head >> 20
                count = min(count, (end - start - 4) // 4)
                for step, place in enumerate(struct.unpack_from(f"<{count}I", self.stream, start + 4)):
                    places.setdefault(first + step, place)
                start += 4 + 4 * count
            edit = before
        return places, document

    def _comments(self, start: int, end: int) -> list[str]:
        found = []
        for record in self.within(start, end):
            if record.kind == _COMMENT:
                said = {
                    each.instance: self.text(each)
                    for each in self.records(record.start, record.end)
                    if each.kind == _STRING
                }
                if said.get(1):
                    found.append(f"- {said.get(0) or 'somebody'}: {said[1]}")
        return ["Comments:\n\n" + "\n".join(found)] if found else []
