"""PDFs that pypdfium2 cannot open, with pdfminer, which forgives more and is forty times as slow. To be run apart."""

import io
import logging

from tools.formats.pdf import without_text
from tools.formats.source import Source
from tools.page import Document

_MAX_PAGES = 300


def mended_pdf_document(source: Source) -> Document:
    """The text of a broken PDF, each page under a line "[page N]". Raises DocumentError."""
    from pdfminer.high_level import extract_pages
    from pdfminer.layout import LTTextContainer
    from pdfminer.pdfdocument import PDFEncryptionError
    from pdfminer.pdfexceptions import PDFException
    from pdfminer.psexceptions import PSException

    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)
    parts: list[str] = []
    pages = 0
    try:
        for number, page in enumerate(extract_pages(io.BytesIO(source.content), maxpages=_MAX_PAGES), 1):
            pages = number
            text = "\n\n".join(each.get_text().strip() for each in page if isinstance(each, LTTextContainer))
            if text.strip():
                parts.append(f"[page {number}]\n{text}")
    except PDFEncryptionError:
        raise source.locked("a PDF") from None
    except (PDFException, PSException, ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError,
            RecursionError, OverflowError, OSError, EOFError, NotImplementedError, ZeroDivisionError):  # fmt: skip
        if not parts:
            raise source.damaged("a PDF") from None
    if not parts:
        return source.document(f"({(note := without_text(pages))})", note=f"{note}, and the file is damaged")
    return source.document("\n\n".join(parts), note="the file is damaged: parts of it may be missing")
