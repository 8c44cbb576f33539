"""Excel workbooks (.xlsx, .xlsm): every sheet as tables, and what lies beside the values.

Formulas, comments, fill colours, links, hidden rows and columns are listed under
their sheet, by cell. Merged cells repeat their value, so that each row stands alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.formats.cells import Number, column_name, place_of, ranges
from tools.formats.grid import Grid
from tools.formats.ooxml import Package, Target
from tools.formats.source import Source
from tools.formats.styles import CellStyles
from tools.formats.xml import Element, attribute, child, every, local, stream, words
from tools.page import Document

_KIND = "an Excel workbook"
_MAX_CELLS = 600_000
_MAX_LISTED = 200
_PARTS = ("row", "mergeCell", "hyperlink", "col", "oddHeader", "oddFooter")


def workbook_document(source: Source) -> Document:
    """A workbook, a heading a sheet. Raises DocumentError."""
    package = Package(source, _KIND)
    main = package.main_part(r"xl/workbook\d*\.xml$")
    root = package.zip.xml(main)
    relations = package.relations(main)
    strings = _strings(package, relations)
    styles = CellStyles.of(package.zip.xml("xl/styles.xml"), package.zip.xml("xl/theme/theme1.xml"))
    since_1904 = attribute(child(root, "workbookPr"), "date1904") in ("1", "true")
    numbers = Number(styles, since_1904)
    parts: list[str] = []
    sheets: list[tuple[tuple[str, ...], ...]] = []
    left = _MAX_CELLS
    note = package.note
    for title, state, name in _sheets(package, root, relations):
        hidden = "" if state in ("", "visible") else " (hidden)"
        sheet = _Sheet(package, name, strings, numbers, styles)
        left -= sheet.read(left)
        texts, tables = sheet.grid.blocks()
        parts += [f"## {title}{hidden}", *(texts or ["(empty)"]), *sheet.beside()]
        sheets += tables
        if left <= 0:
            note = f"only the first {_MAX_CELLS:,} cells were read"
            break
    if not parts:
        raise source.damaged(_KIND)
    parts += package.left_over("xl")
    return source.document(
        "\n\n".join(part for part in parts if part), title=package.title, note=note, sheets=tuple(sheets)
    )


def _sheets(
    package: Package, root: Element | None, relations: dict[str, Target]
) -> Iterator[tuple[str, str, str]]:
    """(title, state, part) of every sheet in the workbook's order; without a list, of every part that holds one."""
    found = False
    for each in every(root, "sheet"):
        relation = next((str(value) for key, value in each.items() if str(key).endswith("}id")), "")
        target = relations.get(relation)
        if target and target.place in package.zip:
            found = True
            yield attribute(each, "name"), attribute(each, "state"), target.place
    if not found:
        for name in package.zip.matching(r"xl/(work|chart)sheets/[^/]+\.xml$"):
            yield name.rpartition("/")[2].removesuffix(".xml"), "", name


def _strings(package: Package, relations: dict[str, Target]) -> list[str]:
    name = next(
        (each.place for each in relations.values() if each.kind == "sharedStrings"), "xl/sharedStrings.xml"
    )
    content = package.zip.read(name) or package.zip.read("xl/sharedStrings.xml")
    return [_rich(each) for each in stream(content, ("si",))] if content else []


def _rich(element: Element) -> str:
    """The text of a string, its runs joined, reading aids left out."""
    pieces = []
    for each in element:
        if local(each) == "t":
            pieces.append(each.text or "")
        elif local(each) == "r":
            pieces.append(words(each))
    return _unescaped("".join(pieces))


def _unescaped(text: str) -> str:
    return (
        re.sub(r"_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text) if "_x" in text else text
    )


@dataclass
class _Sheet:
    package: Package
    name: str
    strings: list[str]
    numbers: Number
    styles: CellStyles
    grid: Grid = field(default_factory=Grid)

    def __post_init__(self) -> None:
        self._relations = self.package.relations(self.name)
        self._formulas: list[tuple[int, int, str]] = []
        self._colours: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._links: list[str] = []
        self._hidden_rows: list[int] = []
        self._hidden_columns: list[str] = []
        self._header: list[str] = []
        self._row = 0

    def read(self, limit: int) -> int:
        """Reads up to `limit` cells; how many there were."""
        cells = 0
        content = self.package.zip.read(self.name)
        self.package.used.add(self.name)
        for element in stream(content, _PARTS) if content else ():
            name = local(element)
            if name == "row":
                cells += self._take_row(element)
            elif name == "mergeCell":
                self.grid.merge(attribute(element, "ref"))
            elif name == "hyperlink":
                self._take_link(element)
            elif name == "col" and attribute(element, "hidden") in ("1", "true"):
                first, last = attribute(element, "min"), attribute(element, "max")
                if first.isdecimal() and last.isdecimal() and len(last) < 6:
                    first_name, last_name = column_name(int(first)), column_name(int(last))
                    self._hidden_columns.append(first_name if first == last else f"{first_name}:{last_name}")
            elif name in ("oddHeader", "oddFooter") and (text := _without_codes(element.text or "")):
                self._header.append(f"Page {name[3:].lower()}: {text}")
            if cells >= limit:
                break
        return cells

    def _take_row(self, row: Element) -> int:
        number = attribute(row, "r")
        self._row = int(number) if number.isdecimal() and len(number) < 8 else self._row + 1
        if row.get("hidden") in ("1", "true"):
            self._hidden_rows.append(self._row)
        column = 0
        cells = 0
        for cell in row:
            place = place_of(cell.get("r") or "")
            column = place[1] if place else column + 1
            cells += 1
            style = cell.get("s") or "0"
            if colour := self.styles.fill(style):
                self._colours[colour].append((self._row, column))
            kind = cell.get("t") or "n"
            value = formula = ""
            for part in cell:
                name = local(part)
                if name == "v":
                    value = part.text or ""
                elif name == "f":
                    formula = part.text or ""
                elif name == "is":
                    value, kind = _rich(part), "inlineStr"
            if formula:
                self._formulas.append((self._row, column, formula))
            if value:
                self.grid.put(self._row, column, self._shown(value, kind, style))
        return cells

    def _shown(self, value: str, kind: str, style: str) -> str:
        if kind == "s":
            return (
                self.strings[int(value)]
                if value.strip().isdecimal() and int(value) < len(self.strings)
                else ""
            )
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value)
        if kind == "n":
            return self.numbers.shown(value, style)
        return _unescaped(value)

    def _take_link(self, element: Element) -> None:
        target = self._relations.get(attribute(element, "id"))
        if target and target.outside:
            self._links.append(f"{attribute(element, 'ref')}: {target.place}")

    def beside(self) -> list[str]:
        """What lies beside the values, a block a kind."""
        grid = self.grid
        blocks = [*self._header]
        if self._hidden_rows:
            blocks.append(
                "Hidden rows: " + ", ".join(ranges([(row, 1) for row in self._hidden_rows], rows_only=True))
            )
        if self._hidden_columns:
            blocks.append("Hidden columns: " + ", ".join(self._hidden_columns))
        blocks.append(
            _listed(
                "Formulas",
                [
                    f"{column_name(column)}{row} = {text} → {grid.get(row, column)}"
                    for row, column, text in self._formulas
                ],
            )
        )
        blocks.append(_listed("Comments", self._comments()))
        blocks.append(
            _listed(
                "Fill colours",
                [
                    f"{colour}: {', '.join(ranges(cells)[:_MAX_LISTED])}"
                    for colour, cells in self._colours.items()
                ],
            )
        )
        blocks.append(_listed("Links", self._links))
        return [block for block in [*blocks, *self.package.floating(self._relations)] if block]

    def _comments(self) -> list[str]:
        lines = []
        kinds = [each for each in self._relations.values() if not each.outside]
        for target in kinds:
            if target.kind not in ("comments", "threadedComment"):
                continue
            root = self.package.zip.xml(target.place)
            authors = [each.text or "" for each in every(root, "author")]
            for each in every(root, "comment", "threadedComment"):
                texts = [part for part in each if local(part) == "text"]
                text = " ".join(" ".join((part.text or "") + _rich(part) for part in texts).split())
                author = attribute(each, "authorId")
                who = authors[int(author)] if author.isdecimal() and int(author) < len(authors) else ""
                if text:
                    lines.append(
                        f"{attribute(each, 'ref')}{f' ({who})' if who and not text.startswith(who) else ''}: {text}"
                    )
        return lines


def _listed(head: str, lines: list[str]) -> str:
    if not lines:
        return ""
    more = f"\n- … and {len(lines) - _MAX_LISTED} more" if len(lines) > _MAX_LISTED else ""
    return f"{head}:\n\n" + "\n".join(f"- {' '.join(line.split())}" for line in lines[:_MAX_LISTED]) + more


def _without_codes(text: str) -> str:
    """A page header without its signs for place, font and fields."""
    text = re.sub(r"&\"[^\"]*\"|&K[0-9A-Fa-f+-]{6}|&\d+|&[LCRPNDTFAZGBIUESXYHO]", " ", text)
    return " ".join(text.replace("&&", "&").split())
