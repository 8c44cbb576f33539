"""What the attributes of elements say: a picture's words and address, a code block's language."""

import re

from lxml import etree

# Where pages keep the address of a picture that is loaded late, the true one first.
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src", "srcset", "data-srcset")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*|sourceCode\s+)([\w+#-]+)"
)
_NO_LANGUAGE = frozenset("text plain none plaintext nohighlight default source wrapper notranslate".split())


def picture(element: etree._Element) -> tuple[str, str]:
    """The words that stand for a picture and where it is; never a data: address."""
    words = " ".join((element.get("alt") or element.get("title") or "").split())
    words = words.replace("[", "(").replace("]", ")")
    for name in _SOURCES:
        value = (element.get(name) or "").strip()
        if value and not value.lower().startswith("data:"):
            return words, value.split(",")[0].split()[0] if "srcset" in name and value.strip(",") else value
    return words, ""


def language(element: etree._Element) -> str:
    """The language of a code block, as its own, its child's or its wrapper's class says."""
    parent = element.getparent()
    for place in (element, element.find("code"), parent, None if parent is None else parent.getparent()):
        if place is None:
            continue
        found = _LANGUAGE.search(place.get("class") or "")
        name = (
            found[1]
            if found
            else place.get("data-lang") or place.get("data-language") or place.get("lang") or ""
        )
        if place in (parent,) and not found and name == place.get("lang"):
            continue
        if name and name.lower() not in _NO_LANGUAGE and re.fullmatch(r"[\w+#-]{1,20}", name):
            return name.lower()
    return ""
