"""What a search gives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal, Protocol, runtime_checkable
from urllib.parse import urlsplit

Filter = Literal["site", "dates", "language"]


@dataclass(frozen=True)
class Filters:
    """What results are wanted. `site`: a host, its subdomains included; `language`: two letters, ISO 639-1."""

    site: str = ""
    after: date | None = None
    before: date | None = None
    language: str = ""

    @property
    def used(self) -> frozenset[Filter]:
        """The kinds of filter that are set."""
        given: dict[Filter, bool] = {
            "site": bool(self.site),
            "dates": bool(self.after or self.before),
            "language": bool(self.language),
        }
        return frozenset(kind for kind, is_set in given.items() if is_set)

    def fits_site(self, url: str) -> bool:
        """Whether an address is one of the site."""
        try:
            host = (urlsplit(url).hostname or "").removeprefix("www.")
        except ValueError:
            return not self.site
        return not self.site or host == self.site or host.endswith(f".{self.site}")

    def fits(self, result: "SearchResult") -> bool:
        """Whether a result is one of the site, and not known to be from another time."""
        try:
            published = date.fromisoformat(result.date[:10])
        except ValueError:
            return self.fits_site(result.url)
        in_time = (self.after or published) <= published <= (self.before or published)
        return in_time and self.fits_site(result.url)


NO_FILTERS = Filters()


@dataclass(frozen=True)
class SearchResult:
    """One result.

    `match`: share of the question's words, weighed by rarity, that it has; 1
    when nobody measured. `date`: when it was published, as the provider wrote it.
    """

    title: str
    url: str
    snippet: str
    provider: str
    match: float = 1.0
    date: str = ""

    def __str__(self) -> str:
        dated = f" ({self.date})" if self.date else ""
        return f"{self.title} — {self.url}{dated}\n   " + self.snippet.replace("\n", "\n   ")


class SearchResults(list[SearchResult]):
    """Results, best first. Its text is a numbered list; when empty, what to try instead.

    `note` says who did not answer; `remark` what the results are not, such as
    filtered by date. `closed`: addresses that were found too and may not be read,
    each with the reason.
    """

    def __init__(
        self,
        results: Iterable[SearchResult] = (),
        query: str = "",
        note: str = "",
        remark: str = "",
        closed: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(results)
        self.closed = closed or {}
        self.query = query
        self.note = note
        self.remark = remark

    def __str__(self) -> str:
        if not self:
            note = f" ({self.note})" if self.note else ""
            return f"Nothing was found for {self.query!r}{note}. Try fewer words, or other ones."
        lines = [f"{number}. {result}" for number, result in enumerate(self, 1)]
        return "\n".join([*lines, f"({self.remark})"] if self.remark else lines)


class SearchProvider(Protocol):
    """One place to search.

    `local`: answers without the web. `home`: what must be reachable for it, ""
    when local or unknown. `filters`: the kinds that it applies itself.
    """

    name: str
    local: bool
    home: str
    filters: frozenset[Filter]

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results, none when nothing was found. Raises SearchError when it could not search."""
        ...


@runtime_checkable
class Growing(Protocol):
    """A place that can be searched before it has read everything, or when a part of it fails."""

    def caveat(self) -> str:
        """What a search leaves out now, in a few words; empty when nothing."""
        ...
