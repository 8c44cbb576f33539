"""Recordings: kind, length and what is written about them. What is said in them is for a transcription."""

import re
import struct
from dataclasses import dataclass

from tools.formats.source import Source
from tools.page import Document

_NOTE = (
    "only what is written about this recording could be read: no transcription is set up (TRANSCRIPTION_URL)"
)
# Kilobits a second of MPEG layer III: version 1, then versions 2 and 2.5.
_RATES = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
_SAMPLES = (44100, 48000, 32000)
_TAGS = {b"TIT2": "Title", b"TPE1": "Artist", b"TALB": "Album", b"TDRC": "Date"}
_ENCODINGS = ("latin-1", "utf-16", "utf-16-be", "utf-8")


@dataclass(frozen=True)
class _Sound:
    """`seconds` is None where nothing tells."""

    kind: str
    seconds: float | None = None
    details: str = ""


def sound_document(source: Source) -> Document:
    """A recording of any of the usual kinds; only its heads are read. Raises DocumentError."""
    content = source.content
    try:
        sound = _sound(content)
        tags = _tags(content) if content.startswith(b"ID3") else []
    except (struct.error, IndexError, ZeroDivisionError, ValueError):
        raise source.damaged("a recording") from None
    length = f", {_clock(sound.seconds)} long" if sound.seconds is not None else ", of unknown length"
    first = f"{sound.kind} recording{length}{f', {sound.details}' if sound.details else ''}"
    return source.document("\n".join([first, *tags]), note=_NOTE)


def _sound(content: bytes) -> _Sound:
    if content.startswith(b"RIFF"):
        return _wave(content)
    if content.startswith(b"fLaC"):
        packed = int.from_bytes(content[18:26], "big")
        rate, channels, samples = packed >> 44, (packed >> 41 & 7) + 1, packed & (1 << 36) - 1
        return _Sound("FLAC", samples / rate if samples else None, _details(rate, channels))
    if content.startswith(b"OggS"):
        return _ogg(content)
    if content[4:8] == b"ftyp":
        at = content.find(b"mvhd")
        wide = content[at + 4] == 1
        rate, units = struct.unpack_from(">IQ" if wide else ">II", content, at + (24 if wide else 16))
        return _Sound("M4A", units / rate if at > 0 else None)
    return _mpeg(content)


def _wave(content: bytes) -> _Sound:
    at, size, rate, channels, each = 12, 0, 0, 0, 0
    while at + 8 <= len(content):
        name, length = struct.unpack_from("<4sI", content, at)
        if name == b"fmt ":
            channels, rate, each = struct.unpack_from("<HII", content, at + 10)
        elif name == b"data":
            size = min(length, len(content) - at - 8)
        at += 8 + length + length % 2
    return _Sound("WAV", size / each, _details(rate, channels))


def _ogg(content: bytes) -> _Sound:
    last = content.rfind(b"OggS")
    units = struct.unpack_from("<q", content, last + 6)[0]
    if (at := content.find(b"OpusHead", 0, 200)) >= 0:
        skipped = struct.unpack_from("<H", content, at + 10)[0]
        return _Sound("Ogg Opus", max(0, units - skipped) / 48000, _details(0, content[at + 9]))
    at = content.find(b"\x01vorbis", 0, 200)
    if at < 0:
        return _Sound("Ogg")
    channels, rate = struct.unpack_from("<BI", content, at + 11)
    return _Sound("Ogg Vorbis", units / rate, _details(rate, channels))


def _mpeg(content: bytes) -> _Sound:
    at = _after_tags(content)
    while at + 4 <= len(content) and not _is_frame(content, at):
        at += 1
    version, rate_at, sample_at = content[at + 1] >> 3 & 3, content[at + 2] >> 4, content[at + 2] >> 2 & 3
    newest, mono = version == 3, content[at + 3] >> 6 == 3
    samples = _SAMPLES[sample_at] // (1 if newest else 2 if version == 2 else 4)
    details = _details(samples, 1 if mono else 2)
    # The head of a file of varying rate says how many frames there are.
    head = content[at : at + 200]
    for mark in (b"Xing", b"Info"):
        if (found := head.find(mark)) > 0 and head[found + 7] & 1:
            frames = struct.unpack_from(">I", head, found + 8)[0]
            return _Sound("MP3", frames * (1152 if newest else 576) / samples, details)
    rate = _RATES[0 if newest else 1][rate_at] * 1000
    return _Sound("MP3", (len(content) - at) * 8 / rate, details)


def _is_frame(content: bytes, at: int) -> bool:
    """Whether a frame of layer III begins here, with a rate that there is."""
    first, second, third = content[at : at + 3]
    layer_three = first == 0xFF and second & 0xE6 == 0xE2 and second >> 3 & 3 != 1
    return layer_three and 0 < third >> 4 < 15 and third >> 2 & 3 < 3


def _after_tags(content: bytes) -> int:
    return 10 + _size(content[6:10]) if content.startswith(b"ID3") else 0


def _size(four: bytes) -> int:
    """A number of four times seven bits."""
    return sum((byte & 127) << shift for byte, shift in zip(four, (21, 14, 7, 0), strict=True))


def _tags(content: bytes) -> list[str]:
    """Title, artist and so on, as ID3v2.3 and 2.4 have them."""
    end, at, found = _after_tags(content), 10, []
    while at + 11 < end and content[at : at + 4].strip(b"\0"):
        name, four = content[at : at + 4], content[at + 4 : at + 8]
        length = _size(four) if content[3] == 4 else int.from_bytes(four, "big")
        if name in _TAGS and 1 < length < 2000 and content[at + 10] < 4:
            text = content[at + 11 : at + 10 + length].decode(_ENCODINGS[content[at + 10]], "replace")
            words = " ".join(re.sub(r"[\0\ufeff]+", " ", text).split())
            found += [f"- {_TAGS[name]}: {words}"] if words else []
        at += 10 + length
    return found


def _details(rate: int, channels: int) -> str:
    parts = [f"{rate:,} Hz"] if rate else []
    return ", ".join([*parts, {1: "mono", 2: "stereo"}.get(channels, f"{channels} channels")])


def _clock(seconds: float) -> str:
    """3:05, or 1:02:03."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
