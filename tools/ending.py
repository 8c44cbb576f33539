"""What follows an article's last words: tags, notices, who wrote it, headings of what is gone."""

import re

from lxml import etree

from tools.mass import HEADINGS, INLINE, Masses

_BLOCKS = frozenset(
    "p div li dd dt figcaption section header footer figure center address table tbody tr td h1".split()
).union(HEADINGS)
_KEPT = ("table", "pre", "math", "blockquote")
_NOTICE = re.compile(
    r"(?is)\b(?:all rights reserved|copyright|newsletter|subscri(?:be|ption)|sign up|follow (?:us|me|ap's)|log in|moderat\w+|free trial"
    r"|(?:post|leave|write|add) a (?:comment|reply)|comments? (?:are|is|policy)|promoted|advert\w*|sponsored|powered by|report this|filed under|topics?:|tags?:|posted in|alle rechte vorbehalten|tous droits"
    r"|coment[aá]rios|commentaires|kommentare?)\b|©"
)
_WRITER = re.compile(
    r"(?i)\bis (?:an?|the) (?:[\w'’-]+,? (?:and |& )?){0,6}(?:writer|editor|reporter|author|correspondent|journalist|columnist|blogger|contributor|fellow)\b"
    r"|^\W*(?:additional |with )?report(?:ing|ed) by|^\W*contribut(?:ing|ed)\b|\bcontributed (?:to this|reporting)|^(?:contact|write to|follow|e-?mail)\b.*@|^about the author"
)
_LABEL = re.compile(
    r"(?i)\W*(?:print|save|e-?mail|share|comments?|advertisement|anzeige|werbung|publicité|publicidade?|iklan|реклама|next|previous|back)\W*"
)
_LONGEST = 600
_NOTE = 400
_MOST = 40
_SOON = 30


def drop_ending(root: etree._Element, measures: Masses) -> None:
    """Takes it out of the content."""
    whole = measures[root].mass
    for _ in range(_MOST):
        last = _last_block(root, measures)
        if last is None or not _is_left_over(last, measures, whole):
            return
        while (above := last.getparent()) is not root and measures[above].text <= measures[last].text:
            last = above
        measures.remove(last)


def _last_block(root: etree._Element, measures: Masses) -> etree._Element | None:
    """The innermost block with the last words."""
    element = root
    while True:
        if (
            element is not root
            and element.tag in _KEPT
            and measures[element].mass < 0.5 * measures[root].mass
        ):
            return None
        for child in element.iterchildren(etree.Element, reversed=True):
            if child.tail and child.tail.strip():
                return element if element is not root else None
            if measures[child].text:
                break
        else:
            return element if element is not root else None
        if child.tag not in _BLOCKS and not any(each.tag in _BLOCKS for each in child.iter(etree.Element)):
            before = child.getprevious()
            alone = before is not None and before.tag not in INLINE and not (before.tail or "").strip()
            if alone and measures[child].linked > 0.8 * measures[child].text:
                return child
            return element if element is not root else None
        element = child


def _is_left_over(element: etree._Element, measures: Masses, whole: float) -> bool:
    here = measures[element]
    if element.tag in HEADINGS:
        return True
    if here.links and not here.mass and here.linked > 0.8 * here.text:
        return True
    if here.text > _LONGEST or here.mass > 0.2 * whole:
        return False
    said = " ".join("".join(element.itertext()).split())
    if here.linked > 0.5 * here.text and ":" in said[:_SOON]:
        return True
    notice = _NOTICE.search(said) if here.text < _NOTE else None
    return bool(_WRITER.search(said) or _LABEL.fullmatch(said)) or (
        notice is not None and (notice.start() < _SOON or here.text < 2 * _SOON)
    )
