"""What the host does with the bytes of a box, and frames to begin with."""

import json
from contextlib import suppress
from typing import Any

from agent.sandbox.host_tool import shown_arguments
from agent.sandbox.incoming import Frame, Incoming
from agent.sandbox.step import text_of
from agent.sandbox.wire.arrays import check_png
from agent.sandbox.wire.codec import Encoder
from agent.sandbox.wire.frames import HEADER, BadFrame, CannotCross, pack
from agent.sandbox.wire.limits import Limits

LIMITS = Limits(frame_bytes=1 << 16, blob_bytes=1 << 18, pixels=1 << 16)
TAGS = {
    "array": "at n dtype shape",
    "frame": "rows columns width cells kinds index",
    "series": "name index data kind",
    "record": "kind fields text",
    "records": "kind v text",
    **dict.fromkeys(("bytes", "image"), "at n"),
    **dict.fromkeys(
        "tuple set frozenset dict decimal fraction date timedelta complex repr float".split(),
        "v",
    ),
    **dict.fromkeys(("datetime", "time"), "v zone"),
    "pickle": "v",
}
FIELDS = sorted({*(field for fields in TAGS.values() for field in fields.split()), "items", "keys", "_kind"})
LEAVES = (
    *(
        "<f8",
        "<i8",
        "|b1",
        "|O",
        "<U4",
        "<U9999999",
        "<M8[ns]",
        "nan",
        "inf",
        "1e999999999",
        "9" * 5000,
        "1/0",
        "2024-02-29",
        "Europe/Berlin",
        "../../etc/passwd",
        "Int64",
        "category",
    ),
    *(
        None,
        True,
        0,
        1,
        8,
        -1,
        1 << 31,
        1 << 63,
        10**400,
        0.5,
        "",
        "x",
        "a\ud800",
        "__class__",
        "_text",
        "12:00:00",
    ),
)
WORDS = ("$", "op", "call", "figure", "print", "args", "kwargs", *TAGS, *FIELDS, *map(str, LEAVES[:8]))


def take_frames(data: bytes) -> int:
    """Everything that the host would do with `data` from a box; how many frames it took. BadFrame ends a box."""
    incoming, taken = Incoming(), 0
    incoming.feed(data)
    while (frame := incoming.next(LIMITS)) is not None:
        _take(frame)
        taken += 1
    return taken


def _take(frame: Frame) -> None:
    message, decoder = frame.message, frame.decoder
    for name in ("text", "trace", "value"):
        text_of(message.get(name), 10_000).encode()
    if frame.op == "figure":
        try:
            check_png(decoder.bytes(message), LIMITS.pixels)
        except KeyError as error:
            raise BadFrame("no attachment") from error
        return
    for name in ("args", "kwargs"):
        value = decoder.value(message.get(name))
        shown_arguments([value], {"value": value})
        with suppress(CannotCross):
            Encoder(LIMITS).value(value)  # a tool may hand back what it was given


def take_input(data: bytes) -> int:
    """`take_frames` of one input, whose first byte says what the rest is.

    Below 0x20 the bytes of a box as they are; below 0x60 a JSON text and raw
    bytes that get a header that fits; else the recipe of a value, as of a box
    that knows the protocol and lies about everything in it.
    """
    kind, rest = data[:1], data[1:]
    if kind < b"\x20":
        return take_frames(rest)
    return take_frames(framed(rest) if kind < b"\x60" else recipe(rest))


def recipe(data: bytes) -> bytes:
    """A frame whose arguments are made as `data` says, a byte for each choice; all of `data` is its raw part too."""
    choices = iter(data)

    def value(depth: int) -> Any:
        choice = next(choices, 0)
        if choice < 0x60 or depth > 30:
            return LEAVES[choice % len(LEAVES)]
        if choice < 0x90:
            return [value(depth + 1) for _ in range(choice % 5)]
        if choice < 0xA0:
            return {FIELDS[next(choices, 0) % len(FIELDS)]: value(depth + 1) for _ in range(choice % 5)}
        tag = list(TAGS)[choice % len(TAGS)]
        return {"$": tag, **{field: value(depth + 1) for field in TAGS[tag].split()}}

    message = {"op": "call", "args": value(0), "kwargs": value(0)}
    text = json.dumps(message).encode()[: LIMITS.frame_bytes]
    return HEADER.pack(len(text), len(data)) + text + data


def framed(data: bytes) -> bytes:
    """A frame with the right lengths around `data`: two bytes say how much of it is JSON, the rest is raw."""
    size = int.from_bytes(data[:2], "big")
    text, blobs = data[2 : 2 + size], data[2 + size :]
    return HEADER.pack(len(text), len(blobs)) + text + blobs


def seeds() -> list[bytes]:
    """Honest frames with every kind of value, as `take_input` takes them."""
    import datetime as dt
    from decimal import Decimal
    from fractions import Fraction

    import numpy
    import pandas
    from PIL import Image

    values: list[Any] = [
        [1, "two", None, True, 2.5, float("nan"), 1 + 2j, b"raw", (1, 2), {3}, {"a": {1: 2}}, 10**40],
        [dt.datetime(2024, 2, 29, tzinfo=dt.UTC), dt.date(2024, 1, 1), dt.time(1), dt.timedelta(1)],
        [Decimal("1.5"), Fraction(1, 3), object, range(3), numpy.float64(1)],
        [numpy.arange(6.0).reshape(2, 3), numpy.array(["a", "bc"]), numpy.array(["2024-01-01"], "M8[ns]")],
        [pandas.DataFrame({"a": [1, 2], "b": ["x", None]}, index=["r", "s"]), pandas.Series([1.0], name="n")],
        [Image.new("RGB", (3, 2)), Image.new("L", (1, 1))],
    ]
    made = []
    for op in ("call", "figure", "print"):
        for value in values:
            encoder = Encoder(LIMITS)
            message = {"op": op, "step": 1, "call": 1, "tool": "t", "text": "x", "at": 0, "n": 8}
            message |= {"args": encoder.value(value), "kwargs": encoder.value({"k": value[0]})}
            frame = pack(message, encoder.blobs, LIMITS)
            size = HEADER.unpack(frame[: HEADER.size])[0]
            made.append(b"\x40" + size.to_bytes(2, "big") + frame[HEADER.size :])
    return made


def dictionary() -> str:
    """The words of the protocol, as libFuzzer reads them."""
    return "".join(f'"{json.dumps(json.dumps(word))[1:-1]}"\n' for word in WORDS)
