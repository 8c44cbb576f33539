"""Which part of a page is its content: measured by where its sentences stand, not by what it is called.

Every element gets its mass: the characters of running text in it, menus and
headlines counting nothing. The content is the smallest element that holds
nearly all of the mass. What is named like boilerplate inside of it goes only
when little mass goes with it: rather a menu too many than a table too few.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from tools.repeats import drop_repeats
from tools.shelves import shelves

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark math q rp rt ruby s samp small"
    " span strike strong sub sup time tt u var wbr".split()
)
_ROLES = frozenset(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar".split()
)
_TAGS = frozenset("nav footer aside form button dialog menu".split())
_NAMED = re.compile(
    r"(?i)(?:^|[\s_-])(nav|navbar|navigation|menus?|breadcrumbs?|cookies?|consent|gdpr|shar(?:e|ing)(?:bar|tools|links|buttons?)?"
    r"|social|socials|newsletters?|subscri(?:be|ption)|promos?|promotions?|sponsor(?:ed)?|advert(?:s|isement|ising)?|ads?|banner"
    r"|side-?bar|related|recommend(?:ed|ations?)?|recirc|trending|popular|most-?read|more-?(?:stories|articles|news|from|on)"
    r"|read-?(?:more|next)|also-?read|outbrain|taboola|footer|skip-?link|pagination|pager|tool-?bar|log-?in|sign-?up|pop-?up|modal"
    r"|paywall|mw-editsection|noprint|catlinks|navbox|print-?only|tag-?(?:s|list|cloud)|author-?(?:bio|info|box)|about-?author"
    r"|disclaimer|copyright|byline|post-?meta|entry-?meta|article-?meta|timestamp)(?:$|[\s_-])"
)
_COMMENTS = re.compile(
    r"(?i)(?:^|[\s_-])(comments?|comment-?(?:s|list|section|area)|disqus|respond|replies|discussion)(?:$|[\s_-])"
)
_HEADINGS = ("h2", "h3", "h4", "h5", "h6")
_SENTENCE = 60
_LITTLE = 250


@dataclass
class _Measure:
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


def main_content(body: etree._Element) -> etree._Element:
    """The element that holds the content, boilerplate removed from the tree below it."""
    measures = _measured(body)
    total = measures[body].mass
    if total < _LITTLE:
        _prune(body, measures, named=False)
        return body
    chosen = _chosen(body, measures)
    heading = next(body.iter("h1"), None)
    _prune(chosen, measures, named=True)
    for shelf in list(shelves(chosen, lambda element: measures[element].mass)):
        for element in shelf:
            remove(element)
    _trim(chosen, measures)
    drop_repeats(chosen, remove)
    if heading is not None and chosen is not body and not any(True for _ in chosen.iter("h1")):
        remove(heading)
        heading.tail = None
        chosen.insert(0, heading)
        heading.tail, chosen.text = chosen.text, None
    return chosen


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


def _measured(body: etree._Element) -> dict[etree._Element, _Measure]:
    elements = list(body.iter(etree.Element))
    measures = {element: _Measure() for element in elements}
    for element in reversed(elements):
        here = measures[element]
        tag = element.tag
        own = len(element.text.strip()) if element.text else 0
        here.text += own
        here.inline += own
        if tag == "a":
            here.linked, here.inline_linked, here.links = here.text, here.inline, here.links + 1
            here.teasers = int(_leads_away(element) and any(True for _ in element.iter("img", *_HEADINGS)))
        elif tag in _HEADINGS and not here.teasers:
            link = element.find(".//a")
            here.teasers = int(link is not None and _leads_away(link) and here.linked > 0.8 * here.text)
            here.inline = here.inline_linked = 0
        elif tag not in _INLINE:
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
            above = measures[parent]
            tail = len(element.tail.strip()) if element.tail else 0
            above.mass += here.mass
            above.text += here.text + tail
            above.linked += here.linked
            above.links += here.links
            above.teasers += here.teasers
            above.inline += here.inline + tail
            above.inline_linked += here.inline_linked
    return measures


def _leads_away(link: etree._Element) -> bool:
    return not (link.get("href") or "#").startswith("#")


def _has_data(table: etree._Element) -> bool:
    return table.find(".//table") is None and sum(1 for _ in table.iter("td", "th")) >= 6


def _chosen(body: etree._Element, measures: dict[etree._Element, _Measure]) -> etree._Element:
    """What a page itself marks as its content if it holds most of it; else the smallest element that does."""
    total = measures[body].mass
    for path, share in (
        (".//*[@itemprop='articleBody']", 0.6),
        (".//article", 0.6),
        (".//main | .//*[@role='main']", 0.5),
    ):
        found = max(body.xpath(path), key=lambda e: measures[e].mass, default=None)
        if found is not None and measures[found].mass >= share * total:
            return found
    chosen = body
    while True:
        heaviest = max(chosen.iterchildren(etree.Element), key=lambda e: measures[e].mass, default=None)
        if (
            heaviest is None
            or measures[heaviest].mass < 0.9 * total
            or heaviest.tag in ("p", "pre", "td", "tr", "tbody", "table")
        ):
            return chosen
        chosen = heaviest


def _prune(root: etree._Element, measures: dict[etree._Element, _Measure], *, named: bool) -> None:
    mass = measures[root].mass
    walk = etree.iterwalk(root, events=("start",))
    doomed = []
    for _, element in walk:
        if element is root or not isinstance(element.tag, str):
            continue
        here = measures[element]
        if _is_boilerplate(element, here, mass, named):
            doomed.append(element)
            walk.skip_subtree()
    for element in doomed:
        remove(element)


def _is_boilerplate(element: etree._Element, here: _Measure, mass: float, named: bool) -> bool:
    if element.tag in _TAGS or element.get("role") in _ROLES:
        return here.mass <= 0.25 * mass
    if not named or element.tag in ("table", "tr", "td", "th", "tbody", "pre", "code", "h1", "p", "body"):
        return False
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    if _NAMED.search(names):
        return here.mass <= 0.15 * mass
    if element.tag in ("div", "section", "ul", "ol", "aside") and _is_shelf(here) and here.mass <= 0.3 * mass:
        return True
    return bool(_COMMENTS.search(names)) and mass - here.mass >= max(_LITTLE, 0.2 * mass)


def _is_shelf(here: _Measure) -> bool:
    """Whether an element is a shelf of links to other articles, each with a sentence at most."""
    return here.teasers >= 3 and here.mass < 300 * here.teasers and here.text < 500 * here.teasers


def _trim(root: etree._Element, measures: dict[etree._Element, _Measure]) -> None:
    """Takes lists of nothing but links off the beginning and the end."""
    for backwards in (False, True):
        for element in list(_edge(root, measures, backwards)):
            remove(element)


def _edge(
    root: etree._Element, measures: dict[etree._Element, _Measure], backwards: bool
) -> Iterator[etree._Element]:
    """Link lists before the first running text, or after the last, from the edge inwards."""
    children = list(root.iterchildren(etree.Element, reversed=backwards))
    for element in children:
        here = measures[element]
        if here.mass > 0:
            if element.tag not in _INLINE and element.tag not in (
                "p",
                "pre",
                "table",
                "ul",
                "ol",
                "dl",
                "blockquote",
            ):
                yield from _edge(element, measures, backwards)
            return
        if element.tag not in ("h1", "table", "pre") and here.links >= 2 and here.linked > 0.6 * here.text:
            yield element
