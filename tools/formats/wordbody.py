"""The text of a Word document: paragraphs, lists, tables, boxes beside them and files included.

Deleted text of tracked changes is left out, what was inserted is shown.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tools.charset import decode
from tools.errors import DocumentError
from tools.formats.formula import formula
from tools.formats.numbering import Lists, Styles
from tools.formats.ooxml import Package, Target
from tools.formats.source import Source
from tools.formats.wordruns import SIGNS, alternative, style_of, styled, symbol
from tools.formats.xml import Element, attribute, child, every, local, words
from tools.page import Document, escaped
from tools.tables import table_text
from tools.webpage import html_document

_DEEPEST = 30
_MAX_SPAN = 200
_MAX_REPEATS = 4  # a cell over more columns is a line of a form, not a heading of each
_REPEATED = 500  # characters of a spanned cell that are still repeated
_SILENT = frozenset(
    "pPr rPr sectPr del moveFrom instrText delText fldChar bookmarkStart bookmarkEnd proofErr tblPr tblGrid trPr tcPr "
    "sdtPr sdtEndPr Fallback binData data posOffset align relIds".split()
)  # fmt: skip


@dataclass
class Body:
    """Reads the parts of one document, one after the other.

    `included`: reads a whole document that lies in this one. `anchors`: the words that each comment is about.
    """

    package: Package
    included: Callable[[Source], Document]
    first_heading: str = ""
    anchors: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        zipped = self.package.zip
        self._styles = Styles.of(zipped.xml("word/styles.xml"))
        self._lists = Lists(zipped.xml("word/numbering.xml"))
        self._relations: dict[str, Target] = {}
        self._opened: list[str] = []
        self._in_cells = 0

    def part(self, root: Element, name: str) -> list[str]:
        """The blocks of one part of the package."""
        self.package.used.add(name)
        return self.within(root, name)

    def within(self, element: Element, name: str) -> list[str]:
        """The blocks of an element of a part."""
        outer, self._relations = self._relations, self.package.relations(name)
        blocks = _tight(self._blocks(element, 0))
        self._relations = outer
        return blocks

    def _blocks(self, parent: Element, depth: int) -> list[str]:
        blocks: list[str] = []
        if depth > _DEEPEST:
            return [" ".join(words(each) for each in every(parent, "p"))]
        for element in parent:
            name = local(element)
            if name == "p":
                blocks += self._paragraph(element, depth)
            elif name == "tbl":
                blocks.append(self._table(element, depth))
            elif name == "altChunk":
                blocks.append(self._chunk(attribute(element, "id")))
            elif name == "oMathPara":
                blocks.append(formula(element))
            elif name and name not in _SILENT:
                blocks += self._blocks(element, depth + 1)
        return blocks

    def _paragraph(self, element: Element, depth: int) -> list[str]:
        style = self._styles.of_paragraph(child(element, "pPr"))
        beside: list[str] = []
        text = self._inline(element, beside, depth).strip(" \n")
        label = self._lists.label(style) if text else ""
        if self._in_cells:
            text = f"{label} {text}" if label else text
        elif text and style.heading:
            text = " ".join(text.replace("**", "").split())
            text = f"{label} {text}" if label not in ("", "-") else text
            self.first_heading = self.first_heading or text
            text = "#" * min(style.heading, 6) + " " + text
        elif label:
            text = "  " * style.list_level + f"{label} {text}"
        return [text, *beside]

    def _inline(self, paragraph: Element, beside: list[str], depth: int) -> str:
        """The text of a paragraph; what floats beside it (boxes, charts) goes to `beside`."""
        pieces: list[tuple[str, str]] = []
        waiting: list[tuple[Element | str, str]] = [(each, "") for each in reversed(paragraph)]

        def say(text: str, style: str = "") -> None:
            pieces.append((text, style))
            for anchor in self._opened:
                self.anchors[anchor] += text

        while waiting:
            element, style = waiting.pop()
            if isinstance(element, str):
                pieces.append((element, ""))
                continue
            name = local(element)
            if name == "t":
                say(element.text or "", style)
            elif name in SIGNS:
                say(SIGNS[name] if attribute(element, "type") != "page" else "\n")
            elif name in ("oMath", "oMathPara"):
                say(formula(element))
            elif name in ("footnoteReference", "endnoteReference"):
                say(f"[^{attribute(element, 'id')}]")
            elif name == "commentRangeStart":
                self._opened.append(attribute(element, "id"))
                self.anchors[attribute(element, "id")] = ""
            elif name == "commentRangeEnd":
                self._opened = [each for each in self._opened if each != attribute(element, "id")]
            elif name == "txbxContent":
                beside += self._blocks(element, depth + 1)
            elif name == "AlternateContent":
                waiting.extend((each, style) for each in reversed(alternative(element)))
            elif name == "docPr":
                if described := " ".join((attribute(element, "descr") or "").split()):
                    say(f"[picture: {described}] ")
            elif name in ("chart", "relIds"):
                beside += self.package.drawing(element.getparent(), self._relations)
            elif name == "sym":
                say(symbol(attribute(element, "char")))
            elif name not in _SILENT:
                if name == "r":
                    style = style_of(element)
                elif name == "textpath" and attribute(element, "string"):
                    say(attribute(element, "string"))
                elif name == "hyperlink" and (link := self._link(element)):
                    pieces.append(("[", ""))
                    waiting.append((f"]({link})", ""))
                waiting.extend((each, style) for each in reversed(element))
        return styled(pieces)

    def _link(self, element: Element) -> str:
        """Where a hyperlink with words leads, when that is outside."""
        target = self._relations.get(attribute(element, "id"))
        if (
            target
            and target.outside
            and target.place.startswith(("http", "mailto"))
            and words(element).strip()
        ):
            return escaped(target.place)
        return ""

    def _table(self, table: Element, depth: int) -> str:
        rows: list[list[str]] = []
        starts: set[int] = set()  # the columns in which a cell begins: the others only come of spans
        self._in_cells += 1
        for row in _held(table, "tr"):
            above = rows[-1] if rows else []
            cells: list[str] = [""] * min(_span(child(row, "trPr", "gridBefore")), _MAX_SPAN)
            for cell in _held(row, "tc"):
                properties = child(cell, "tcPr")
                merged = child(properties, "vMerge")
                across = min(max(1, _span(child(properties, "gridSpan"))), _MAX_SPAN)
                here = len(cells)
                starts.add(here)
                goes_on = merged is not None and attribute(merged, "val", "continue") == "continue"
                if goes_on and here < len(above):
                    text = above[here] if len(above[here]) < _REPEATED else ""
                else:
                    text = "\n\n".join(_tight(self._blocks(cell, depth + 1)))
                repeated = text if len(text) < _REPEATED and across <= _MAX_REPEATS else ""
                cells += [text, *[repeated] * (across - 1)]
            rows.append(cells)
        self._in_cells -= 1
        rows = [[cell for at, cell in enumerate(row) if at in starts] for row in rows if any(row)]
        if not rows:
            return ""
        if self._in_cells:
            return "; ".join(", ".join(cell for cell in dict.fromkeys(row) if cell) for row in rows)
        if max(len(row) for row in rows) == 1:
            return "\n\n".join(row[0] for row in rows)
        return table_text(rows[0], rows[1:])

    def _chunk(self, relation: str) -> str:
        """A whole file of another kind that the document includes."""
        target = self._relations.get(relation)
        if target is None or target.place in self.package.used:
            return ""
        self.package.used.add(target.place)
        content = self.package.zip.read(target.place)
        if content.startswith(b"PK\x03\x04"):
            try:
                depth = self.package.source.depth + 1
                return (
                    self.included(Source(content, name=target.place, depth=depth)).markdown
                    if depth < 5
                    else ""
                )
            except DocumentError:
                return ""
        text, _ = decode(content)
        return html_document(text, main_only=False).markdown if "<" in text else text.strip()


def _tight(blocks: list[str]) -> list[str]:
    """Blocks without the empty ones, the items of a list in one."""
    result: list[str] = []
    listed = False
    for block in blocks:
        if not block.strip():
            continue
        item = block.lstrip().startswith(("- ",)) or block.startswith("  ")
        if item and listed:
            result[-1] += "\n" + block
        else:
            result.append(block)
        listed = item
    return result


def _held(element: Element, name: str) -> list[Element]:
    """The rows of a table or the cells of a row, those in content controls included."""
    found: list[Element] = []
    waiting = list(reversed(element))
    while waiting:
        each = waiting.pop()
        if local(each) == name:
            found.append(each)
        elif local(each) in ("sdt", "sdtContent", "customXml", "ins", "smartTag", "tr", "moveTo"):
            waiting.extend(reversed(each))
    return found


def _span(element: Element | None) -> int:
    text = attribute(element, "val")
    return int(text) if text.isdecimal() and len(text) < 6 else 0
