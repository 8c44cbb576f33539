"""Word (.docx and its kin): text, lists, tables, boxes, notes, comments, headers and footers.

Deleted text of tracked changes is left out, what was inserted is shown.
"""

from dataclasses import dataclass, field

from tools.charset import decode
from tools.errors import DocumentError
from tools.formats.formula import formula
from tools.formats.numbering import Lists, Styles
from tools.formats.ooxml import Package, Target
from tools.formats.source import Source
from tools.formats.xml import Element, attribute, child, every, local, words
from tools.page import Document, escaped
from tools.tables import table_text
from tools.webpage import html_document

_KIND = "a Word document"
_DEEPEST = 30
_MAX_SPAN = 200
_MAX_REPEATS = 4  # a cell over more columns is a line of a form, not a heading of each
_REPEATED = 500  # characters of a spanned cell that are still repeated
_SILENT = frozenset(
    "pPr rPr sectPr del moveFrom instrText delText fldChar bookmarkStart bookmarkEnd proofErr tblPr tblGrid trPr tcPr "
    "sdtPr sdtEndPr Fallback binData data posOffset align relIds".split()
)  # fmt: skip
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_PAGES = {"first": ", first page", "even": ", even pages"}
_MARKS = {"b": "**", "i": "*", "bi": "***", "": ""}


def word_document(source: Source) -> Document:
    """A .docx file. Raises DocumentError."""
    package = Package(source, _KIND)
    main = package.main_part(r"word/document\d*\.xml$")
    reader = _Reader(package)
    root = package.zip.xml(main)
    if root is None:
        raise source.damaged(_KIND)
    body = child(root, "body")
    parts = [*reader.part(root if body is None else body, main)]
    parts += reader.apart(main)
    return source.document(
        "\n\n".join(part for part in parts if part),
        title=package.title or reader.first_heading,
        note=package.note,
    )


@dataclass
class _Reader:
    package: Package
    first_heading: str = ""
    _anchors: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        zipped = self.package.zip
        self._styles = Styles.of(zipped.xml("word/styles.xml"))
        self._lists = Lists(zipped.xml("word/numbering.xml"))
        self._relations: dict[str, Target] = {}
        self._opened: list[str] = []
        self._in_cells = 0

    def part(self, root: Element, name: str) -> list[str]:
        """The blocks of one part of the package."""
        outer, self._relations = self._relations, self.package.relations(name)
        self.package.used.add(name)
        blocks = _tight(self._blocks(root, 0))
        self._relations = outer
        return blocks

    def apart(self, main: str) -> list[str]:
        """Everything that stands outside the running text."""
        zipped = self.package.zip
        blocks: list[str] = []
        for kind, head in (("footnotes", "Footnotes"), ("endnotes", "Endnotes")):
            for name in zipped.matching(rf"word/{kind}\d*\.xml$"):
                notes = self._notes(name)
                blocks += [f"## {head}", *notes] if notes else []
        for name in zipped.matching(r"word/comments\d*\.xml$"):
            comments = self._comments(name)
            blocks += ["## Comments", "\n".join(comments)] if comments else []
        pages = self._pages_of(main)
        for kind in ("header", "footer"):
            seen: dict[str, dict[str, None]] = {}
            for name in zipped.matching(rf"word/{kind}\d*\.xml$"):
                root = zipped.xml(name)
                text = "\n\n".join(self.part(root, name)) if root is not None else ""
                if text:
                    seen.setdefault(pages.get(name, ""), {})[text] = None
            for which in sorted(seen):
                blocks += [f"## Page {kind}{'s' * (len(seen[which]) > 1)}{which}", *seen[which]]
        for name in zipped.matching(r"word/(document\d*|glossary/document)\.xml$"):
            if name not in self.package.used and name != main and not name.startswith("word/glossary"):
                root = zipped.xml(name)
                blocks += self.part(root, name) if root is not None else []
        return blocks + self.package.left_over("word")

    def _pages_of(self, main: str) -> dict[str, str]:
        """On which pages the headers and footers stand that do not stand on every page, by the names of their parts."""
        relations = self.package.relations(main)
        found: dict[str, str] = {}
        for each in every(self.package.zip.xml(main), "headerReference", "footerReference"):
            target = relations.get(attribute(each, "id"))
            if target and (which := _PAGES.get(attribute(each, "type"))):
                found[target.place] = which
        return found

    def _notes(self, name: str) -> list[str]:
        root = self.package.zip.xml(name)
        found = []
        outer, self._relations = self._relations, self.package.relations(name)
        for note in root if root is not None else ():
            if attribute(note, "type") not in ("separator", "continuationSeparator", "continuationNotice"):
                text = " ".join("\n".join(_tight(self._blocks(note, 0))).split())
                if text:
                    found.append(f"[^{attribute(note, 'id')}]: {text}")
        self._relations = outer
        return found

    def _comments(self, name: str) -> list[str]:
        root = self.package.zip.xml(name)
        found = []
        for comment in root if root is not None else ():
            text = " ".join("\n".join(_tight(self._blocks(comment, 0))).split())
            who = attribute(comment, "author") or attribute(comment, "initials") or "somebody"
            when = attribute(comment, "date")[:10]
            about = " ".join(self._anchors.get(attribute(comment, "id"), "").split())
            about = f" on “{about[:200]}”" if about else ""
            if text:
                found.append(f"- {who}{f' ({when})' if when else ''}{about}: {text}")
        return found

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
                self._anchors[anchor] += text

        while waiting:
            element, style = waiting.pop()
            if isinstance(element, str):
                pieces.append((element, ""))
                continue
            name = local(element)
            if name == "t":
                say(element.text or "", style)
            elif name in _SIGNS:
                say(_SIGNS[name] if attribute(element, "type") != "page" else "\n")
            elif name in ("oMath", "oMathPara"):
                say(formula(element))
            elif name in ("footnoteReference", "endnoteReference"):
                say(f"[^{attribute(element, 'id')}]")
            elif name == "commentRangeStart":
                self._opened.append(attribute(element, "id"))
                self._anchors[attribute(element, "id")] = ""
            elif name == "commentRangeEnd":
                self._opened = [each for each in self._opened if each != attribute(element, "id")]
            elif name == "txbxContent":
                beside += self._blocks(element, depth + 1)
            elif name == "AlternateContent":
                waiting.extend((each, style) for each in reversed(_alternative(element)))
            elif name == "docPr":
                if described := " ".join((attribute(element, "descr") or "").split()):
                    say(f"[picture: {described}] ")
            elif name in ("chart", "relIds"):
                beside += self.package.drawing(element.getparent(), self._relations)
            elif name == "sym":
                say(_symbol(attribute(element, "char")))
            elif name not in _SILENT:
                if name == "r":
                    style = _style_of(element)
                elif name == "textpath" and attribute(element, "string"):
                    say(attribute(element, "string"))
                elif name == "hyperlink" and (link := self._link(element)):
                    pieces.append(("[", ""))
                    waiting.append((f"]({link})", ""))
                waiting.extend((each, style) for each in reversed(element))
        return _styled(pieces)

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
                    word_document(Source(content, name=target.place, depth=depth)).markdown
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


def _alternative(element: Element) -> list[Element]:
    """The branch of a choice that has the words."""
    choices = list(element)
    best = next((each for each in choices if local(each) == "Choice" and words(each).strip()), None)
    best = best if best is not None else next((each for each in choices if words(each).strip()), None)
    best = best if best is not None else next(iter(choices), None)
    return list(best) if best is not None else []


def _style_of(run: Element) -> str:
    properties = child(run, "rPr")
    if properties is None:
        return ""
    return "".join(
        key
        for key in "bi"
        if (on := child(properties, key)) is not None
        and attribute(on, "val", "1") not in ("0", "false", "off")
    )


def _styled(pieces: list[tuple[str, str]]) -> str:
    """The pieces in one, with marks around bold and italic words but never inside a word."""
    merged: list[tuple[str, str]] = []
    for text, style in pieces:
        if merged and (merged[-1][1] == style or not text.strip()):
            merged[-1] = (merged[-1][0] + text, merged[-1][1])
        elif text:
            merged.append((text, style))
    result = ""
    for place, (text, style) in enumerate(merged):
        core = text.strip()
        before = result[-1:] if text[:1] == core[:1] else ""
        after = merged[place + 1][0][:1] if place + 1 < len(merged) and text[-1:] == core[-1:] else ""
        if (
            style
            and core
            and "\n" not in core
            and not before.isalnum()
            and not after.isalnum()
            and before != "*"
        ):
            start = text.index(core)
            text = f"{text[:start]}{_MARKS[style]}{core}{_MARKS[style]}{text[start + len(core) :]}"
        result += text
    return result


def _span(element: Element | None) -> int:
    text = attribute(element, "val")
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _symbol(code: str) -> str:
    try:
        point = int(code, 16)
    except ValueError:
        return ""
    # Symbol fonts live in the private area: what they draw there is mostly a bullet or a box.
    return chr(point) if 32 <= point < 0xD800 else ""
