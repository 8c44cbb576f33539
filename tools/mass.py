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
    elements = list(body.iter(etree.Element))
    found = Masses((element, Measure()) for element in elements)
    for element in reversed(elements):
        here = found[element]
        tag = element.tag
        if words := element.text:
            own = len(words.strip())
            here.text += own
            here.inline += own
        if tag == "a":
            here.linked, here.inline_linked, here.links = here.text, here.inline, here.links + 1
            if _leads_away(element) and any(True for _ in element.iter("img", *HEADINGS)):
                here.teasers = 1
        elif tag in INLINE:
            pass
        elif tag in HEADINGS and not here.teasers:
            link = element.find(".//a")
            here.teasers = int(link is not None and _leads_away(link) and here.linked > 0.8 * here.text)
            here.inline = here.inline_linked = 0
        else:
            plain = here.inline - here.inline_linked
            if plain >= _SENTENCE and here.inline_linked < 0.5 * here.inline:
                here.mass += plain
            elif tag == "pre":
                here.mass += here.text
            elif tag == "table" and here.linked < 0.5 * here.text and _has_data(element):
                here.mass = max(here.mass, 0.7 * here.text)
            here.inline = here.inline_linked = 0
        parent = element.getparent()
        if parent is not None and element is not body:
            above = found[parent]
            if words := element.tail:
                tail = len(words.strip())
                above.text += tail
                above.inline += tail
            above.text += here.text
            if here.text or here.links:
                above.mass += here.mass
                above.linked += here.linked
                above.links += here.links
                above.teasers += here.teasers
                above.inline += here.inline
                above.inline_linked += here.inline_linked
    return found


def _leads_away(link: etree._Element) -> bool:
    return not (link.get("href") or "#").startswith("#")


def _has_data(table: etree._Element) -> bool:
    return table.find(".//table") is None and sum(1 for _ in table.iter("td", "th")) >= 6
