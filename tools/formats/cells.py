"""Cells of a spreadsheet: their names (B7), and what a stored number shows."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Protocol

_PLACE = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
MAX_COLUMNS, MAX_ROWS = 16_384, 1_048_576
MAX_TABLE_CELLS = 2_000_000  # of a table that is text; what is empty beside its rows is counted


class DateStyles(Protocol):
    """Which style shows a date."""

    def date_parts(self, style: str) -> str:
        """Any of "d" and "t": the style shows a day, a time, both or neither."""
        ...


class Number:
    """Stored numbers as people write them: dates in ISO form, no float noise."""

    def __init__(self, styles: DateStyles, since_1904: bool = False) -> None:
        self._styles = styles
        self._epoch = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30)
        self._first = 0 if since_1904 else 60  # before March 1900 Excel counts a day that never was

    def shown(self, value: str, style: str) -> str:
        """The text of a number in a cell of that style."""
        parts = self._styles.date_parts(style)
        try:
            number = float(value)
        except ValueError:
            return value
        return (self._moment(number, parts) if parts else "") or number_text(number)

    def _moment(self, number: float, parts: str) -> str:
        if not 0 <= number < 2_958_466:
            return ""
        if parts == "t" and number < 1:
            return (
                str((datetime.min + timedelta(seconds=round(number * 86_400))).time())
                if number < 0.999995
                else ""
            )
        if parts == "t":
            hours, rest = divmod(round(number * 86_400), 3600)
            return f"{hours}:{rest // 60:02}:{rest % 60:02}"
        if number < 1 and self._first:
            return ""
        moment = self._epoch + timedelta(days=number + (1 if number < self._first else 0))
        moment = (moment + timedelta(milliseconds=500)).replace(microsecond=0)
        return (
            moment.date().isoformat()
            if parts == "d" and moment.hour == moment.minute == 0
            else moment.isoformat(sep=" ")
        )


def number_text(number: float) -> str:
    """A number without noise: 3 for 3.0, 0.3 for 0.30000000000000004."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.15g}"


@lru_cache(maxsize=65_536)
def place_of(name: str) -> tuple[int, int] | None:
    """(row, column) of a cell's name, counted from 1; None for what names no cell."""
    match = _PLACE.fullmatch(name)
    if not match:
        return None
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - 64
    return (int(match[2]), column) if column <= MAX_COLUMNS and 1 <= int(match[2]) <= MAX_ROWS else None


def column_name(column: int) -> str:
    """A for 1, AA for 27."""
    name = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def ranges(cells: Sequence[tuple[int, int]], rows_only: bool = False) -> list[str]:
    """Cells as few rectangles: A1:C3, E5. With `rows_only` their rows alone: 1:3, 5."""
    runs: list[tuple[int, int, int]] = []  # row, first column, last column
    for row, column in sorted(set(cells)):
        if runs and runs[-1][0] == row and runs[-1][2] == column - 1:
            runs[-1] = (row, runs[-1][1], column)
        else:
            runs.append((row, column, column))
    merged: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for row, first, last in runs:
        spans = merged.setdefault((first, last), [])
        if spans and spans[-1][1] == row - 1:
            spans[-1] = (spans[-1][0], row)
        else:
            spans.append((row, row))
    boxes = sorted(
        (top, first, bottom, last) for (first, last), spans in merged.items() for top, bottom in spans
    )
    if rows_only:
        return [str(top) if top == bottom else f"{top}:{bottom}" for top, _, bottom, _ in boxes]
    return [
        f"{column_name(first)}{top}"
        + ("" if (top, first) == (bottom, last) else f":{column_name(last)}{bottom}")
        for top, first, bottom, last in boxes
    ]
