"""The Internet Archive's copies of pages: which one is closest to a date, and where it stands."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote

from tools.errors import BadArguments, FetchError

_COPY = re.compile(r"^https?://[^/]+/web/(\d{4,14})([a-z]{2}_)?/")


@dataclass(frozen=True)
class Copy:
    """A copy of a page. `url` gives the page without the archive's own bar; `taken` is the day."""

    url: str
    taken: date

    def __str__(self) -> str:
        return f"this is the Internet Archive's copy of {self.taken:%-d %B %Y}"


def day(text: str) -> str:
    """The date in `text` as the archive writes it, YYYYMMDD; a year or a month alone will do. Raises BadArguments."""
    found = re.match(r"^\s*(\d{4})(?:[-/.]?(\d{1,2}))?(?:[-/.]?(\d{1,2}))?(?!\d)", text) or re.match(
        r"^\s*(\d{4})(\d{2})(\d{2})\d{0,6}\s*$", text
    )
    try:
        if found is None:
            raise ValueError
        moment = date(int(found[1]), int(found[2] or 1), int(found[3] or 1))
    except ValueError:
        raise BadArguments(f"{text!r} is not a date: write it as YYYY-MM-DD, such as '2019-06-30'.") from None
    return f"{moment:%Y%m%d}"


def closest_copy(url: str, when: str, read: Callable[[str], bytes], home: str) -> Copy:
    """The copy of `url` taken closest to `when` (YYYYMMDD, or nothing for the newest).

    `read` gives the body at an address; `home` is the archive's, such as
    https://archive.org/. Raises FetchError when there is no copy or the
    archive does not answer.
    """
    home = home.rstrip("/") + "/"
    asked = f"{home}wayback/available?url={quote(url, safe='')}"
    found = _json(read(asked + (f"&timestamp={when}" if when else "")), url)
    snapshots = found.get("archived_snapshots") if isinstance(found, dict) else None
    closest = snapshots.get("closest") if isinstance(snapshots, dict) else None
    if isinstance(closest, dict) and closest.get("available") and str(closest.get("url", "")):
        return _copy(str(closest["url"]), str(closest.get("timestamp", "")), url, home)
    # That API forgets copies that the index has.
    index = f"{_web(home)}cdx/search/cdx?url={quote(url, safe='')}&output=json&fl=timestamp,original&filter=statuscode:200"
    index += f"&sort=closest&closest={when}&limit=1" if when else "&limit=-1"
    rows = _json(read(index) or b"[]", url)
    if not isinstance(rows, list) or len(rows) < 2 or not isinstance(rows[1], list) or len(rows[1]) < 2:
        raise FetchError(f"The Internet Archive has no copy of {url}: use another source.", url)
    stamp, original = str(rows[1][0]), str(rows[1][1])
    return _copy(f"{_web(home)}web/{stamp}/{original}", stamp, url, home)


def _copy(address: str, stamp: str, url: str, home: str) -> Copy:
    found = _COPY.match(address)
    stamp = stamp if re.match(r"^\d{8}", stamp) else (found[1] if found else "")
    try:
        if found is None:
            raise ValueError
        taken = date(int(stamp[:4]), int(stamp[4:6]), int(stamp[6:8]))
    except ValueError:
        raise FetchError(
            f"The Internet Archive answered about {url} in a form that is not known here: use another source.",
            url,
        ) from None
    # if_ leaves out the archive's bar and keeps links within the copy.
    bare = re.sub(r"(/web/\d{4,14})([a-z]{2}_)?/", r"\1if_/", address, count=1)
    if home.startswith("https:"):
        bare = re.sub(r"^http://([^/:]+)(?::80)?/", r"https://\1/", bare)
    return Copy(bare, taken)


def _web(home: str) -> str:
    """The archive serves copies and their index from a host of their own."""
    return home.replace("://archive.org", "://web.archive.org")


def _json(body: bytes, url: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise FetchError(
            f"The Internet Archive did not answer about {url} in the form of its API: try again later.", url
        ) from None
