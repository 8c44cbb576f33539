"""Functions of PDFium that are called for each thing on a page, with as little as possible around them."""

import ctypes
from collections.abc import Callable
from typing import Any

import pypdfium2.raw as pdfium


def address(pointer: Any) -> int:
    """Where a typed pointer leads."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


def _plain(function: Any, *arguments: type) -> Callable[..., int]:
    """A function of PDFium that takes and gives addresses as numbers: a fourth of the time of typed pointers.

    `arguments`: what it gives, then what it takes.
    """
    made: Callable[..., int] = ctypes.CFUNCTYPE(*arguments)(address(function))
    return made


_AT, _INT = ctypes.c_void_p, ctypes.c_int
page_object = _plain(pdfium.FPDFPage_GetObject, _AT, _AT, _INT)
object_kind = _plain(pdfium.FPDFPageObj_GetType, _INT, _AT)
object_bounds = _plain(pdfium.FPDFPageObj_GetBounds, _INT, _AT, _AT, _AT, _AT, _AT)
object_matrix = _plain(pdfium.FPDFPageObj_GetMatrix, _INT, _AT, _AT)
segment_count = _plain(pdfium.FPDFPath_CountSegments, _INT, _AT)
path_segment = _plain(pdfium.FPDFPath_GetPathSegment, _AT, _AT, _INT)
segment_kind = _plain(pdfium.FPDFPathSegment_GetType, _INT, _AT)
segment_point = _plain(pdfium.FPDFPathSegment_GetPoint, _INT, _AT, _AT, _AT)
char_origin = _plain(pdfium.FPDFText_GetCharOrigin, _INT, _AT, _INT, _AT, _AT)
