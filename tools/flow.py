"""Text as it is gathered while a tree is walked: white space folded, blocks kept apart."""

from dataclasses import dataclass, field

from lxml import etree

from tools.grid import Cell


@dataclass
class Frame:
    """An open element whose text is still being gathered."""

    tag: str
    element: etree._Element
    inside: frozenset[str]
    pieces: list[str] = field(default_factory=list)
    gap: int = 0
    space: bool = False
    rows: list[list[Cell]] = field(default_factory=list)
    heads: int = 0
    caption: str = ""
    nested: bool = False

    def text(self, words: str | None) -> None:
        """Running text: white space is one space."""
        if not words:
            return
        if "pre" in self.inside:
            self.pieces.append(words)
            return
        core = " ".join(words.split())
        if core:
            self.put(core, words[0].isspace())
            self.space = words[-1].isspace()
        else:
            self.space = True

    def put(self, text: str, space_before: bool = False) -> None:
        if self.pieces:
            if self.gap:
                self.pieces.append("\n" * self.gap)
            elif self.space or space_before:
                self.pieces.append(" ")
        self.gap, self.space = 0, False
        self.pieces.append(text)

    def inline(self, text: str) -> None:
        if core := text.strip(" "):
            self.put(core, text[0] == " ")
            self.space = text[-1] == " "
        elif text:
            self.space = True

    def block(self, text: str = "", gap: int = 2) -> None:
        """A piece that stands on lines of its own, or only the break before what comes."""
        if "pre" in self.inside:
            if text or (self.pieces and not self.pieces[-1].endswith("\n")):
                self.pieces.append(text + "\n")
            return
        self.gap, self.space = max(self.gap, gap), False
        if text:
            self.put(text)
            self.gap = gap

    def line(self) -> None:
        self.block(gap=1) if "pre" not in self.inside else self.pieces.append("\n")
