"""OpenDocument: text (.odt), spreadsheets (.ods) and presentations (.odp), zipped or as one flat XML file."""

import re
from collections.abc import Iterator

from tools.formats.grid import Grid
from tools.formats.source import Source
from tools.formats.xml import Element, attribute, child, every, local, parse, words
from tools.formats.zipped import Zipped
from tools.page import Document, escaped
from tools.tables import table_text

_KIND = "an OpenDocument file"
_DEEPEST = 40
_MAX_CELLS = 600_000
_MAX_REPEATS = 1_000
_SILENT = frozenset("annotation-end tracked-changes sequence-decls forms variable-decls user-field-decls "
                    "table-column soft-page-break bookmark bookmark-start desc title".split())  # fmt: skip


def opendocument_document(source: Source) -> Document:
    """An .odt, .ods, .odp file or their kin. Raises DocumentError."""
    note = ""
    if source.content.startswith(b"PK"):
        zipped = Zipped(source, _KIND)
        manifest = zipped.read("META-INF/manifest.xml")
        if b"encryption-data" in manifest:
            raise source.locked(_KIND)
        root, meta, styles = (zipped.xml(name) for name in ("content.xml", "meta.xml", "styles.xml"))
        note = "the file is damaged or very large: parts of it may be missing" if zipped.damaged else ""
    else:
        root = meta = styles = parse(source.content)
    body = child(root, "body") if root is not None and local(root) != "body" else root
    content = next(iter(body), None) if body is not None else None
    if content is None:
        raise source.damaged(_KIND)
    reader = _Reader()
    sheets: list[tuple[tuple[str, ...], ...]] = []
    if local(content) == "spreadsheet":
        blocks = reader.sheets(content, sheets)
    elif local(content) in ("presentation", "drawing"):
        blocks = reader.slides(content)
    else:
        blocks = reader.blocks(content)
    for kind in ("header", "footer"):
        found = {text for each in every(styles, kind) if (text := "\n\n".join(reader.blocks(each)))}
        blocks += [f"## Page {kind}", *sorted(found)] if found else []
    for head, lines in (("Footnotes", reader.notes), ("Comments", reader.comments)):
        blocks += [f"## {head}", "\n".join(lines)] if lines else []
    title = words(meta, "title") if meta is not root else ""
    return source.document(
        "\n\n".join(block for block in blocks if block),
        title=title or reader.first_heading,
        note=note,
        sheets=tuple(sheets),
    )


class _Reader:
    """Walks a body; notes and comments gather as it goes."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.comments: list[str] = []
        self.first_heading = ""

    def blocks(self, parent: Element, depth: int = 0) -> list[str]:
        """The blocks of a text body."""
        found: list[str] = []
        if depth > _DEEPEST:
            return [" ".join("".join(map(str, parent.itertext())).split())]
        for element in parent:
            name = local(element)
            if name == "h":
                text = " ".join(self._inline(element, found, depth).split())
                level = attribute(element, "outline-level")
                self.first_heading = self.first_heading or text
                found.append(
                    "#" * min(6, int(level) if level.isdecimal() and level != "0" else 1) + f" {text}"
                    if text
                    else ""
                )
            elif name == "p":
                beside: list[str] = []
                found += [self._inline(element, beside, depth).strip(), *beside]
            elif name == "list":
                found.append("\n".join(self._list(element, depth)))
            elif name == "table":
                found.append(self._table(element, depth))
            elif name == "annotation":
                self._comment(element)
            elif name and name not in _SILENT:
                found += self.blocks(element, depth + 1)
        return [block for block in found if block.strip()]

    def slides(self, parent: Element) -> list[str]:
        """A heading a slide, its shapes and notes under it."""
        found: list[str] = []
        for number, page in enumerate((each for each in parent if local(each) == "page"), 1):
            notes = child(page, "notes")
            spoken = self.blocks(notes) if notes is not None else []
            if notes is not None:
                page.remove(notes)
            found += [f"## Slide {number}", *self.blocks(page)]
            found += [f"Notes: {' '.join(spoken)}"] if spoken else []
        return found

    def sheets(self, parent: Element, tables: list[tuple[tuple[str, ...], ...]]) -> list[str]:
        """A heading and its tables a sheet; the rows of text go to `tables`."""
        found: list[str] = []
        left = _MAX_CELLS
        for sheet in (each for each in parent if local(each) == "table"):
            grid = Grid()
            beside: list[str] = []
            for row_number, column, cell in _cells(sheet):
                if left <= 0:
                    break
                left -= 1
                text, formula = self._cell(cell), attribute(cell, "formula")
                grid.put(row_number, column, text)
                across, down = (attribute(cell, f"number-{way}-spanned", "1") for way in ("columns", "rows"))
                if across.isdecimal() and down.isdecimal() and (across, down) != ("1", "1"):
                    grid.span(
                        row_number, column, row_number + int(down[:6]) - 1, column + int(across[:6]) - 1
                    )
                if formula and len(beside) < 200:
                    beside.append(
                        f"- {grid.name(row_number, column)} {re.sub(r'^[a-z]+:=?', '= ', formula)} → {text}"
                    )
            texts, rows = grid.blocks()
            tables += rows
            found += [f"## {attribute(sheet, 'name')}", *(texts or ["(empty)"])]
            found += ["Formulas:\n\n" + "\n".join(beside)] if beside else []
            shapes = [each for each in sheet if local(each) == "shapes"]
            for each in shapes:
                found += self.blocks(each)
        return found

    def _cell(self, cell: Element) -> str:
        for remark in [each for each in cell if local(each) == "annotation"]:
            self._comment(remark)
            cell.remove(remark)
        kind = attribute(cell, "value-type")
        if kind == "float":
            value = attribute(cell, "value")
            return value.removesuffix(".0")
        if kind == "date":
            return attribute(cell, "date-value").replace("T", " ")
        return " ".join(" ".join(self.blocks(cell)).split())

    def _comment(self, element: Element) -> None:
        who = words(element, "creator")
        when = words(element, "date")[:10]
        text = " ".join(" ".join("".join(map(str, each.itertext())) for each in every(element, "p")).split())
        if text:
            about = ", ".join(part for part in (who, when) if part)
            self.comments.append(f"- {about + ': ' if about else ''}{text}")

    def _list(self, element: Element, depth: int, level: int = 0) -> list[str]:
        lines = []
        for item in element:
            first = True
            for part in item:
                if local(part) == "list" and level < _DEEPEST:
                    lines += self._list(part, depth + 1, level + 1)
                elif local(part) in ("p", "h"):
                    beside: list[str] = []
                    text = self._inline(part, beside, depth).strip()
                    if text:
                        lines.append("  " * level + ("- " if first else "  ") + text)
                        first = False
                    lines += beside
                else:
                    lines += self.blocks(part, depth + 1)
        return lines

    def _table(self, table: Element, depth: int) -> str:
        grid = Grid()
        for number, (row, column, cell) in enumerate(_cells(table)):
            if number > 50_000:
                break
            grid.put(row, column, " ".join(" ".join(self.blocks(cell, depth + 1)).split()))
            across, down = (attribute(cell, f"number-{way}-spanned", "1") for way in ("columns", "rows"))
            if across.isdecimal() and down.isdecimal() and (across, down) != ("1", "1"):
                grid.span(row, column, row + int(down[:6]) - 1, column + int(across[:6]) - 1)
        rows = grid.rows()
        return table_text(rows[0], rows[1:]) if rows else ""

    def _inline(self, paragraph: Element, beside: list[str], depth: int) -> str:
        pieces: list[str] = [paragraph.text or ""]
        waiting: list[Element | str] = []

        def enter(element: Element, after: str = "") -> None:
            waiting.append(after)
            for each in reversed(element):
                waiting.append(str(each.tail or ""))
                waiting.append(each)

        enter(paragraph)
        while waiting:
            element = waiting.pop()
            if isinstance(element, str):
                pieces.append(element)
                continue
            name = local(element)
            if name == "s":
                count = attribute(element, "c", "1")
                pieces.append(" " * (int(count) if count.isdecimal() and len(count) < 4 else 1))
            elif name == "tab":
                pieces.append("\t")
            elif name == "line-break":
                pieces.append("\n")
            elif name == "note":
                number = words(element, "note-citation") or str(len(self.notes) + 1)
                text = " ".join(
                    " ".join(self.blocks(body, depth + 1)) for body in every(element, "note-body")
                )
                self.notes.append(f"[^{number}]: {' '.join(text.split())}")
                pieces.append(f"[^{number}]")
            elif name == "annotation":
                self._comment(element)
            elif name in ("text-box", "table", "list"):
                beside += (
                    self.blocks(element, depth + 1)
                    if name != "list"
                    else ["\n".join(self._list(element, depth + 1))]
                )
                beside += [self._table(element, depth + 1)] if name == "table" else []
            elif name == "image" and (
                described := words(element.getparent(), "desc") or words(element.getparent(), "title")
            ):
                pieces.append(f"[picture: {' '.join(described.split())}]")
            elif name not in _SILENT:
                link = attribute(element, "href") if name == "a" else ""
                if link.startswith(("http", "mailto")) and "".join(map(str, element.itertext())).strip():
                    pieces.append("[")
                    enter(element, f"]({escaped(link)})")
                else:
                    enter(element)
                waiting.append(str(element.text or ""))
        return "".join(pieces)


def _cells(table: Element) -> Iterator[tuple[int, int, Element]]:
    """(row, column, cell) of every cell that holds something, repeats unrolled under a cap."""
    number = 0
    for row in _rows(table):
        repeats = _repeats(row, "number-rows-repeated")
        cells: list[tuple[int, Element]] = []
        column = 0
        for cell in row:
            if local(cell) not in ("table-cell", "covered-table-cell"):
                continue
            times = _repeats(cell, "number-columns-repeated")
            if len(cell) or attribute(cell, "value-type"):
                cells += [(column + at, cell) for at in range(1, min(times, _MAX_REPEATS) + 1)]
            column += times
        for at in range(1, min(repeats, _MAX_REPEATS) + 1 if cells else 0):
            yield from ((number + at, place, cell) for place, cell in cells)
        number += repeats


def _rows(table: Element) -> Iterator[Element]:
    """The rows of a table, those of header and other groups included, those of tables within not."""
    waiting = list(reversed(table))
    while waiting:
        each = waiting.pop()
        if local(each) == "table-row":
            yield each
        elif local(each) in ("table-header-rows", "table-rows", "table-row-group"):
            waiting.extend(reversed(each))


def _repeats(element: Element, name: str) -> int:
    text = attribute(element, name, "1")
    return max(1, int(text)) if text.isdecimal() and len(text) < 8 else 1
