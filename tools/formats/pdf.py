"""PDF to Markdown with pypdfium2, page by page. PDFium has global state: one thread of a process at a time."""

import re
import time
from contextlib import closing
from ctypes import addressof, c_double

import pypdfium2
import pypdfium2.raw as pdfium_c

from tools.formats.pdfium import address, char_origin
from tools.formats.pdflines import turned
from tools.formats.pdftables import Word, grids_of, ruled_table
from tools.formats.source import Source
from tools.page import Document
from tools.tables import table_text

_MAX_PAGES = 2000
_MAX_CPU_SECONDS = 8
_FEWEST_LINES = 2  # a table has at least so many


def pdf_document(source: Source) -> Document:
    """The text of a PDF, each page under a line "[page N]". Raises DocumentError."""
    try:
        pdf = pypdfium2.PdfDocument(source.content)
    except pypdfium2.PdfiumError as error:
        if pdfium_c.FPDF_GetLastError() == pdfium_c.FPDF_ERR_PASSWORD or "password" in str(error).lower():
            raise source.locked("a PDF") from None
        raise source.damaged("a PDF") from None
    pages: list[str] = []
    begun, spent = time.monotonic(), time.process_time()
    with closing(pdf):
        count = len(pdf)
        title = str(pdf.get_metadata_value("Title") or "").strip()
        while len(pages) < min(count, _MAX_PAGES) and (
            time.monotonic() - begun < _MAX_CPU_SECONDS or time.process_time() - spent < _MAX_CPU_SECONDS
        ):
            pages.append(_page_text(pdf, len(pages)))
    if not any(pages):
        note = without_text(count)
        return source.document(f"({note})", title=title, note=note)
    parts = [f"[page {number}]\n{text}" for number, text in enumerate(pages, 1) if text]
    note = f"only the first {len(pages)} of its {count} pages were read" if count > len(pages) else ""
    return source.document("\n\n".join(parts), title=title or _first_line(pages), note=note)


def without_text(pages: int) -> str:
    """What is said of a PDF none of whose pages has text."""
    if not pages:
        return "this PDF has no pages: they are lost or were never in it"
    return f"this PDF has no text, only pictures on its {pages} page{'s' * (pages != 1)}: a scan most likely"


def _page_text(pdf: pypdfium2.PdfDocument, index: int) -> str:
    try:
        with closing(pdf[index]) as page, closing(page.get_textpage()) as words:
            text = str(words.get_text_range()).replace("\0", " ")
            if text.count("\n") >= _FEWEST_LINES and (laid_out := _with_tables(page, words, text)):
                return laid_out
    except pypdfium2.PdfiumError:
        return ""
    return _paragraphs(_cleaned(text))


def _with_tables(page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, text: str) -> str:
    """The page's text with its ruled tables as Markdown, where their first words stand; nothing without any."""
    turns = page.get_rotation() // 90
    grids = grids_of(page.raw, turns)
    words = _words(textpage, text, turns) if grids else []
    found = [table for grid in grids if (table := ruled_table(grid, words, text))]
    first = {min(table.words): table for table in found}
    taken = frozenset[int]().union(*(table.words for table in found))
    parts: list[str] = []
    start = 0
    for number, word in enumerate(words):
        if number in taken:
            parts.append(text[start : word.start])
            start = word.end
        if number in first:
            rows = first[number].rows
            parts += ["\0", table_text(rows[0], rows[1:]), "\0"]
    parts.append(text[start:])
    if not found:
        return ""
    pieces = "".join(parts).split("\0")
    shown = [piece if at % 2 else _paragraphs(_cleaned(piece)) for at, piece in enumerate(pieces)]
    return "\n\n".join(piece for piece in shown if piece.strip())


def _words(textpage: pypdfium2.PdfTextPage, text: str, turns: int) -> list[Word]:
    """The words of a page and their places; none when its text does not count as its letters do."""
    if len(text) != textpage.count_chars():
        return []
    x, y = c_double(), c_double()
    to_x, to_y = addressof(x), addressof(y)
    page = address(textpage.raw)
    words = []
    for match in re.finditer(r"\S+", text):
        start, end = match.span()
        char_origin(page, start, to_x, to_y)
        words.append(Word(start, end, *turned(x.value, y.value, turns)))
    return words


def _cleaned(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\ufffe", "-")
    # A word split at a line's end is one word.
    text = re.sub(r"(\w)[\u00ad\u0002]\n?(\w)", r"\1\2", text)
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))


def _paragraphs(text: str) -> str:
    """A blank line after every line that ends short of the margin: the end of a paragraph, a heading or a row."""
    lines = text.split("\n")
    lengths = sorted(map(len, filter(None, lines)))
    margin = lengths[int(len(lengths) * 0.9)] if lengths else 0
    parts: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        parts.append(line)
        if line and following and len(line) < 0.75 * margin and not following[:1].islower():
            parts.append("")
    return "\n".join(parts)


def _first_line(pages: list[str]) -> str:
    for text in pages:
        for line in text.split("\n"):
            if len(line.strip()) > 3:
                return line.strip()[:120]
    return ""
