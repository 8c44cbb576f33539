"""What a search gives."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class SearchResult:
    """One result. `match`: share of the question's words, weighed by rarity, that it has; 1 when nobody measured."""

    title: str
    url: str
    snippet: str
    provider: str
    match: float = 1.0

    def __str__(self) -> str:
        return f"{self.title} — {self.url}\n   " + self.snippet.replace("\n", "\n   ")


class SearchResults(list[SearchResult]):
    """Results, best first. Its text is a numbered list; when empty, what to try instead."""

    def __init__(self, results: Iterable[SearchResult] = (), query: str = "", note: str = "") -> None:
        super().__init__(results)
        self.query = query
        self.note = note

    def __str__(self) -> str:
        if not self:
            note = f" ({self.note})" if self.note else ""
            return f"Nothing was found for {self.query!r}{note}. Try fewer words, or other ones."
        return "\n".join(f"{number}. {result}" for number, result in enumerate(self, 1))


class SearchProvider(Protocol):
    """One place to search. `local`: answers without the web. `home`: what must be reachable for it, "" when local."""

    name: str
    local: bool
    home: str

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """At most `limit` results, none when nothing was found. Raises SearchError when it could not search."""
        ...
