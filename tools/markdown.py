"""An HTML tree to Markdown: markdownify's conversions over a walk that no depth can break.

markdownify calls itself for every level of the tree and gives up at 330. Here
the tree is walked with a list as the stack; only elements that mean something
in Markdown open a frame, whose text is converted when it closes, so the work
grows with the text and not with the nesting.
"""

import re
from functools import lru_cache
from typing import Any

from lxml import etree
from markdownify import ATX, MarkdownConverter

from tools.address import join
from tools.attributes import language, picture
from tools.flow import Frame
from tools.grid import Cell, grid_text
from tools.page import escaped

_BLOCKS = frozenset(
    "address article aside body center dir div dl fieldset figcaption figure footer form header hgroup html legend main"
    " menu nav p section summary details optgroup tbody thead tfoot noscript search dialog frameset".split()
)
_FRAMES = frozenset(
    "a b strong em i del s strike code kbd samp tt pre h1 h2 h3 h4 h5 h6 li ul ol blockquote dt dd q sub sup td th"
    " caption table".split()
)
_SKIPPED = frozenset(
    "script style template head title meta link svg canvas object embed select textarea input button".split()
)
_REPLACED = frozenset("math iframe frame video audio".split())
_SINGLE = frozenset("br hr img tr".split())
_SAME = {"strong": "b", "i": "em", "s": "del", "strike": "del", "kbd": "code", "samp": "code", "tt": "code"}
_DEEPEST = {"li": 8, "ul": 8, "ol": 8, "blockquote": 3, "table": 4, "dd": 1}
_INVISIBLE = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
_SUBSCRIPT = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_SMALL = re.compile(r"[0-9+\-−]{1,6}")
_REFERENCE = re.compile(r"\[?[\w\s.]{1,12}\]?|[†‡*§]")


@lru_cache(10_000)
def _with(names: frozenset[str], name: str) -> frozenset[str]:
    return names | {name}


class TreeConverter:
    """Converts one tree. `base`: the address that its links are relative to."""

    def __init__(self, base: str = "", *, keep_references: bool = True) -> None:
        """`keep_references`: keep footnote marks such as [1], which only lead to another place of the page."""
        self._markdownify: Any = MarkdownConverter(
            heading_style=ATX, escape_asterisks=False, escape_underscores=False, bullets="-"
        )
        self._base = base
        self._keep_references = keep_references

    def convert_tree(self, root: etree._Element) -> str:
        """The Markdown of everything in `root`."""
        bottom = Frame("", root, frozenset())
        stack = [bottom]
        walk = etree.iterwalk(root, events=("start", "end"))
        top = bottom
        for event, element in walk:
            tag = element.tag
            if event == "start":
                if tag in _FRAMES:
                    self._open(stack, element, tag)
                    top = stack[-1]
                elif tag in _BLOCKS:
                    top.block()
                elif tag in _SKIPPED or not isinstance(tag, str):
                    walk.skip_subtree()
                    continue
                elif tag in _REPLACED:
                    walk.skip_subtree()
                    self._replaced(top, element)
                    continue
                elif tag in _SINGLE:
                    self._single(top, element, tag)
                if words := element.text:
                    top.text(words)
            else:
                if top.element is element and top is not bottom:
                    self._close(stack)
                    top = stack[-1]
                elif tag in _BLOCKS:
                    top.block()
                if (words := element.tail) and element is not root:
                    top.text(words)
        return _INVISIBLE.sub("", "".join(bottom.pieces)).strip()

    def _open(self, stack: list[Frame], element: etree._Element, tag: str) -> None:
        top = stack[-1]
        if not self._may_open(stack, tag):
            top.block()
            return
        if tag in ("td", "th"):
            if not top.rows:
                top.rows.append([])
        elif tag == "table":
            for frame in stack:
                frame.nested = frame.nested or frame.tag == "table"
        stack.append(Frame(tag, element, _with(top.inside, _SAME.get(tag, tag))))

    def _single(self, top: Frame, element: etree._Element, tag: str) -> None:
        """What holds no text of its own, and rows, whose cells are their table's."""
        if tag == "br":
            top.line()
        elif tag == "hr":
            top.block("---")
        elif tag == "img":
            top.inline(self._image(element))
        elif tag == "tr":
            if top.tag == "table":
                parent = element.getparent()
                if parent is not None and parent.tag == "thead" and top.heads == len(top.rows):
                    top.heads += 1
                top.rows.append([])
            else:
                top.block(gap=1)

    def _may_open(self, stack: list[Frame], tag: str) -> bool:
        if tag in ("td", "th", "caption"):
            return stack[-1].tag == "table"
        if deepest := _DEEPEST.get(tag):
            return tag not in stack[-1].inside or sum(frame.tag == tag for frame in stack) < deepest
        name = _SAME.get(tag, tag)
        return name not in stack[-1].inside and not (name == "code" and "pre" in stack[-1].inside)

    def _close(self, stack: list[Frame]) -> None:
        frame = stack.pop()
        top = stack[-1]
        tag = frame.tag
        raw = frame.pieces[0] if len(frame.pieces) == 1 else "".join(frame.pieces)
        text = raw if tag == "pre" else raw.strip()
        if tag in ("td", "th"):
            top.rows[-1].append(Cell.of(frame.element, text))
        elif tag == "caption":
            top.caption = " ".join(text.split())
        elif tag == "table":
            top.block("\n\n".join(part for part in (text, grid_text(frame)) if part))
        elif tag == "pre":
            top.block(self._code_block(frame.element, text))
        elif tag == "li":
            top.block(self._item(frame.element, text), gap=1)
        elif tag in ("ul", "ol"):
            top.block(text, gap=1 if "li" in top.inside else 2)
        elif tag == "dt":
            top.block(" ".join(text.split()))
        elif tag == "dd":
            top.block(self._markdownify.convert_dd(frame.element, text, set()).strip() if text else "", gap=1)
        elif tag == "blockquote":
            top.block(
                self._markdownify.convert_blockquote(frame.element, text, set()).strip() if text else ""
            )
        elif tag[0] == "h":
            heading = (
                self._markdownify.convert_hN(int(tag[1]), frame.element, text, set()).strip() if text else ""
            )
            top.block(heading if not top.inside & {"a", "li"} else " ".join(text.split()))
        else:
            self._close_inline(top, frame, text, raw)

    def _close_inline(self, top: Frame, frame: Frame, text: str, raw: str) -> None:
        """Marks around words; never around several blocks, where Markdown gives them no meaning."""
        tag, element = frame.tag, frame.element
        before = " " if frame.pieces and raw[:1] == " " else ""
        after = " " if frame.space else ""
        if top.pre:
            top.pieces.append(raw)
            return
        if tag == "a":
            text = self._link(element, text)
        elif tag in ("sup", "sub"):
            text = self._small(element, text, tag)
        elif "\n" in text:
            pass
        elif text and not (top.inside & {"code"}):
            function = self._markdownify.get_conv_fn_cached(_SAME.get(tag, tag))
            text = function(element, text, parent_tags=set()) if function else text
        if "\n\n" in text or frame.gap == 2:
            top.block(text)
        elif text:
            top.inline(before + text + after)
        else:
            top.space = top.space or bool(raw) or frame.space

    def _link(self, element: etree._Element, text: str) -> str:
        href = (element.get("href") or "").strip()
        if not text:
            text = " ".join((element.get("aria-label") or element.get("title") or "").split())
        if (
            not text
            or not href
            or href.startswith("#")
            or href[:11].lower().startswith(("javascript:", "data:"))
        ):
            return text
        url = escaped(join(self._base, href))
        if self._base and url.split("#")[0] == self._base.split("#")[0] and "#" in url:
            return text
        head, newline, rest = text.partition("\n")
        marks = re.match(r"(?:#{1,6}|[-*>]|\d+\.)\s+", head)
        lead = marks[0] if marks else ""
        return f"{lead}[{head[len(lead) :]}]({url}){newline}{rest}"

    def _image(self, element: etree._Element) -> str:
        words, source = picture(element)
        if not words:
            return ""
        return f"![{words}]({escaped(join(self._base, source))})" if source else words

    def _small(self, element: etree._Element, text: str, tag: str) -> str:
        """10^24 and H₂O must not become 1024 and H2O; as km^2 a unit is found however it was written."""
        link = element.find(".//a")
        if tag == "sup" and link is not None and _REFERENCE.fullmatch(text):
            return text if self._keep_references else ""
        if _SMALL.fullmatch(text):
            return f"^{text}" if tag == "sup" else text.translate(_SUBSCRIPT)
        return text

    def _item(self, element: etree._Element, text: str) -> str:
        if not text:
            return ""
        parent = element.getparent()
        marker = "- "
        if parent is not None and parent.tag == "ol":
            start = parent.get("start") or "1"
            first = int(start) if re.fullmatch(r"-?\d{1,9}", start) else 1
            place = parent.get("_place")
            number = first if place is None else int(place) + 1
            value = element.get("value") or ""
            number = int(value) if re.fullmatch(r"\d{1,9}", value) else number
            parent.set("_place", str(number))
            marker = f"{number}. "
        if "\n" not in text:
            return marker + text
        indent = "\n" + " " * len(marker)
        return marker + re.sub(r"\n(?!\n|$)", lambda _: indent, text)

    def _code_block(self, element: etree._Element, text: str) -> str:
        text = text.replace("\r\n", "\n").strip("\n").rstrip()
        if not text.strip():
            return ""
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=2))
        return f"{fence}{language(element)}\n{text}\n{fence}"

    def _replaced(self, top: Frame, element: etree._Element) -> None:
        """What stands for something that is no text: formulas, frames, films."""
        if element.tag == "math":
            source = element.xpath("string(.//*[local-name()='annotation'][contains(@encoding, 'tex')])")
            tex = " ".join(str(source or element.get("alttext") or "").split())
            tex = re.sub(r"^\{\\displaystyle (.*)\}$", r"\1", tex)
            top.inline(f" ${tex}$ " if tex else " ".join("".join(element.itertext()).split()))
            return
        source = element.get("src") or str(element.xpath("string(.//source/@src)"))
        if source and not source.startswith(("data:", "about:", "javascript:")):
            name = element.get("title") or element.get("name") or element.tag
            top.block(f"[{' '.join(name.split())}]({escaped(join(self._base, source))})")
