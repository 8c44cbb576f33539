"""Pages that are empty until their scripts run: the data that they carry all the same.

Such a page often holds its content as JSON, for search engines (JSON-LD) or
for its own scripts (`__NEXT_DATA__` and the like).
"""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree

from tools.address import join
from tools.page import Document, escaped

_MAX_CHARS = 200_000
_MAX_DEPTH = 12
_MAX_VALUE = 50_000
# Words of a page that has nothing to say but that it needs scripts.
_ASKS = re.compile(
    r"(?i)(enable|requires?|needs?|turn on|activate|without)\W+(\w+\W+){0,3}javascript|javascript\W+(\w+\W+){0,4}(disabled|required|enabled?|enable)"
)
_WAITS = re.compile(r"(?i)^\W*(loading|please wait|one moment)\b.{0,60}$")
_SHORT = 400
_JSON_TYPES = ("application/ld+json", "application/json", "application/vnd.api+json")
# Keys of script data that hold no words for a reader.
_DULL = re.compile(
    r"(?i)^(@context|@id|__typename|.*(hash|token|nonce|css|class(name)?|style|icon|color|colour|locale|buildid|src(set)?|sizes?|width|height|blurdata\w*))$"
)
_DATA = re.compile(r"^\s*(?:window\.)?(?:__[A-Z_]+__|__INITIAL_STATE__|__APOLLO_STATE__)\s*=\s*")


def is_shell(markdown: str, source: str) -> bool:
    """Whether a page (its Markdown, its HTML) says nothing without its scripts."""
    if "<script" not in source[:2_000_000].lower():
        return False
    words = markdown.strip()
    return not words or (len(words) < _SHORT and bool(_ASKS.search(words) or _WAITS.match(words)))


def shell_document(document: Document, source: str) -> Document | None:
    """The data in the page's scripts as a document; None when there is none worth reading."""
    root = _tree(source)
    if root is None:
        return None
    lines: list[str] = []
    for script in root.iter("script"):
        data = _json(_data_in(script))
        if data is not None:
            lines += _lines(_inner(data), "", 0)
    kept = list(dict.fromkeys(line for line in lines if line.strip()))
    text = "\n".join(kept)[:_MAX_CHARS]
    if sum(len(line.split()) > 3 for line in kept) < 1:
        return None
    note = (
        "this page is made by its scripts, which are not run here; what follows is the data that it carries"
    )
    return Document(document.url, document.title or _title(root), text, note, metadata=document.metadata)


def ways_out(source: str, url: str) -> str:
    """What else a page that needs scripts offers: its feed or its plain version; empty when nothing."""
    root = _tree(source)
    if root is None:
        return ""
    for path in (
        "//link[@rel='alternate'][contains(@type, 'rss') or contains(@type, 'atom') or contains(@type, 'json')]/@href",
        "//link[@rel='amphtml']/@href",
        "//noscript//a/@href",
    ):
        for target in root.xpath(path)[:1]:
            return join(url, str(target))
    return ""


def _tree(source: str) -> etree._Element | None:
    parser = etree.HTMLParser(huge_tree=True, encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(source.encode("utf-8", "replace").replace(b"\0", b""), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _title(root: etree._Element) -> str:
    return " ".join(str(root.xpath("string(//title)")).split())[:300]


def _data_in(script: etree._Element) -> str:
    """The JSON in a script, nothing when it is a program."""
    kind, text = (script.get("type") or "").lower(), script.text or ""
    if kind in _JSON_TYPES or script.get("id") in ("__NEXT_DATA__", "__NUXT_DATA__"):
        return text
    found = _DATA.match(text)
    return text[found.end() :].rstrip().rstrip(";") if found else ""


def _json(text: str) -> Any:
    text = re.sub(r"^\s*(<!--|/\*<!\[CDATA\[\*/|//<!\[CDATA\[)|(-->|/\*\]\]>\*/|//\]\]>)\s*$", "", text)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _inner(data: Any) -> Any:
    """The part of a script's data that is about the page: Next.js wraps it twice."""
    if isinstance(data, dict) and isinstance(props := data.get("props"), dict):
        return props.get("pageProps") or props
    return data


def _lines(value: Any, name: str, depth: int) -> Iterator[str]:
    """The data as nested Markdown lists: "- name: value"."""
    indent = "  " * max(0, depth - 1)
    label = f"- {name}: " if name else "- "
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        inner = {
            key: each
            for key, each in value.items()
            if not _DULL.match(key) and each not in (None, "", [], {})
        }
        if name and inner:
            yield f"{indent}- {name}:"
        for key, each in inner.items():
            yield from _lines(each, str(key).removeprefix("@"), depth + 1 if name else max(depth, 1))
    elif isinstance(value, list):
        for each in value:
            yield from _lines(each, name, depth)
    elif isinstance(value, str):
        words = " ".join(html.unescape(re.sub(r"<[^<>]{0,500}>", " ", value[:_MAX_VALUE])).split())
        if words.startswith(("http://", "https://")) and " " not in words:
            yield f"{indent}{label}[{words}]({escaped(words)})"
        elif words and not re.fullmatch(r"[A-Za-z0-9+/=_-]{40,}", words):
            yield f"{indent}{label}{words}"
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{indent}{label}{value}"
