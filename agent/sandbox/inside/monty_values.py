"""How values of the tools look inside Monty, and how Monty's look outside of it.

Monty has no inheritance, so a tool's record is an object there instead of a
`str` with fields, and a table is a list of rows.
"""

import datetime as dt
import decimal
import sys
from typing import Any

from ..wire.records import Record, RecordList

_RECORD, _RECORDS = "__record__", "__records__"
_SCALARS = (str, int, float, bytes, dt.date, dt.timedelta, decimal.Decimal)

# Runs in Monty before any code of the model.
PRELUDE = f"""
class Record:
    def __init__(self, kind, text, fields):
        self._kind, self._text, self._names = kind, text, list(fields)
        for name in fields:
            setattr(self, name, fields[name])
    def __str__(self):
        return self._text
    def __repr__(self):
        return self._kind + "(" + ", ".join([n + "=" + repr(getattr(self, n))[:200] for n in self._names]) + ")"
    def __getitem__(self, key):
        return getattr(self, key) if isinstance(key, str) else self._text[key]
    def __contains__(self, part):
        return part in self._text
    def __eq__(self, other):
        return str(self) == str(other)
    def __add__(self, other):
        return self._text + str(other)
    def __radd__(self, other):
        return str(other) + self._text
    def keys(self):
        return self._names
    def items(self):
        return [(n, getattr(self, n)) for n in self._names]
    def get(self, name, default=None):
        return getattr(self, name) if name in self._names else default
    def lower(self):
        return self._text.lower()
    def split(self, *sep):
        return self._text.split(*sep)
    def splitlines(self):
        return self._text.splitlines()
class Records:
    def __init__(self, items, text):
        self._items, self._text = items, text
    def __str__(self):
        return self._text
    def __repr__(self):
        return repr(self._items)
    def __getitem__(self, key):
        return self._items[key]
    def __iter__(self):
        return iter(self._items)
    def __bool__(self):
        return _len(self._items) > 0
ToolError = RuntimeError
_len = len
def len(value):
    if isinstance(value, Records):
        return _len(value._items)
    return _len(value._text if isinstance(value, Record) else value)
def _made(value):
    if isinstance(value, list):
        return [_made(item) for item in value]
    if isinstance(value, tuple):
        return tuple([_made(item) for item in value])
    if not isinstance(value, dict):
        return value
    if "{_RECORD}" in value:
        return Record(value["{_RECORD}"], value["text"], _made(value["fields"]))
    if "{_RECORDS}" in value:
        return Records(_made(value["{_RECORDS}"]), value["text"])
    return {{key: _made(value[key]) for key in value}}
def _text(value):
    return str(value) if isinstance(value, (str, Record, Records)) else repr(value)
"""


def inward(value: Any) -> Any:
    """A value of the host as it is handed to Monty, where `_made` of the prelude takes it."""
    if value is None or isinstance(value, Record | RecordList):
        return _record(value)
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, dict):
        return {inward(key): inward(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(inward(item) for item in value)
    pandas, numpy = sys.modules.get("pandas"), sys.modules.get("numpy")
    if pandas is not None and isinstance(value, pandas.DataFrame):
        rows = value.astype(object).where(value.notna(), None).to_dict("records")
        return [{str(name): inward(cell) for name, cell in row.items()} for row in rows]
    if pandas is not None and isinstance(value, pandas.Series):
        return inward(value.tolist())
    if numpy is not None and isinstance(value, numpy.ndarray | numpy.generic):
        return inward(value.tolist())
    return repr(value)[:2000]


def outward(value: Any) -> Any:
    """A value of Monty as it is sent to the host; an object of the model's own class becomes its `repr`."""
    if type(value).__name__ == "MontyClassProxy":  # by name, since only a box of level 3 loads its module
        text = value.attributes.get("_text")
        return text if isinstance(text, str) else repr(value)[:2000]
    if isinstance(value, dict):
        return {outward(key): outward(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)(outward(item) for item in value)
    return value


def _record(value: Any) -> Any:
    if isinstance(value, Record):
        fields = {name: inward(item) for name, item in value.items()}
        return {_RECORD: value._kind, "text": str.__str__(value), "fields": fields}
    if isinstance(value, RecordList):
        return {_RECORDS: [inward(item) for item in value], "text": str(value)}
    return value
