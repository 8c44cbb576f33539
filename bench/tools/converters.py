"""One converter as a program: `python converters.py NAME ROOT`.

It runs in a peer's own environment, so it imports nothing of the project but
what the converters `ours…` need of ROOT. Each line of stdin is a JSON object
`{"path", "url", "out"}`; the answer is a JSON line, and the text is in `out`.
"""

import json
import logging
import os
import resource
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

MEMORY_BYTES = 8_000_000_000

Convert = Callable[[str, str | None], str]


def ours(main_only: bool) -> Convert:
    documents = import_module("tools.documents")
    return lambda path, url: str(documents.read_file(path, url=url, main_only=main_only).markdown)


def ours_decode() -> Convert:
    charset = import_module("tools.charset")
    return lambda path, url: str(charset.decode(Path(path).read_bytes())[0])


def ours_prescan() -> Convert:
    charset = import_module("tools.charset")
    return lambda path, url: str(charset.prescan(Path(path).read_bytes()) or "windows-1252")


def markdownify() -> Convert:
    module = import_module("markdownify")
    return lambda path, url: str(module.markdownify(Path(path).read_bytes()))


def readability() -> Convert:
    """readability-lxml gives HTML, which markdownify turns into Markdown."""
    module, convert = import_module("readability"), import_module("markdownify").markdownify
    decoded = import_module("charset_normalizer").from_bytes

    def read(path: str, url: str | None) -> str:
        text = str(decoded(Path(path).read_bytes()).best() or "")
        return str(convert(module.Document(text, url=url).summary()))

    return read


def trafilatura() -> Convert:
    module = import_module("trafilatura")
    wanted = {"output_format": "markdown", "include_links": True, "include_tables": True}
    return lambda path, url: module.extract(Path(path).read_bytes(), url=url, **wanted) or ""


def html_to_markdown() -> Convert:
    module = import_module("html_to_markdown")

    def read(path: str, url: str | None) -> str:
        made = module.convert(Path(path).read_bytes().decode("utf-8", "replace"))
        return made if isinstance(made, str) else made.content or ""

    return read


def html2text() -> Convert:
    module = import_module("html2text")
    return lambda path, url: module.HTML2Text(bodywidth=0).handle(
        Path(path).read_bytes().decode("utf-8", "replace")
    )


def resiliparse() -> Convert:
    extract = import_module("resiliparse.extract.html2text").extract_plain_text
    tree = import_module("resiliparse.parse.html").HTMLTree
    detect = import_module("resiliparse.parse.encoding").detect_encoding

    def read(path: str, url: str | None) -> str:
        content = Path(path).read_bytes()
        parsed = tree.parse_from_bytes(content, detect(content, html5_compatible=True))
        return str(extract(parsed, main_content=True, preserve_formatting=True, links=False))

    return read


def markitdown() -> Convert:
    converter = import_module("markitdown").MarkItDown()
    return lambda path, url: str(converter.convert_local(path, **({"url": url} if url else {})).markdown)


def pypdfium2() -> Convert:
    module = import_module("pypdfium2")

    def read(path: str, url: str | None) -> str:
        pdf = module.PdfDocument(path)
        pages = []
        for page in pdf:
            text = page.get_textpage()
            pages.append(text.get_text_range())
            text.close()
            page.close()
        pdf.close()
        return "\n\n".join(pages)

    return read


def pdfminer() -> Convert:
    module = import_module("pdfminer.high_level")
    return lambda path, url: str(module.extract_text(path))


def pypdf() -> Convert:
    module = import_module("pypdf")
    return lambda path, url: "\n\n".join(page.extract_text() for page in module.PdfReader(path).pages)


def pdfplumber() -> Convert:
    """The text of each page, and its tables row by row."""
    module = import_module("pdfplumber")

    def read(path: str, url: str | None) -> str:
        parts = []
        with module.open(path) as pdf:
            for page in pdf.pages:
                parts.append(page.extract_text())
                rows = [row for table in page.extract_tables() for row in table]
                parts += [" | ".join((cell or "").replace("\n", " ") for cell in row) for row in rows]
        return "\n".join(parts)

    return read


def any_office_library() -> Convert:
    """The names of the libraries that open an Office file; none at all is a failure."""
    openers: dict[str, Callable[[str], Any]] = {
        "python-docx": lambda path: import_module("docx").Document(path),
        "openpyxl": lambda path: import_module("openpyxl").load_workbook(path),
        "python-pptx": lambda path: import_module("pptx").Presentation(path),
        "xlrd": lambda path: import_module("xlrd").open_workbook(path, logfile=sys.stderr),
        "calamine": lambda path: [
            sheet.to_python()
            for book in [import_module("python_calamine").CalamineWorkbook.from_path(path)]
            for sheet in map(book.get_sheet_by_name, book.sheet_names)
        ],
        "mammoth": lambda path: import_module("mammoth").extract_raw_text(import_module("io").BytesIO(Path(path).read_bytes())),
        "extract-msg": lambda path: import_module("extract_msg").openMsg(path).body,
    }  # fmt: skip

    def read(path: str, url: str | None) -> str:
        opened = []
        for name, opener in openers.items():
            try:
                opener(path)
            except Exception:  # noqa: BLE001, S112 - whatever a library raises means that it does not open the file
                continue
            opened.append(name)
        if not opened:
            raise ValueError("no library opens it")
        return " ".join(opened)

    return read


def charset_normalizer() -> Convert:
    module = import_module("charset_normalizer")
    return lambda path, url: str(module.from_bytes(Path(path).read_bytes()).best() or "")


def chardet() -> Convert:
    module = import_module("chardet")

    def read(path: str, url: str | None) -> str:
        content = Path(path).read_bytes()
        return content.decode(module.detect(content)["encoding"] or "utf-8", "replace")

    return read


def unicode_dammit() -> Convert:
    module = import_module("bs4")
    return lambda path, url: module.UnicodeDammit(Path(path).read_bytes(), is_html=True).unicode_markup or ""


def html5lib() -> Convert:
    module = import_module("html5lib._inputstream")

    def read(path: str, url: str | None) -> str:
        content = import_module("io").BytesIO(Path(path).read_bytes())
        return str(module.HTMLBinaryInputStream(content, useChardet=False).charEncoding[0].name)

    return read


CONVERTERS: dict[str, Callable[[], Convert]] = {
    "ours": lambda: ours(True), "ours, whole page": lambda: ours(False), "ours, decoding": ours_decode, "ours, prescan": ours_prescan,
    "markdownify": markdownify, "readability-lxml": readability, "trafilatura": trafilatura, "html-to-markdown": html_to_markdown,
    "html2text": html2text, "resiliparse": resiliparse, "markitdown": markitdown, "pypdfium2": pypdfium2, "pdfminer.six": pdfminer,
    "pypdf": pypdf, "pdfplumber": pdfplumber, "any library": any_office_library, "charset-normalizer": charset_normalizer,
    "chardet": chardet, "UnicodeDammit": unicode_dammit, "html5lib": html5lib,
}  # fmt: skip


def main(name: str, root: str) -> None:
    """Answer until stdin ends."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # a library may print
    if name.startswith("ours"):
        sys.path.insert(0, root)
    else:
        warnings.filterwarnings("ignore")
        logging.disable(logging.CRITICAL)
    convert = CONVERTERS[name]()
    answers.write("{}\n")
    answers.flush()
    for line in sys.stdin:
        asked = json.loads(line)
        told = {"error": ""}
        try:
            text = convert(asked["path"], asked["url"])
        except Exception as error:  # noqa: BLE001 - whatever a converter raises is its failure at this file
            told = {"error": type(error).__name__}
        else:
            Path(asked["out"]).write_text(text, encoding="utf-8", errors="surrogatepass")
        answers.write(json.dumps(told) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:3])
