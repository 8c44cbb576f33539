"""The old compound file (OLE2) that .doc, .ppt, .xls and .msg are written in, read without trust."""

import io

import olefile

from tools.formats.source import Source

_MAX_STREAM = 150_000_000


class Compound:
    """The streams of a compound file. Raises DocumentError when it is none."""

    def __init__(self, source: Source) -> None:
        try:
            # Only what makes a file unreadable counts: real files break many small rules.
            self._ole = olefile.OleFileIO(io.BytesIO(source.content), raise_defects=olefile.DEFECT_FATAL)
            self.names = ["/".join(path) for path in self._ole.listdir(streams=True, storages=True)]
        except (
            OSError,
            ValueError,
            IndexError,
            TypeError,
            AttributeError,
            RecursionError,
            MemoryError,
            KeyError,
        ):
            raise source.damaged("an old Office file") from None

    def read(self, name: str) -> bytes:
        """A stream's bytes; nothing when it is missing or broken."""
        try:
            with self._ole.openstream(name) as stream:
                return bytes(stream.read(_MAX_STREAM))
        except (OSError, ValueError, IndexError, TypeError, AttributeError, KeyError):
            return b""
