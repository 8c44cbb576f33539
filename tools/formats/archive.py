"""Archives (ZIP, TAR, 7z) and squeezed files (gzip, bzip2, xz, zstandard): listed and opened in memory only.

Nothing is ever written under a name that an archive gives, so a name like ../../x leads nowhere.
"""

import bz2
import io
import lzma
import tarfile
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from tools.errors import DocumentError
from tools.formats.mail import Letter, letter_of_message, letter_of_outlook
from tools.formats.source import Source
from tools.formats.zipped import MAX_MEMBER_BYTES, MAX_MEMBERS, Member, Zipped
from tools.page import Document
from tools.tables import table_text

MAX_UNPACKED = 200_000_000
_MAX_DEPTH = 4
_MAX_OPENED = 60
_MAX_SHOWN = 2_000_000
_MAX_SECONDS = 5
_PIECE = 1 << 16
_ENDINGS = {
    ".gz": "",
    ".bz2": "",
    ".xz": "",
    ".zst": "",
    ".tgz": ".tar",
    ".tbz2": ".tar",
    ".txz": ".tar",
    ".z": "",
}


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


@dataclass(frozen=True)
class Archive:
    """The files of an archive, and what gives the bytes of one."""

    kind: str
    members: tuple[Member, ...]
    read: Callable[[str], bytes]


def open_zip(source: Source) -> Archive:
    """A ZIP file. Raises DocumentError."""
    zipped = Zipped(source)
    return Archive("ZIP archive", zipped.members, zipped.read)


def open_tar(source: Source) -> Archive:
    """A TAR file, unsqueezed before. Raises DocumentError."""
    try:
        tar = tarfile.TarFile(fileobj=io.BytesIO(source.content))
        found = {}
        for count, each in enumerate(tar):
            if count >= MAX_MEMBERS:
                break
            if each.isfile():
                found[each.name.removeprefix("./")] = each
    except (tarfile.TarError, ValueError, EOFError, OSError, OverflowError):
        raise source.damaged("a TAR archive") from None

    def read(name: str) -> bytes:
        try:
            file = tar.extractfile(found[name])
            return file.read(MAX_MEMBER_BYTES) if file else b""
        except (tarfile.TarError, ValueError, EOFError, OSError, OverflowError):
            return b""

    return Archive("TAR archive", tuple(Member(name, each.size) for name, each in found.items()), read)


def open_seven_zip(source: Source) -> Archive:
    """A 7z file, to be read apart: its head may ask for any amount of memory. Raises DocumentError."""
    import py7zr
    from py7zr.exceptions import ArchiveError, PasswordRequired
    from py7zr.io import BytesIOFactory

    trouble = (ArchiveError, ValueError, EOFError, OSError, KeyError, TypeError, IndexError, AttributeError, lzma.LZMAError,
               RuntimeError, OverflowError, AssertionError)  # fmt: skip
    try:
        with py7zr.SevenZipFile(io.BytesIO(source.content)) as file:
            locked = file.needs_password()
            members = tuple(
                Member(each.filename, int(each.uncompressed or 0), locked)
                for each in file.list()
                if not each.is_directory
            )
    except PasswordRequired:
        raise source.locked("a 7z archive") from None
    except trouble:
        raise source.damaged("a 7z archive") from None
    if len(members) > MAX_MEMBERS:
        raise DocumentError(f"{source.shown} holds more than {MAX_MEMBERS:,} files: it is not opened.")

    def read(name: str) -> bytes:
        factory = BytesIOFactory(MAX_MEMBER_BYTES)
        try:
            with py7zr.SevenZipFile(io.BytesIO(source.content)) as file:
                file.extract(targets=[name], factory=factory)
            return bytes(factory.products[name].read()) if name in factory.products else b""
        except PasswordRequired:
            raise source.locked("a 7z archive") from None
        except trouble:
            return b""

    return Archive("7z archive", members, read)


def open_message(source: Source) -> Archive:
    """The attachments of an .eml file. Raises DocumentError."""
    return _attachments(letter_of_message(source))


def open_outlook(source: Source) -> Archive:
    """The attachments of a .msg file. Raises DocumentError."""
    return _attachments(letter_of_outlook(source))


def _attachments(letter: Letter) -> Archive:
    held = letter.attachments
    return Archive(
        "message",
        tuple(Member(name, len(content)) for name, content in held.items()),
        lambda name: held.get(name, b""),
    )


def archive_document(source: Source, archive: Archive, read: Callable[[Source], Document]) -> Document:
    """The list of an archive's files, and the text of those that can be read; or the one that is asked for.

    `read`: what turns the file inside into a Document. Raises DocumentError.
    """
    if source.depth >= _MAX_DEPTH:
        raise DocumentError(f"{source.shown} lies in more than {_MAX_DEPTH} archives: it is not opened.")
    if source.member:
        return _member(source, archive, read)
    rows = [(each.name, f"{each.size:,}" + (" (locked)" if each.locked else "")) for each in archive.members]
    parts = [
        f"{archive.kind} with {len(rows):,} files; open one as {source.shown}/<its path>.",
        table_text(("File", "Bytes"), rows),
    ]
    sheets: list[tuple[tuple[str, ...], ...]] = []
    shown = 0
    begun = time.monotonic()
    for each in archive.members[:_MAX_OPENED]:
        if (
            each.locked
            or source.depth
            or not each.size
            or shown > _MAX_SHOWN
            or time.monotonic() - begun > _MAX_SECONDS
            or "__MACOSX/" in each.name
        ):
            continue
        try:
            inner = read(_inside(source, each.name, archive.read(each.name)))
        except DocumentError:
            continue
        shown += len(inner.markdown)
        sheets += inner.sheets
        parts += [f"## {each.name}", inner.markdown]
    note = (
        "the archive is locked by a password: only its list could be read"
        if any(each.locked for each in archive.members)
        else ""
    )
    return source.document("\n\n".join(parts), note=note, sheets=tuple(sheets))


def _member(source: Source, archive: Archive, read: Callable[[Source], Document]) -> Document:
    wanted = source.member.strip("/")
    names = sorted((each.name for each in archive.members), key=len, reverse=True)
    for name in names:
        path = name.replace("\\", "/").strip("/")
        if wanted == path or wanted.startswith(path + "/"):
            inside = _inside(source, name, archive.read(name))
            return read(replace(inside, member=wanted[len(path) + 1 :]))
    some = ", ".join(reversed(names[-10:])) or "nothing"
    raise DocumentError(f"{source.shown} has no file {wanted!r} in it: it holds {some}.")


def _inside(source: Source, name: str, content: bytes) -> Source:
    path = name.replace("\\", "/").strip("/")
    url = f"{source.url}/{path}" if source.url else path
    return Source(content, url, path.rpartition("/")[2], main_only=source.main_only, depth=source.depth + 1)


def unsqueezed(source: Source) -> Source | None:
    """The file in a gzip, bzip2, xz or zstandard file; None when it is none of these. Raises DocumentError."""
    content = source.content
    if content.startswith(b"\x1f\x8b"):
        plain = _gunzipped(content)
    elif content.startswith(b"BZh"):
        plain = _unpacked(content, bz2.BZ2Decompressor)
    elif content.startswith(b"\xfd7zXZ\0"):
        plain = _unpacked(content, lambda: lzma.LZMADecompressor(memlimit=200_000_000))
    elif content.startswith(b"\x28\xb5\x2f\xfd"):
        from backports import zstd

        plain = _unpacked(content, zstd.ZstdDecompressor)
    else:
        return None
    if not plain:
        raise source.damaged("a compressed file")
    name = source.name
    for ending, rest in _ENDINGS.items():
        if name.lower().endswith(ending):
            name = name[: -len(ending)] + rest
            break
    return replace(source, content=plain, name=name, content_type="")


def _gunzipped(content: bytes) -> bytes:
    """All members of a gzip file up to the cap; of a damaged one what came before."""
    parts: list[bytes] = []
    taken = at = 0
    waiting = b""
    unpacker = zlib.decompressobj(31)
    try:
        while taken < MAX_UNPACKED and (waiting or at < len(content)):
            if not waiting:
                waiting = content[at : at + _PIECE]
                at += _PIECE
            part = unpacker.decompress(waiting, 1 << 20)
            waiting = unpacker.unconsumed_tail
            if unpacker.eof:
                waiting = unpacker.unused_data.lstrip(b"\0")
                unpacker = zlib.decompressobj(31)
            parts.append(part)
            taken += len(part)
        parts.append(unpacker.flush(1 << 10) if taken < MAX_UNPACKED else b"")
    except zlib.error:
        pass
    return b"".join(parts)


def _unpacked(content: bytes, unpacker: Callable[[], _Unpacker]) -> bytes:
    machine = unpacker()
    parts: list[bytes] = []
    taken = 0
    try:
        while taken < MAX_UNPACKED:
            if machine.eof:
                content = machine.unused_data
                if not content:
                    break
                machine = unpacker()
            part = machine.decompress(content, 1 << 20)
            content = b""
            parts.append(part)
            taken += len(part)
            if not part and machine.needs_input:
                break
    except (OSError, EOFError, lzma.LZMAError, ValueError):
        pass
    return b"".join(parts)
