"""Old compound files (OLE2) written by hand: enough of .doc, .ppt, .xls and .msg to test their readers."""

import struct

_SECTOR = 512
_END, _FREE = 0xFFFFFFFE, 0xFFFFFFFF


def compound(streams: dict[str, bytes]) -> bytes:
    """A compound file of these streams; each is padded to 4096 bytes, so that none needs the small sectors.

    A stream in a storage is given as "storage/stream"; only one level of storages is made.
    """
    storages = sorted({name.split("/")[0] for name in streams if "/" in name})
    padded = {
        name: content.ljust(max(4096, -(-len(content) // _SECTOR) * _SECTOR), b"\0")
        for name, content in streams.items()
    }
    fat: list[int] = []
    data = b""
    starts = {}
    for name, content in padded.items():
        count = len(content) // _SECTOR
        starts[name] = len(fat)
        fat += [*range(len(fat) + 1, len(fat) + count), _END]
        data += content
    entries: list[tuple[str, int, int, int, int, int]] = []  # name, kind, right, child, start, size
    tops = [name for name in padded if "/" not in name] + storages
    order = [*tops, *(name for name in padded if "/" in name)]
    number = {name: at for at, name in enumerate(order, 1)}

    def chain(names: list[str]) -> dict[str, int]:
        return {
            name: number[names[at + 1]] if at + 1 < len(names) else _FREE for at, name in enumerate(names)
        }

    after = chain(tops)
    for storage in storages:
        after |= chain([name for name in padded if name.startswith(storage + "/")])
    for name in order:
        inside = next((number[each] for each in order if each.startswith(name + "/")), _FREE)
        start, size = (starts[name], len(padded[name])) if name in starts else (0, 0)
        entries.append(
            (name.rpartition("/")[2], 2 if name in starts else 1, after[name], inside, start, size)
        )
    directory = _entry("Root Entry", 5, _FREE, number[tops[0]], _END, 0)
    directory += b"".join(_entry(*each) for each in entries)
    directory = directory.ljust(-(-len(directory) // _SECTOR) * _SECTOR, b"\0")
    first_directory = len(fat)
    count = len(directory) // _SECTOR
    fat += [*range(len(fat) + 1, len(fat) + count), _END]
    sectors = 1
    while (len(fat) + sectors) * 4 > sectors * _SECTOR:
        sectors += 1
    first_fat = len(fat)
    fat += [0xFFFFFFFD] * sectors
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(sectors * _SECTOR, b"\xff")
    head = struct.pack(
        "<8s16sHHHHH6xIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, 0, sectors, first_directory, 0, 4096, _END, 0, _END, 0
    )  # fmt: skip
    places = [*range(first_fat, first_fat + sectors)]
    head += struct.pack("<109I", *places, *[_FREE] * (109 - len(places)))
    return head + data + directory + table


def _entry(name: str, kind: int, right: int, child: int, start: int, size: int) -> bytes:
    raw = name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sI8s8sIII",
        raw,
        len(raw) + 2,
        kind,
        1,
        _FREE,
        right,
        child,
        b"",
        0,
        b"",
        b"",
        start,
        size,
        0,
    )


def doc(text: str, notes: str = "", locked: bool = False) -> bytes:
    """A .doc of this text and these footnotes."""
    whole = text + notes
    head = bytearray(2048)
    struct.pack_into("<HH", head, 0, 0xA5EC, 193)
    struct.pack_into("<H", head, 0x0A, 0x0200 | (0x0100 if locked else 0))
    struct.pack_into("<II", head, 0x4C, len(text), len(notes))
    plan = struct.pack("<II", 0, len(whole)) + struct.pack("<HIH", 0, len(head), 0)
    clx = b"\x01" + struct.pack("<H", 3) + b"abc" + b"\x02" + struct.pack("<I", len(plan)) + plan
    struct.pack_into("<II", head, 0x1A2, 0, len(clx))
    return compound({"WordDocument": bytes(head) + whole.encode("utf-16-le"), "1Table": clx})


def _record(kind: int, content: bytes, instance: int = 0, holds: bool = False) -> bytes:
    return struct.pack("<HHI", instance << 4 | (15 if holds else 0), kind, len(content)) + content


def ppt(title: str, box: str, note: str) -> bytes:
    """A .ppt of one slide with a title, a text box and a note."""

    def said(text: str) -> bytes:
        return _record(4000, text.encode("utf-16-le"))

    slide = _record(1006, _record(0xF00C, said(box), holds=True), holds=True)
    notes = _record(1008, _record(1009, struct.pack("<II", 256, 0)) + said(note), holds=True)
    outline = _record(1011, struct.pack("<IIIII", 2, 0, 0, 256, 0)) + _record(4008, title.encode("latin-1"))
    listed = _record(4080, outline, 0, True) + _record(
        4080, _record(1011, struct.pack("<IIIII", 3, 0, 0, 256, 0)), 2, True
    )
    document = _record(1000, listed, holds=True)
    stream = document + slide + notes
    places = struct.pack("<IIII", 1 | 3 << 20, 0, len(document), len(document) + len(slide))
    directory = len(stream)
    stream += _record(6002, places)
    edit = len(stream)
    stream += _record(4085, struct.pack("<IIIII", 0, 0, 0, directory, 1) + b"\0" * 8)
    current = _record(4086, struct.pack("<III", 20, 0xE391C05F, edit))
    return compound({"PowerPoint Document": stream, "Current User": current})


def xls(rows: list[tuple[str | float, ...]], hidden: bool = False) -> bytes:
    """An .xls with one sheet, "Old"."""

    def cell(row: int, column: int, value: str | float) -> bytes:
        place = struct.pack("<HHH", row, column, 0)
        if isinstance(value, str):
            return (
                struct.pack("<HH", 0x204, 9 + len(value))
                + place
                + struct.pack("<HB", len(value), 0)
                + value.encode("latin-1")
            )
        return struct.pack("<HH", 0x203, 14) + place + struct.pack("<d", value)

    def begin(kind: int) -> bytes:
        return struct.pack("<HH", 0x809, 16) + struct.pack("<HHHHII", 0x600, kind, 0, 0, 0, 0)

    end = struct.pack("<HH", 0x0A, 0)
    sheet = (
        begin(0x10)
        + b"".join(cell(r, c, value) for r, row in enumerate(rows) for c, value in enumerate(row))
        + end
    )
    start = len(begin(5)) + 4 + 11 + len(end)
    bound = struct.pack("<HH", 0x85, 11) + struct.pack("<IBBBB", start, int(hidden), 0, 3, 0) + b"Old"
    return compound({"Workbook": begin(5) + bound + end + sheet})


def msg(subject: str, body: str, attachment: tuple[str, bytes] | None = None) -> bytes:
    """A .msg with one attachment at most."""
    streams = {
        "__properties_version1.0": b"\0" * 32,
        "__substg1.0_0037001F": subject.encode("utf-16-le"),
        "__substg1.0_0C1A001F": "Ada".encode("utf-16-le"),
        "__substg1.0_1000001F": body.encode("utf-16-le"),
    }
    if attachment:
        inside = "__attach_version1.0_#00000000/"
        streams |= {
            inside + "__substg1.0_3707001F": attachment[0].encode("utf-16-le"),
            inside + "__substg1.0_37010102": attachment[1],
        }
    return compound(streams)
