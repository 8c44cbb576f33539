"""What a page says twice: the caption of a picture as its alternative text, and again in each place where it is shown."""

import re
from collections.abc import Callable

from lxml import etree

from tools.names import is_picture

_BLOCKS = ("p", "figcaption", "div", "li", "section", "figure")
# A file's name where the words for a picture should be.
_FILE = re.compile(
    r"(?i)\S+\.(?:jpe?g|png|gif|svg|webp)|(?=\S*[\d_-])[\w-]{6,}|[\w-]*(?:logo|icon|thumb|avatar|image|photo)[\w-]*"
)
_LEAST = 50  # characters: shorter texts may well stand twice
_LEAST_WORDS = 20
_MAX_PICTURES = 300


def drop_repeats(root: etree._Element, remove: Callable[[etree._Element], None]) -> None:
    """Leaves the first of captions that say the same, and each picture's alternative text once."""
    said: set[str] = set()
    for element in list(root.iter(*_BLOCKS)):
        if not _is_caption(element) or any(True for _ in element.iterdescendants(*_BLOCKS, "table", "pre")):
            continue
        text = _squeezed(element)
        if text in said:
            remove(element)
        elif len(text) >= _LEAST:
            said.add(text)
    for figure in root.iter("figure"):
        if any("".join(each.itertext()).strip() for each in figure.iter("figcaption")):
            for each in figure.iter("img"):
                each.set("alt", "")
    for each in root.iter("img"):
        if _FILE.fullmatch((each.get("alt") or "").strip()):
            each.set("alt", "")
    pictures = [each for each in root.iter("img") if len(each.get("alt") or "") >= _LEAST_WORDS]
    if not pictures or len(pictures) > _MAX_PICTURES:
        return
    whole = _squeezed(root)
    for picture in pictures:
        alternative = " ".join((picture.get("alt") or "").split())
        if alternative in whole or alternative in said:
            picture.set("alt", "")
        said.add(alternative)


def _is_caption(element: etree._Element) -> bool:
    for each in (element, element.getparent()):
        if each is not None and (each.tag in ("figcaption", "figure") or is_picture(each)):
            return True
    return False


def _squeezed(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())
