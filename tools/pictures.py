"""The words of pictures in an article: each is said once, and only where it says something new."""

import re

from lxml import etree

from tools.mass import remove
from tools.names import is_picture

_BLOCKS = ("p", "figcaption", "div", "li", "section", "figure")
# A file's name where the words for a picture should be.
_FILE = re.compile(
    r"(?i)\S+\.(?:jpe?g|png|gif|svg|webp)|(?=\S*[\d_-])[\w-]{6,}|[\w-]*(?:logo|icon|thumb|avatar|image|photo)[\w-]*"
)
_CREDIT = re.compile(
    r"(?i)\W*(?:(?:photo(?:graph(?:er)?|s)?|image|picture|foto|bild|credit|source|quelle|crédit|©)\b.{2,70}"
    r"|.{0,60}\b(?:getty(?: images)?|associated press|reuters|afp|shutterstock|istock|istockphoto|ap|dpa|epa|flickr)\W*)"
)
_WORD = re.compile(r"\w{3,}")
_LEAST = 50  # characters: shorter captions may well stand twice
_LONGEST_CREDIT = 90
_FEW = 0.2


def drop_words_of_pictures(root: etree._Element, title: str) -> None:
    """Leaves the first of captions that say the same, no credit, and no alternative text of what the page says anyway."""
    said: set[str] = set()
    for element in list(root.iter(*_BLOCKS)):
        if not _is_caption(element) or any(True for _ in element.iterdescendants(*_BLOCKS, "table", "pre")):
            continue
        text = _squeezed(element)
        if text in said or (len(text) <= _LONGEST_CREDIT and _CREDIT.fullmatch(text)):
            remove(element)
        elif len(text) >= _LEAST:
            said.add(text)
    pictures = [each for each in root.iter("img") if each.get("alt")]
    if not pictures:
        return
    known = set(_WORD.findall(f"{title} {' '.join(root.itertext())}".casefold()))
    for picture in pictures:
        alternative = (picture.get("alt") or "").strip()
        words = _WORD.findall(alternative.casefold())
        new = sum(word not in known for word in words)
        around = next(picture.iterancestors("td", "th", "figure"), None)
        in_cell = around is not None and around.tag != "figure"
        captions = around.iter("figcaption") if around is not None and not in_cell else ()
        repeated = any(map(_squeezed, captions)) or (not in_cell and new <= _FEW * len(words))
        if repeated or _FILE.fullmatch(alternative):
            picture.attrib.pop("title", None)
            picture.set("alt", "")
        known.update(words)


def _is_caption(element: etree._Element) -> bool:
    for each in (element, element.getparent()):
        if each is not None and (each.tag in ("figcaption", "figure") or is_picture(each)):
            return True
    return False


def _squeezed(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())
