"""How much running text stands in each element of a page, and how much of it is links."""

from dataclasses import dataclass

from lxml import etree

INLINE = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math q rp rt ruby s samp small"
    " span strike strong sub sup time tt u var wbr".split()
)
HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_SENTENCE = 60


@dataclass(slots=True)
class Measure:
    """What an element holds: `mass` in running text; all characters; those of links; how many links.

    `teasers`: links that carry a picture or a headline, as those to other articles do.
    """

    mass: float = 0
    text: int = 0
    linked: int = 0
    links: int = 0
    teasers: int = 0
    inline: int = 0
    inline_linked: int = 0

    @property
    def own(self) -> int:
        """Characters that are no link's."""
        return self.text - self.linked


class Masses(dict[etree._Element, Measure]):
    """The measures of all elements of a tree; they follow what is removed from it."""

    def remove(self, element: etree._Element) -> None:
        """Takes an element out of its tree; the text that follows it stays."""
        gone = self[element]
        for above in element.iterancestors():
            held = self.get(above)
            if held is None:
                break
            held.mass -= gone.mass
            held.text -= gone.text
            held.linked -= gone.linked
            held.links -= gone.links
            held.teasers -= gone.teasers
        remove(element)

    def release(self) -> None:
        """Lets go of the elements, the last first: lxml searches what was removed, from its start, for others in use."""
        while self:
            self.popitem()


def remove(element: etree._Element) -> None:
    """Takes an element out of its tree; the text that follows it stays."""
    parent = element.getparent()
    if parent is None:
        return
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def masses(body: etree._Element) -> Masses:
    """The measures of `body` and of all below it."""
    found = Masses()
    around: list[Measure] = []
    for event, element in etree.iterwalk(body, events=("start", "end")):
        if event == "start":
            here = found[element] = Measure()
            if words := element.text:
                here.text = here.inline = len(words.strip())
            around.append(here)
            continue
        here = around.pop()
        _close(element, element.tag, here)
        if not around:
            break
        above = around[-1]
        if words := element.tail:
            own = len(words.strip())
            above.text += own
            above.inline += own
        if here.text or here.links:
            above.text += here.text
            above.mass += here.mass
            above.inline += here.inline
            if here.links:
                above.linked += here.linked
                above.links += here.links
                above.teasers += here.teasers
                above.inline_linked += here.inline_linked
    return found


def _close(element: etree._Element, tag: str, here: Measure) -> None:
    """Adds to what an element holds what it is itself."""
    if tag == "a":
        here.linked, here.inline_linked, here.links = here.text, here.inline, here.links + 1
        if len(element) and _leads_away(element) and any(True for _ in element.iter("img", *HEADINGS)):
            here.teasers = 1
    elif tag in INLINE:
        pass
    elif tag in HEADINGS and not here.teasers:
        link = element.find(".//a") if here.links else None
        here.teasers = int(link is not None and _leads_away(link) and here.linked > 0.8 * here.text)
        here.inline = here.inline_linked = 0
    elif here.text:
        plain = here.inline - here.inline_linked
        if plain >= _SENTENCE and here.inline_linked < 0.5 * here.inline:
            here.mass += plain
        elif tag == "pre":
            here.mass += here.text
        elif tag == "table" and here.linked < 0.5 * here.text and _has_data(element):
            here.mass = max(here.mass, 0.7 * here.text)
        here.inline = here.inline_linked = 0


def _leads_away(link: etree._Element) -> bool:
    return not (link.get("href") or "#").startswith("#")


def _has_data(table: etree._Element) -> bool:
    return table.find(".//table") is None and sum(1 for _ in table.iter("td", "th")) >= 6
