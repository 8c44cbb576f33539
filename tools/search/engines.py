"""Web search engines as one: the first that has something is taken, the others stand by."""

import time
from collections.abc import Sequence

from tools.errors import SearchError
from tools.search.rest import Resting
from tools.search.results import NO_FILTERS, Filter, Filters, SearchProvider, SearchResult


class Engines:
    """Asks its engines in their order until one finds something. Thread-safe.

    An engine that fails rests, so that a quota that is used up costs one
    request and not one for each search.
    """

    name = "web"
    local = False
    home = ""

    def __init__(
        self, engines: Sequence[SearchProvider], *, cooldown: float = 300.0, seconds: float = 8.0
    ) -> None:
        """`cooldown`: seconds that an engine rests after a failure that does not say how long; `seconds`: for all."""
        self.engines = list(engines)
        # What all of them can filter, as nobody knows beforehand which of them answers.
        self.filters: frozenset[Filter] = frozenset.intersection(*(engine.filters for engine in engines))
        self._resting = Resting(cooldown)
        self._seconds = seconds

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """At most `limit` results of one engine. Raises SearchError when none of them could search."""
        started = time.monotonic()
        reasons: list[str] = []
        answered = False
        for engine in self.engines:
            if reason := self._resting.reason(engine.name):
                reasons.append(f"{engine.name}: {reason}")
                continue
            if time.monotonic() - started > self._seconds:
                break
            try:
                if found := engine.search(query, limit, filters):
                    return found
                answered = True
            except SearchError as error:
                reasons.append(self._resting.add(engine.name, str(error), error.rest))
        if answered:
            return []
        raise SearchError("; ".join(reasons) or "no engine answered in time", self._resting.shortest())
