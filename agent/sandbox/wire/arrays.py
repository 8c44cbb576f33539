"""Arrays, tables and images as they cross: numbers as raw bytes, images as PNG, all sizes checked first.

The libraries are looked up, not imported, until there is such a value.
"""

import io
import math
import re
import struct
import sys
from collections.abc import Callable
from typing import Any, Protocol

from .frames import BadFrame, CannotCross
from .hashing import spread
from .limits import Limits

_DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]c(8|16)|[<>][mM]8\[(Y|M|W|D|h|m|s|ms|us|ns)\]"
)
_TEXT_DTYPE = re.compile(r"[<>]U[0-9]{1,7}")
_PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
_PNG_CHUNKS = frozenset((b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"))
_MOST_CHUNKS = 10_000
# Kinds of column that their cells alone do not tell.
_COLUMN = re.compile(r"category|boolean|U?Int(8|16|32|64)|Float(32|64)")
NOT_MINE = object()


class Encoder(Protocol):
    """What is needed here of the encoder in `codec.py`."""

    limits: Limits

    def value(self, value: Any, depth: int = 0) -> Any: ...
    def blob(self, data: bytes) -> dict[str, int]: ...
    def fits(self, size: int) -> None: ...


class Decoder(Protocol):
    """What is needed here of the decoder in `codec.py`."""

    limits: Limits

    def items(self, data: Any, depth: int) -> list[Any]: ...
    def bytes(self, data: dict[str, Any]) -> bytes: ...


def encode(encoder: Encoder, value: Any, depth: int) -> Any:
    """The value as JSON carries it, NOT_MINE when it is of no library that is known here."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if value is pandas.NaT or value is pandas.NA:
            return None
        if isinstance(value, pandas.DataFrame):
            return _encode_frame(encoder, value, depth)
        if isinstance(value, pandas.Series):
            name, data = encoder.value(value.name, depth + 1), _encode_column(encoder, value, depth)
            return {
                "$": "series",
                "name": name,
                "index": _encode_index(encoder, value.index, depth),
                "data": data,
                "kind": _column_kind(value.dtype),
            }
        if isinstance(value, pandas.Index):
            return encoder.value(value.tolist(), depth)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ndarray):
            return _encode_array(encoder, value, depth)
        if isinstance(value, numpy.datetime64 | numpy.timedelta64):
            return encoder.value(_without_nanoseconds(value).item(), depth)
        if isinstance(value, numpy.generic):
            plain = value.item()
            return NOT_MINE if isinstance(plain, numpy.generic) else encoder.value(plain, depth)
    image = sys.modules.get("PIL.Image")
    if image is not None and isinstance(value, image.Image):
        return {"$": "image", **encoder.blob(png(value, encoder.limits.pixels))}
    return NOT_MINE


def png(image: Any, pixels: int) -> bytes:
    """A PIL image as PNG; CannotCross when it has more than `pixels` pixels."""
    if image.width * image.height > pixels:
        raise CannotCross(f"the image has more than {pixels:,} pixels")
    out = io.BytesIO()
    plain = image if image.mode in _PNG_MODES else image.convert("RGB")
    plain.save(out, "PNG", icc_profile=None)
    return out.getvalue()


def check_png(data: bytes, pixels: int) -> tuple[int, int]:
    """Width and height; BadFrame unless `data` starts as a PNG of at most `pixels` pixels. Nothing is decoded."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 33:
        raise BadFrame("an image that is no PNG")
    width, height = struct.unpack(">II", data[16:24])
    if not 0 < width * height <= pixels:
        raise BadFrame("an image with too many pixels")
    return width, height


def _check_chunks(data: bytes) -> None:
    """BadFrame unless a PNG has only chunks that `png` writes: others would be unpacked, and held as text."""
    at, count = 8, 0
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        at, count = at + 12 + size, count + 1
        if name not in _PNG_CHUNKS or count > _MOST_CHUNKS:
            raise BadFrame("an image with parts that may not cross")


def _encode_array(encoder: Encoder, value: Any, depth: int) -> Any:
    kind, masked = value.dtype.str, sys.modules["numpy"].ma.isMaskedArray(value)
    if masked or not (_DTYPE.fullmatch(kind) or _TEXT_DTYPE.fullmatch(kind)):
        if value.size > encoder.limits.frame_bytes:
            raise CannotCross(f"it has {value.size:,} cells")
        return encoder.value(_without_nanoseconds(value).tolist(), depth)
    encoder.fits(value.nbytes)
    return {"$": "array", "dtype": kind, "shape": list(value.shape), **encoder.blob(value.tobytes())}


def _without_nanoseconds(value: Any) -> Any:
    """A time of numpy as one that the standard library knows too."""
    return value.astype(value.dtype.str[:3] + "[us]") if value.dtype.str.endswith("[ns]") else value


def _encode_column(encoder: Encoder, value: Any, depth: int) -> Any:
    if _DTYPE.fullmatch(getattr(value.dtype, "str", "")):
        return _encode_array(encoder, value.to_numpy(), depth + 1)
    cells = zip(value, value.isna(), strict=True)
    return [None if missing else encoder.value(cell, depth + 2) for cell, missing in cells]


def _column_kind(dtype: Any) -> str:
    return str(dtype) if _COLUMN.fullmatch(str(dtype)) else ""


def _encode_index(encoder: Encoder, index: Any, depth: int) -> Any:
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1 and index.name is None:
        return None
    names = [encoder.value(name, depth + 2) for name in index.names]
    return {"items": [encoder.value(item, depth + 2) for item in index], "names": names}


def _encode_frame(encoder: Encoder, value: Any, depth: int) -> Any:
    return {
        "$": "frame",
        "rows": len(value),
        "columns": _encode_index(encoder, value.columns, depth),
        "width": value.shape[1],
        "cells": [_encode_column(encoder, value.iloc[:, i], depth + 1) for i in range(value.shape[1])],
        "kinds": [_column_kind(dtype) for dtype in value.dtypes],
        "index": _encode_index(encoder, value.index, depth),
    }


def _array(decoder: Decoder, data: dict[str, Any], depth: int) -> Any:
    raw, dtype, shape = decoder.bytes(data), data["dtype"], data["shape"]
    text = _TEXT_DTYPE.fullmatch(dtype)
    if not (text or _DTYPE.fullmatch(dtype)):
        raise BadFrame("an array of a kind that may not cross")
    if len(shape) > 8 or not all(type(n) is int and n >= 0 for n in shape):
        raise BadFrame("an array of a shape that may not cross")
    import numpy

    kind = numpy.dtype(dtype)
    if math.prod(shape) * kind.itemsize != len(raw) or kind.itemsize == 0:
        raise BadFrame("an array whose size does not fit its shape")
    if text and raw and numpy.frombuffer(raw, kind.str[0] + "u4").max() > sys.maxunicode:
        raise BadFrame("an array of text that is none")
    return numpy.frombuffer(raw, kind).reshape(shape).copy()


def _index(decoder: Decoder, data: Any, size: int, depth: int) -> Any:
    """The index of `size` places that `_encode_index` wrote."""
    import pandas

    if data is None:
        return pandas.RangeIndex(size)
    items, names = decoder.items(data["items"], depth), decoder.items(data["names"], depth)
    if len(items) != size or not names or len(names) > 32:
        raise BadFrame("an index that does not fit")
    if len(names) == 1:
        return pandas.Index(items, name=names[0]) if items else pandas.Index([], name=names[0], dtype=object)
    if not all(type(item) is tuple and len(item) == len(names) for item in items):
        raise BadFrame("an index whose levels do not fit")
    return pandas.MultiIndex.from_tuples(spread(items), names=names)


def _column(cells: Any, kind: object, index: Any) -> Any:
    import pandas

    if not isinstance(cells, list | sys.modules["numpy"].ndarray):
        raise BadFrame(
            "a column that is no list"
        )  # pandas would repeat a text once for each of its characters
    if kind == "":
        return pandas.Series(cells, index=index)
    if not isinstance(kind, str) or not _COLUMN.fullmatch(kind):
        raise BadFrame("a column of a kind that may not cross")
    if kind == "category":
        if not isinstance(cells, list):
            raise BadFrame("categories that are no list")
        spread(cells)
    return pandas.Series(cells, index=index, dtype=kind)


def _frame(decoder: Decoder, data: dict[str, Any], depth: int) -> Any:
    rows, width, kinds = data["rows"], data["width"], data["kinds"]
    cells = decoder.items(data["cells"], depth)
    fits = type(rows) is int and 0 <= rows <= decoder.limits.frame_bytes and len(cells) == width == len(kinds)
    if not fits or any(len(column) != rows for column in cells):
        raise BadFrame("a table whose columns do not fit")
    import pandas

    index = _index(decoder, data["index"], rows, depth)
    columns = {i: _column(cell, kinds[i], index) for i, cell in enumerate(cells)}
    frame = pandas.DataFrame(columns, index=index)
    frame.columns = _index(decoder, data["columns"], width, depth)
    return frame


def _series(decoder: Decoder, data: dict[str, Any], depth: int) -> Any:
    cells, name = decoder.items([data["data"], data["name"]], depth)
    made = _column(cells, data["kind"], _index(decoder, data["index"], len(cells), depth))
    made.name = name
    return made


def _image(decoder: Decoder, data: dict[str, Any], depth: int) -> Any:
    raw = decoder.bytes(data)
    check_png(raw, decoder.limits.pixels)
    _check_chunks(raw)
    from PIL import Image

    image = Image.open(io.BytesIO(raw), formats=["PNG"])
    image.load()
    return image


READERS: dict[str, Callable[[Decoder, dict[str, Any], int], Any]] = {
    "array": _array,
    "frame": _frame,
    "series": _series,
    "image": _image,
}
