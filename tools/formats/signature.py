"""What a file is, by its first bytes and by what its container holds. Names and types are not looked at."""

import struct

from tools.errors import DocumentError
from tools.formats.ole import Compound
from tools.formats.source import Source
from tools.formats.zipped import Zipped

_STARTS = (
    (b"%PDF-", "pdf"), (b"{\\rtf", "rtf"), (b"SQLite format 3\0", "sqlite"), (b"PAR1", "parquet"), (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"\x89PNG\r\n\x1a\n", "image"), (b"\xff\xd8\xff", "image"), (b"GIF87a", "image"), (b"GIF89a", "image"),
    (b"II*\0", "image"), (b"MM\0*", "image"), (b"8BPS\0\1", "image"), (b"\0\0\1\0\1\0", "image"),
)  # fmt: skip
_OTHERS = (
    (b"RIFF", "a media file"), (b"\x1f\x8b", "a gzip archive"), (b"Rar!", "a RAR archive"), (b"ID3", "a sound file"),
    (b"\xff\xfb", "a sound file"), (b"\xff\xf3", "a sound file"), (b"OggS", "a media file"), (b"fLaC", "a sound file"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"\0\0\0", "a media file"), (b"\xd0\xcf\x11\xe0", "an Office file of the old format"),
    (b"PK\x03\x04", "a ZIP archive or an Office file"),
)  # fmt: skip
_FILMS = dict.fromkeys(
    (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), "a HEIC picture"
) | {
    b"M4A ": "a sound file",
    b"M4B ": "a sound file",
}
INSTEAD = {
    "a HEIC picture": "save it as JPEG or PNG and use that",
    "a RAR archive": "pack its files as ZIP or 7z, or use one of them",
}
"""What to do where no library that is free for all opens a kind of file, by what `name_of_binary` says."""
_PARTS = (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx"))
_STREAMS = (("EncryptedPackage", "locked"), ("WordDocument", "doc"), ("PowerPoint Document", "ppt"), ("Workbook", "xls"), ("Book", "xls"),
            ("__properties_version1.0", "msg"))  # fmt: skip


def kind_of(content: bytes) -> str:
    """The key of a binary format; nothing for text and for what is not known."""
    for start, kind in _STARTS:
        if content.startswith(start):
            return kind
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "image"
    if content[4:8] == b"ftyp" and content[8:12] in (b"avif", b"avis"):
        return "image"
    if _is_sound(content):
        return "sound"
    if content.startswith(b"BM") and struct.unpack("<I", content[2:6].ljust(4, b"\0"))[0] == len(content):
        return "image"
    if content.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK00PK\x03\x04", b"PK\x07\x08PK\x03\x04")):
        return _kind_of_zip(content)
    if content.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _kind_of_compound(content)
    if b"%PDF-" in content[:1024]:
        return "pdf"
    return "tar" if _is_tar(content) else ""


def _is_sound(content: bytes) -> bool:
    if content.startswith((b"fLaC", b"OggS", b"ID3\2", b"ID3\3", b"ID3\4")):
        return True
    if content.startswith(b"RIFF"):
        return content[8:12] == b"WAVE"
    if content[4:8] == b"ftyp":
        return content[8:12] in (b"M4A ", b"M4B ")
    # A frame of MPEG layer III without anything before it; no text holds a NUL.
    return (
        content.startswith((b"\xff\xfb", b"\xff\xf3", b"\xff\xf2", b"\xff\xfa")) and b"\0" in content[:4096]
    )


def name_of_binary(content: bytes) -> str:
    """What kind of unreadable file this is; nothing for text."""
    head = content[:4096]
    if head[4:8] == b"ftyp":
        return _FILMS.get(head[8:12], "a film")
    for magic, kind in _OTHERS:
        if head.startswith(magic) and (b"\0" in head or kind.startswith("a ZIP")):
            return kind
    odd = sum(byte < 32 and byte not in b"\t\n\r\x0c\x1b" for byte in head)
    return "a binary file" if odd > len(head) / 20 else ""


def _kind_of_zip(content: bytes) -> str:
    try:
        names = [each.name.replace("\\", "/").lstrip("/").lower() for each in Zipped(Source(content)).members]
    except DocumentError:
        return "zip"
    if content[30:38] == b"mimetype":
        kind = content[38:90]
        if kind.startswith(b"application/epub+zip"):
            return "epub"
        if kind.startswith(b"application/vnd.oasis.opendocument"):
            return "odf"
    if "meta-inf/container.xml" in names:
        return "epub"
    if "content.xml" in names and ("meta-inf/manifest.xml" in names or "styles.xml" in names):
        return "odf"
    if "[content_types].xml" in names or any(name.endswith("_rels/.rels") for name in names):
        for folder, key in _PARTS:
            if any(name.startswith(folder) for name in names):
                return "xlsb" if key == "xlsx" and "xl/workbook.bin" in names else key
    return "zip"


def _kind_of_compound(content: bytes) -> str:
    try:
        names = [name.lower() for name in Compound(Source(content)).names]
    except DocumentError:
        names = [name.lower() for name, _ in _STREAMS if name.encode("utf-16-le") in content]
    for name, kind in _STREAMS:
        if name.lower() in names:
            return kind
    return "ole"


def _is_tar(content: bytes) -> bool:
    """Whether the first block carries the checksum of a TAR header; very old ones have no other mark."""
    head = content[:512]
    if len(head) < 512 or not head[0]:
        return False
    digits = head[148:156].strip(b"\0 ")
    try:
        return int(digits, 8) == sum(head[:148]) + 8 * 32 + sum(head[156:])
    except ValueError:
        return False
