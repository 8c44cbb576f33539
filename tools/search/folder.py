"""The files of a folder that can be searched."""

import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools.documents import BINARY, SUFFIXES

# A picture and a recording have no words to search.
_SEARCHED = SUFFIXES - frozenset(f"{BINARY['image'].suffixes} {BINARY['sound'].suffixes}".split())
_HIDDEN = (".", "~$")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Scan:
    """What a look at the folder found.

    `files`: bytes and time of change (ns) by path. `problems`: a sentence for
    each name that cannot be used.
    """

    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    problems: frozenset[str] = frozenset()


def scan(folder: Path) -> Scan:
    """Every document in the folder and below; links are not followed."""
    root = len(str(folder)) + 1
    problems: set[str] = set()
    found = {}
    for entry in _entries(str(folder), problems):
        about = entry.stat(follow_symlinks=False)
        found[entry.path[root:]] = (about.st_size, about.st_mtime_ns)
    return Scan(found, frozenset(problems))


def is_searched(folder: Path, path: str) -> bool:
    """Whether a path is one that `scan` would find."""
    place, parts = folder, path.split("/")
    for part in parts:
        place /= part
        if part.startswith(_HIDDEN) or part in ("", "..") or place.is_symlink():
            return False
    return _is_document(parts[-1]) and place.is_file()


def _entries(folder: str, problems: set[str]) -> Iterator[os.DirEntry[str]]:
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            _log.warning("A folder of the library cannot be read: %s", error)
            continue
        for entry in entries:
            name = entry.name
            if name.startswith(_HIDDEN):
                continue
            if not name.isascii() and (problem := _nameless(name)):
                problems.add(problem)
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            elif _is_document(name) and entry.is_file(follow_symlinks=False):
                yield entry


def _is_document(name: str) -> bool:
    return name[name.rfind(".") :].lower() in _SEARCHED


def _nameless(name: str) -> str:
    """Why no address and no index can hold such a name; nothing when they can."""
    try:
        name.encode()
    except UnicodeEncodeError:
        shown = os.fsencode(name).decode("utf-8", "backslashreplace")
        return f"{shown} is not searched: its name is not UTF-8; rename it."
    return ""
