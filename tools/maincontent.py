"""Which part of a page is its content: measured by where its sentences stand, not by what it is called.

Every element gets its mass: the characters of running text in it, menus and
headlines counting nothing. The content is the smallest element that holds
nearly all of the mass. What is named like boilerplate inside of it goes only
when little mass goes with it: rather a menu too many than a table too few.
"""

from collections.abc import Iterator

from lxml import etree

from tools.asides import drop_asides
from tools.ending import drop_ending
from tools.mass import INLINE, Masses, Measure, masses, remove
from tools.names import BESIDE, FURNITURE, is_comments, is_furniture, most_of_page
from tools.pictures import drop_words_of_pictures
from tools.shelves import shelves

_KEPT = frozenset("table tr td th tbody pre code h1 p body math mjx-container".split())
# One walk: parents asked of attributes (`.//@role/..`) would each be looked up among all that were found.
_MARKED = etree.XPath("descendant::*[self::article or self::main or @itemprop='articleBody' or @role='main']")
_PIECES = frozenset("p pre td tr tbody table ul ol dl blockquote".split())
_LITTLE = 250
_TEASERS = 3
_MOST, _NEARLY = 0.9, 0.95


def main_content(body: etree._Element, title: str = "") -> etree._Element:
    """The element that holds the content, boilerplate removed from the tree below it; `title`: of the page."""
    measures = masses(body)
    heading = next(body.iter("h1"), None)
    if measures[body].mass < _LITTLE:
        _prune(body, measures, named=False)
        measures.release()
        return body
    chosen = _freed(_chosen(body, measures), measures)
    measures.release()
    drop_words_of_pictures(chosen, title)
    if heading is not None and chosen is not body and not any(True for _ in chosen.iter("h1")):
        remove(heading)
        heading.tail = None
        chosen.insert(0, heading)
        heading.tail, chosen.text = chosen.text, None
    return chosen


def _freed(chosen: etree._Element, measures: Masses) -> etree._Element:
    """The part of the content that is left without what stands beside it."""
    _prune(chosen, measures, named=True)
    drop_asides(chosen, measures)
    for shelf in list(shelves(chosen, lambda element: measures[element].mass)):
        for element in shelf:
            measures.remove(element)
    chosen = _narrowed(chosen, measures, _NEARLY, words=True)
    _trim(chosen, measures)
    drop_ending(chosen, measures)
    return chosen


def _chosen(body: etree._Element, measures: Masses) -> etree._Element:
    """What a page itself marks as its content if it holds most of it; else the smallest element that does."""
    total = measures[body].mass
    marked = _MARKED(body)
    for elements, share in (
        ([each for each in marked if each.get("itemprop") == "articleBody"], 0.6),
        ([each for each in marked if each.tag == "article"], 0.6),
        ([each for each in marked if each.tag == "main" or each.get("role") == "main"], 0.5),
    ):
        found = max(elements, key=lambda e: measures[e].mass, default=None)
        if found is not None and measures[found].mass >= share * total:
            return found
    return _narrowed(body, measures, _MOST)


def _narrowed(root: etree._Element, measures: Masses, share: float, *, words: bool = False) -> etree._Element:
    """The smallest element that holds such a share of the running text in `root`; `words`: of all words beside links too."""
    whole, chosen = measures[root], root
    while True:
        heaviest = max(chosen.iterchildren(etree.Element), key=lambda e: measures[e].mass, default=None)
        if heaviest is None or heaviest.tag in _PIECES:
            return chosen
        here = measures[heaviest]
        if here.mass < share * whole.mass or (words and here.own < share * whole.own):
            return chosen
        chosen = heaviest


def _prune(root: etree._Element, measures: Masses, *, named: bool) -> None:
    mass = measures[root].mass
    walk = etree.iterwalk(root, events=("start",))
    doomed = []
    for _, element in walk:
        if element is root or not isinstance(element.tag, str):
            continue
        here = measures[element]
        if here.teasers < _TEASERS and element.tag not in FURNITURE and not element.keys():
            continue  # nothing is known of it
        if _is_boilerplate(element, here, mass, named):
            doomed.append(element)
            walk.skip_subtree()
    for element in doomed:
        measures.remove(element)


def _is_boilerplate(element: etree._Element, here: Measure, mass: float, named: bool) -> bool:
    if not named or (element.tag in _KEPT and not (element.tag == "td" and most_of_page(element) >= BESIDE)):
        return is_furniture(element) and here.mass <= 0.25 * mass
    if share := most_of_page(element):
        if here.linked > 0.5 * here.text:
            share = max(share, 0.5)
        if here.mass <= share * mass:
            return True
    if element.tag in ("div", "section", "ul", "ol", "aside") and _is_shelf(here) and here.mass <= 0.3 * mass:
        return True
    return is_comments(element) and mass - here.mass >= max(_LITTLE, 0.2 * mass)


def _is_shelf(here: Measure) -> bool:
    """Whether an element is a shelf of links to other articles, each with a sentence at most."""
    return here.teasers >= _TEASERS and here.mass < 300 * here.teasers and here.text < 500 * here.teasers


def _trim(root: etree._Element, measures: Masses) -> None:
    """Takes lists of nothing but links off the beginning and the end."""
    for backwards in (False, True):
        for element in list(_edge(root, measures, backwards)):
            measures.remove(element)


def _edge(root: etree._Element, measures: Masses, backwards: bool) -> Iterator[etree._Element]:
    """Link lists before the first running text, or after the last, from the edge inwards."""
    children = list(root.iterchildren(etree.Element, reversed=backwards))
    for element in children:
        here = measures[element]
        if here.mass > 0:
            if element.tag not in INLINE and element.tag not in _PIECES:
                yield from _edge(element, measures, backwards)
            return
        if element.tag not in ("h1", "table", "pre") and here.links >= 2 and here.linked > 0.6 * here.text:
            yield element
