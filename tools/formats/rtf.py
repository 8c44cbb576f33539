"""Rich Text Format, as a file and as Outlook packs it."""

import re
import struct
from collections.abc import Callable

from striprtf.striprtf import rtf_to_text

from tools.formats.source import Source
from tools.page import Document

_MAX_BYTES = 10_000_000  # a second a megabyte
_TO_TEXT: Callable[..., str] = rtf_to_text  # the library has no types
_DICTIONARY = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor "
    b"MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)


def rtf_document(source: Source) -> Document:
    """An .rtf file. Raises DocumentError."""
    text = rtf_text(source.content)
    if not text:
        raise source.damaged("an RTF text")
    title = re.search(rb"\{\\title ([^{}\\]{1,200})\}", source.content[:20_000])
    return source.document(text, title=title[1].decode("cp1252", "replace") if title else "")


def rtf_text(content: bytes) -> str:
    """The words of an RTF text, paragraphs divided by empty lines; nothing when there are none."""
    # Pictures are long runs of hexadecimal digits, which would be read sign by sign.
    content = re.sub(rb"[0-9a-fA-F\r\n]{2000,}", b"", content)[:_MAX_BYTES]
    try:
        text = _TO_TEXT(content.decode("cp1252", "replace"), errors="replace")
    except (ValueError, IndexError, LookupError, OverflowError, TypeError, AttributeError):
        return ""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "")
    return re.sub(r"\n\s*\n+", "\n\n", text.replace("\r", "").replace("\n", "\n\n")).strip()


def unpacked_rtf(packed: bytes) -> bytes:
    """The RTF text in Outlook's packed form (LZFu); what can be unpacked of a damaged one."""
    if len(packed) < 16:
        return b""
    _, size, form = struct.unpack_from("<III", packed)
    if form == 0x414C454D:
        return packed[16 : 16 + size]
    size = min(size, _MAX_BYTES)
    ring = bytearray(_DICTIONARY.ljust(4096, b" "))
    write = len(_DICTIONARY)
    result = bytearray()
    at = 16
    while at < len(packed) and len(result) < size:
        flags = packed[at]
        at += 1
        for bit in range(8):
            if at >= len(packed) or len(result) >= size:
                break
            if not flags >> bit & 1:
                signs = packed[at : at + 1]
                at += 1
            else:
                pair = int.from_bytes(packed[at : at + 2], "big")
                at += 2
                place, length = pair >> 4, (pair & 15) + 2
                if place == write:
                    return bytes(result)
                for step in range(length):
                    sign = ring[(place + step) % 4096]
                    ring[write] = sign
                    write = (write + 1) % 4096
                    result.append(sign)
                continue
            for sign in signs:
                ring[write] = sign
                write = (write + 1) % 4096
                result.append(sign)
    return bytes(result)
