"""The files that the code sees: the attached ones, which stay as they are, and what it writes itself.

Nothing reaches a disk: the lock forbids it, and what is written stays in the
box's memory (`scratch.py`) until the box ends. `open` finds such files by their
names in the working folder; all other paths go to the system.
"""

import builtins
import errno
import io
import os
from collections.abc import Callable
from typing import Any

from ..wire.limits import Limits
from .folder import Folder
from .scratch import ScratchFile

_OF_LIBRARIES = ("/mpl-data/", "/zoneinfo/")
_TEXT = ("encoding", "errors", "newline")


class Files(Folder):
    """Takes the place of `open` too, and of the makers of temporary files."""

    def __init__(self) -> None:
        super().__init__()
        self._tempfile: Any = None
        self._temporaries = 0
        self.elsewhere: Callable[[str], bytes | None] | None = None
        """Gives what a library reads of its own files, where no file can be opened."""
        self._open: Callable[..., Any] = builtins.open
        for module in (builtins, io):
            replaced: Any = module
            replaced.open = self.open

    def begin(self, limits: Limits) -> None:
        super().begin(limits)
        if self._tempfile is not None:
            self._tempfile.tempdir = self._folder

    def take_tempfile(self, tempfile: Any) -> None:
        """Let the module `tempfile` make its files here."""
        self._tempfile = tempfile
        tempfile.tempdir = self._folder or None
        tempfile.NamedTemporaryFile = tempfile.TemporaryFile = self.temporary

    def open(
        self, file: Any, mode: str = "r", buffering: int = -1, *args: Any, opener: Any = None, **kwargs: Any
    ) -> Any:
        name = None if opener else self._name(file)
        writes = isinstance(mode, str) and bool(set(mode) & set("wxa+"))
        if writes:
            data = self._to_write(name, mode) if name else None
        else:
            data = None if opener else self._to_read(name, file)
        if data is None:
            return self._open(file, mode, buffering, *args, opener=opener, **kwargs)
        path = os.fspath(file)
        reads, appends = "r" in mode or "+" in mode, "a" in mode
        raw = ScratchFile(
            self._scratch, name or path, path, data, reads=reads, writes=writes, appends=appends
        )
        if "b" in mode and buffering == 0:
            return raw
        buffered: Any = (
            io.BufferedRandom if reads and writes else io.BufferedWriter if writes else io.BufferedReader
        )
        if "b" in mode:
            return buffered(raw)
        options = dict(zip(_TEXT, args, strict=False)) | {key: kwargs[key] for key in _TEXT if key in kwargs}
        return io.TextIOWrapper(buffered(raw), **options, line_buffering=buffering == 1)

    def temporary(
        self,
        mode: str = "w+b",
        buffering: int = -1,
        encoding: str | None = None,
        newline: str | None = None,
        suffix: str | None = None,
        prefix: str | None = None,
        dir: str | None = None,
        delete: bool = True,
        **kwargs: Any,
    ) -> Any:
        """A new file of a name that is free, as `tempfile.NamedTemporaryFile` gives."""
        self._temporaries += 1
        path = f"{dir or self._folder.rstrip('/')}/{prefix or 'tmp'}{self._temporaries}{suffix or ''}"
        raw = self.open(path, mode.replace("t", "").replace("b", "") + "b", 0)
        if delete:
            raw.temporary = True
        buffered: Any = io.BufferedRandom(raw) if raw.readable() else io.BufferedWriter(raw)
        if "b" in mode:
            return buffered
        return io.TextIOWrapper(buffered, encoding, kwargs.get("errors"), newline, buffering == 1)

    def _to_read(self, name: str | None, file: Any) -> bytearray | None:
        """What the file holds; None when the system is to open it."""
        if name:
            if name in self._scratch.contents:
                return self._scratch.contents[name]
            if name in self._attached:
                return bytearray(self._attached[name])
            if not self._exists(name):  # the lock would call it forbidden
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
        elif self.elsewhere is not None and any(part in str(file) for part in _OF_LIBRARIES):
            content = self.elsewhere(str(file))
            return None if content is None else bytearray(content)
        return None

    def _to_write(self, name: str, mode: str) -> bytearray:
        """What the file holds at first."""
        held = self._scratch.contents.get(name)
        exists = held is not None or self._exists(name)
        if "x" in mode and exists:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        if "r" in mode and not exists:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        folder = name.rpartition("/")[0]
        if folder and folder not in self._folders:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        if held is None:
            keeps = exists and "w" not in mode
            return self._scratch.create(name, self._original(name) if keeps else b"")
        if "w" in mode:
            held.clear()
        return held

    def _original(self, name: str) -> bytes:
        if name in self._attached:
            return self._attached[name]
        with self._open(name, "rb") as file:
            return bytes(file.read())
