"""An answer as the page that was asked for, or why it is none."""

from dataclasses import dataclass, replace

from tools.address import Address, join, shown
from tools.charset import charset_in
from tools.errors import FetchError
from tools.exchange import REDIRECTS, Answer
from tools.response import filename_of, refresh_of, status_sentence
from tools.walls import is_behind_paywall, is_login, says_not_found, wall_of

_HTML = ("text/html", "application/xhtml+xml", "")
# A page that refreshes later than this is read before it goes on.
_REFRESH_SECONDS = 2.0


@dataclass(frozen=True)
class Fetched:
    """An answer. `url` is where it came from after redirects.

    `note` says what is missing or odd; `complete`: nothing is missing;
    `doubtful`: the content is no evidence of anything, such as "page not found"
    with status 200; `fragment` is the place that the address or a redirect named.
    """

    url: str
    status: int
    content_type: str
    content: bytes
    filename: str = ""
    note: str = ""
    cached: bool = False
    complete: bool = True
    doubtful: bool = False
    fragment: str = ""

    @property
    def media_type(self) -> str:
        """The type without parameters, in lower case: "text/html"."""
        return self.content_type.split(";")[0].strip().lower()


def judged(address: Address, answer: Answer) -> tuple[Fetched, str | None]:
    """An answer as the page that was asked for, and where it leads when it is none itself.

    Raises FetchError for an error, a wall or a login.
    """
    url, status, headers, content = address.url, answer.status, answer.headers, answer.content
    content_type = headers.get("content-type", "")
    fetched = Fetched(
        url, status, content_type, content, filename_of(headers, url), answer.note,
        complete=not answer.note and status != 206,
    )  # fmt: skip
    if status in REDIRECTS and (location := headers.get("location")):
        return fetched, location
    if wall := wall_of(status, headers, content):
        raise FetchError(
            f"{shown(url)} is behind {wall}, so it cannot be read here: use another source.", url, status
        )
    if status >= 400:
        raise FetchError(status_sentence(url, status, headers), url, status)
    if status == 206:
        fetched = replace(fetched, note=fetched.note or "the server sent only a part of this document")
    if answer.media_type in _HTML:
        charset = charset_in(content_type)
        if is_login(url, content, charset):
            raise FetchError(
                f"{shown(url)} only shows a form to log in, so it cannot be read here: use another source.",
                url,
                status,
            )
        if is_behind_paywall(content):
            fetched = noted(fetched, "it says that it is not free to read, so this may be only its beginning")
        if says_not_found(content, charset):
            odd = f"it says that what was asked for is not there, although its status is {status}"
            fetched = replace(noted(fetched, odd), doubtful=True)
    seconds, target = refresh_of(headers, answer.media_type, content) or (0.0, None)
    if target is not None and seconds > _REFRESH_SECONDS:
        return noted(fetched, f"after {seconds:.0f} s it goes on to {join(url, target)}"), None
    return fetched, target


def noted(fetched: Fetched, note: str) -> Fetched:
    """The same with one more thing to know about it."""
    return replace(fetched, note="; ".join(part for part in (fetched.note, note) if part))
