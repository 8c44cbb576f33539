"""What the names of elements (classes and ids) say of them: which are no part of a page's content, and how surely."""

import re
from functools import lru_cache

from lxml import etree

_ROLES = frozenset(
    "navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar".split()
)
FURNITURE = frozenset("nav footer aside form button dialog menu".split())
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_BESIDE = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|(?:side|right|left|nav)-?(?:bar|rail|col|column)|footer|foot-?head|cookies?|consent|gdpr"
    r"|newsletters?|related|recommend(?:ed|ations?)?|recirc|trending|most-?read|outbrain|taboola|pop-?up|modal|sr-only"
    r"|visually-?hidden|screen-?reader(?:-text)?|noprint|print-?(?:only|header|footer|logo)|rodape|fusszeile|sharedaddy|jetpack-likes?|(?:asset-|inline-?)?gallery|slide-?shows?|carousel)(?:$|[\s_-])"
    r"|(?:^|\s)(?:is-)?hidden(?:$|\s)"
)
_NAMED = re.compile(
    r"(?:^|[\s_-])(?:menus?|breadcrumbs?|shar(?:e|ing)(?:-?(?:bar|tools|links|buttons?))?|social|socials|subscri(?:be|ption)"
    r"|promos?|promotions?|sponsor(?:ed)?|advert(?:s|isement|ising)?|ads?|banner|popular|more-?(?:stories|articles|news|from|on)"
    r"|read-?(?:more|next)|also-?read|skip-?link|pagination|pager|tool-?bar|log-?in|sign-?(?:up|in)|paywall|mw-editsection|catlinks"
    r"|navbox|tag-?(?:s|list|cloud)|filed-under|author-?(?:bio|info|box)|(?:user|author|writer)-bio|about-?(?:the-?)?author"
    r"|contributor|disclaimer|copyright|byline|(?:post|entry|article|node)-?(?:meta-?)?(?:meta|info)|info-?bar|timestamp"
    r"|feedback|whatsapp|wabtn)(?:$|[\s_-])"
)
_COMMENTS = re.compile(
    r"(?:^|[\s_-])(?:comments?|comment-?(?:s|list|section|area)|disqus|respond|replies|discussion)(?:$|[\s_-])"
)
BESIDE = 0.4
"""The share that goes for the surest of names."""
_PICTURE = re.compile("caption|credit|gallery|slide|photo|image|media")
_PART, _LITTLE_OF_IT = 0.25, 0.2


def most_of_page(element: etree._Element) -> float:
    """The share of a page's text up to which an element goes for what it is called; 0: its names say nothing."""
    return (_PART if is_furniture(element) else 0.0) + (_share(names) if (names := _names(element)) else 0.0)


def is_furniture(element: etree._Element) -> bool:
    """Whether its tag or its role says that an element is none of the content, such as <nav>."""
    return element.tag in FURNITURE or element.get("role") in _ROLES


def is_comments(element: etree._Element) -> bool:
    """Whether an element is called the place of the readers' comments."""
    return bool(names := _names(element)) and _are_comments(names)


def is_picture(element: etree._Element) -> bool:
    """Whether an element is called what holds a picture, or the words to it."""
    return bool(names := _names(element)) and _are_of_picture(names)


def _names(element: etree._Element) -> str:
    name, of = element.get("class"), element.get("id")
    return f"{name} {of}" if name and of else name or of or ""


@lru_cache(20_000)
def _share(names: str) -> float:
    names = _HUMP.sub("-", names).lower()
    return BESIDE if _BESIDE.search(names) else _LITTLE_OF_IT if _NAMED.search(names) else 0.0


@lru_cache(20_000)
def _are_comments(names: str) -> bool:
    return bool(_COMMENTS.search(_HUMP.sub("-", names).lower()))


@lru_cache(20_000)
def _are_of_picture(names: str) -> bool:
    return bool(_PICTURE.search(names.lower()))
