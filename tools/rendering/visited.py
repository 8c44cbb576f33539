"""What a visit to a rendered page gives, and who gives it; known without a browser."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tools.fetch import Fetched, Fetcher

T = TypeVar("T")


@dataclass(frozen=True)
class Visited(Generic[T]):
    """`url`: where the page was in the end, without its fragment; `result`: what was wanted of it."""

    url: str
    result: T


class Rendering(Protocol):
    """Runs the scripts of a page that was fetched. Raises NotRendered, and FetchError when the run is stopped."""

    def html(self, fetched: Fetched, fetcher: Fetcher) -> Visited[str]:
        """The HTML that the scripts made."""

    def picture(self, fetched: Fetched, fetcher: Fetcher) -> Visited[bytes]:
        """A PNG of what a reader would see first."""
