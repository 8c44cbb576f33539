"""The files that a visitor attaches: which are taken, and under what names.

A file of a name that is taken already, by another of the same question or of an
earlier one, gets a free name, such as "data (2).csv": both can be asked about.
"""

import errno
import itertools
import shutil
from collections.abc import Sequence
from pathlib import Path

from agent.errors import BadUpload, RunError
from agent.store import no_room

MOST_FILES = 20


class Attachments:
    """The files of one session."""

    def __init__(self, folder: Path, max_mb: int) -> None:
        """`max_mb`: size of the largest file."""
        self._folder = folder
        self._max_mb = max_mb

    def take(self, paths: Sequence[Path]) -> list[str]:
        """Keep the files of a question; their names here, each a free one. BadUpload when one cannot be used."""
        if len(paths) > MOST_FILES:
            raise BadUpload(
                f"The question comes with {len(paths)} files and the limit is {MOST_FILES}:"
                " attach fewer, or an archive of them."
            )
        for path in paths:
            self._check_file(path)
        names: list[str] = []
        for path in paths:
            names.append(self._free_name(path))
            try:
                shutil.copyfile(path, self._folder / names[-1])
            except OSError as error:
                self.drop(names)
                if error.errno == errno.ENOSPC:
                    raise RunError(no_room(True, "")) from error
                raise BadUpload(
                    f"The file {path.name} cannot be kept ({error.strerror}): try again."
                ) from error
        return names

    def _free_name(self, path: Path) -> str:
        # Without regard to case, as the tools find a file.
        taken = {each.name.casefold() for each in self._folder.iterdir()}
        stem, suffix = (part.encode("utf-8", "replace").decode() for part in (path.stem, path.suffix))
        names = itertools.chain([stem + suffix], (f"{stem} ({n}){suffix}" for n in itertools.count(2)))
        return next(name for name in names if name.casefold() not in taken)

    def drop(self, names: Sequence[str]) -> None:
        """Let files go that no question was asked with."""
        for name in names:
            (self._folder / name).unlink(missing_ok=True)

    def _check_file(self, path: Path) -> None:
        limit = self._max_mb
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                head = file.read(1024)
        except OSError as error:
            raise BadUpload(
                f"The file {path.name} cannot be read ({error.strerror}): attach it again."
            ) from error
        if size == 0:
            raise BadUpload(f"The file {path.name} is empty: attach one with content.")
        if size > limit << 20:
            raise BadUpload(
                f"The file {path.name} has {size >> 20} MB and the limit is {limit} MB: attach a part of it."
            )
        if path.suffix.lower() == ".pdf" and b"%PDF-" not in head:
            raise BadUpload(f"The file {path.name} is called a PDF but is none: attach the real one.")
