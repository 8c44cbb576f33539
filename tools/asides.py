"""What stands between an article's paragraphs and is none of them: buttons to share it, notes on cookies, links to other articles."""

import re
from collections.abc import Iterator

from lxml import etree

from tools.mass import HEADINGS, INLINE, Masses

_SHARES = re.compile(
    r"(?i)^(?:whatsapp:|fb-messenger:|mailto:\?|(?:https?:)?//(?:[\w-]+\.)*(?:(?:facebook|addthis|addtoany|sharethis)\.com/.*(?:shar|bookmark|dialog|plugins|offer)"
    r"|(?:twitter|x)\.com/(?:share|intent|home\?status)|(?:pinterest|reddit|tumblr|linkedin|vk|xing|getpocket)\.\w+/.*(?:create|submit|share|save)"
    r"|(?:wa\.me|api\.whatsapp\.com|t\.me/share|telegram\.me/share|plus\.google\.com/share)))"
)
_COOKIES = re.compile(
    r"(?is)\bcookies?\b.*\b(?:accept|agree|consent|continu\w+|polic\w+|settings|preferences|akzept\w+|zustimm\w+|einverstanden|accepte\w*"
    r"|acept\w+|accett\w+|aceit\w+|akkoord|zgod\w+)\b"
)
_ALSO = re.compile(
    r"(?i)^\W*(?:related|read (?:more|also|next|on)|(?:see|watch|read|listen) (?:also|more|now|here)|more:|also (?:read|see|on)|don'?t miss|recommended"
    r"|click here|sign up|subscribe|follow us|lesen sie (?:auch|mehr|hier)|mehr zum thema|lire aussi|à lire|leggi anche|lee también|ver también"
    r"|le[ai][am] (?:também|mais|también)|lees ook|zobacz|czytaj|читайте|смотрите)\b"
)
_LONGEST_NOTE = 700
_LONGEST_PROMO = 200
_LONGEST_TEASER = 400
_PARAGRAPHS = 3


def drop_asides(root: etree._Element, measures: Masses) -> None:
    """Takes them out of the content."""
    for element in [
        *_shared(root, measures),
        *_notes(root, measures),
        *_promos(root, measures),
        *_teasers(root, measures),
    ]:
        measures.remove(element)


def _shared(root: etree._Element, measures: Masses) -> Iterator[etree._Element]:
    """Links that share the page, with the boxes that hold nothing else."""
    for link in root.iter("a"):
        if measures[link].text > 40 or not _SHARES.match((link.get("href") or "").strip()):
            continue
        element = link
        while (
            (above := element.getparent()) is not None
            and above is not root
            and above.tag not in ("p", "td", "tr", "table", "blockquote", "article", "main")
            and measures[above].mass == 0
            and measures[above].text - measures[link].text < 60
        ):
            element = above
        yield element


def _notes(root: etree._Element, measures: Masses) -> Iterator[etree._Element]:
    """The note that the page uses cookies: a box of its own, at the beginning or the end."""
    whole = measures[root].mass
    for backwards in (False, True):
        element = root
        while True:
            children = (
                each
                for each in element.iterchildren(etree.Element, reversed=backwards)
                if measures[each].text
            )
            child = next((each for each in children if measures[each].mass or measures[each].text > 40), None)
            if child is None or child.tag in INLINE:
                break
            here = measures[child]
            if (
                here.text <= _LONGEST_NOTE
                and here.mass <= 0.3 * whole
                and _COOKIES.search("".join(child.itertext()))
            ):
                yield child
                break
            element = child


def _promos(root: etree._Element, measures: Masses) -> Iterator[etree._Element]:
    """Paragraphs of nothing but links to elsewhere: many, or one that shouts or says so."""
    for element in root.iter("p", "div", *HEADINGS):
        here = measures[element]
        if element.tag == "p" and here.links > 3 and here.linked > 0.85 * here.text:
            yield element
            continue
        if (
            not here.links
            or here.links > 3
            or here.text > _LONGEST_PROMO
            or here.linked < 0.6 * here.text
            or len(element) > 4
        ):
            continue
        said = " ".join("".join(element.itertext()).split())
        if _ALSO.match(said) or (len(said) > 20 and said == said.upper() and said != said.lower()):
            yield element


def _teasers(root: etree._Element, measures: Masses) -> Iterator[etree._Element]:
    """Boxes with a link to another article, its picture or headline and a sentence, between an article's own paragraphs."""
    among: dict[etree._Element, int] = {}
    for element in root.iter("div", "section"):
        here, parent = measures[element], element.getparent()
        if (
            element is root
            or parent is None
            or not 0 < here.teasers <= 2
            or here.text > _LONGEST_TEASER
            or here.linked < 0.2 * here.text
        ):
            continue
        if parent not in among:
            among[parent] = sum(measures[each].mass > 0 for each in parent.iterchildren("p"))
        if among[parent] >= _PARAGRAPHS:
            yield element
