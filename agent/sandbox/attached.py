"""The attached files of a box that cannot open any: their bytes came over the pipe."""

import builtins
import io
import os
from typing import Any


class AttachedFiles:
    """Answers `open` and `os.listdir` for the files it holds, by name; all else goes to the system."""

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}
        self._folder = os.getcwd()  # noqa: PTH109 - a leaf of the box, without pathlib
        self._open: Any = builtins.open
        self._listdir: Any = os.listdir

    def add(self, name: str, content: bytes) -> None:
        """Hold `content` under `name`, in the place of an earlier file of that name."""
        self._contents[name] = content
        builtins.open = io.open = self.open
        os.listdir = self.listdir

    def open(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        content = self._content(file)
        if content is None or not set(mode) <= set("rbt"):
            return self._open(file, mode, *args, **kwargs)
        if "b" in mode:
            return io.BytesIO(content)
        options = dict(zip(("buffering", "encoding", "errors", "newline"), args, strict=False)) | kwargs
        kept = {name: options[name] for name in ("encoding", "errors", "newline") if name in options}
        return io.TextIOWrapper(io.BytesIO(content), **kept)

    def listdir(self, path: Any = ".") -> Any:
        return sorted(self._contents) if path in (".", None, self._folder) else self._listdir(path)

    def _content(self, file: Any) -> bytes | None:
        if not isinstance(file, str | os.PathLike):
            return None
        folder, name = os.path.split(os.path.normpath(os.fspath(file)))
        return self._contents.get(str(name)) if folder in ("", self._folder) else None
