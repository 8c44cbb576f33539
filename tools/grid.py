"""HTML tables as Markdown whose every row stands alone: spanned values repeated, layout tables dissolved."""

import re
from typing import Any, NamedTuple, Protocol

from lxml import etree

from tools.tables import table_text

_HEADING = re.compile(r"(?m)^#{1,6} ")


class Cell(NamedTuple):
    """One cell as it stands in the source."""

    text: str
    header: bool
    across: int
    down: int

    @classmethod
    def of(cls, element: etree._Element, text: str) -> "Cell":
        across, down = element.get("colspan"), element.get("rowspan")
        return cls(
            text,
            element.tag == "th",
            _span(across) if across else 1,
            _span(down, zero=65534) if down else 1,
        )


class Gathered(Protocol):
    """What the walk gathered of a table."""

    element: Any
    rows: list[list[Cell]]
    heads: int
    caption: str
    nested: bool


def grid_text(table: Gathered) -> str:
    """A table as Markdown; one that only arranges a page as its cells one after the other."""
    rows = [row for row in table.rows if row]
    cells = [cell for row in rows for cell in row]
    if not any(cell.text for cell in cells):
        return table.caption
    if _is_layout(table, rows, cells):
        return "\n\n".join(part for part in [table.caption, *(_laid_out(row) for row in rows)] if part)
    titles = [table.caption] if table.caption else []
    heads = table.heads
    widest = max(len(row) for row in rows)
    while len(rows) > 1 and widest > 1 and len(rows[0]) == 1 and rows[0][0].across > 1:
        titles.append(_one_line(rows[0][0].text))
        rows = rows[1:]
        heads -= 1
    grid = _spread(rows)
    heads = max(heads, _heads(rows))
    if heads:
        header = [
            " ".join(dict.fromkeys(part for part in column if part))
            for column in zip(*grid[:heads], strict=True)
        ]
        body = grid[heads:]
    elif all(row[0].header for row in rows):
        header, body = [""] * len(grid[0]), grid
    else:
        header, body = grid[0], grid[1:]
    return "\n\n".join([*(title for title in titles if title), table_text(header, body)])


def _heads(rows: list[list[Cell]]) -> int:
    """How many rows at the top are headings throughout; a table needs one row that is not."""
    count = 0
    while count < len(rows) - 1 and all(cell.header for cell in rows[count]):
        count += 1
    return count


def _is_layout(table: Gathered, rows: list[list[Cell]], cells: list[Cell]) -> bool:
    if table.nested or table.element.get("role") in ("presentation", "none"):
        return True
    if max(map(len, rows)) == 1:
        return True
    if table.heads or any(cell.header for cell in cells):
        return False
    longest = max(len(cell.text) for cell in cells)
    return longest > 1500 or (longest > 300 and any(cell.text.count("\n\n") > 2 for cell in cells))


def _laid_out(row: list[Cell]) -> str:
    texts = [cell.text for cell in row if cell.text]
    return (" " if all("\n" not in text for text in texts) else "\n\n").join(texts)


def _spread(rows: list[list[Cell]]) -> list[list[str]]:
    """Every place of the grid filled, spanned ones with the value that spans them."""
    widest = max(map(len, rows))
    if all(cell.across == 1 and cell.down == 1 for row in rows for cell in row):
        return [[*(_one_line(cell.text) for cell in row), *([""] * (widest - len(row)))] for row in rows]
    width_limit = max(widest, min(max(sum(cell.across for cell in row) for row in rows), 4 * widest + 8))
    budget = 50_000 + 4 * sum(len(cell.text) for row in rows for cell in row)
    hanging: dict[int, tuple[str, int]] = {}
    grid: list[list[str]] = []
    for row in rows:
        line: list[str] = []
        cells = iter(row)
        following: dict[int, tuple[str, int]] = {}
        while True:
            place = len(line)
            if place in hanging:
                text, left = hanging.pop(place)
                line.append(text)
                if left > 1:
                    following[place] = (text, left - 1)
                continue
            cell = next(cells, None)
            if cell is None:
                if not hanging or len(line) > max(hanging):
                    break
                line.append("")
                continue
            text = _one_line(cell.text)
            for _ in range(min(cell.across, max(1, width_limit - len(line)))):
                if len(line) in hanging:
                    break
                if cell.down > 1:
                    following[len(line)] = (text if budget > 0 else "", cell.down - 1)
                line.append(text if budget > 0 else "")
                budget -= len(text) + 1
        budget -= sum(len(text) + 1 for text, _ in following.values())
        hanging = following
        grid.append(line)
    width = max(len(line) for line in grid)
    return [[*line, *[""] * (width - len(line))] for line in grid]


def _one_line(text: str) -> str:
    return " ".join((_HEADING.sub("", text) if "#" in text else text).split())


def _span(value: str | None, zero: int = 1) -> int:
    number = (
        int(value) if value and value.strip().isascii() and value.strip().isdigit() and len(value) < 7 else 1
    )
    return max(1, min(number or zero, 1000 if zero == 1 else 65534))
