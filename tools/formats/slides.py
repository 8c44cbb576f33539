"""PowerPoint (.pptx): slides with their tables, groups, charts and diagrams, the speaker's notes, the comments."""

import re

from tools.formats.formula import formula
from tools.formats.ooxml import Package, Target
from tools.formats.source import Source
from tools.formats.xml import Element, attribute, child, every, local, words
from tools.page import Document, escaped
from tools.tables import table_text

_KIND = "a PowerPoint presentation"
_DEEPEST = 60


def slides_document(source: Source) -> Document:
    """A .pptx file, a heading a slide. Raises DocumentError."""
    package = Package(source, _KIND)
    main = package.main_part(r"ppt/presentation\d*\.xml$")
    parts: list[str] = []
    first_title = ""
    for number, name in enumerate(_slides(package, main), 1):
        root = package.zip.xml(name)
        if root is None or name in package.used:
            continue
        package.used.add(name)
        slide = _Slide(package, package.relations(name))
        blocks = slide.blocks(root)
        first_title = first_title or slide.title
        hidden = " (hidden)" if attribute(root, "show") in ("0", "false") else ""
        parts.append(f"## Slide {number}{hidden}{f': {slide.title}' if slide.title else ''}")
        parts += blocks
        parts += slide.notes()
        parts += slide.comments()
    return source.document(
        "\n\n".join(part for part in [*parts, *package.left_over("ppt")] if part),
        title=package.title if package.title.lower() not in ("", "powerpoint presentation") else first_title,
        note=package.note,
    )


def _slides(package: Package, main: str) -> list[str]:
    """The parts that hold slides, in the order of the show; those that no list names come last."""
    relations = package.relations(main)
    root = package.zip.xml(main)
    listed = [relations.get(_relation_id(each)) for each in every(root, "sldId")]
    names = [target.place for target in listed if target and target.place in package.zip]
    known = {name.lower() for name in names}
    return names + [
        name for name in package.zip.matching(r"ppt/slides/slide\d+\.xml$") if name.lower() not in known
    ]


def _relation_id(element: Element) -> str:
    return next((str(value) for key, value in element.items() if str(key).endswith("}id")), "")


class _Slide:
    """One slide's parts as blocks of Markdown."""

    def __init__(self, package: Package, relations: dict[str, Target]) -> None:
        self._package = package
        self._relations = relations
        self.title = ""

    def blocks(self, root: Element) -> list[str]:
        """The slide's shapes in the order of the file, its title left to the heading."""
        return [block for block in self._shapes(root, 0) if block]

    def notes(self) -> list[str]:
        """What the speaker wrote under the slide."""
        texts = []
        for target in self._of_kind("notesSlide"):
            self._package.used.add(target.place)
            root = self._package.zip.xml(target.place)
            for shape in every(root, "sp"):
                if attribute(child(shape, "nvSpPr", "nvPr", "ph"), "type") not in ("sldImg", "sldNum", "dt"):
                    texts.append("\n".join(self._lines(shape)))
            texts += [self._table(table) for table in every(root, "tbl")]
        text = "\n\n".join(text for text in texts if text)
        return [f"Notes: {text}"] if text else []

    def comments(self) -> list[str]:
        """Remarks of reviewers, in the old and the new form."""
        lines = []
        for target in self._of_kind("comments", "comment"):
            authors = self._authors()
            for each in every(self._package.zip.xml(target.place), "cm", "reply"):
                direct = [part for part in each if local(part) in ("text", "txBody")]
                text = " ".join(" ".join(_said(part) for part in direct).split())
                who = authors.get(attribute(each, "authorId"), "somebody")
                when = (attribute(each, "dt") or attribute(each, "created"))[:10]
                if text:
                    lines.append(f"- {who}{f' ({when})' if when else ''}: {text}")
        return ["Comments:\n\n" + "\n".join(lines)] if lines else []

    def _authors(self) -> dict[str, str]:
        found = {}
        for name in self._package.zip.matching(r"ppt/(commentauthors|authors)\.xml$"):
            for each in every(self._package.zip.xml(name), "cmAuthor", "author"):
                found[attribute(each, "id")] = attribute(each, "name")
        return found

    def _of_kind(self, *kinds: str) -> list[Target]:
        return [each for each in self._relations.values() if each.kind in kinds and not each.outside]

    def _shapes(self, parent: Element, depth: int) -> list[str]:
        blocks: list[str] = []
        if depth > _DEEPEST:
            return [" ".join(words(parent).split())]
        for element in parent:
            name = local(element)
            if name in ("sp", "cxnSp"):
                blocks += self._shape(element)
            elif name == "pic":
                blocks.append(_described(child(element, "nvPicPr", "cNvPr")))
                blocks.append("\n".join(self._lines(element)))
            elif name == "graphicFrame":
                blocks += self._frame(element)
            elif name == "AlternateContent":
                choices = [each for each in element if words(each).strip()] or list(element)
                if choices:
                    blocks += self._shapes(choices[0], depth + 1)
            elif name in ("cSld", "spTree", "grpSp", "contentPart", "sldLayout", "lockedCanvas"):
                blocks += self._shapes(element, depth + 1)
        return blocks

    def _shape(self, element: Element) -> list[str]:
        place = attribute(child(element, "nvSpPr", "nvPr", "ph"), "type")
        lines = self._lines(
            element,
            listed=place in ("", "body", "obj") and child(element, "nvSpPr", "nvPr", "ph") is not None,
        )
        text = "\n".join(lines)
        if place in ("title", "ctrTitle") and text and not self.title:
            self.title = " ".join(text.split())
            return []
        return [text or _described(child(element, "nvSpPr", "cNvPr"))]

    def _frame(self, element: Element) -> list[str]:
        tables = [self._table(table) for table in every(element, "tbl")]
        drawn = self._package.drawing(element, self._relations)
        if tables or drawn:
            return [*tables, *drawn]
        rest = " ".join(" ".join(words(each) for each in every(element, "p")).split())
        return [rest or _described(child(element, "nvGraphicFramePr", "cNvPr"))]

    def _lines(self, element: Element, listed: bool = False) -> list[str]:
        """The paragraphs of a shape; with more than one and `listed`, as a list."""
        found = []
        paragraphs = [
            each for each in every(element, "p") if local(each.getparent()) in ("txBody", "txbxContent")
        ]
        for each in paragraphs:
            text = self._paragraph(each)
            if text.strip():
                found.append((attribute(child(each, "pPr"), "lvl"), text.strip(" ")))
        if not listed or len(found) < 2:
            return [text for _, text in found]
        return [
            "  " * (int(level) if level.isdecimal() and len(level) == 1 else 0) + "- " + text
            for level, text in found
        ]

    def _paragraph(self, element: Element) -> str:
        pieces = []
        for each in element:
            name = local(each)
            if name in ("r", "fld"):
                text = words(each)
                link = self._relations.get(attribute(child(each, "rPr", "hlinkClick"), "id"))
                if link and link.outside and link.place.startswith(("http", "mailto")) and text.strip():
                    text = f"[{text}]({escaped(link.place)})"
                pieces.append(text)
            elif name == "br":
                pieces.append("\n")
            elif name in ("m", "oMath", "oMathPara"):
                pieces.append(formula(each))
            elif name == "AlternateContent":
                pieces.append(formula(next((part for part in each if words(part).strip()), each)))
        return re.sub(r"[\v\t ]+", " ", "".join(pieces))

    def _table(self, table: Element) -> str:
        rows: list[list[str]] = []
        for row in every(table, "tr"):
            cells: list[str] = []
            for cell in row:
                if local(cell) != "tc":
                    continue
                text = "\n".join(self._lines(cell))
                if attribute(cell, "hMerge") in ("1", "true") and cells:
                    text = cells[-1]
                elif attribute(cell, "vMerge") in ("1", "true") and rows and len(cells) < len(rows[-1]):
                    text = rows[-1][len(cells)]
                cells.append(text)
            rows.append(cells)
        rows = [row for row in rows if any(row)]
        return table_text(rows[0], rows[1:]) if rows else ""


def _said(element: Element) -> str:
    """The text of a remark: plain in the old form, paragraphs in the new one."""
    return (
        element.text or ""
        if local(element) == "text"
        else " ".join(words(each) for each in every(element, "p"))
    )


def _described(element: Element | None) -> str:
    text = " ".join(attribute(element, "descr").split())
    return f"[picture: {text}]" if text else ""
