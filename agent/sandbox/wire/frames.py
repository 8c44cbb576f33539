"""One message on the pipe: two lengths, a JSON text, raw attachments ("blobs").

Every size is checked before anything of that size is allocated; no pickle.
"""

import json
import struct
from typing import Any, NoReturn

from .limits import Limits

HEADER = struct.Struct(">II")


class BadFrame(Exception):
    """What came over the pipe is no frame of ours; the sender cannot be trusted any more."""


class CannotCross(ValueError):
    """A value that is too large or too deep to be sent."""


def pack(message: dict[str, Any], blobs: list[bytes], limits: Limits) -> bytes:
    """One frame as bytes; CannotCross when it is larger than a frame may be."""
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
        "utf-8", "replace"
    )
    if len(text) > limits.frame_bytes:
        raise CannotCross(f"it is larger than {limits.frame_bytes >> 10:,} KiB")
    return b"".join([HEADER.pack(len(text), sum(map(len, blobs))), text, *blobs])


def frame_size(header: bytes, limits: Limits) -> tuple[int, int]:
    """The lengths of JSON and blobs that a header announces; BadFrame when it announces too much."""
    text, blobs = HEADER.unpack(header)
    if text > limits.frame_bytes or blobs > limits.blob_bytes:
        raise BadFrame("a frame larger than a frame may be")
    return text, blobs


def unpack(text: bytes) -> dict[str, Any]:
    """The message of a frame's JSON; BadFrame when it is none."""
    try:
        message = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadFrame("a frame that is no JSON") from error
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        raise BadFrame("a frame without an operation")
    return message


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
