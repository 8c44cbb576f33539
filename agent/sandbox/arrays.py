"""Arrays, tables and images as they cross: numbers as raw bytes, images as PNG, all sizes checked first.

The libraries are looked up, not imported, until there is such a value.
"""

import io
import math
import re
import struct
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .frames import BadFrame, CannotCross

if TYPE_CHECKING:
    from .codec import Decoder, Encoder

_DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]c(8|16)|[<>][mM]8\[(Y|M|W|D|h|m|s|ms|us|ns)\]"
)
_TEXT_DTYPE = re.compile(r"[<>]U[0-9]{1,7}")
_PNG_MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
NOT_MINE = object()


def encode(encoder: "Encoder", value: Any, depth: int) -> Any:
    """The value as JSON carries it, NOT_MINE when it is of no library that is known here."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        if value is pandas.NaT or value is pandas.NA:
            return None
        if isinstance(value, pandas.DataFrame):
            return _encode_frame(encoder, value, depth)
        if isinstance(value, pandas.Series):
            name, data = encoder.value(value.name, depth + 1), _encode_column(encoder, value, depth)
            return {"$": "series", "name": name, "index": _encode_index(encoder, value, depth), "data": data}
        if isinstance(value, pandas.Index):
            return encoder.value(value.tolist(), depth)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        if isinstance(value, numpy.ndarray):
            return _encode_array(encoder, value, depth)
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
    (image if image.mode in _PNG_MODES else image.convert("RGB")).save(out, "PNG")
    return out.getvalue()


def check_png(data: bytes, pixels: int) -> tuple[int, int]:
    """Width and height; BadFrame unless `data` starts as a PNG of at most `pixels` pixels. Nothing is decoded."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 33:
        raise BadFrame("an image that is no PNG")
    width, height = struct.unpack(">II", data[16:24])
    if not 0 < width * height <= pixels:
        raise BadFrame("an image with too many pixels")
    return width, height


def _encode_array(encoder: "Encoder", value: Any, depth: int) -> Any:
    kind = value.dtype.str
    if not (_DTYPE.fullmatch(kind) or _TEXT_DTYPE.fullmatch(kind)):
        return encoder.value(value.tolist(), depth)
    return {"$": "array", "dtype": kind, "shape": list(value.shape), **encoder.blob(value.tobytes())}


def _encode_column(encoder: "Encoder", value: Any, depth: int) -> Any:
    if _DTYPE.fullmatch(getattr(value.dtype, "str", "")):
        return _encode_array(encoder, value.to_numpy(), depth + 1)
    cells = zip(value, value.isna(), strict=True)
    return [None if missing else encoder.value(cell, depth + 2) for cell, missing in cells]


def _encode_index(encoder: "Encoder", value: Any, depth: int) -> Any:
    index = value.index
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return None
    return [encoder.value(item, depth + 2) for item in index]


def _encode_frame(encoder: "Encoder", value: Any, depth: int) -> Any:
    return {
        "$": "frame",
        "rows": len(value),
        "columns": [encoder.value(name, depth + 2) for name in value.columns],
        "cells": [_encode_column(encoder, value.iloc[:, i], depth + 1) for i in range(value.shape[1])],
        "index": _encode_index(encoder, value, depth),
    }


def _array(decoder: "Decoder", data: dict[str, Any], depth: int) -> Any:
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


def _frame(decoder: "Decoder", data: dict[str, Any], depth: int) -> Any:
    import pandas

    rows, columns, cells = (
        data["rows"],
        decoder.items(data["columns"], depth),
        decoder.items(data["cells"], depth),
    )
    fits = type(rows) is int and 0 <= rows <= decoder.limits.frame_bytes and len(cells) == len(columns)
    if not fits or any(len(column) != rows for column in cells):
        raise BadFrame("a table whose columns do not fit")
    index = range(rows) if data["index"] is None else decoder.items(data["index"], depth)
    frame = pandas.DataFrame(dict(enumerate(cells)), index=index)
    frame.columns = pandas.Index(columns) if columns else pandas.RangeIndex(0)
    return frame


def _series(decoder: "Decoder", data: dict[str, Any], depth: int) -> Any:
    import pandas

    index = None if data["index"] is None else decoder.items(data["index"], depth)
    cells, name = decoder.items([data["data"], data["name"]], depth)
    return pandas.Series(cells, index=index, name=name)


def _image(decoder: "Decoder", data: dict[str, Any], depth: int) -> Any:
    raw = decoder.bytes(data)
    check_png(raw, decoder.limits.pixels)
    from PIL import Image

    image = Image.open(io.BytesIO(raw), formats=["PNG"])
    image.load()
    return image


READERS: dict[str, Callable[["Decoder", dict[str, Any], int], Any]] = {
    "array": _array,
    "frame": _frame,
    "series": _series,
    "image": _image,
}
