"""The files of a session that are no files: they live in the box's memory, under a quota."""

import errno
import io
import time
from typing import Any


class Scratch:
    """Contents by name. The quota is for honest code; what goes past it still meets the box's memory limit."""

    def __init__(self) -> None:
        self.bytes = 0
        self.files = 0
        """The quota: bytes in all, and how many files; nothing may be written until it is set."""
        self.contents: dict[str, bytearray] = {}
        self.changed: dict[str, float] = {}
        """When each was written to, seconds since 1970."""

    def create(self, name: str, content: bytes = b"") -> bytearray:
        """A new file; OSError when there are too many, or it is too large."""
        if len(self.contents) >= self.files:
            raise OSError(errno.EDQUOT, f"at most {self.files} files may be written here; remove some", name)
        self.room(len(content), name)
        data = self.contents[name] = bytearray(content)
        self.changed[name] = time.time()
        return data

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, in the place of what had that name."""
        self.contents[new], self.changed[new] = self.contents.pop(old), self.changed.pop(old)

    def room(self, growth: int, name: str) -> None:
        """OSError unless the files may grow by that many bytes in all."""
        if growth > 0 and sum(map(len, self.contents.values())) + growth > self.bytes:
            limit = (
                f"at most {self.bytes >> 20} MB may be written here"
                if self.bytes >> 20
                else "the quota is used up"
            )
            raise OSError(errno.EDQUOT, f"{limit}; remove files or write less", name)


class ScratchFile(io.RawIOBase):
    """One of them, opened."""

    def __init__(
        self,
        scratch: Scratch,
        key: str,
        name: str,
        data: bytearray,
        *,
        reads: bool,
        writes: bool,
        appends: bool,
    ) -> None:
        """`key`: its name among the contents. `name`: as the code wrote it."""
        self.name = name
        self._key = key
        self._scratch = scratch
        self._data = data
        self._reads, self._writes, self._appends = reads, writes, appends
        self._at = len(data) if appends else 0
        self.temporary = False
        """Whether it is removed as soon as it is closed."""

    def readable(self) -> bool:
        return self._reads

    def writable(self) -> bool:
        return self._writes

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        piece = self._data[self._at : self._at + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        if self._appends:
            self._at = len(self._data)
        end = self._at + len(view)
        self._scratch.room(end - len(self._data), self.name)
        if self._at > len(self._data):
            self._data.extend(bytes(self._at - len(self._data)))
        self._data[self._at : end] = view
        self._at = end
        self._scratch.changed[self._key] = time.time()
        return len(view)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._data)}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, "a place before the file's start", self.name)
        self._at = start + offset
        return self._at

    def truncate(self, size: int | None = None) -> int:
        size = self._at if size is None else size
        self._scratch.room(size - len(self._data), self.name)
        del self._data[size:]
        self._data.extend(bytes(size - len(self._data)))
        return size

    def close(self) -> None:
        super().close()
        if self.temporary:
            self._scratch.contents.pop(self._key, None)
