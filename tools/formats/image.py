"""Pictures: format, size and what the camera wrote down. What they show is for a vision model.

The place where a photo was taken is given too: whoever holds the file holds it anyway.
"""

import io
import warnings

from PIL import ExifTags, Image, UnidentifiedImageError

from tools.formats.source import Source
from tools.page import Document

_MAX_VALUE = 200
_NOTE = "only what is written about this picture could be read; what it shows takes a look at it"


def image_document(source: Source) -> Document:
    """A picture of any kind that Pillow knows; only its head is read. Raises DocumentError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(source.content)) as picture:
                width, height = picture.size
                frames = int(getattr(picture, "n_frames", 1))
                lines = [
                    f"{picture.format} picture, {width} × {height} pixels"
                    + (f", {frames} frames" if frames > 1 else "")
                ]
                lines += _exif(picture)
                lines += [
                    f"- {name}: {_text(value)}"
                    for name, value in picture.info.items()
                    if isinstance(value, str) and value.strip()
                ]
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError, TypeError,
            EOFError, KeyError, IndexError, AttributeError, OverflowError, ZeroDivisionError, RuntimeError):  # fmt: skip
        raise source.damaged("a picture") from None
    return source.document("\n".join(lines), note=_NOTE)


def _exif(picture: Image.Image) -> list[str]:
    exif = picture.getexif()
    found = {ExifTags.TAGS.get(tag, str(tag)): value for tag, value in exif.items()}
    found |= {
        ExifTags.TAGS.get(tag, str(tag)): value for tag, value in exif.get_ifd(ExifTags.IFD.Exif).items()
    }
    lines = [
        f"- {name}: {_text(value)}"
        for name, value in found.items()
        if not isinstance(value, bytes | dict)
        and not name.isdecimal()
        and name not in ("ExifOffset", "GPSInfo")
        and _text(value)
    ]
    place = exif.get_ifd(ExifTags.IFD.GPSInfo)
    latitude, longitude = _degrees(place.get(2), place.get(1)), _degrees(place.get(4), place.get(3))
    return [*lines, f"- Place: {latitude}, {longitude}"] if latitude and longitude else lines


def _degrees(parts: object, side: object) -> str:
    if not isinstance(parts, tuple) or len(parts) != 3:
        return ""
    degrees, minutes, seconds = (float(part) for part in parts)
    value = degrees + minutes / 60 + seconds / 3600
    return f"{-value if side in ('S', 'W') else value:.6f}" if value == value else ""


def _text(value: object) -> str:
    return " ".join(str(value).replace("\0", " ").split())[:_MAX_VALUE]
