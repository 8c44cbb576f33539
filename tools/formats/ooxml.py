"""What Word, Excel and PowerPoint files share: parts and their relationships, charts, diagrams, properties."""

import posixpath
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from tools.formats.source import Source
from tools.formats.xml import Element, attribute, child, every, local, words
from tools.formats.zipped import Zipped
from tools.tables import table_text

_MAX_POINTS = 5_000


@dataclass(frozen=True)
class Target:
    """Where a relationship leads: the name of a part, or an address outside."""

    kind: str
    place: str
    outside: bool = False


@dataclass
class Package:
    """An Office file. `used` are the parts that were shown, so that each is shown once."""

    source: Source
    kind: str
    used: set[str] = field(default_factory=set)

    @cached_property
    def zip(self) -> Zipped:
        return Zipped(self.source, self.kind)

    def relations(self, part: str) -> dict[str, Target]:
        """The relationships of a part by their ids; `part` "" is the package itself."""
        folder, name = posixpath.split(part)
        root = self.zip.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found = {}
        for each in every(root, "Relationship"):
            kind = attribute(each, "Type").rpartition("/")[2]
            target = attribute(each, "Target")
            outside = attribute(each, "TargetMode") == "External"
            if not outside:
                target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
            found[attribute(each, "Id")] = Target(kind, target, outside)
        return found

    def main_part(self, guess: str) -> str:
        """The part that everything else hangs on; `guess`: a pattern of its usual name."""
        for target in self.relations("").values():
            if target.kind == "officeDocument" and target.place in self.zip:
                return target.place
        names = self.zip.matching(guess)
        if not names:
            raise self.source.damaged(self.kind)
        return names[0]

    @cached_property
    def title(self) -> str:
        """The title in the file's properties."""
        return words(self.zip.xml("docProps/core.xml"), "title").strip()

    @property
    def note(self) -> str:
        """A sentence on damage, mostly empty."""
        return "the file is damaged or very large: parts of it may be missing" if self.zip.damaged else ""

    def drawing(self, element: Element, relations: dict[str, Target]) -> list[str]:
        """The charts and diagrams that a drawing shows, each as a block of Markdown."""
        blocks = []
        for each in every(element, "chart", "relIds"):
            target = relations.get(attribute(each, "id") or attribute(each, "dm"))
            if target and not target.outside and target.place not in self.used:
                blocks.append(
                    self.chart(target.place) if local(each) == "chart" else self.diagram(target.place)
                )
        return [block for block in blocks if block]

    def floating(self, relations: dict[str, Target]) -> list[str]:
        """What floats over a sheet: text boxes, pictures' descriptions, charts, diagrams."""
        blocks = []
        for target in relations.values():
            if target.kind != "drawing" or target.outside or target.place in self.used:
                continue
            self.used.add(target.place)
            root = self.zip.xml(target.place)
            if root is None:
                continue
            for shape in every(root, "sp", "cxnSp"):
                text = "\n".join(" ".join(words(each).split()) for each in every(shape, "p"))
                blocks.append(f"Text box: {text.strip()}" if text.strip() else "")
            for each in every(root, "cNvPr"):
                if described := " ".join(attribute(each, "descr").split()):
                    blocks.append(f"[picture: {described}]")
            blocks += self.drawing(root, self.relations(target.place))
        return [block for block in blocks if block]

    def left_over(self, folder: str) -> list[str]:
        """Charts and diagrams that no drawing led to."""
        blocks = [
            self.chart(name)
            for name in self.zip.matching(rf"{folder}/charts/chart(ex)?\d*\.xml$")
            if name not in self.used
        ]
        blocks += [
            self.diagram(name)
            for name in self.zip.matching(rf"{folder}/diagrams/data\d*\.xml$")
            if name not in self.used
        ]
        return [block for block in blocks if block]

    def diagram(self, part: str) -> str:
        """The texts of a SmartArt diagram as a list."""
        self.used.add(part)
        root = self.zip.xml(part)
        lines = []
        for point in every(root, "pt"):
            text = " ".join(" ".join(words(each) for each in every(point, "p")).split())
            if text:
                lines.append(f"- {text}")
        return "Diagram:\n\n" + "\n".join(lines) if lines else ""

    def chart(self, part: str) -> str:
        """A chart as its titles and a table of its series."""
        self.used.add(part)
        root = self.zip.xml(part)
        if root is None:
            return ""
        titles = [
            " ".join(" ".join(words(each) for each in every(title, "p")).split())
            for title in every(root, "title", "txPr")
        ]
        drawn = list(every(root, "ser"))
        columns = [_points(child(each, "val")) or _points(child(each, "yVal")) for each in drawn]
        labels = next(
            (
                found
                for each in drawn
                if (found := _points(child(each, "cat")) or _points(child(each, "xVal")))
            ),
            {},
        )
        names = [
            " ".join(words(child(each, "tx"), "v").split()) or f"series {n}"
            for n, each in enumerate(drawn, 1)
        ]
        title = "; ".join(text for text in titles if text)
        rest = _other_texts(root)
        parts = [f"Chart: {title}" if title else "Chart"]
        places = sorted(set(labels).union(*columns)) if columns else []
        if places:
            rows = [
                [labels.get(at, ""), *(column.get(at, "") for column in columns)]
                for at in places[:_MAX_POINTS]
            ]
            parts.append(table_text(["", *names], rows))
        if rest:
            parts.append(rest)
        return "\n\n".join(parts) if title or places or rest else ""


def _points(data: Element | None) -> dict[int, str]:
    """The cached values of a series by their place."""
    found: dict[int, str] = {}
    levels = list(every(data, "lvl")) or ([data] if data is not None else [])
    for level in reversed(levels):
        for point in every(level, "pt"):
            place = attribute(point, "idx")
            if place.isdecimal() and len(place) < 8:
                value = words(point, "v").strip()
                found[int(place)] = f"{found[int(place)]} {value}" if int(place) in found else value
    return found


def _other_texts(root: Element) -> str:
    """Texts of a chart that are no title: labels written by hand."""
    shown = {each for title in every(root, "title") for each in every(title, "p")}
    texts = [" ".join(words(each).split()) for each in every(root, "p") if each not in shown]
    return "\n".join(text for text in texts if text)
