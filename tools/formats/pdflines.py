"""The straight lines that are drawn on a PDF page."""

import ctypes
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from tools.formats.pdfium import (
    address,
    object_bounds,
    object_kind,
    object_matrix,
    page_object,
    path_segment,
    segment_count,
    segment_kind,
    segment_point,
)

_THIN = 3.0  # points: a box no thicker than this is a line
_SHORTEST = 6.0
_MAX_OBJECTS = 6_000
_MAX_LINES = 3_000


class Line(NamedTuple):
    """Where it stands, and from where to where it goes, in points."""

    at: float
    start: float
    end: float


def turned(x: float, y: float, turns: int) -> tuple[float, float]:
    """A place as it stands when the page is turned clockwise by so many quarters around its corner."""
    for _ in range(turns % 4):
        x, y = y, -x
    return x, y


def drawn_lines(page: Any, turns: int) -> tuple[list[Line], list[Line]]:
    """The horizontal and the vertical lines that are drawn."""
    across: list[Line] = []
    down: list[Line] = []
    edges = (ctypes.c_float * 4)()
    addresses = [ctypes.addressof(edges) + place for place in range(0, 16, 4)]
    place = address(page)
    path = pdfium.FPDF_PAGEOBJ_PATH
    for number in range(min(pdfium.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        thing = page_object(place, number)
        if object_kind(thing) != path or not object_bounds(thing, *addresses):
            continue
        x0, y0, x1, y1 = edges
        if turns:
            x0, y0, x1, y1 = _turned_box(x0, y0, x1, y1, turns)
        if y1 - y0 <= _THIN or x1 - x0 <= _THIN:
            _add(across, down, x0, y0, x1, y1)
        elif 2 <= segment_count(thing) <= 6:
            if x1 - x0 >= _SHORTEST:
                across += (Line(y0, x0, x1), Line(y1, x0, x1))
            if y1 - y0 >= _SHORTEST:
                down += (Line(x0, y0, y1), Line(x1, y0, y1))
        else:
            _segments(thing, turns, across, down)
        if len(across) + len(down) > _MAX_LINES:
            return [], []  # a drawing, not a table
    return across, down


def _segments(path: int, turns: int, across: list[Line], down: list[Line]) -> None:
    """Lines of a grid that is drawn as one path; a path with slopes or curves is none."""
    count = segment_count(path)
    if count > _MAX_LINES:
        return
    here = (ctypes.c_float * 2)()
    to_x, to_y = ctypes.addressof(here), ctypes.addressof(here) + 4
    before: tuple[float, float] | None = None
    matrix = pdfium.FS_MATRIX()
    object_matrix(path, ctypes.addressof(matrix))
    a, b, c, d, e, f = matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
    for number in range(count):
        segment = path_segment(path, number)
        kind = segment_kind(segment)
        if kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            return
        segment_point(segment, to_x, to_y)
        x, y = here
        x, y = a * x + c * y + e, b * x + d * y + f
        if kind == pdfium.FPDF_SEGMENT_LINETO and before:
            (x0, x1), (y0, y1) = sorted((before[0], x)), sorted((before[1], y))
            _add(across, down, *_turned_box(x0, y0, x1, y1, turns))
        before = x, y


def _add(across: list[Line], down: list[Line], x0: float, y0: float, x1: float, y1: float) -> None:
    if y1 - y0 <= _THIN and x1 - x0 >= _SHORTEST:
        across.append(Line((y0 + y1) / 2, x0, x1))
    elif x1 - x0 <= _THIN and y1 - y0 >= _SHORTEST:
        down.append(Line((x0 + x1) / 2, y0, y1))


def _turned_box(x0: float, y0: float, x1: float, y1: float, turns: int) -> tuple[float, float, float, float]:
    (ax, ay), (bx, by) = turned(x0, y0, turns), turned(x1, y1, turns)
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)
