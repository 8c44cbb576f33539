"""Where an address's fragment points to in the text of its document.

An anchor of a web page has no place in Markdown, so it is found again by the
words that follow it; a text fragment (`#:~:text=`) names the words itself.
"""

import re
from urllib.parse import unquote

from lxml import etree

from tools.find import FoldedText

_TEXT = ":~:text="
_UNREAD = frozenset({"script", "style", "template", "noscript", "head"})
_BLOCKS = frozenset(
    {
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "li",
        "td",
        "th",
        "dt",
        "dd",
        "div",
        "section",
        "tr",
        "pre",
        "br",
    }
)
_PIECE_CHARS = 50
_PIECES = 3
_HEADING = re.compile(r"(?m)^#{1,6}\s+(.+?)\s*#*$")


def is_route(fragment: str) -> bool:
    """Whether a fragment is the address of a page that scripts make ("#/moons", "#!/moons"), not a place in one."""
    return fragment.startswith(("/", "!"))


def place_of(fragment: str, text: str, folded: FoldedText, source: str = "") -> int | None:
    """Where in `text` (Markdown) the fragment points to; None when that cannot be told.

    `folded` is `text` made ready for finding; `source` is its HTML, or nothing.
    """
    plain, _, directive = fragment.partition(_TEXT)
    for wanted in re.split(r"&(?:text=)?", directive) if directive else ():
        if (place := _text_fragment(wanted, folded)) is not None:
            return place
    name = unquote(plain.removesuffix(":~:"))
    if not name:
        return None
    pieces = _words_at(source, name) if source else []
    for count in range(len(pieces), 0, -1):
        if found := folded.find_sequence(pieces[:count]):
            return found[0][0]
    slug = _slug(name)
    headings = (heading for heading in _HEADING.finditer(text) if slug and _slug(heading[1]) == slug)
    first = next(headings, None)
    return first.start() if first else None


def _text_fragment(wanted: str, folded: FoldedText) -> int | None:
    """`prefix-,start,end,-suffix` as the specification of text fragments has it; all but start may be left out."""
    parts = [unquote(part) for part in wanted.split(",")]
    raw = wanted.split(",")
    prefix = parts.pop(0) if len(raw) > 1 and raw[0].endswith("-") else ""
    suffix = parts.pop() if len(parts) > 1 and raw[-1].startswith("-") else ""
    if not parts or not parts[0].strip():
        return None
    prefix, suffix = prefix.removesuffix("-"), suffix.removeprefix("-")
    sequence = [part for part in (prefix, parts[0], suffix if len(parts) == 1 else "") if part]
    found = folded.find_sequence(sequence) or folded.find_sequence(parts[:1])
    if not found:
        return None
    start, end = found[0]
    if prefix:
        inner = [place for place, _ in folded.find_sequence(parts[:1]) if start <= place < end]
        return inner[0] if inner else start
    return start


def _words_at(source: str, name: str) -> list[str]:
    """The first words of each of the blocks that follow the anchor `name`."""
    parser = etree.HTMLParser(huge_tree=True, encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(source.encode("utf-8", "replace").replace(b"\0", b""), parser)
    except (etree.XMLSyntaxError, ValueError):
        return []
    if root is None:
        return []
    pieces: list[str] = []
    words = ""
    met = False
    for event, element in etree.iterwalk(root, events=("start", "end")):
        tag = element.tag
        if event == "start":
            here = not met and (element.get("id") == name or (tag == "a" and element.get("name") == name))
            met = met or here
            if not met or tag in _UNREAD:
                continue
            heard = element.text
        else:
            heard = element.tail
        if not met:
            continue
        if tag in _BLOCKS:
            pieces, words = _closed(pieces, words)
        words += heard or ""
        if len(pieces) >= _PIECES:
            break
    pieces, _ = _closed(pieces, words)
    return pieces[:_PIECES]


def _closed(pieces: list[str], words: str) -> tuple[list[str], str]:
    words = " ".join(words.split())
    if len(words) > _PIECE_CHARS:
        words = words[:_PIECE_CHARS].rsplit(" ", 1)[0]
    return ([*pieces, words] if words else pieces), ""


def _slug(heading: str) -> str:
    words = re.sub(r"\[([^\[\]]*)\]\([^)]{0,500}\)", r"\1", heading).casefold()
    return "-".join(re.findall(r"[^\W_]+", words))
