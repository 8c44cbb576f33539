"""A web page to a Document: parsed at any depth, freed of what nobody sees, its main content found."""

import re

from lxml import etree

from tools.address import join
from tools.maincontent import main_content
from tools.markdown import TreeConverter
from tools.mass import remove
from tools.metadata import metadata_of
from tools.page import Document

_INVISIBLE = re.compile(r"(?i)(?:^|;)\s*(display\s*:\s*none|visibility\s*:\s*hidden)")
# Asked for as attributes: of their elements libxml2 would look up each among all it has found.
_PERHAPS_INVISIBLE = etree.XPath(
    "descendant-or-self::*/@*[name()='hidden' or name()='style' or name()='aria-hidden']"
)
_WRAPPERS = re.compile(
    r"(?i)</?(div|span|font|center|section|article|b|i|u|em|strong|big|small|a|p|main|header|footer|form|label|ins|del)\b[^<>]*>"
)
_TAG = re.compile(r"<[^<>]*>")


def html_document(text: str, *, url: str = "", name: str = "", main_only: bool = True) -> Document:
    """The page as Markdown: its main content, or all of it. Never raises."""
    root = _parse(text)
    if root is None:
        return Document(url, name, "")
    title = _title(root)
    href = root.xpath("string(//base/@href)")
    base = join(url, str(href)) if href else url
    metadata = metadata_of(root, base)
    _drop_invisible(root)
    body = root.find("body")
    whole = root if body is None else body
    chosen = main_content(whole, title) if main_only else whole
    markdown = TreeConverter(base, keep_references=not main_only).convert_tree(chosen)
    heading = whole.find(".//h1")
    title = (
        title or (" ".join("".join(heading.itertext()).split())[:200] if heading is not None else "") or name
    )
    return Document(url, title, markdown, metadata=metadata)


def _parse(text: str) -> etree._Element | None:
    """The tree, or None for a page of nothing."""
    root, too_deep = _tree(text)
    # What is nested deeper than the parser goes loses its wrappers, and in the end all its tags, but no words.
    if too_deep:
        root, too_deep = _tree(_WRAPPERS.sub("\n<br>", text))
    if too_deep:
        root, _ = _tree("<p>" + _TAG.sub(" ", text).replace("<", " "))
    if root is not None and root.find("body") is None and root.tag == "html" and not too_deep:
        # An element that the parser does not know does not end the head: an article would stay in it.
        root, _ = _tree("<body>" + text)
    return root


def _tree(text: str) -> tuple[etree._Element | None, bool]:
    parser = etree.HTMLParser(huge_tree=True, encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace").replace(b"\0", b""), parser)
    except etree.XMLSyntaxError:
        return None, False
    return root, any("depth" in str(entry.message) for entry in list(parser.error_log)[-1:])


def _title(root: etree._Element) -> str:
    for path in ("string(//head/title)", "string(//meta[@property='og:title']/@content)", "string(//title)"):
        if title := " ".join(str(root.xpath(path)).split()):
            return title[:300]
    return ""


def _drop_invisible(root: etree._Element) -> None:
    """Removes what a reader does not see, so that hidden words cannot speak to the model."""
    etree.strip_elements(root, "script", "style", "template", "noscript", with_tail=False)
    for attribute in _PERHAPS_INVISIBLE(root):
        element = attribute.getparent()
        tag = element.tag
        unseen = (
            element.get("hidden") is not None
            or (element.get("aria-hidden") == "true" and tag != "img")
            or _INVISIBLE.search(element.get("style") or "")
        )
        # The source of a formula stands in a hidden element beside its picture.
        formula = tag == "math" or element.find(".//math") is not None
        if unseen and not formula and tag not in ("html", "body"):
            remove(element)
