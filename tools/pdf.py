"""PDF to Markdown with pypdfium2, page by page."""

import re
import threading
from contextlib import closing

import pypdfium2
import pypdfium2.raw as pdfium_c

from tools.errors import DocumentError
from tools.page import Document

# PDFium is one C library with global state: two threads in it at once crash the process.
_PDFIUM = threading.Lock()
_MAX_PAGES = 2000


def pdf_document(content: bytes, *, url: str = "", name: str = "the file") -> Document:
    """The text of a PDF, each page under a line "[page N]". Raises DocumentError."""
    with _PDFIUM:
        try:
            pdf = pypdfium2.PdfDocument(content)
        except pypdfium2.PdfiumError as error:
            if pdfium_c.FPDF_GetLastError() == pdfium_c.FPDF_ERR_PASSWORD or "password" in str(error).lower():
                raise DocumentError(f"{name} is a PDF locked by a password: ask for one without.") from None
            raise DocumentError(
                f"{name} is not a PDF that can be opened: it is damaged or something else."
            ) from None
        with closing(pdf):
            count = len(pdf)
            title = str(pdf.get_metadata_dict().get("Title", "")).strip()
            pages = [_page_text(pdf, index) for index in range(min(count, _MAX_PAGES))]
    if not any(pages):
        scan = (
            f"this PDF has no text, only pictures on its {count} page{'s' * (count != 1)}: a scan most likely"
        )
        return Document(url, title or name, f"({scan})", scan)
    parts = [f"[page {number}]\n{text}" for number, text in enumerate(pages, 1) if text]
    note = f"only the first {_MAX_PAGES} of its {count} pages were read" if count > _MAX_PAGES else ""
    return Document(url, title or _first_line(pages) or name, "\n\n".join(parts), note)


def _page_text(pdf: pypdfium2.PdfDocument, index: int) -> str:
    try:
        with closing(pdf[index]) as page, closing(page.get_textpage()) as words:
            text = str(words.get_text_range())
    except pypdfium2.PdfiumError:
        return ""
    text = text.replace("\r\n", "\n").replace("\ufffe", "-").replace("\0", "")
    # A word split at a line's end is one word.
    text = re.sub(r"(\w)[\u00ad\u0002]\n?(\w)", r"\1\2", text)
    return _paragraphs([line.rstrip() for line in text.strip().split("\n")])


def _paragraphs(lines: list[str]) -> str:
    """A blank line after every line that ends short of the margin: the end of a paragraph, a heading or a row."""
    lengths = sorted(len(line) for line in lines if line)
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
