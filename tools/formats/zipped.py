"""A ZIP file from a stranger, read under caps: members, bytes, encryption, and what is left of a damaged one."""

import io
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from functools import cached_property

from tools.errors import DocumentError
from tools.formats.source import Source
from tools.formats.xml import Element, bounded, parse

MAX_MEMBERS = 20_000
MAX_MEMBER_BYTES = 150_000_000
MAX_TOTAL_BYTES = 400_000_000

_LOCAL = struct.Struct("<4sHHHHHIIIHH")


@dataclass(frozen=True)
class Member:
    """One file of an archive: its path inside, its bytes when unpacked, and whether a password locks it."""

    name: str
    size: int
    locked: bool = False


class Zipped:
    """The members of one ZIP. Raises DocumentError when nothing at all can be read of it."""

    def __init__(self, source: Source, kind: str = "a ZIP archive") -> None:
        self._source = source
        self._kind = kind
        self._spent = 0
        self.damaged = False
        self._zip: zipfile.ZipFile | None = None
        self._salvaged: dict[str, tuple[int, int, int]] = {}
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(source.content))
            if len(self._zip.infolist()) > MAX_MEMBERS:
                raise DocumentError(
                    f"{source.shown} holds more than {MAX_MEMBERS:,} files: it is not opened."
                )
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError, struct.error):
            self.damaged = True
            self._salvaged = _members_without_directory(source.content)
            if not self._salvaged:
                raise source.damaged(kind) from None

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Every file, in the archive's order; folders are left out."""
        if self._zip is None:
            return tuple(Member(name, size) for name, (_, size, _) in self._salvaged.items())
        return tuple(
            Member(_name(info), info.file_size, bool(info.flag_bits & 1))
            for info in self._zip.infolist()
            if info.filename and not info.filename.endswith("/")
        )

    @cached_property
    def _names(self) -> dict[str, str]:
        """The name as it stands in the archive, by the name that a reader looks for."""
        names = {_key(member.name): member.name for member in reversed(self.members)}
        return names

    def matching(self, pattern: str) -> list[str]:
        """Names that match a regular expression from their start, case ignored, numbers in their order."""
        found = [name for key, name in self._names.items() if re.match(pattern, key)]
        return sorted(
            found, key=lambda name: [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", name)]
        )

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._names

    def read(self, name: str) -> bytes:
        """A member's bytes, as far as they can be read; nothing when it is missing. Raises DocumentError over a cap."""
        real = self._names.get(_key(name))
        if real is None:
            return b""
        left = min(MAX_MEMBER_BYTES, MAX_TOTAL_BYTES - self._spent)
        content = self._unpacked(real, left + 1)
        self._spent += len(content)
        if len(content) > left:
            raise DocumentError(
                f"{self._source.shown} unpacks to more than {left // 1_000_000:,} MB: it is not opened further."
            )
        return content

    def xml(self, name: str) -> Element | None:
        """A member as an XML tree; None when it is missing or no XML."""
        content = self.read(name)
        self.damaged = self.damaged or len(bounded(content)) < len(content)
        return parse(content) if content else None

    def _unpacked(self, name: str, limit: int) -> bytes:
        if self._zip is None:
            at, _, method = self._salvaged[name]
            return _inflated(self._source.content[at:], limit) if method == 8 else b""
        info = next(each for each in reversed(self._zip.infolist()) if _name(each) == name)
        if info.flag_bits & 1:
            raise self._source.locked(self._kind)
        parts: list[bytes] = []
        taken = 0
        try:
            with self._zip.open(info) as member:
                while taken < limit and (part := member.read(min(1 << 20, limit - taken))):
                    parts.append(part)
                    taken += len(part)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError, struct.error):  # fmt: skip
            # A wrong checksum or a cut end: what came until there is used.
            self.damaged = True
        return b"".join(parts)


def _name(info: zipfile.ZipInfo) -> str:
    """The member's name; one that is not marked as UTF-8 is mostly UTF-8 all the same."""
    if info.flag_bits & 0x800 or info.filename.isascii():
        return info.filename
    raw = info.filename.encode("cp437", "replace")
    for charset in ("utf-8", "gbk", "cp437"):
        try:
            return raw.decode(charset)
        except UnicodeDecodeError:
            continue
    return info.filename


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _members_without_directory(content: bytes) -> dict[str, tuple[int, int, int]]:
    """(start of the data, size, method) by name, found by the headers that stand before each member."""
    found: dict[str, tuple[int, int, int]] = {}
    at = content.find(b"PK\x03\x04")
    while 0 <= at <= len(content) - _LOCAL.size and len(found) < MAX_MEMBERS:
        _, _, flags, method, _, _, _, _, size, name_length, extra_length = _LOCAL.unpack_from(content, at)
        start = at + _LOCAL.size + name_length + extra_length
        name = content[at + _LOCAL.size : at + _LOCAL.size + name_length].decode("utf-8", "replace")
        if method == 8 and not flags & 1 and name and not name.endswith("/") and start < len(content):
            found.setdefault(name, (start, size, method))
        at = content.find(b"PK\x03\x04", at + 4)
    return found


def _inflated(data: bytes, limit: int) -> bytes:
    unpacker = zlib.decompressobj(-15)
    parts: list[bytes] = []
    taken = 0
    try:
        for at in range(0, len(data), 1 << 16):
            part = unpacker.decompress(data[at : at + (1 << 16)], limit - taken)
            parts.append(part)
            taken += len(part)
            if unpacker.eof or taken >= limit:
                break
    except zlib.error:
        pass
    return b"".join(parts)
