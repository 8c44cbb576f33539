"""What crosses between host and box arrives as what it was, or is refused by name."""

import datetime as dt
import math
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agent.sandbox.arrays import check_png
from agent.sandbox.codec import Decoder, Encoder
from agent.sandbox.frames import BadFrame, CannotCross, frame_size, pack, unpack
from agent.sandbox.limits import Limits
from agent.sandbox.records import Record

LIMITS = Limits()


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
        dt.time(1, 2, 3),
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


def test_half_a_character_does_not_reach_the_host():
    assert Decoder(b"", LIMITS).value(unpack(rb'{"op": "x", "v": "a\ud800"}')["v"]) == "a?"
