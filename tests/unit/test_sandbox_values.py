"""What crosses between host and box arrives as what it was, or is refused by name."""

import datetime as dt
import io
import math
import struct
import tracemalloc
import zlib
from collections import Counter, deque, namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agent.sandbox.wire.arrays import check_png
from agent.sandbox.wire.codec import Decoder, Encoder
from agent.sandbox.wire.frames import BadFrame, CannotCross, frame_size, pack, unpack
from agent.sandbox.wire.limits import Limits
from agent.sandbox.wire.records import Record

pytestmark = pytest.mark.slow

LIMITS = Limits()


class Planet(Enum):
    MARS = "mars"


def crossed(value, typed=False):
    encoder = Encoder(LIMITS)
    frame = pack({"op": "value", "v": encoder.value(value)}, encoder.blobs, LIMITS)
    text, blobs = frame_size(frame[:8], LIMITS)
    message = unpack(frame[8 : 8 + text])
    assert len(frame) == 8 + text + blobs
    return Decoder(frame[8 + text :], LIMITS, typed).value(message["v"])


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(10**30),
        0.1,
        math.inf,
        "é 漢 \0",
        [1, [2, {"a": None}]],
        (1, (2,)),
        {1, 2},
        frozenset({"a"}),
        b"\x00\xff",
        {1: "a", (2, 3): "b"},
        {"$": "tuple", "v": 1},
        1 + 2j,
        dt.datetime(2024, 2, 29, 12, tzinfo=dt.UTC),
        dt.date(2024, 2, 29),
        dt.datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin")),
        dt.datetime(2024, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=-3, minutes=-30))),
        dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
        dt.time(1, 2, 3),
        dt.time(1, 2, tzinfo=ZoneInfo("Asia/Tokyo")),
        dt.timedelta(days=-1, seconds=5),
        Decimal("1.10"),
        Fraction(1, 3),
    ],
    ids=repr,
)
def test_a_plain_value_arrives_as_it_was(value):
    arrived = crossed(value)
    assert arrived == value
    assert type(arrived) is type(value)


def test_nan_arrives_as_nan():
    assert math.isnan(crossed(math.nan))


plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.dates(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=4)
        | st.tuples(inner, inner)
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(plain)
def test_any_nest_of_plain_values_arrives_equal(value):
    assert crossed(value) == value


def test_arrays_tables_and_images_arrive_equal():
    array = np.arange(6, dtype="<f4").reshape(2, 3)
    assert (crossed(array) == array).all()
    assert crossed(array).dtype == array.dtype
    words = np.array(["Mars", "Io"])
    assert list(crossed(words)) == ["Mars", "Io"]
    assert crossed(np.float64(2.5)) == 2.5

    frame = pd.DataFrame(
        {"n": [1, 2], "x": [0.5, None], "name": ["a", None], "day": pd.to_datetime(["2024-01-01", None])}
    )
    pd.testing.assert_frame_equal(crossed(frame), frame, check_dtype=False)
    doubled = pd.DataFrame([[1, 2]], columns=["a", "a"], index=["row"])
    pd.testing.assert_frame_equal(crossed(doubled), doubled)
    series = pd.Series([1.5, 2.5], index=["a", "b"], name="s")
    pd.testing.assert_series_equal(crossed(series), series)
    assert crossed(pd.DataFrame()).empty

    image = Image.new("RGB", (3, 2), "red")
    assert crossed(image).tobytes() == image.tobytes()


def test_a_time_keeps_the_name_of_its_zone():
    noon = dt.datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    assert str(crossed(noon).tzinfo) == "Europe/Berlin"
    assert crossed(noon) + dt.timedelta(days=180) == noon + dt.timedelta(days=180)
    assert crossed(dt.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=noon.tzinfo)).fold == 1
    assert crossed(pd.Timestamp("2024-07-01 12:00:00.123456", tz="Asia/Tokyo")).tzinfo.key == "Asia/Tokyo"


@pytest.mark.parametrize(
    ("value", "arrives"),
    [
        (np.int64(7), 7),
        (np.bool_(True), True),
        (np.str_("é"), "é"),
        (np.datetime64("2024-02-29T12:00", "ns"), dt.datetime(2024, 2, 29, 12)),
        (np.datetime64("NaT"), None),
        (np.timedelta64(90, "s"), dt.timedelta(seconds=90)),
        (pd.Timestamp("2024-02-29"), dt.datetime(2024, 2, 29)),
        (pd.Timedelta(minutes=2), dt.timedelta(minutes=2)),
        (pd.NaT, None),
        (np.ma.array([1.0, 2.0], mask=[False, True]), [1.0, None]),
        (np.array([1, "a"], dtype=object), [1, "a"]),
        (deque([1, 2]), [1, 2]),
        (Counter("aab"), {"a": 2, "b": 1}),
        (Planet.MARS, "mars"),
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"ab"), b"ab"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_relative_of_a_plain_value_arrives_as_the_plain_one(value, arrives):
    arrived = crossed(value)
    assert arrived == arrives and type(arrived) is type(arrives)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"kind": ["a", "b"], "n": [1, 2]}).groupby("kind").sum(),
        pd.DataFrame({"a": [1, 2]}, index=pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", None])),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "min"), ("a", "max")])),
        pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2024-01-31", periods=2, freq="ME", name="day", unit="us")).rename_axis(columns="what"),
        pd.DataFrame({"c": pd.Categorical(["x", "y"]), "i": pd.array([1, None], dtype="Int64"), "b": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"t": pd.to_datetime(["2024-01-01", None], utc=True).as_unit("us")}),
        pd.DataFrame({"list": [[1], [2, 3]], "dict": [{"a": 1}, None]}),
        pd.DataFrame(index=[3, 4]),
        pd.DataFrame(columns=["a", "b"]),
    ],
    ids=["named index", "two levels", "columns of two levels", "dates", "kinds", "zone", "nested", "no columns", "no rows"],
)  # fmt: skip
def test_a_table_keeps_its_index_its_names_and_the_kinds_of_its_columns(frame):
    pd.testing.assert_frame_equal(crossed(frame), frame, check_freq=False)


def test_a_series_keeps_its_index_and_kind():
    for series in (
        pd.Series([1, None], dtype="Int64", name="n", index=pd.Index(["a", "b"], name="k")),
        pd.Series(["x", "y"], dtype="category"),
        pd.Series([], dtype="float64"),
        pd.Series([1, 2], index=pd.MultiIndex.from_product([["a"], [1, 2]], names=["k", "n"])),
    ):
        pd.testing.assert_series_equal(crossed(series), series)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_an_image_arrives_in_its_mode(mode):
    image = Image.effect_noise((5, 4), 90).convert(mode) if mode != "I;16" else Image.new(mode, (5, 4), 999)
    assert crossed(image).mode == mode
    assert crossed(image).tobytes() == image.tobytes()
    assert crossed(Image.new("CMYK", (2, 2))).mode == "RGB"


def test_a_value_too_large_to_cross_is_refused_before_it_is_copied():
    large, text = np.zeros(1 << 28, "u1"), "x" * (1 << 26)
    image = Image.new("L", (10_000, 10_000))
    values = (large, memoryview(large), pd.Series(large), pd.DataFrame({"a": large}), text, {1: text}, [text])
    tracemalloc.start()
    for value in (*values, image):
        with pytest.raises(CannotCross):
            Encoder(LIMITS).value(value)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


@pytest.mark.parametrize(
    "value", [range(10**12), [0] * (LIMITS.frame_bytes + 1), np.full(1 << 21, None)], ids=type
)
def test_a_list_without_end_is_refused_when_it_is_too_long(value):
    with pytest.raises(CannotCross):
        Encoder(LIMITS).value(value)


@dataclass(frozen=True)
class Link:
    text: str
    url: str


@dataclass(frozen=True)
class Leaf:
    title: str
    links: tuple[Link, ...]

    def __str__(self):
        return f"Leaf «{self.title}»"


class Leaves(list):
    def __str__(self):
        return f"{len(self)} leaves"


def test_a_tools_dataclass_arrives_as_text_with_fields():
    leaf = crossed(Leaf("Io", (Link("a", "http://a"),)), typed=True)
    assert str(leaf) == "Leaf «Io»" == leaf
    assert leaf.title == leaf["title"] == "Io"
    assert leaf.links[0].url == "http://a"
    assert repr(leaf).startswith("Leaf(title='Io', links=(Link(")
    with pytest.raises(AttributeError, match=r"has no field 'body'; it has: title, links"):
        _ = leaf.body
    with pytest.raises(AttributeError, match="read-only"):
        leaf.title = "Europa"


def test_a_record_whose_fields_have_the_names_of_its_methods_can_be_shown_and_sent():
    fields = {"items": 1, "keys": 2, "get": 3, "_kind": 4}
    record = Decoder(b"", LIMITS).value({"$": "record", "kind": "Odd", "fields": fields, "text": None})
    assert repr(record) == "Odd(items=1, keys=2, get=3)"
    assert repr(crossed(record)) == "Odd(items=1, keys=2, get=3)"


def test_a_list_of_results_keeps_its_text_and_makes_a_table():
    leaves = crossed(Leaves([Leaf("Io", ()), Leaf("Europa", ())]), typed=True)
    assert str(leaves) == "2 leaves"
    assert list(pd.DataFrame(leaves).title) == ["Io", "Europa"]


def test_a_record_handed_back_arrives_with_its_fields():
    back = crossed(crossed(Leaf("Io", ()), typed=True))
    assert isinstance(back, Record)
    assert back.title == "Io"


def test_what_has_no_form_becomes_its_repr_and_is_named():
    encoder = Encoder(LIMITS)
    data = encoder.value([object, Path("a/b"), namedtuple("P", "x")(1), range(3), {"a": 1}.keys()])
    assert encoder.replaced == ["type"]
    assert Decoder(b"", LIMITS).value(data) == ["<class 'object'>", "a/b", (1,), [0, 1, 2], ["a"]]


def test_a_value_that_is_too_deep_or_too_large_is_refused_at_the_sender():
    deep: list = []
    for _ in range(30):
        deep = [deep]
    with pytest.raises(CannotCross, match="deeper than 24"):
        crossed(deep)
    with pytest.raises(CannotCross, match="larger than"):
        crossed("x" * (LIMITS.frame_bytes + 1))
    with pytest.raises(CannotCross, match="larger than"):
        crossed(b"x" * (LIMITS.blob_bytes + 1))


ALIKE = [
    i * (2**61 - 1) for i in range(200)
]  # all of one hash, so that a table of many takes minutes to fill
PAIRS = [{"$": "tuple", "v": [key, 0]} for key in ALIKE]


@pytest.mark.parametrize(
    "data",
    [
        {"$": "set", "v": ALIKE},
        {"$": "frozenset", "v": PAIRS},
        {"$": "dict", "v": [[key, 0] for key in ALIKE]},
        {"$": "series", "name": None, "index": None, "kind": "category", "data": ALIKE},
        {
            "$": "series",
            "name": None,
            "index": {"items": PAIRS, "names": ["a", "b"]},
            "kind": "",
            "data": ALIKE,
        },
    ],
    ids=lambda data: f"{data['$']} {data.get('kind', '')}",
)
def test_keys_that_all_hash_alike_are_refused(data):
    with pytest.raises(BadFrame):
        Decoder(b"", LIMITS).value(data)


def test_many_equal_keys_are_no_attack():
    column = pd.Series([-1, -2] * 500 + [float("nan")] * 500, dtype="category")  # hash(-1) is hash(-2)
    pd.testing.assert_series_equal(crossed(column), column)
    assert crossed({1: "a", 1.5: "b", **dict.fromkeys(range(500))}) == {
        1: None,
        1.5: "b",
        **dict.fromkeys(range(500)),
    }


@pytest.mark.parametrize(
    "data",
    [
        {"$": "array", "dtype": "|O", "shape": [1], "at": 0, "n": 8},
        {"$": "array", "dtype": "<f8", "shape": [10**9], "at": 0, "n": 8},
        {"$": "array", "dtype": "<f8", "shape": [-1], "at": 0, "n": 8},
        {"$": "array", "dtype": "<U2", "shape": [1], "at": 0, "n": 8},
        {"$": "array", "dtype": "<f8,<i8", "shape": [1], "at": 0, "n": 8},
        {"$": "bytes", "at": 4, "n": 8},
        {"$": "bytes", "at": -4, "n": 8},
        {"$": "image", "at": 0, "n": 8},
        {"$": "frame", "columns": ["a"], "rows": 10**12, "cells": [[1]], "index": None},
        {"$": "frame", "columns": [], "rows": 10**12, "cells": [], "index": None},
        {"$": "frame", "columns": None, "rows": 10**12, "width": 0, "cells": [], "kinds": [], "index": None},
        {"$": "frame", "columns": None, "rows": 1, "width": 1, "cells": [[1]], "kinds": ["O"], "index": None},
        {"$": "frame", "columns": None, "rows": 1, "width": 1, "cells": [[1]], "kinds": [7], "index": None},
        {
            "$": "frame",
            "columns": None,
            "rows": 1,
            "width": 1,
            "cells": [[1]],
            "kinds": [""],
            "index": {"items": [1, 2], "names": [None]},
        },
        {"$": "series", "name": None, "data": [1], "kind": "", "index": {"items": [1], "names": [1, 2]}},
        {"$": "series", "name": None, "data": [1], "kind": "", "index": {"items": [1], "names": []}},
        {"$": "series", "name": None, "data": "9" * 5000, "kind": "", "index": None},
        {"$": "series", "name": None, "data": {"$": "bytes", "at": 0, "n": 8}, "kind": "", "index": None},
        {"$": "datetime", "v": "2024-01-01T00:00:00", "zone": "../../etc/passwd"},
        {"$": "datetime", "v": "2024-01-01T00:00:00", "zone": 7},
        {"$": "set", "v": [[]]},
        {"$": "record", "kind": 3, "fields": {}, "text": ""},
        {"$": "__class__"},
        {"$": ["tuple"]},
        {"$": "decimal", "v": 7},
        {"$": "decimal", "v": "1e999999999"},
        {"$": "fraction", "v": "1e999999999"},
        {"$": "float", "v": "1e5"},
    ],
    ids=str,
)
def test_a_forged_value_is_refused(data):
    with pytest.raises(BadFrame):
        Decoder(b"\xff" * 8, LIMITS).value(data)


def test_a_forged_frame_is_refused_before_anything_is_allocated():
    with pytest.raises(BadFrame):
        frame_size(b"\x80\x00\x00\x00\x00\x00\x00\x00", LIMITS)
    for text in (
        b"\x80\x04K\x01.",
        b"[" * 200_000,
        b"NaN",
        b"[]",
        b'{"op": 1}',
        b'{"op": "a", "n": ' + b"1" * 5000 + b"}",
    ):
        with pytest.raises(BadFrame):
            unpack(text)


def test_an_image_bomb_is_refused_before_it_is_decoded():
    header = (
        b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
        + (60_000).to_bytes(4, "big") * 2
        + b"\x08\x02\x00\x00\x00"
        + b"\0" * 8
    )
    with pytest.raises(BadFrame, match="too many pixels"):
        check_png(header, LIMITS.pixels)


def test_an_image_with_packed_text_is_refused_before_it_is_unpacked():
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    out = io.BytesIO()
    Image.new("RGB", (2, 2)).save(out, "PNG")
    good, text = out.getvalue(), chunk(b"zTXt", b"key\0\0" + zlib.compress(bytes(900_000)))
    assert Decoder(good, LIMITS).value({"$": "image", "at": 0, "n": len(good)}).size == (2, 2)
    for bad in (
        good[:33] + text + good[33:],
        good[:33] + chunk(b"IDAT", b"") * 20_000 + good[33:],
        good[:40],
    ):
        with pytest.raises(BadFrame):
            Decoder(bad, LIMITS).value({"$": "image", "at": 0, "n": len(bad)})


def test_half_a_character_does_not_reach_the_host():
    assert Decoder(b"", LIMITS).value(unpack(rb'{"op": "x", "v": "a\ud800"}')["v"]) == "a?"
