"""The only values that may cross between host and box.

JSON carries None, bool, int, float, str, list and dict with text keys as they
are; all else is an object tagged with "$", whose raw bytes travel beside the
JSON. What has no form of its own becomes its `repr`. Both sides run this file.
"""

import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import io
import math
import os
import re
import struct
import sys
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from typing import Any

from .frames import BadFrame, CannotCross
from .limits import Limits
from .records import Record, RecordList, record_class, short

TAG = "$"
_DTYPE = re.compile(
    r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|[<>]c(8|16)|[<>][mM]8\[(Y|M|W|D|h|m|s|ms|us|ns)\]"
)
_TEXT_DTYPE = re.compile(r"[<>]U([0-9]{1,7})")
_INT_DIGITS_BITS = 12_000


class Encoder:
    """Turns values into JSON-ready ones; raw bytes gather in `blobs`, what became a repr in `replaced`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.blobs: list[bytes] = []
        self._blob_bytes = 0
        self.replaced: list[str] = []

    def value(self, value: Any, depth: int = 0) -> Any:
        """`value` as JSON carries it; CannotCross when it is too deep."""
        if value is None or value is True or value is False or type(value) is str:
            return value
        if depth >= self._limits.nesting:
            raise CannotCross(f"it is nested deeper than {self._limits.nesting} levels")
        kind = type(value)
        if isinstance(value, Record):
            return self._record(value._kind, dict(value.items()), None, depth)
        if isinstance(value, enum.Enum):
            return self.value(value.value, depth + 1)
        if isinstance(value, int):
            return int(value) if value.bit_length() <= _INT_DIGITS_BITS else self._as_repr(value)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {TAG: "float", "v": repr(float(value))}
        if isinstance(value, str):
            return str(value)
        if isinstance(value, bytes | bytearray | memoryview):
            return {TAG: "bytes", **self._blob(bytes(value))}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.name[0] != "_"}
            return self._record(kind.__name__, fields, str(value), depth)
        if isinstance(value, dict):
            return self._dict(value, depth)
        if isinstance(value, list):
            items = [self.value(item, depth + 1) for item in value]
            if not any("__str__" in base.__dict__ for base in kind.__mro__[:-2]):
                return items
            return {TAG: "records", "kind": kind.__name__, "v": items, "text": str(value)}
        if isinstance(value, tuple):
            return {TAG: "tuple", "v": [self.value(item, depth + 1) for item in value]}
        if isinstance(value, set | frozenset):
            tag = "frozenset" if isinstance(value, frozenset) else "set"
            return {TAG: tag, "v": [self.value(item, depth + 1) for item in value]}
        if isinstance(value, range | KeysView | ValuesView | ItemsView):
            return self.value(list(value), depth)
        return self._special(value, depth)

    def _special(self, value: Any, depth: int) -> Any:
        if isinstance(value, complex):
            return {TAG: "complex", "v": [repr(value.real), repr(value.imag)]}
        pandas = sys.modules.get("pandas")
        if pandas is not None and (value is pandas.NaT or value is pandas.NA):
            return None
        if isinstance(value, dt.datetime):
            return {TAG: "datetime", "v": value.isoformat()}
        if isinstance(value, dt.date):
            return {TAG: "date", "v": value.isoformat()}
        if isinstance(value, dt.time):
            return {TAG: "time", "v": value.isoformat()}
        if isinstance(value, dt.timedelta):
            return {TAG: "timedelta", "v": [value.days, value.seconds, value.microseconds]}
        if isinstance(value, decimal.Decimal):
            return {TAG: "decimal", "v": str(value)}
        if isinstance(value, fractions.Fraction):
            return {TAG: "fraction", "v": str(value)[:5000]}
        if isinstance(value, os.PathLike):
            return str(value)
        if pandas is not None and isinstance(value, pandas.DataFrame):
            return self._frame(value, depth)
        if pandas is not None and isinstance(value, pandas.Series):
            return {TAG: "series", "name": self.value(value.name, depth + 1), **self._indexed(value, depth)}
        if pandas is not None and isinstance(value, pandas.Index):
            return self.value(value.tolist(), depth)
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, numpy.ndarray):
            return self._array(value, depth)
        if numpy is not None and isinstance(value, numpy.generic):
            plain = value.item()
            return self._as_repr(value) if isinstance(plain, numpy.generic) else self.value(plain, depth)
        image = sys.modules.get("PIL.Image")
        if image is not None and isinstance(value, image.Image):
            return self._image(value)
        return self._as_repr(value)

    def _as_repr(self, value: Any) -> dict[str, Any]:
        self.replaced.append(type(value).__name__)
        return {
            TAG: "repr",
            "v": repr(value)[:2000] if not isinstance(value, int) else "an integer too large to send",
        }

    def _blob(self, data: bytes) -> dict[str, int]:
        at = self._blob_bytes
        self._blob_bytes += len(data)
        if self._blob_bytes > self._limits.blob_bytes:
            raise CannotCross(f"it is larger than {self._limits.blob_bytes >> 20} MiB")
        self.blobs.append(data)
        return {"at": at, "n": len(data)}

    def _record(self, kind: str, fields: dict[str, Any], text: str | None, depth: int) -> dict[str, Any]:
        encoded = {name: self.value(value, depth + 1) for name, value in fields.items()}
        return {TAG: "record", "kind": kind, "fields": encoded, "text": text}

    def _dict(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        if all(type(key) is str for key in value) and TAG not in value:
            return {key: self.value(item, depth + 1) for key, item in value.items()}
        pairs = [[self.value(key, depth + 1), self.value(item, depth + 1)] for key, item in value.items()]
        return {TAG: "dict", "v": pairs}

    def _array(self, value: Any, depth: int) -> Any:
        if not (_DTYPE.fullmatch(value.dtype.str) or _TEXT_DTYPE.fullmatch(value.dtype.str)):
            return self.value(value.tolist(), depth)
        return {
            TAG: "array",
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            **self._blob(value.tobytes()),
        }

    def _column(self, value: Any, depth: int) -> Any:
        plain = getattr(value.dtype, "str", "")
        if _DTYPE.fullmatch(plain):
            return self._array(value.to_numpy(), depth + 1)
        missing = value.isna()
        return [
            None if gone else self.value(item, depth + 2) for item, gone in zip(value, missing, strict=True)
        ]

    def _indexed(self, value: Any, depth: int) -> dict[str, Any]:
        plain = (
            type(value.index).__name__ == "RangeIndex" and value.index.start == 0 and value.index.step == 1
        )
        index = None if plain else [self.value(item, depth + 2) for item in value.index]
        data = {"data": self._column(value, depth)} if value.ndim == 1 else {}
        return {"index": index, **data}

    def _frame(self, value: Any, depth: int) -> dict[str, Any]:
        columns = [self.value(name, depth + 2) for name in value.columns]
        data = [self._column(value.iloc[:, i], depth + 1) for i in range(value.shape[1])]
        return {
            TAG: "frame",
            "columns": columns,
            "rows": len(value),
            "cells": data,
            **self._indexed(value, depth),
        }

    def _image(self, value: Any) -> dict[str, Any]:
        if value.width * value.height > self._limits.pixels:
            raise CannotCross(f"the image has more than {self._limits.pixels:,} pixels")
        out = io.BytesIO()
        plain = value if value.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16") else value.convert("RGB")
        plain.save(out, "PNG")
        return {TAG: "image", **self._blob(out.getvalue())}


class Decoder:
    """Turns what `Encoder` wrote back into values; BadFrame for anything that it would not write.

    typed: make each kind of record a class of its own (in the box, where the
    kinds come from the host); without it all are plain `Record`.
    """

    def __init__(self, blobs: bytes, limits: Limits, typed: bool = False) -> None:
        self._blobs = blobs
        self._limits = limits
        self._typed = typed

    def value(self, data: Any) -> Any:
        try:
            return self._value(data, 0)
        except BadFrame:
            raise
        except Exception as error:
            raise BadFrame(f"a value that cannot be read: {type(error).__name__}") from error

    def _value(self, data: Any, depth: int) -> Any:
        if depth > self._limits.nesting + 4:
            raise BadFrame("nested too deeply")
        if isinstance(data, str):
            return clean(data)
        if isinstance(data, list):
            return [self._value(item, depth + 1) for item in data]
        if not isinstance(data, dict):
            return data
        tag = data.get(TAG)
        if tag is None:
            return {clean(key): self._value(item, depth + 1) for key, item in data.items()}
        read = _READERS.get(tag) if isinstance(tag, str) else None
        if read is None:
            raise BadFrame("an unknown kind of value")
        return read(self, data, depth)

    def _items(self, data: Any, depth: int) -> list[Any]:
        if not isinstance(data, list):
            raise BadFrame("a list was expected")
        return [self._value(item, depth + 1) for item in data]

    def _bytes(self, data: dict[str, Any]) -> bytes:
        at, size = data["at"], data["n"]
        if type(at) is not int or type(size) is not int or not 0 <= at <= at + size <= len(self._blobs):
            raise BadFrame("an attachment that is not there")
        return self._blobs[at : at + size]

    def _dict(self, data: dict[str, Any], depth: int) -> dict[Any, Any]:
        return {self._value(key, depth + 1): self._value(item, depth + 1) for key, item in data["v"]}

    def _record(self, data: dict[str, Any], depth: int) -> Record:
        kind, fields = clean(data["kind"])[:80], data["fields"]
        values = {
            clean(name): self._value(item, depth + 1) for name, item in fields.items() if name[:1] != "_"
        }
        made = record_class(kind, tuple(values)) if self._typed else Record
        text = f"{kind}({', '.join(f'{k}={short(v)}' for k, v in values.items())})"
        return made(text if data["text"] is None else clean(data["text"]), kind, values)

    def _records(self, data: dict[str, Any], depth: int) -> RecordList:
        kind = clean(data["kind"])[:80]
        made: type[RecordList] = (
            type(kind, (RecordList,), {}) if self._typed and kind.isidentifier() else RecordList
        )
        value = made(self._items(data["v"], depth))
        value._text = clean(data["text"])
        return value

    def _array(self, data: dict[str, Any], depth: int) -> Any:
        raw, dtype, shape = self._bytes(data), data["dtype"], data["shape"]
        text = _TEXT_DTYPE.fullmatch(dtype)
        if not (text or _DTYPE.fullmatch(dtype)):
            raise BadFrame("an array of a kind that may not cross")
        if len(shape) > 8 or not all(type(n) is int and n >= 0 for n in shape):
            raise BadFrame("an array of a shape that may not cross")
        import numpy

        kind = numpy.dtype(dtype)
        if math.prod(shape) * kind.itemsize != len(raw) or (text and kind.itemsize == 0):
            raise BadFrame("an array whose size does not fit its shape")
        if text and len(raw) and max(numpy.frombuffer(raw, kind.str[0] + "u4")) > sys.maxunicode:
            raise BadFrame("an array of text that is none")
        return numpy.frombuffer(raw, kind).reshape(shape).copy()

    def _frame(self, data: dict[str, Any], depth: int) -> Any:
        import pandas

        columns, rows = self._items(data["columns"], depth), data["rows"]
        cells = self._items(data["cells"], depth)
        if (
            type(rows) is not int
            or len(cells) != len(columns)
            or any(len(column) != rows for column in cells)
        ):
            raise BadFrame("a table whose columns differ in length")
        index = self._items(data["index"], depth) if data["index"] is not None else None
        if index is None and not cells and rows > self._limits.frame_bytes:
            raise BadFrame("an empty table of too many rows")
        frame = pandas.DataFrame(dict(enumerate(cells)), index=range(rows) if index is None else index)
        frame.columns = pandas.Index(columns) if columns else pandas.RangeIndex(0)
        return frame

    def _series(self, data: dict[str, Any], depth: int) -> Any:
        import pandas

        index = self._items(data["index"], depth) if data["index"] is not None else None
        return pandas.Series(
            self._value(data["data"], depth + 1), index=index, name=self._value(data["name"], depth)
        )

    def _image(self, data: dict[str, Any], depth: int) -> Any:
        raw = self._bytes(data)
        check_png(raw, self._limits.pixels)
        from PIL import Image

        image = Image.open(io.BytesIO(raw), formats=["PNG"])
        image.load()
        return image


_READERS: dict[str, Callable[[Decoder, dict[str, Any], int], Any]] = {
    "float": lambda d, v, n: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[v["v"]],
    "complex": lambda d, v, n: complex(float(v["v"][0]), float(v["v"][1])),
    "bytes": lambda d, v, n: d._bytes(v),
    "tuple": lambda d, v, n: tuple(d._items(v["v"], n)),
    "set": lambda d, v, n: set(d._items(v["v"], n)),
    "frozenset": lambda d, v, n: frozenset(d._items(v["v"], n)),
    "dict": Decoder._dict,
    "record": Decoder._record,
    "records": Decoder._records,
    "datetime": lambda d, v, n: dt.datetime.fromisoformat(v["v"]),
    "date": lambda d, v, n: dt.date.fromisoformat(v["v"]),
    "time": lambda d, v, n: dt.time.fromisoformat(v["v"]),
    "timedelta": lambda d, v, n: dt.timedelta(*v["v"][:3]),
    "decimal": lambda d, v, n: decimal.Decimal(v["v"][:5000]),
    "fraction": lambda d, v, n: fractions.Fraction(v["v"][:5000]),
    "repr": lambda d, v, n: clean(v["v"]),
    "array": Decoder._array,
    "frame": Decoder._frame,
    "series": Decoder._series,
    "image": Decoder._image,
}


def clean(text: Any) -> str:
    """`text` without lone surrogates, which no file, database or page could hold."""
    if not isinstance(text, str):
        raise BadFrame("text was expected")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def check_png(data: bytes, pixels: int) -> None:
    """BadFrame unless `data` starts as a PNG of at most `pixels` pixels; nothing is decoded."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR" or len(data) < 33:
        raise BadFrame("an image that is no PNG")
    width, height = struct.unpack(">II", data[16:24])
    if not 0 < width * height <= pixels:
        raise BadFrame("an image with too many pixels")
