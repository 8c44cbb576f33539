"""Text as it is gathered while a tree is walked: white space folded, blocks kept apart."""

from lxml import etree

from tools.grid import Cell


class Frame:
    """An open element whose text is still being gathered. A page has one for every other element: it is kept light."""

    __slots__ = (
        "caption",
        "element",
        "gap",
        "heads",
        "inside",
        "nested",
        "pieces",
        "pre",
        "rows",
        "space",
        "tag",
    )

    def __init__(self, tag: str, element: etree._Element, inside: frozenset[str]) -> None:
        """`inside`: what it and the elements around it are called."""
        self.tag = tag
        self.element = element
        self.inside = inside
        self.pre = "pre" in inside
        self.pieces: list[str] = []
        self.gap = 0
        self.space = False
        self.nested = False
        if tag == "table":
            self.rows: list[list[Cell]] = []
            self.heads = 0
            self.caption = ""

    def text(self, words: str) -> None:
        """Running text, not empty: white space is one space."""
        if self.pre:
            self.pieces.append(words)
            return
        core = " ".join(words.split())
        if core == words:
            self.put(core)
        elif core:
            self.put(core, words[0].isspace())
            self.space = words[-1].isspace()
        else:
            self.space = True

    def put(self, text: str, space_before: bool = False) -> None:
        if self.pieces:
            if self.gap:
                self.pieces.append("\n\n" if self.gap == 2 else "\n")
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
        """A piece that stands on lines of its own, or only the break before what comes; `gap`: 1 or 2 line breaks."""
        if self.pre:
            if text or (self.pieces and not self.pieces[-1].endswith("\n")):
                self.pieces.append(text + "\n")
            return
        if gap > self.gap:
            self.gap = gap
        self.space = False
        if text:
            self.put(text)
            self.gap = gap

    def line(self) -> None:
        self.block(gap=1) if not self.pre else self.pieces.append("\n")
