"""The child's end of the pipe, moved away from stdin and stdout before any other code runs."""

import os
import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..wire.codec import Decoder
from ..wire.frames import HEADER, frame_size, pack, unpack
from ..wire.limits import Limits


class Interrupted(BaseException):
    """The host, or the CPU timer, wants the step to end; not an Exception, so that code rarely catches it."""


class Channel:
    """Frames over two descriptors; an interrupt never cuts one in two."""

    def __init__(self) -> None:
        self._in, self._out = -1, -1
        self.limits = Limits()
        self.interruptible = False
        self._held = False
        self._reason = ""

    def begin(self) -> None:
        """Take over what are stdin and stdout now; code finds nothing there afterwards."""
        self._in, self._out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (0, 1, 2):
            os.dup2(nothing, standard)
        os.close(nothing)

    def interrupt(self, reason: str) -> None:
        """Raise Interrupted in the step, now or as soon as no frame is half done."""
        if self.interruptible and self._held:
            self._reason = reason
        elif self.interruptible:
            raise Interrupted(reason)

    def send(self, message: dict[str, Any], blobs: list[bytes] | None = None) -> None:
        frame = memoryview(pack(message, blobs or [], self.limits))
        with self._whole():
            while frame:
                frame = frame[os.write(self._out, frame) :]

    def ready(self, timeout: float) -> bool:
        """Whether there is something to receive, after at most `timeout` seconds."""
        return bool(select.select([self._in], [], [], timeout)[0])

    def receive(self) -> tuple[dict[str, Any], Decoder]:
        select.select([self._in], [], [])
        with self._whole():
            text, blobs = frame_size(self._read(HEADER.size), self.limits)
            message = unpack(self._read(text))
            return message, Decoder(self._read(blobs), self.limits, typed=True)

    @contextmanager
    def _whole(self) -> Iterator[None]:
        self._held = True
        try:
            yield
        finally:
            self._held = False
        reason, self._reason = self._reason, ""
        if reason and self.interruptible:
            raise Interrupted(reason)

    def _read(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = os.read(self._in, min(size - len(data), 1 << 20))
            if not piece:
                os._exit(0)  # the host is gone: so are we, whatever the code does in its `finally`
            data += piece
        return bytes(data)
