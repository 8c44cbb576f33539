"""XML from strangers: no DTD, no entities, no network, any depth, and what is broken is read as far as it goes.

Names are local names: the strict and the transitional form of a format differ only in their namespaces.
"""

import io
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from lxml import etree

Element: TypeAlias = etree._Element

# Only a text whose declarations are visible as bytes is parsed without libxml2's own limits.
_VISIBLE = re.compile(
    rb"^(\xef\xbb\xbf)?\s*+(<\?xml(?:(?!encoding)[^>])*(encoding\s*=\s*[\"'](utf-8|us-ascii|ascii|iso-8859-\d+|windows-125\d)[\"'][^>]*)?\?>)?\s*+<",
    re.IGNORECASE,
)


# A tag takes 120 bytes in a tree and 5 microseconds to walk.
MAX_TAGS = 1_200_000
MAX_STREAMED_TAGS = 6_000_000


def bounded(content: bytes, tags: int = MAX_TAGS) -> bytes:
    """The text cut after about so many tags; a parser that mends closes what is open."""
    count = content.count(b"<")
    return content if count <= tags else content[: content.rfind(b"<", 0, len(content) * tags // count)]


def parse(content: bytes) -> Element | None:
    """The root of an XML text, mended where it is broken; None when there is none."""
    content = bounded(content)
    parser = etree.XMLParser(**_settings(content), remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return root


def stream(content: bytes, tags: tuple[str, ...]) -> Iterator[Element]:
    """Each element of the given local names as it ends, then forgotten: memory stays flat."""
    content = bounded(content, MAX_STREAMED_TAGS)
    events = etree.iterparse(
        io.BytesIO(content), tag=[f"{{*}}{tag}" for tag in tags], remove_comments=True, remove_pis=True,
        **_settings(content),
    )  # fmt: skip
    try:
        for _, element in events:
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]
    except (etree.XMLSyntaxError, ValueError):
        return


def local(element: Element) -> str:
    """The name of an element without its namespace; nothing for what is no element."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element | None, name: str, default: str = "") -> str:
    """An attribute by its local name."""
    if element is None:
        return default
    value = element.get(name)
    if value is not None:
        return str(value)
    for key, other in element.items():
        if str(key).endswith("}" + name):
            return str(other)
    return default


def child(element: Element | None, *path: str) -> Element | None:
    """The first descendant along a path of local names."""
    for name in path:
        element = (
            next((each for each in element if local(each) == name), None) if element is not None else None
        )
    return element


def every(element: Element | None, *names: str) -> Iterator[Element]:
    """All descendants of these local names, in the text's order."""
    return iter(()) if element is None else element.iter(*(f"{{*}}{name}" for name in names))


def words(element: Element | None, tag: str = "t") -> str:
    """The text of all descendants of one local name, joined without a gap."""
    return "".join(each.text or "" for each in every(element, tag))


def _settings(content: bytes) -> dict[str, Any]:
    plain = bool(_VISIBLE.match(content)) and b"<!DOCTYPE" not in content and b"<!ENTITY" not in content
    return {
        "resolve_entities": False, "no_network": True, "load_dtd": False, "recover": True, "huge_tree": plain,
    }  # fmt: skip
