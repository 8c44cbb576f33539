"""The only values that may cross between host and box.

JSON carries None, bool, int, float, str, list and dict with text keys as they
are; all else is an object tagged with "$", whose raw bytes travel beside the
JSON. What has no form of its own becomes its `repr`. Both sides run this file.
"""

import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import math
import os
import re
from collections.abc import Callable, ItemsView, KeysView, ValuesView
from typing import Any

from . import arrays, times
from .frames import BadFrame, CannotCross
from .hashing import spread
from .limits import Limits
from .records import Record, RecordList, list_class, record_class, short

TAG = "$"
_INT_BITS = 12_000
_FRACTION = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
_EXPONENT = 10_000


class Encoder:
    """Turns values into JSON-ready ones; raw bytes gather in `blobs`, what became a repr in `replaced`."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.blobs: list[bytes] = []
        self.replaced: list[str] = []
        self._blob_bytes = 0
        self._weight = 0

    def value(self, value: Any, depth: int = 0) -> Any:
        """`value` as JSON carries it; CannotCross when it is too deep or its raw bytes are too many."""
        self._weight += 1 + len(value) if isinstance(value, str) else 1
        if self._weight > self.limits.frame_bytes:  # before anything of that size is made
            raise CannotCross(f"it is larger than {self.limits.frame_bytes >> 10:,} KiB")
        if value is None or value is True or value is False or type(value) is str:
            return value
        if depth >= self.limits.nesting:
            raise CannotCross(f"it is nested deeper than {self.limits.nesting} levels")
        if isinstance(value, Record):
            return self._record(value._kind, dict(Record.items(value)), None, depth)
        if isinstance(value, enum.Enum):
            return self.value(value.value, depth + 1)
        if isinstance(value, int):
            if value.bit_length() <= _INT_BITS:
                return int(value)
            digits = int(value.bit_length() * math.log10(2)) + 1
            raise CannotCross(
                f"an integer of about {digits:,} digits is too large: send a text of what matters of it"
            )
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {TAG: "float", "v": repr(float(value))}
        if isinstance(value, str):
            return str(value)
        if isinstance(value, bytes | bytearray | memoryview):
            self.fits(value.nbytes if isinstance(value, memoryview) else len(value))
            return {TAG: "bytes", **self.blob(bytes(value))}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.name[0] != "_"}
            return self._record(type(value).__name__, fields, str(value), depth)
        if isinstance(value, dict):
            return self._dict(value, depth)
        if isinstance(value, list):
            return self._list(value, depth)
        if isinstance(value, tuple | set | frozenset):
            tag = next(k.__name__ for k in (tuple, set, frozenset) if isinstance(value, k))
            return {TAG: tag, "v": self._items(value, depth)}
        if isinstance(value, range | collections.deque | KeysView | ValuesView | ItemsView):
            return self._items(value, depth)
        return self._special(value, depth)

    def blob(self, data: bytes) -> dict[str, int]:
        """Put raw bytes beside the JSON; what is returned says where they are."""
        self.fits(len(data))
        at = self._blob_bytes
        self._blob_bytes += len(data)
        self.blobs.append(data)
        return {"at": at, "n": len(data)}

    def fits(self, size: int) -> None:
        """CannotCross when so many raw bytes more are too many."""
        if self._blob_bytes + size > self.limits.blob_bytes:
            raise CannotCross(f"it is larger than {self.limits.blob_bytes >> 20} MiB")

    def _special(self, value: Any, depth: int) -> Any:
        found = arrays.encode(self, value, depth)
        if found is not arrays.NOT_MINE:
            return found
        if isinstance(value, dt.datetime | dt.date | dt.time | dt.timedelta):
            return times.encode(value)
        if isinstance(value, complex):
            return {TAG: "complex", "v": [repr(value.real), repr(value.imag)]}
        if isinstance(value, decimal.Decimal) and abs(value.adjusted()) < _EXPONENT:
            return {TAG: "decimal", "v": str(value)}
        if isinstance(value, fractions.Fraction) and _FRACTION.fullmatch(str(value)):
            return {TAG: "fraction", "v": str(value)}
        if isinstance(value, os.PathLike):
            return str(value)
        return self._as_repr(value)

    def _as_repr(self, value: Any) -> dict[str, Any]:
        self.replaced.append(type(value).__name__)
        return {TAG: "repr", "v": repr(value)[:2000]}

    def _items(self, value: Any, depth: int) -> list[Any]:
        return [self.value(item, depth + 1) for item in value]

    def _list(self, value: list[Any], depth: int) -> Any:
        kind = type(value)
        if not any("__str__" in base.__dict__ for base in kind.__mro__[:-2]):
            return self._items(value, depth)
        return {TAG: "records", "kind": kind.__name__, "v": self._items(value, depth), "text": str(value)}

    def _record(self, kind: str, fields: dict[str, Any], text: str | None, depth: int) -> dict[str, Any]:
        encoded = {name: self.value(value, depth + 1) for name, value in fields.items()}
        return {TAG: "record", "kind": kind, "fields": encoded, "text": text}

    def _dict(self, value: dict[Any, Any], depth: int) -> dict[str, Any]:
        if all(type(key) is str for key in value) and TAG not in value:
            return {key: self.value(item, depth + 1) for key, item in value.items()}
        pairs = [[self.value(key, depth + 1), self.value(item, depth + 1)] for key, item in value.items()]
        return {TAG: "dict", "v": pairs}


class Decoder:
    """Turns what `Encoder` wrote back into values; BadFrame for anything that it would not write.

    typed: make each kind of record a class of its own (in the box, where the
    kinds come from the host); without it all are plain `Record`.
    """

    def __init__(self, blobs: bytes, limits: Limits, typed: bool = False) -> None:
        self.limits = limits
        self._blobs = blobs
        self._typed = typed

    def value(self, data: Any) -> Any:
        try:
            return self._value(data, 0)
        except BadFrame:
            raise
        except Exception as error:  # whatever a forged value makes the readers raise
            raise BadFrame(f"a value that cannot be read ({type(error).__name__})") from error

    def items(self, data: Any, depth: int) -> list[Any]:
        """The values of a list that stands at `depth`."""
        if not isinstance(data, list):
            raise BadFrame("a list was expected")
        return [self._value(item, depth + 1) for item in data]

    def bytes(self, data: dict[str, Any]) -> bytes:
        """The raw bytes that `Encoder.blob` put away."""
        at, size = data["at"], data["n"]
        if type(at) is not int or type(size) is not int or not 0 <= at <= at + size <= len(self._blobs):
            raise BadFrame("an attachment that is not there")
        return self._blobs[at : at + size]

    def _value(self, data: Any, depth: int) -> Any:
        if depth > self.limits.nesting + 4:  # a table's cells stand a little deeper than the table says
            raise BadFrame("a value that is nested too deeply")
        if isinstance(data, str):
            return clean(data)
        if isinstance(data, list):
            return self.items(data, depth)
        if not isinstance(data, dict):
            return data
        tag = data.get(TAG)
        if tag is None:
            return {clean(key): self._value(item, depth + 1) for key, item in data.items()}
        read = _READERS.get(tag) if isinstance(tag, str) else None
        if read is None:
            raise BadFrame("an unknown kind of value")
        return read(self, data, depth)

    def _dict(self, data: dict[str, Any], depth: int) -> dict[Any, Any]:
        pairs = [(self._value(key, depth + 1), self._value(item, depth + 1)) for key, item in data["v"]]
        spread([key for key, _ in pairs])
        return dict(pairs)

    def _record(self, data: dict[str, Any], depth: int) -> Record:
        kind, fields = clean(data["kind"])[:80], data["fields"].items()
        values = {clean(name): self._value(item, depth + 1) for name, item in fields if name[:1] != "_"}
        made = record_class(kind, tuple(values)) if self._typed else Record
        text = f"{kind}({', '.join(f'{k}={short(v)}' for k, v in values.items())})"
        return made(text if data["text"] is None else clean(data["text"]), kind, values)

    def _records(self, data: dict[str, Any], depth: int) -> RecordList:
        value = list_class(clean(data["kind"])[:80] if self._typed else "")(self.items(data["v"], depth))
        value._text = clean(data["text"])
        return value


def _decimal(data: dict[str, Any]) -> decimal.Decimal:
    value = decimal.Decimal(data["v"][:5000])
    if value.is_finite() and abs(value.adjusted()) > _EXPONENT:
        raise BadFrame("a number whose integer would fill the memory")
    return value


def _fraction(data: dict[str, Any]) -> fractions.Fraction:
    if not _FRACTION.fullmatch(data["v"]):  # the class itself would compute 1e999999999
        raise BadFrame("a fraction that is none")
    return fractions.Fraction(data["v"])


_READERS: dict[str, Callable[[Decoder, dict[str, Any], int], Any]] = {
    "float": lambda d, v, n: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[v["v"]],
    "complex": lambda d, v, n: complex(float(v["v"][0]), float(v["v"][1])),
    "bytes": lambda d, v, n: d.bytes(v),
    "tuple": lambda d, v, n: tuple(d.items(v["v"], n)),
    "set": lambda d, v, n: set(spread(d.items(v["v"], n))),
    "frozenset": lambda d, v, n: frozenset(spread(d.items(v["v"], n))),
    "dict": Decoder._dict,
    "record": Decoder._record,
    "records": Decoder._records,
    "decimal": lambda d, v, n: _decimal(v),
    "fraction": lambda d, v, n: _fraction(v),
    "repr": lambda d, v, n: clean(v["v"]),
    **arrays.READERS,
}


def _alone(read: Callable[[dict[str, Any]], Any]) -> Callable[[Decoder, dict[str, Any], int], Any]:
    """A reader that needs nothing of the decoder."""
    return lambda decoder, data, depth: read(data)


_READERS.update({tag: _alone(read) for tag, read in times.READERS.items()})


def clean(text: Any) -> str:
    """`text` without lone surrogates, which no file, database or page could hold."""
    if not isinstance(text, str):
        raise BadFrame("text was expected")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
