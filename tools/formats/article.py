"""Scientific articles in XML (JATS, as PubMed Central and publishers give them), by way of HTML."""

import re

from lxml import etree

from tools.formats.xml import Element, attribute, child, every, local
from tools.webpage import html_document

_NAMES = {
    "sec": "section", "article-title": "h1", "italic": "i", "bold": "b", "monospace": "code", "disp-quote": "blockquote", "list-item": "li",
    "ext-link": "a", "uri": "a",
}  # fmt: skip
_BLOCKS = frozenset("front body back article-meta title-group abstract ack ref-list fn-group table-wrap table-wrap-foot fig boxed-text notes app "
                    "app-group glossary sub-article response front-stub caption supplementary-material def-list author-notes".split())  # fmt: skip
_LINES = frozenset("aff pub-date ref corresp kwd-group funding-statement fn subtitle def-item".split())
_SILENT = frozenset("journal-meta article-id article-categories contrib-group permissions self-uri counts custom-meta-group "
                    "pub-history history related-article object-id tex-math".split())  # fmt: skip
_KEPT = frozenset("p table thead tbody tfoot tr th td sub sup colgroup col".split())


def is_article(root: Element) -> bool:
    """Whether an XML text is an article of this kind."""
    return local(root) == "article" and (child(root, "front") is not None or child(root, "body") is not None)


def article_text(root: Element) -> tuple[str, str]:
    """(title, text as Markdown) of an article."""
    title = _said(next(every(root, "article-title"), None))
    page = etree.Element("body")
    people = [
        " ".join(part for part in (_said(child(name, "given-names")), _said(child(name, "surname"))) if part)
        for each in every(child(root, "front"), "contrib")
        for name in every(each, "name")
    ]
    page.extend(_converted(part) for part in root if local(part) in ("front", "body", "back"))
    if people:
        line = etree.Element("p")
        line.text = "by " + ", ".join(people)
        page.insert(0, line)
    return title, html_document(etree.tostring(page, encoding="unicode"), main_only=False).markdown


def _converted(element: Element) -> Element:
    """The element in HTML's names, everything in it too."""
    result = etree.Element("div")
    waiting: list[tuple[Element, Element, int]] = [(element, result, 1)]
    while waiting:
        source, target, depth = waiting.pop()
        for each in source:
            name = local(each)
            if not name or name in _SILENT:
                _add_text(target, each.tail)
                continue
            if name in ("inline-formula", "disp-formula"):
                made = etree.SubElement(target, "span" if name == "inline-formula" else "p")
                made.text, made.tail = _formula(each), each.tail
                continue
            made = etree.SubElement(target, _html_name(each, name, depth))
            made.text, made.tail = each.text, each.tail
            if made.tag == "span":
                made.tail = each.tail or " "  # names and numbers stand side by side without a gap
            for key in ("colspan", "rowspan"):
                if each.get(key):
                    made.set(key, each.get(key))
            if made.tag == "a":
                made.set("href", attribute(each, "href"))
            waiting.append((each, made, depth + (name == "sec")))
    return result


def _html_name(element: Element, name: str, depth: int) -> str:
    if name == "title":
        return f"h{min(6, depth)}"
    if name == "label" and local(element.getparent()) in ("fig", "table-wrap", "sec"):
        return "b"
    if name == "list":
        return "ol" if attribute(element, "list-type") in ("order", "ordered") else "ul"
    if name in _KEPT:
        return name
    if name == "article-title" and local(element.getparent()) != "title-group":
        return "span"
    return _NAMES.get(name) or ("div" if name in _BLOCKS else "p" if name in _LINES else "span")


def _said(element: Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def _formula(element: Element) -> str:
    """A formula as LaTeX when it is given so, else as its signs in a row."""
    label = _said(child(element, "label"))
    tex = next((each.text or "" for each in every(element, "tex-math")), "")
    if match := re.search(r"\\begin\{document\}(.*)\\end\{document\}", tex, re.DOTALL):
        tex = match[1]
    signs = tex or "".join(next((each.itertext() for each in every(element, "math")), ()))
    text = " ".join(signs.replace("$", " ").split())
    return (f"${text}$" if text else _said(element)) + (f" {label}" if label else "")


def _add_text(target: Element, text: str | None) -> None:
    if not text:
        return
    if len(target):
        target[-1].tail = (target[-1].tail or "") + text
    else:
        target.text = (target.text or "") + text
