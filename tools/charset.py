"""Bytes to text in the order that the WHATWG gives browsers. Never raises.

BOM, then what the server said, then what the page says of itself, then what
the bytes look like, then windows-1252.
"""

import codecs
import re

from charset_normalizer import from_bytes

# Labels that browsers read as another, larger encoding than Python does.
_BROWSER_NAMES = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "johab": "cp949",
    "big5": "big5hkscs", "cp1252": "cp1252", "iso8859-8-i": "iso8859-8",
}  # fmt: skip
_EXTRA_LABELS = {
    "x-sjis": "cp932", "sjis": "cp932", "windows-31j": "cp932", "ks_c_5601-1987": "cp949", "ks_c_5601-1989": "cp949",
    "ksc5601": "cp949", "ksc_5601": "cp949", "korean": "cp949", "x-gbk": "gb18030", "chinese": "gb18030",
    "gb_2312-80": "gb18030", "csgb2312": "gb18030", "iso-ir-58": "gb18030", "x-x-big5": "big5hkscs",
    "cn-big5": "big5hkscs", "big5-hkscs": "big5hkscs", "x-euc-jp": "euc_jp", "cseucpkdfmtjapanese": "euc_jp",
    "dos-874": "cp874", "windows-874": "cp874", "x-mac-cyrillic": "mac_cyrillic", "x-mac-ukrainian": "mac_cyrillic",
    "macintosh": "mac_roman", "x-mac-roman": "mac_roman", "mac": "mac_roman", "iso-8859-8-i": "iso8859-8",
    "logical": "iso8859-8", "visual": "iso8859-8", "iso-8859-8-e": "iso8859-8", "unicode-1-1-utf-8": "utf-8",
    "x-unicode20utf8": "utf-8", "unicode": "utf-16-le", "ucs-2": "utf-16-le", "utf-16": "utf-16-le",
    "x-cp1250": "cp1250", "x-cp1251": "cp1251", "x-cp1252": "cp1252", "x-cp1253": "cp1253", "x-cp1254": "cp1254",
    "x-cp1255": "cp1255", "x-cp1256": "cp1256", "x-cp1257": "cp1257", "x-cp1258": "cp1258", "koi8-ru": "koi8_u",
    "koi": "koi8_r", "koi8": "koi8_r", "x-user-defined": "cp1252", "dos": "cp1252",
}  # fmt: skip
_BOMS = (
    (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe\0\0", "utf-32-le"), (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"),
)  # fmt: skip
_ESCAPES = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$B", "iso2022_jp_2"),
    (b"\x1b$@", "iso2022_jp_2"),
    (b"\x1b(J", "iso2022_jp_2"),
)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]+)[\"']")
# Fewer bytes than this outside of ASCII tell nothing about the language.
_TOO_FEW = 8
# Of mainframes and of one old DOS: no text of the web is in them, but many seem to be.
_NEVER = ["cp037", "cp273", "cp424", "cp500", "cp775", "cp875", "cp1026", "cp1140"]
_TURKISH = b"\xf0\xfd\xfe"  # ğ, ı and ş; in windows-1250 they are letters of three languages
_C1 = re.compile(rb"[\x80-\x9f]")
_LATIN_2 = re.compile(rb"[A-Za-z][\xb6\xb9\xbb\xbc\xbe]|[\xb6\xb9\xbb\xbc\xbe][a-z]")
_SPACE = b" \t\n\x0c\r"


def decode(content: bytes, header: str = "", *, markup: bool = True) -> tuple[str, str]:
    """The text and the name of the encoding used.

    `header`: the charset that the server named, or nothing. `markup`: look
    into the content for a meta tag or XML declaration too.
    """
    if name := unmistakable(content):
        return _replace(content, name).removeprefix("\ufeff"), name
    said = [codec_of(header)]
    if markup:
        said.append(prescan(content))
        if declared := _XML.match(content[:1024]):
            name = codec_of(declared[1].decode("ascii"))
            said.append("utf-8" if name.startswith("utf-16") and b"\0" not in content[:64] else name)
    # Bytes that are UTF-8 throughout are nothing else, whatever a page says of itself.
    if any(name not in ("", "utf-8") for name in said) and _is_utf8(content):
        return content.decode("utf-8"), "utf-8"
    for name in said:
        if name:
            text = _replace(content, name)
            # More than one bad character in a hundred: whoever said so was wrong.
            if text.count("\ufffd") <= len(text) / 100:
                return text, name
    return _detect(content)


def unmistakable(content: bytes) -> str:
    """The encoding that a mark, an escape or the places of the NUL bytes give away; empty when none does."""
    for bom, name in _BOMS:
        if content.startswith(bom):
            return name
    head = content[:1024]
    if b"\0" not in head:
        return next((name for escape, name in _ESCAPES if escape in head), "")
    if len(head) < 8:
        return ""
    empty = [head[place::4].count(0) / len(head[place::4]) for place in range(4)]
    # No character is above U+10FFFF.
    if empty[0] == 1 and max(head[1::4]) <= 0x10 and empty[3] < 0.9:
        return "utf-32-be"
    if empty[3] == 1 and max(head[2::4]) <= 0x10 and empty[0] < 0.9:
        return "utf-32-le"
    even, odd = (empty[0] + empty[2]) / 2, (empty[1] + empty[3]) / 2
    if odd > 0.5 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.5 and odd < 0.1 else ""


def charset_in(content_type: str) -> str:
    """The charset parameter of a Content-Type header, or nothing."""
    found = re.search(r"charset\s*=\s*[\"']?\s*([^\s\"';,]+)", content_type, re.IGNORECASE)
    return found[1] if found else ""


def codec_of(label: str) -> str:
    """Python's name for an encoding label as browsers understand it; empty when nobody knows it."""
    label = label.strip().lower()
    if label in _EXTRA_LABELS:
        return _EXTRA_LABELS[label]
    try:
        info = codecs.lookup(label)
    except (LookupError, ValueError):
        return ""
    if not getattr(info, "_is_text_encoding", True):
        return ""
    return _BROWSER_NAMES.get(info.name, info.name)


def prescan(content: bytes) -> str:
    """The encoding that a page's own meta tag names in its first 1,024 bytes (the WHATWG's prescan)."""
    data = content[:1024]
    at = 0
    while at < len(data):
        if data.startswith(b"<!--", at):
            end = data.find(b"-->", at + 2)
            if end < 0:
                return ""
            at = end + 3
        elif re.match(rb"<meta[\s/]", data[at : at + 6], re.IGNORECASE):
            name, at = _meta(data, at + 5)
            if name:
                return name
        elif re.match(rb"</?[a-z]", data[at : at + 3], re.IGNORECASE):
            while at < len(data) and data[at] not in _SPACE + b">":
                at += 1
            attribute: tuple[bytes, bytes] | None = (b"", b"")
            while attribute is not None:
                attribute, at = _attribute(data, at)
            at += 1
        elif data[at : at + 2] in (b"<!", b"</", b"<?"):
            end = data.find(b">", at)
            if end < 0:
                return ""
            at = end + 1
        else:
            following = data.find(b"<", at + 1)
            if following < 0:
                return ""
            at = following
    return ""


def _meta(data: bytes, at: int) -> tuple[str, int]:
    seen: set[bytes] = set()
    pragma = False
    need_pragma: bool | None = None
    charset = ""
    while True:
        attribute, at = _attribute(data, at)
        if attribute is None:
            break
        key, value = attribute
        if key in seen:
            continue
        seen.add(key)
        if key == b"http-equiv":
            pragma = value == b"content-type"
        elif key == b"charset":
            charset, need_pragma = codec_of(value.decode("latin-1")), False
        elif key == b"content" and need_pragma is None:
            found = re.search(rb"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", value)
            name = codec_of((found[1] or found[2] or found[3] or b"").decode("latin-1")) if found else ""
            if name:
                charset, need_pragma = name, True
    if at >= len(data) or not charset or need_pragma is None or (need_pragma and not pragma):
        return "", at
    # The tag itself was just read as ASCII, so it cannot be UTF-16.
    return ("utf-8" if charset.startswith("utf-16") else charset), at


def _attribute(data: bytes, at: int) -> tuple[tuple[bytes, bytes] | None, int]:
    """The next attribute of a tag, in lower case, and where reading goes on; None at the end of the tag."""
    while at < len(data) and data[at] in _SPACE + b"/":
        at += 1
    if at >= len(data) or data[at : at + 1] == b">":
        return None, at
    start = at
    while (
        at < len(data) and not (data[at : at + 1] == b"=" and at > start) and data[at] not in _SPACE + b"/>"
    ):
        at += 1
    key = data[start:at].lower()
    while at < len(data) and data[at] in _SPACE:
        at += 1
    if data[at : at + 1] != b"=":
        return (key, b""), at
    at += 1
    while at < len(data) and data[at] in _SPACE:
        at += 1
    mark = data[at : at + 1]
    if mark in (b'"', b"'") and mark:
        end = data.find(mark, at + 1)
        if end < 0:
            return None, len(data)
        return (key, data[at + 1 : end].lower()), end + 1
    start = at
    while at < len(data) and data[at] not in _SPACE + b">":
        at += 1
    return (key, data[start:at].lower()), at


def _detect(content: bytes) -> tuple[str, str]:
    try:
        return content.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        pass
    text = content.decode("utf-8", "replace")
    # A few bad bytes among good ones; where none is good, it never was UTF-8.
    if text.count("\ufffd") <= len(text) / 100 and any(each > "\x7f" and each != "\ufffd" for each in text):
        return text, "utf-8"
    if sum(byte > 127 for byte in content[:4096]) < _TOO_FEW:
        return _replace(content, "cp1252"), "windows-1252"
    # A sample is enough to tell, and the whole of a large page would take seconds.
    best = from_bytes(content[:50_000], cp_exclusion=_NEVER).best()
    name = codec_of(best.encoding) if best else ""
    # ISO 8859-2 and windows-1250 differ in where š, ž, ť, ś and ź stand.
    if name == "cp1250" and all(byte in content for byte in _TURKISH):
        name = "cp1254"
    if name == "cp1250" and not _C1.search(content) and _LATIN_2.search(content):
        name = "iso8859-2"
    return _replace(content, name or "cp1252"), name or "windows-1252"


def _is_utf8(content: bytes) -> bool:
    """Whether this is UTF-8 with enough beyond ASCII to be sure."""
    if sum(byte > 0xBF for byte in content[:200_000]) < 2 * _TOO_FEW:
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _replace(content: bytes, name: str) -> str:
    try:
        return content.decode(name, "replace")
    except (LookupError, ValueError):  # a codec that cannot replace, such as idna
        return content.decode("cp1252", "replace")
