"""Markdown tables: written from rows, found in a text, read as DataFrames."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_TABLE = re.compile(r"(?m)^\|.*\|[ \t]*\n\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?:\n\|.*\|[ \t]*)*")
_CELL = re.compile(r"(?<!\\)\|")
_NUMBER = re.compile(r"[-+−]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; cells are single lines already stripped of nothing but their pipes."""
    width = max(len(header), max((len(row) for row in rows), default=0))
    lines = [_line(header, width), "|" + " --- |" * width]
    lines.extend(_line(row, width) for row in rows)
    return "\n".join(lines)


def table_spans(markdown: str) -> list[tuple[int, int]]:
    """Where the tables stand in a text, as (start, end)."""
    return [match.span() for match in _TABLE.finditer(markdown)]


def table_rows(table: str) -> list[list[str]]:
    """The cells of a Markdown table, header first, the ruler left out."""
    lines = table.strip().split("\n")
    return [_cells(line) for i, line in enumerate(lines) if i != 1]


def frame_of(table: str) -> "pd.DataFrame":
    """A Markdown table as a DataFrame; columns that are numbers throughout become numbers."""
    return frame_of_rows(table_rows(table))


def frame_of_rows(rows: Sequence[Sequence[str]]) -> "pd.DataFrame":
    """Rows of text, header first, as a DataFrame; columns that are numbers throughout become numbers."""
    import pandas as pd

    width = max(len(row) for row in rows)
    header, *body = [[*row, *[""] * (width - len(row))] for row in rows]
    columns: dict[str, Any] = {}
    for name, *cells in zip(_unique(header), *body, strict=True):
        values = [cell.strip() for cell in cells]
        if any(values) and all(not value or _NUMBER.fullmatch(value) for value in values):
            columns[name] = pd.to_numeric(
                [value.replace(",", "").replace("−", "-") or None for value in values]
            )
        else:
            columns[name] = values
    return pd.DataFrame(columns)


def _line(cells: Sequence[str], width: int) -> str:
    padded = [*cells, *[""] * (width - len(cells))]
    return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in padded) + " |"


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(line.strip()[1:-1])]


def _unique(names: Sequence[str]) -> list[str]:
    """Column names as pandas wants them: none empty, none twice."""
    seen: dict[str, int] = {}
    result = []
    for place, name in enumerate(names, 1):
        name = name or f"column {place}"
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return result
