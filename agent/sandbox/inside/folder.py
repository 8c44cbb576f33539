"""The working folder as the code sees it: names that are held in memory, over those of the system."""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..wire.limits import Limits
from .scratch import Scratch

_REPLACED = ("stat", "lstat", "listdir", "scandir", "remove", "mkdir", "rmdir", "rename", "chmod", "utime")


class Entry:
    """What `os.scandir` tells of one name."""

    def __init__(self, folder: str, name: str, known: os.stat_result) -> None:
        self.name = name
        self.path = os.path.join(folder, name)  # noqa: PTH118 - a leaf of the box, without pathlib
        self._known = known

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self._known.st_mode)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return not self.is_dir()

    def is_symlink(self) -> bool:
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return self._known


class Folder:
    """Takes the places of `os.stat`, `os.listdir` and others for the names that it holds."""

    def __init__(self) -> None:
        self._folder = ""
        self._begun = 0.0
        self._attached: dict[str, bytes] = {}
        self._scratch = Scratch()
        self._folders: set[str] = set()
        self._system: dict[str, Callable[..., Any]] = {}
        replaced: Any = os
        for name in _REPLACED:
            self._system[name] = getattr(os, name)
            setattr(os, name, getattr(self, name))
        replaced.unlink, replaced.replace = self.remove, self.rename
        self._rmtree: Callable[..., Any] = self._system["rmdir"]

    def begin(self, limits: Limits) -> None:
        """From now on the working folder is known, and may be written to under the quota of `limits`."""
        self._folder = os.getcwd()  # noqa: PTH109 - a leaf of the box, without pathlib
        self._begun = time.time()
        self._scratch.bytes, self._scratch.files = limits.scratch_bytes, limits.scratch_files

    def attach(self, name: str, content: bytes) -> None:
        """Hold `content` under `name`, where the box cannot open the file itself."""
        self._attached[name] = content

    def take_shutil(self, shutil: Any) -> None:
        """Let the module `shutil` remove folders here too."""
        self._rmtree, shutil.rmtree = shutil.rmtree, self.rmtree

    def stat(self, path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        known = self._known(self._name(path))
        found: os.stat_result = known or self._system["stat"](path, *args, **kwargs)
        return found

    def lstat(self, path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        known = self._known(self._name(path))
        found: os.stat_result = known or self._system["lstat"](path, *args, **kwargs)
        return found

    def listdir(self, path: Any = ".") -> list[str]:
        ours = self._inside(path)
        if ours is None:
            names: list[str] = self._system["listdir"](path)
            return names
        try:
            return sorted({*ours, *self._system["listdir"](path)})
        except OSError:  # a folder that may not be listed, or that is ours
            return sorted(ours)

    def scandir(self, path: Any = ".") -> Any:
        ours = self._inside(path)
        if not ours:
            return self._system["scandir"](path)
        return _Scan(
            Entry(os.fspath(path or "."), name, self.stat(f"{path or '.'}/{name}"))
            for name in self.listdir(path)
        )

    def remove(self, path: Any, **kwargs: Any) -> None:
        name = self._name(path)
        if name is None or self._scratch.contents.pop(name, None) is None:
            self._system["remove"](path, **kwargs)

    def rename(self, source: Any, target: Any, **kwargs: Any) -> None:
        old, new = self._name(source), self._name(target)
        if old in self._scratch.contents and new:
            self._scratch.rename(str(old), new)
        else:
            self._system["rename"](source, target, **kwargs)

    def mkdir(self, path: Any, *args: Any, **kwargs: Any) -> None:
        name = self._name(path)
        if not name:
            self._system["mkdir"](path, *args, **kwargs)
        elif self._known(name):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        elif len(self._folders) >= self._scratch.files:
            raise OSError(errno.EDQUOT, f"at most {self._scratch.files} folders may be made here", path)
        else:
            self._folders.add(name)

    def rmdir(self, path: Any, **kwargs: Any) -> None:
        name = self._name(path)
        if name not in self._folders:
            self._system["rmdir"](path, **kwargs)
        elif self._inside(path):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
        else:
            self._folders.discard(name)

    def rmtree(self, path: Any, *args: Any, **kwargs: Any) -> None:
        name = self._name(path)
        if name not in self._folders:
            self._rmtree(path, *args, **kwargs)
            return
        for held in [held for held in self._scratch.contents if held.startswith(f"{name}/")]:
            del self._scratch.contents[held]
        self._folders = {held for held in self._folders if held != name and not held.startswith(f"{name}/")}

    def chmod(self, path: Any, *args: Any, **kwargs: Any) -> None:
        if not self._known(self._name(path)):
            self._system["chmod"](path, *args, **kwargs)

    def utime(self, path: Any, *args: Any, **kwargs: Any) -> None:
        if not self._known(self._name(path)):
            self._system["utime"](path, *args, **kwargs)

    def _exists(self, name: str) -> bool:
        try:
            self.stat(name)
        except OSError:
            return False
        return True

    def _known(self, name: str | None) -> os.stat_result | None:
        """What `os.stat` says of a file or folder that is held here."""
        changed = self._begun
        if name in self._folders:
            mode, size = stat.S_IFDIR | 0o755, 0
        elif name in self._scratch.contents:
            mode, size = stat.S_IFREG | 0o644, len(self._scratch.contents[name])
            changed = self._scratch.changed[name]
        elif name in self._attached:
            mode, size = stat.S_IFREG | 0o444, len(self._attached[name])
        else:
            return None
        return os.stat_result(
            (mode, hash(name), 0, 1, os.geteuid(), os.getegid(), size, changed, changed, changed)
        )

    def _inside(self, path: Any) -> list[str] | None:
        """Names of what is held here in the folder `path`; None when it is another's."""
        name = "" if path is None else self._name(path)
        if name is None or (name and name not in self._folders):
            return None
        start = f"{name}/" if name else ""
        held = {*self._scratch.contents, *self._attached, *self._folders}
        return [h[len(start) :] for h in held if h.startswith(start) and "/" not in h[len(start) :]]

    def _name(self, path: Any) -> str | None:
        """The path from the working folder on, "" for the folder itself; None when it leads elsewhere."""
        if not self._folder or not isinstance(path, str | os.PathLike):
            return None
        text = os.fspath(path)
        if not isinstance(text, str) or not text:
            return None
        absolute = text.startswith("/")
        name = os.path.normpath(text)
        if absolute:
            name = f"/{name.lstrip('/')}"
            if name == self._folder:
                return ""
            folder = self._folder.rstrip("/") + "/"
            if not name.startswith(folder) or (folder == "/" and "/" in name[1:]):
                return None
            return name[len(folder) :]
        return None if name == ".." or name.startswith("../") else "" if name == "." else name


class _Scan:
    def __init__(self, entries: Iterator[Entry]) -> None:
        self._entries = entries

    def __iter__(self) -> Iterator[Entry]:
        return self._entries

    def __next__(self) -> Entry:
        return next(self._entries)

    def __enter__(self) -> "_Scan":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Nothing is open."""
