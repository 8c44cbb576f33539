"""What a box sent, taken apart into frames; nothing in it is trusted."""

from dataclasses import dataclass
from typing import Any

from .wire.codec import Decoder
from .wire.frames import HEADER, frame_size, unpack
from .wire.limits import Limits


@dataclass(frozen=True)
class Frame:
    """One message of the box."""

    op: str
    message: dict[str, Any]
    decoder: Decoder


class Incoming:
    """Gathers bytes as they come and gives the frames that are whole."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def next(self, limits: Limits) -> Frame | None:
        """The next frame, None while none is whole; BadFrame when no frame of ours begins like this."""
        if len(self._bytes) < HEADER.size:
            return None
        text, blobs = frame_size(bytes(self._bytes[: HEADER.size]), limits)
        end = HEADER.size + text + blobs
        if len(self._bytes) < end:
            return None
        message = unpack(bytes(self._bytes[HEADER.size : HEADER.size + text]))
        decoder = Decoder(bytes(self._bytes[HEADER.size + text : end]), limits)
        del self._bytes[:end]
        return Frame(message["op"], message, decoder)
