"""Content codings (gzip, deflate, br, zstd) undone under a cap.

A few kilobytes can stand for gigabytes, so nothing here ever gives out more
than it was asked for.
"""

import zlib
from typing import Protocol

import brotli
from backports import zstd

CODINGS = "gzip, deflate, br, zstd"


class _Decoder(Protocol):
    def decode(self, data: bytes, limit: int) -> bytes: ...


class UnknownCoding(Exception):
    """A content coding that nobody here can undo."""


class BodyDecoder:
    """Undoes a stack of content codings; gives at most `limit` bytes in all.

    Bytes that turn out not to be coded at all are passed on as they are, since
    servers do send plain text labelled gzip.
    """

    def __init__(self, header: str, limit: int) -> None:
        """`header`: the Content-Encoding. Raises UnknownCoding."""
        names = [name for part in header.split(",") if (name := part.strip().lower()) not in ("", "identity")]
        self._stages = [_stage(name) for name in reversed(names[:5])]
        self._left = limit
        self._given = False
        self.full = False
        self.broken = False

    def feed(self, data: bytes) -> bytes:
        """The decoded form of the next bytes. Sets `full` at the cap and `broken` at bytes that make no sense."""
        if self.full or self.broken:
            return b""
        out = data
        try:
            for stage in self._stages:
                out = stage.decode(out, self._left + 1)
                self.full = self.full or len(out) > self._left
        except (zlib.error, brotli.error, zstd.ZstdError, EOFError):
            if self._given:
                self.broken = True
                return b""
            self._stages = []
            out = data
        self.full = self.full or len(out) > self._left
        out = out[: self._left]
        self._left -= len(out)
        self._given = self._given or bool(out)
        return out


class _Zlib:
    """gzip and both kinds of deflate, members joined."""

    def __init__(self, *, gzip: bool) -> None:
        self._gzip = gzip
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16 if gzip else zlib.MAX_WBITS)
        self._first = True

    def decode(self, data: bytes, limit: int) -> bytes:
        out = b""
        while True:
            try:
                out += self._inflate.decompress(data, limit - len(out))
            except zlib.error:
                if self._gzip or not self._first:
                    raise
                self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)
                out = self._inflate.decompress(data, limit)
            self._first = False
            data = self._inflate.unused_data
            if not (self._gzip and self._inflate.eof and data[:2] == b"\x1f\x8b" and len(out) < limit):
                return out
            self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 16)


class _Brotli:
    def __init__(self) -> None:
        self._brotli = brotli.Decompressor()

    def decode(self, data: bytes, limit: int) -> bytes:
        return bytes(self._brotli.process(data, output_buffer_limit=limit))


class _Zstd:
    def __init__(self) -> None:
        self._zstd = zstd.ZstdDecompressor()

    def decode(self, data: bytes, limit: int) -> bytes:
        return b"" if self._zstd.eof else bytes(self._zstd.decompress(data, max_length=limit))


def _stage(name: str) -> _Decoder:
    if name in ("gzip", "x-gzip"):
        return _Zlib(gzip=True)
    if name == "deflate":
        return _Zlib(gzip=False)
    if name == "br":
        return _Brotli()
    if name == "zstd":
        return _Zstd()
    raise UnknownCoding(name)
