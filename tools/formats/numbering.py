"""Word's styles and lists: which paragraphs are headings, and which label stands before a list item."""

from collections import defaultdict
from dataclasses import dataclass, field

from tools.formats.xml import Element, attribute, child, every, local

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MAX_LEVEL = 8


@dataclass
class Style:
    """What a paragraph style says, its parents included."""

    heading: int = 0
    list_id: str = ""
    list_level: int = 0


@dataclass
class _Level:
    form: str = "decimal"
    text: str = ""
    start: int = 1


@dataclass
class Styles:
    """The styles of one document, by their ids."""

    by_id: dict[str, Style] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Element | None) -> "Styles":
        raw = {attribute(each, "styleId"): each for each in every(root, "style")}
        styles = cls()
        for name, element in raw.items():
            style = Style()
            seen: set[str] = set()
            current: Element | None = element
            while current is not None:
                _inherit(style, current)
                parent = attribute(child(current, "basedOn"), "val")
                current = raw.get(parent) if parent not in seen else None
                seen.add(parent)
            styles.by_id[name] = style
        return styles

    def of_paragraph(self, properties: Element | None) -> Style:
        """The style of a paragraph, what it says of itself included."""
        named = self.by_id.get(attribute(child(properties, "pStyle"), "val"), Style())
        style = Style(named.heading, named.list_id, named.list_level)
        outline = attribute(child(properties, "outlineLvl"), "val")
        if outline.isdecimal():
            style.heading = int(outline) + 1 if int(outline) < 9 else 0
        listed = child(properties, "numPr")
        if listed is not None:
            style.list_id = attribute(child(listed, "numId"), "val") or style.list_id
            style.list_level = _number(attribute(child(listed, "ilvl"), "val"), style.list_level)
        return style


def _inherit(style: Style, element: Element) -> None:
    properties = child(element, "pPr")
    name = attribute(child(element, "name"), "val").lower()
    outline = attribute(child(properties, "outlineLvl"), "val")
    if not style.heading:
        if name == "title":
            style.heading = 1
        elif name.startswith("heading ") and name[8:].isdecimal():
            style.heading = int(name[8:])
        elif outline.isdecimal() and int(outline) < 9:
            style.heading = int(outline) + 1
    listed = child(properties, "numPr")
    if listed is not None and not style.list_id:
        style.list_id = attribute(child(listed, "numId"), "val")
        style.list_level = _number(attribute(child(listed, "ilvl"), "val"))


class Lists:
    """The lists of one document; it counts as the paragraphs go by."""

    def __init__(self, root: Element | None) -> None:
        abstract = {attribute(each, "abstractNumId"): _levels(each) for each in every(root, "abstractNum")}
        self._levels: dict[str, dict[int, _Level]] = {}
        self._family: dict[str, str] = {}
        for each in every(root, "num"):
            name, family = attribute(each, "numId"), attribute(child(each, "abstractNumId"), "val")
            self._family[name] = family
            self._levels[name] = abstract.get(family, {}) | _levels(each)
            if any(local(part) == "lvlOverride" for part in each):
                self._family[name] = f"{family}/{name}"
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)

    def label(self, style: Style) -> str:
        """What stands before the next paragraph of this style: a dash, a number, or nothing."""
        if not style.list_id or style.list_id == "0" or style.list_id not in self._levels:
            return ""
        depth = min(max(style.list_level, 0), _MAX_LEVEL)
        levels = self._levels[style.list_id]
        level = levels.get(depth, _Level())
        counts = self._counts[self._family[style.list_id]]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [each for each in counts if each > depth]:
            del counts[deeper]
        if level.form in ("bullet", "none"):
            return "-" if level.form == "bullet" else ""
        text = level.text or f"%{depth + 1}."
        for place in range(depth + 1):
            other = levels.get(place, _Level())
            text = text.replace(f"%{place + 1}", _numeral(counts.get(place, other.start), other.form))
        return text.strip()


def _levels(element: Element) -> dict[int, _Level]:
    found = {}
    for each in every(element, "lvl"):
        found[_number(attribute(each, "ilvl"))] = _Level(
            attribute(child(each, "numFmt"), "val", "decimal"),
            attribute(child(each, "lvlText"), "val"),
            _number(attribute(child(each, "start"), "val"), 1),
        )
    return found


def _number(text: str, default: int = 0) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else default


def _numeral(number: int, form: str) -> str:
    if form in ("lowerLetter", "upperLetter") and 0 < number < 26 * 60:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if form == "lowerLetter" else letter.upper()
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        numeral = ""
        for value, sign in _ROMAN:
            times, number = divmod(number, value)
            numeral += sign * times
        return numeral if form == "lowerRoman" else numeral.upper()
    return str(number)
