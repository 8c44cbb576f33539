"""The straight lines that are drawn on a PDF page."""

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

_THIN = 3.0  # points: a box no thicker than this is a line
_SHORTEST = 6.0
_MAX_OBJECTS = 6_000
_MAX_LINES = 3_000


class Line(NamedTuple):
    """Where it stands, and from where to where it goes, in points."""

    at: float
    start: float
    end: float


def _plain(function: Any, *arguments: type) -> Callable[..., int]:
    """A function of PDFium that takes and gives addresses as numbers: a fourth of the time of typed pointers.

    `arguments`: what it gives, then what it takes.
    """
    made: Callable[..., int] = ctypes.CFUNCTYPE(*arguments)(ctypes.cast(function, ctypes.c_void_p).value or 0)
    return made


_AT, _INT = ctypes.c_void_p, ctypes.c_int
_object = _plain(pdfium.FPDFPage_GetObject, _AT, _AT, _INT)
_kind = _plain(pdfium.FPDFPageObj_GetType, _INT, _AT)
_bounds = _plain(pdfium.FPDFPageObj_GetBounds, _INT, _AT, _AT, _AT, _AT, _AT)
_matrix = _plain(pdfium.FPDFPageObj_GetMatrix, _INT, _AT, _AT)
_segment_count = _plain(pdfium.FPDFPath_CountSegments, _INT, _AT)
_segment = _plain(pdfium.FPDFPath_GetPathSegment, _AT, _AT, _INT)
_segment_kind = _plain(pdfium.FPDFPathSegment_GetType, _INT, _AT)
_segment_point = _plain(pdfium.FPDFPathSegment_GetPoint, _INT, _AT, _AT, _AT)


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
    place = ctypes.cast(page, ctypes.c_void_p).value
    path = pdfium.FPDF_PAGEOBJ_PATH
    for number in range(min(pdfium.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        thing = _object(place, number)
        if _kind(thing) != path or not _bounds(thing, *addresses):
            continue
        x0, y0, x1, y1 = edges
        if turns:
            x0, y0, x1, y1 = _turned_box(x0, y0, x1, y1, turns)
        if y1 - y0 <= _THIN or x1 - x0 <= _THIN:
            _add(across, down, x0, y0, x1, y1)
        elif 2 <= _segment_count(thing) <= 6:
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
    count = _segment_count(path)
    if count > _MAX_LINES:
        return
    here = (ctypes.c_float * 2)()
    to_x, to_y = ctypes.addressof(here), ctypes.addressof(here) + 4
    before: tuple[float, float] | None = None
    matrix = pdfium.FS_MATRIX()
    _matrix(path, ctypes.addressof(matrix))
    a, b, c, d, e, f = matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f
    for number in range(count):
        segment = _segment(path, number)
        kind = _segment_kind(segment)
        if kind == pdfium.FPDF_SEGMENT_BEZIERTO:
            return
        _segment_point(segment, to_x, to_y)
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
