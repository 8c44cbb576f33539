"""What a tool's value is inside the box: text with fields."""

import dataclasses
import keyword
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NoReturn


class Record(str):
    """A read-only value of a tool: its text, with fields as attributes and as keys.

    It is a `str`, so that code which expects a tool to give text works too.
    """

    _kind: str
    _fields: tuple[str, ...]

    def __new__(cls, text: str, kind: str, fields: dict[str, Any]) -> "Record":
        self = super().__new__(cls, text)
        self.__dict__.update(fields, _kind=kind, _fields=tuple(fields))
        return self

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self._kind} has no field {name!r}; it has: {', '.join(self._fields)}")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a {self._kind} is read-only; copy what you need into your own variables")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key in self._fields:
                return self.__dict__[key]
            raise KeyError(f"{key!r}; {self._kind} has: {', '.join(self._fields)}")
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        return self.__dict__[key] if key in self._fields else default

    def keys(self) -> tuple[str, ...]:
        return self._fields

    def items(self) -> Iterator[tuple[str, Any]]:
        return ((name, self.__dict__[name]) for name in self._fields)

    def __copy__(self) -> "Record":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Record":
        return self

    def __repr__(self) -> str:
        fields = Record.items(self)  # a field may be called "items" too
        return f"{self._kind}({', '.join(f'{name}={short(value)}' for name, value in fields)})"


class RecordList(list[Any]):
    """A list that a tool gave, with the text that the tool shows it as."""

    _text = ""

    def __str__(self) -> str:
        return self._text


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:197] + "..."


@lru_cache(maxsize=256)
def record_class(kind: str, fields: tuple[str, ...]) -> type[Record]:
    """A class of records that is a dataclass too, so that `asdict` and `pandas.DataFrame(records)` work."""
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in (kind, *fields)):
        return Record
    spec = [(name, Any) for name in fields]
    made = dataclasses.make_dataclass(kind, spec, bases=(Record,), init=False, repr=False, eq=False)
    return made


@lru_cache(maxsize=64)
def list_class(kind: str) -> type[RecordList]:
    """The class of lists of that name; plain `RecordList` when it is no name."""
    made: type[RecordList] = type(kind, (RecordList,), {}) if kind.isidentifier() else RecordList
    return made
