"""What reading leaves behind: every attempt, the pages kept, and where both go.

The store above the tools implements the two Protocols.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Attempt:
    """One address that was tried.

    `bytes` are those of the decoded body; `error` is a sentence, empty when all
    went well; `hops` are the addresses asked one after another, redirects
    included; `replaced_by` is what was read in its place.
    """

    url: str
    final_url: str
    status: int | None
    media_type: str
    bytes: int
    seconds: float
    cached: bool = False
    error: str = ""
    hops: tuple[str, ...] = ()
    replaced_by: str = ""


@dataclass(frozen=True)
class CachedPage:
    """An answer worth keeping: status 200 and complete. `media_type` is the whole Content-Type header."""

    url: str
    content_type: str
    filename: str
    content: bytes


class Ledger(Protocol):
    """Notes what a run read. May be called from several threads."""

    def attempt(self, attempt: Attempt) -> None:
        """An address was tried."""

    def snapshot(self, url: str, title: str, text: str) -> None:
        """A document was read; `text` is all of it, in plain words."""

    def listed(self, url: str, title: str, snippet: str) -> None:
        """A search result was shown."""


class PageCache(Protocol):
    """Keeps answers for a while; decides itself how long. May be called from several threads."""

    def get(self, url: str) -> CachedPage | None: ...

    def put(self, url: str, page: CachedPage) -> None: ...
