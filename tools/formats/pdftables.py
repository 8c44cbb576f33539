"""Ruled tables of a PDF page: the lines that are drawn make a grid, the words in its cells make the rows."""

import re
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from tools.formats.pdflines import Line, drawn_lines

_SPLIT = re.compile("[\u00ad\u0002\ufffe] ?")  # where a word was split at a line's end
_NEAR = 2.5  # points: lines closer than this are one
_LINE = 2.0  # points between two lines of text
_REPEATED = 60  # characters of a cell over several rows or columns that are still repeated
_MOSTLY = 0.6
_BESIDE = 8  # words a row: more are not a column of a table but text beside it
_MAX_CELLS = 3_000
_FULLEST = 0.35  # of the cells of a table at least so many have words


Stretches = tuple[list[float], list[float]]  # from where, to where


class Word(NamedTuple):
    """A word of the page's text, from `start` to `end` in it, and where its first letter stands."""

    start: int
    end: int
    x: float
    y: float


@dataclass(frozen=True)
class Ruled:
    """One table: its rows, and the numbers of the words in it."""

    rows: list[list[str]]
    words: frozenset[int]


@dataclass(frozen=True)
class Grid:
    """Where the lines of a table stand: `xs` rise, `ys` fall."""

    xs: list[float]
    ys: list[float]
    walls: list[Stretches]
    floors: list[Stretches]


def grids_of(page: object, turns: int) -> list[Grid]:
    """The ruled grids of a page that is shown turned by so many quarters."""
    across, down = drawn_lines(page, turns)
    found = []
    for low, high in _bands(down):
        uprights = [line for line in down if line.end > low and line.start < high]
        levels = [line for line in across if low - _NEAR <= line.at <= high + _NEAR]
        xs, ys = _places(uprights), _places(levels)[::-1]
        if len(xs) > 2 and len(ys) > 1 and (len(xs) - 1) * (len(ys) - 1) <= _MAX_CELLS:
            found.append(Grid(xs, ys, _stretches(uprights, xs), _stretches(levels, ys)))
    return found


def ruled_table(grid: Grid, words: Sequence[Word], text: str) -> Ruled | None:
    """The table that a grid makes of the words in it; None when it is no table."""
    grid = _with_open_sides(grid, words)
    bottom_up = grid.ys[::-1]
    height, width = len(grid.ys) - 1, len(grid.xs) - 1
    owners = _owners(grid)
    cells: dict[tuple[int, int], list[list[str]]] = {}
    inside = []
    before = 0.0
    xs, low, high = grid.xs, bottom_up[0] - 1, bottom_up[-1] - 1
    for number, (start, end, x, y) in enumerate(words):
        if not low <= y < high:
            continue
        column = bisect(xs, x + 1) - 1
        if 0 <= column < width:
            inside.append(number)
            lines = cells.setdefault(owners[height - bisect(bottom_up, y + 1)][column], [])
            if not lines or abs(y - before) > _LINE:
                lines.append([])
            lines[-1].append(text[start:end])
            before = y
    distinct = len({owner for row_of_owners in owners for owner in row_of_owners})
    # Words in boxes make lines too; a table has a column that goes on.
    goes_on = any(sum(row[c] != row[c - 1] for row in owners) * 2 >= height for c in range(1, width))
    if len(cells) < 4 or len(cells) < _FULLEST * distinct or not goes_on:
        return None
    said = {owner: [" ".join(line) for line in lines] for owner, lines in cells.items()}
    rows = _rows(owners, said)
    return Ruled(rows, frozenset(inside)) if len(rows) > 1 and len(rows[0]) > 1 else None


def _with_open_sides(grid: Grid, words: Sequence[Word]) -> Grid:
    """The same grid with a column more where words stand beside most of its rows and no line closes it."""
    height = len(grid.ys) - 1
    bottom_up = grid.ys[::-1]
    left: dict[int, list[float]] = {}
    right: dict[int, list[float]] = {}
    first, last = grid.xs[0] - 1, grid.xs[-1] - 1
    for _, _, x, y in words:
        if first <= x <= last:
            continue
        row = height - bisect(bottom_up, y + 1)
        if 0 <= row < height:
            (left if x < first else right).setdefault(row, []).append(x)
    xs, walls, floors = [*grid.xs], [*grid.walls], grid.floors
    if _is_column(left, height):
        xs.insert(0, min(map(min, left.values())) - 2)
        walls.insert(0, ([], []))
        floors = [([xs[0], *starts], [grid.xs[0], *ends]) if starts else ([], []) for starts, ends in floors]
    if _is_column(right, height):
        xs.append(max(map(max, right.values())) + 100)
        walls.append(([], []))
        floors = [
            ([*starts, grid.xs[-1]], [*ends, xs[-1]]) if starts else ([], []) for starts, ends in floors
        ]
    return Grid(xs, grid.ys, walls, floors)


def _is_column(found: dict[int, list[float]], height: int) -> bool:
    return height > 1 and len(found) * 2 > height and sum(map(len, found.values())) <= _BESIDE * len(found)


def _bands(uprights: Sequence[Line]) -> list[tuple[float, float]]:
    """Where vertical lines stand, from bottom to top, what overlaps or touches in one."""
    bands: list[tuple[float, float]] = []
    for line in sorted(uprights, key=lambda line: line.start):
        if bands and line.start <= bands[-1][1] + _NEAR:
            bands[-1] = (bands[-1][0], max(bands[-1][1], line.end))
        else:
            bands.append((line.start, line.end))
    return bands


def _places(lines: Sequence[Line]) -> list[float]:
    """Where lines stand, in order, what is near in one."""
    places: list[float] = []
    for at in sorted(line.at for line in lines):
        if not places or at - places[-1] > _NEAR:
            places.append(at)
    return places


def _owners(grid: Grid) -> list[list[tuple[int, int]]]:
    """For each cell the first cell of those that it is one with: between them no line is drawn."""
    xs, ys = grid.xs, grid.ys
    height, width = len(ys) - 1, len(xs) - 1
    rows, columns = _middles(ys), _middles(xs)
    walls = [_stand(grid.walls[c], rows) for c in range(width)]
    floors = [_stand(grid.floors[r], columns) for r in range(height)]
    owners: list[list[tuple[int, int] | None]] = [[None] * width for _ in range(height)]
    for r in range(height):
        for c in range(width):
            if owners[r][c] is not None:
                continue
            right, below = c + 1, r + 1
            while right < width and not walls[right][r] and owners[r][right] is None:
                right += 1
            while (
                below < height
                and not any(floors[below][c:right])
                and not any(wall[below] for wall in walls[c + 1 : right])
            ):
                below += 1
            for row in range(r, below):
                owners[row][c:right] = [(r, c)] * (right - c)
    return [[owner or (0, 0) for owner in row] for row in owners]


def _rows(owners: list[list[tuple[int, int]]], said: dict[tuple[int, int], list[str]]) -> list[list[str]]:
    """The rows of text; what is short and stands over several rows or columns is repeated in each."""
    columns: list[list[int]] = []
    for c in range(len(owners[0])):
        if columns and sum(row[c] == row[c - 1] for row in owners) >= _MOSTLY * len(owners):
            columns[-1].append(c)  # a line that only some rows have makes no column of its own
        elif any(row[c] in said for row in owners):
            columns.append([c])
    rows: list[list[str]] = []
    for number, row in enumerate(owners):
        cells = [_cell(number, row, column, said) for column in columns]
        if number and _is_several(cells):
            rows += [list(each) for each in zip(*cells, strict=True)]
        elif any(cells):
            rows.append([_SPLIT.sub("", " ".join(cell)) for cell in cells])
    return rows


def _cell(
    number: int, row: list[tuple[int, int]], column: list[int], said: dict[tuple[int, int], list[str]]
) -> list[str]:
    """The lines of one cell of the result."""
    lines: list[str] = []
    for owner in dict.fromkeys(row[c] for c in column):
        told = said.get(owner, [])
        if (owner[0] == number and owner[1] in column) or sum(map(len, told)) <= _REPEATED:
            lines += told
    return lines


def _is_several(cells: Sequence[list[str]]) -> bool:
    """Whether what is ruled as one row is several: as many lines in each cell, numbers in one of them."""
    count = len(cells[0])
    return (
        count > 1
        and all(len(cell) == count for cell in cells)
        and any(all(line[:1].isdigit() or line[-1:].isdigit() for line in cell) for cell in cells[1:])
    )


def _stretches(lines: Sequence[Line], places: Sequence[float]) -> list[Stretches]:
    """For each place, from where to where lines stand there."""
    found: list[list[tuple[float, float]]] = [[] for _ in places]
    rising = sorted(places)
    for line in lines:
        number = (
            bisect(rising, line.at + _NEAR / 100) - 1
        )  # a place is the first of the lines that are near it
        number = number if places[0] <= places[-1] else len(places) - 1 - number
        found[number].append((line.start - 1, line.end + 1))
    return [_merged(each) for each in found]


def _merged(pieces: list[tuple[float, float]]) -> Stretches:
    starts: list[float] = []
    ends: list[float] = []
    for start, end in sorted(pieces):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends


def _middles(places: Sequence[float]) -> list[float]:
    return [(a + b) / 2 for a, b in pairwise(places)]


def _stand(stretches: Stretches, places: Sequence[float]) -> list[bool]:
    """For each place whether a line goes past it."""
    starts, ends = stretches
    numbers = [bisect(starts, place) for place in places] if starts else [0] * len(places)
    return [number > 0 and ends[number - 1] >= place for number, place in zip(numbers, places, strict=True)]
