"""Which part of a page is its content. Careful: rather a menu too many than a table too few."""

import re

from lxml import etree

_ROLES = frozenset(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar".split()
)
_NAMES = re.compile(
    r"(?i)(?:^|[\s_-])(nav|navbar|navigation|menu|breadcrumbs?|cookies?|consent|gdpr|share|sharing|social|newsletter"
    r"|subscribe|promo|sponsor|advert|ads?|banner|sidebar|related|recommended|footer|skip-?link|pagination|pager"
    r"|toolbar|login|signup|popup|modal|mw-editsection|noprint|catlinks|navbox)(?:$|[\s_-])"
)


def main_content(body: etree._Element) -> etree._Element:
    """The element that holds the content, boilerplate removed from the tree below it."""
    total = _length(body)
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = body.xpath(path)
        if len(found) == 1 and _length(found[0]) > 0.3 * total:
            body = found[0]
            break
    for element in list(body.iter()):
        if element is not body and element.getparent() is not None and _is_boilerplate(element, total):
            remove(element)
    return body


def _is_boilerplate(element: etree._Element, total: int) -> bool:
    if not isinstance(element.tag, str):
        return False
    if element.tag in ("nav", "footer") or element.get("role") in _ROLES:
        return _length(element) < 0.4 * total
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    if element.tag in ("div", "ul", "section", "aside", "span", "header", "form", "table") and _NAMES.search(
        names
    ):
        return _length(element) < 0.3 * total
    return False


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


def _length(element: etree._Element) -> int:
    return sum(len(text) for text in element.itertext())
