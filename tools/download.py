"""A file of the web put beside the attached ones, where the model's code can open it."""

import mimetypes
import re
from pathlib import Path

from tools.errors import DocumentError, FetchError
from tools.fetch import Fetched

_SUFFIXES = {"text/html": ".html", "text/plain": ".txt", "application/json": ".json", "text/csv": ".csv"}
_MAX_ALL_BYTES = 200_000_000


def save(fetched: Fetched, folder: Path) -> str:
    """The name under which the file was saved; never that of another file.

    Raises FetchError for a file that did not come whole, DocumentError when it
    cannot be kept.
    """
    if not fetched.complete:
        raise FetchError(
            f"{fetched.url} was not saved, because {fetched.note}: use a smaller file or another source.",
            fetched.url,
            fetched.status,
        )
    if not fetched.content:
        raise FetchError(
            f"{fetched.url} gave an empty answer (status {fetched.status}): there is nothing to save.",
            fetched.url,
            fetched.status,
        )
    kept = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    if kept + len(fetched.content) > _MAX_ALL_BYTES:
        raise DocumentError(
            f"{fetched.url} was not saved: the files of this session would be more than {_MAX_ALL_BYTES / 1e6:.0f} MB."
        )
    name = _name(fetched)
    for number in range(1, 1000):
        path = folder / (name if number == 1 else f"{Path(name).stem}-{number}{Path(name).suffix}")
        try:
            with path.open("xb") as file:
                file.write(fetched.content)
        except FileExistsError:
            if not path.is_symlink() and path.read_bytes() == fetched.content:
                return path.name
            continue
        except OSError as error:
            raise DocumentError(f"{name} cannot be kept ({error.strerror}): try another file.") from error
        return path.name
    raise DocumentError(f"{name} cannot be kept: there are too many files of that name.")


def _name(fetched: Fetched) -> str:
    name = re.sub(r"[^\w.() -]", "_", fetched.filename).strip(". ")
    stem, suffix = Path(name).stem[:100] or "file", Path(name).suffix[:12]
    if not suffix:
        suffix = _SUFFIXES.get(fetched.media_type) or mimetypes.guess_extension(fetched.media_type) or ""
    return stem + suffix
