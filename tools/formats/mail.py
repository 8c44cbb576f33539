"""Messages: .eml as they travel, .msg as Outlook keeps them. Attachments are listed and can be read by their names."""

import email
import re
import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.errors import MessageError
from email.header import decode_header
from email.message import Message

from tools.charset import decode
from tools.formats.ole import Compound
from tools.formats.rtf import rtf_text, unpacked_rtf
from tools.formats.source import Source
from tools.page import Document
from tools.webpage import html_document

_HEADERS = ("From", "To", "Cc", "Bcc", "Date", "Subject")
_MAX_PARTS = 1_000
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


@dataclass
class Letter:
    """One message: its header lines, its text as Markdown, its attachments by name."""

    headers: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    attachments: dict[str, bytes] = field(default_factory=dict)

    def document(self, source: Source) -> Document:
        """The letter as a Document."""
        lines = [f"**{name}:** {value}" for name, value in self.headers.items() if value]
        parts = ["  \n".join(lines), *self.texts]
        if self.attachments:
            parts.append(
                "Attachments:\n\n"
                + "\n".join(
                    f"- {name} ({len(content):,} bytes)" for name, content in self.attachments.items()
                )
            )
        if not any(parts):
            raise source.damaged("a message")
        return source.document(
            "\n\n".join(part for part in parts if part), title=self.headers.get("Subject", "")
        )

    def attach(self, name: str, content: bytes) -> None:
        """Adds an attachment under a name that no other has."""
        name = re.sub(r"[\x00-\x1f/\\]+", "_", name).strip() or "attachment"
        stem, dot, ending = name.rpartition(".")
        count = 1
        while name in self.attachments:
            count += 1
            name = f"{stem or ending} ({count}){dot}{ending if stem else ''}"
        self.attachments[name] = content


def message_document(source: Source) -> Document:
    """An .eml file. Raises DocumentError."""
    return letter_of_message(source).document(source)


def outlook_document(source: Source) -> Document:
    """A .msg file. Raises DocumentError."""
    return letter_of_outlook(source).document(source)


def letter_of_message(source: Source) -> Letter:
    """The letter in an .eml file. Raises DocumentError."""
    content = source.content
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        content = decode(content)[0].encode()
    letter = Letter()
    try:
        message = email.message_from_bytes(content.lstrip(b"\xef\xbb\xbf\r\n"))
        for name in _HEADERS:
            letter.headers[name] = ", ".join(_header(value) for value in message.get_all(name, []))
        _gather(message, letter)
    except (MessageError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise source.damaged("a message") from None
    return letter


def _gather(message: Message, letter: Letter) -> None:
    waiting: list[Message] = [message]
    count = 0
    while waiting and count < _MAX_PARTS:
        part = waiting.pop()
        count += 1
        kind = part.get_content_type()
        name = _header(part.get_filename() or "")
        parts = part.get_payload()
        if kind == "message/rfc822" and part is not message and isinstance(parts, list) and parts:
            inner = parts[0]
            if not isinstance(inner, Message):
                continue
            letter.attach(name or f"{_header(inner.get('Subject', '') or 'message')}.eml", inner.as_bytes())
        elif isinstance(parts, list):
            inside = [each for each in parts if isinstance(each, Message)]
            waiting.extend(reversed(_best(inside) if kind == "multipart/alternative" else inside))
        elif part.get_content_disposition() == "attachment" or name or not kind.startswith("text/"):
            content = part.get_payload(decode=True)
            if isinstance(content, bytes) and content:
                letter.attach(name or kind.replace("/", "."), content)
        else:
            content = part.get_payload(decode=True)
            raw = content if isinstance(content, bytes) else b""
            text, _ = decode(raw, str(part.get_param("charset") or ""), markup=kind == "text/html")
            letter.texts.append(_body(text, kind == "text/html"))


def _best(parts: list[Message]) -> list[Message]:
    """Of the same text in several forms the richest that says something: HTML with its links before plain text."""
    for wanted in ("multipart/related", "multipart/mixed", "text/html", "text/plain"):
        for part in reversed(parts):
            if part.get_content_type() == wanted and (part.is_multipart() or str(part.get_payload()).strip()):
                return [part, *(each for each in parts if each.get_content_type() == "text/calendar")]
    return parts


def _body(text: str, markup: bool) -> str:
    if markup:
        return html_document(text, main_only=False).markdown
    return text.replace("\r\n", "\n").replace("\0", "").strip()


def _header(value: object) -> str:
    pieces = []
    try:
        decoded = decode_header(str(value))
    except (MessageError, ValueError):
        decoded = [(str(value), None)]
    for piece, charset in decoded:
        if isinstance(piece, bytes):
            piece = (
                decode(piece, charset or "", markup=False)[0]
                if charset != "unknown-8bit"
                else decode(piece)[0]
            )
        pieces.append(piece)
    text = "".join(pieces)
    if any("\udc80" <= sign <= "\udcff" for sign in text):
        text = decode(text.encode("utf-8", "surrogateescape"), markup=False)[0]
    return " ".join(text.split())


def letter_of_outlook(source: Source) -> Letter:
    """The letter in a .msg file. Raises DocumentError."""
    compound = Compound(source)
    letter = Letter()
    store = _Store(compound)
    sender, address = store.text("0C1A") or store.text("0042"), store.text("5D01") or store.text("0C1F")
    letter.headers = {
        "From": f"{sender} <{address}>"
        if sender and "@" in address and address != sender
        else sender or address,
        "To": store.text("0E04"),
        "Cc": store.text("0E03"),
        "Bcc": store.text("0E02"),
        "Date": store.moment(),
        "Subject": store.text("0037"),
    }
    html = store.raw("1013")
    body = store.text("1000").strip()
    if html.strip():
        letter.texts.append(_body(decode(html)[0], True))
    if not any(letter.texts) and body:
        letter.texts = [body]
    if not any(letter.texts) and (packed := store.raw("1009")):
        letter.texts = [rtf_text(unpacked_rtf(packed))]
    for name in compound.names:
        if re.fullmatch(r"__attach_version1\.0_#[0-9A-Fa-f]{8}", name):
            inside = _Store(compound, name + "/")
            label = inside.text("3707") or inside.text("3704") or inside.text("3001")
            letter.attach(label, inside.raw("3701"))
    return letter


class _Store:
    """The properties of a message or of an attachment."""

    def __init__(self, compound: Compound, folder: str = "") -> None:
        self._compound = compound
        self._folder = folder
        self._fixed = compound.read(folder + "__properties_version1.0")

    def text(self, number: str) -> str:
        """A property of text."""
        wide = self._compound.read(f"{self._folder}__substg1.0_{number}001F")
        if wide:
            return wide.decode("utf-16-le", "replace").replace("\0", "").replace("\r\n", "\n")
        narrow = self._compound.read(f"{self._folder}__substg1.0_{number}001E")
        page = self._number(0x3FFD) or self._number(0x3FDE)
        header = "utf-8" if page == 65001 else f"windows-{page}" if 1250 <= page <= 1258 else ""
        return (
            decode(narrow, header, markup=False)[0].replace("\0", "").replace("\r\n", "\n") if narrow else ""
        )

    def raw(self, number: str) -> bytes:
        """A property of bytes, or of text as bytes."""
        for kind in ("0102", "001E"):
            if content := self._compound.read(f"{self._folder}__substg1.0_{number}{kind}"):
                return content
        return (
            self._compound.read(f"{self._folder}__substg1.0_{number}001F")
            .decode("utf-16-le", "replace")
            .encode()
        )

    def moment(self) -> str:
        """When it was sent, in UTC."""
        ticks = self._number(0x0039) or self._number(0x0E06)
        try:
            return (
                (_EPOCH + timedelta(microseconds=ticks // 10)).strftime("%Y-%m-%d %H:%M UTC") if ticks else ""
            )
        except OverflowError:
            return ""

    def _number(self, wanted: int) -> int:
        for at in range(32 if not self._folder else 8, len(self._fixed) - 15, 16):
            _, number, _, value = struct.unpack_from("<HHIQ", self._fixed, at)
            if number == wanted:
                return int(value)
        return 0
