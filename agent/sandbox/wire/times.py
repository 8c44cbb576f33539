"""Dates, times and spans as they cross: as ISO text, with the name of a time zone where it has one."""

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from .frames import BadFrame

_ZONE = re.compile(r"[A-Z][A-Za-z0-9_+-]*(/[A-Z][A-Za-z0-9_+-]*){0,2}")


def encode(value: Any) -> dict[str, Any]:
    """The value as JSON carries it; a subclass crosses as what it is a subclass of."""
    if isinstance(value, dt.timedelta):
        return {"$": "timedelta", "v": [value.days, value.seconds, value.microseconds]}
    tag = next(kind.__name__ for kind in (dt.datetime, dt.date, dt.time) if isinstance(value, kind))
    zone = str(getattr(getattr(value, "tzinfo", None), "key", ""))
    return {"$": tag, "v": value.isoformat(), **({"zone": zone} if _ZONE.fullmatch(zone) else {})}


def _zoned(kind: Any, data: dict[str, Any]) -> Any:
    """Its zone by name where that is known here; else its distance from UTC stays right."""
    value, zone = kind.fromisoformat(data["v"]), data.get("zone")
    if zone is None:
        return value
    if not _ZONE.fullmatch(zone):
        raise BadFrame("a time zone that is none")
    import zoneinfo  # not at the top: it would keep the `open` of before the box took its place

    try:
        named = zoneinfo.ZoneInfo(zone)
    except zoneinfo.ZoneInfoNotFoundError:
        return value
    return value.replace(tzinfo=named) if kind is dt.time else value.astimezone(named)


READERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "datetime": lambda data: _zoned(dt.datetime, data),
    "date": lambda data: dt.date.fromisoformat(data["v"]),
    "time": lambda data: _zoned(dt.time, data),
    "timedelta": lambda data: dt.timedelta(*data["v"][:3]),
}
