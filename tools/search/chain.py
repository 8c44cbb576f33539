"""Several places to search as one, with a memory of which do not answer."""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import Literal
from urllib.parse import urlsplit

from tools.errors import SearchError, ToolFailure
from tools.search.results import SearchProvider, SearchResult, SearchResults

Mode = Literal["auto", "library", "web"]

# A library result that has this share of the question's words goes before the web's.
_GOOD_MATCH = 0.75


class SearchChain:
    """Asks the library and every web provider that is not cooling down, all at once. Thread-safe."""

    def __init__(
        self,
        providers: Sequence[SearchProvider],
        *,
        mode: Mode = "auto",
        cooldown: float = 300.0,
        patience: float = 4.0,
        reachable: Callable[[str], bool] | None = None,
    ) -> None:
        """`cooldown`: seconds that a provider rests after a failure. `patience`: longest wait for the web.

        `reachable`: whether an address accepts connections, used by `probe`.
        """
        self._local = [p for p in providers if p.local and mode != "web"]
        self._web = [p for p in providers if not p.local and mode != "library"]
        self.mode = mode
        self._cooldown = cooldown
        self._patience = patience
        self._reachable = reachable
        self._lock = threading.Lock()
        self._resting: dict[str, tuple[float, str]] = {}
        self._probed = threading.Event()
        self._probed.set()

    def probe(self) -> None:
        """Finds out in the background which web providers can be reached; returns at once."""
        if not self._web or self._reachable is None:
            return
        self._probed.clear()
        threading.Thread(target=self._probe, name="search-probe", daemon=True).start()

    def search(self, query: str, limit: int = 5) -> SearchResults:
        """The best results of all places, none when nothing was found.

        Raises SearchError when no place could search.
        """
        query = " ".join(query.split())
        started = time.monotonic()
        self._probed.wait(self._patience)
        found: dict[str, list[SearchResult]] = {}
        failed: dict[str, str] = {}
        for provider in self._local:
            try:
                found[provider.name] = provider.search(query, limit)
            except ToolFailure as error:
                failed[provider.name] = str(error)
        web, web_failed = self._ask_web(query, limit, self._patience - (time.monotonic() - started))
        if not found and not web:
            reasons = "; ".join({**failed, **web_failed}.values()) or "no place to search is set up"
            raise SearchError(
                f"The search failed ({reasons}): try again later, or visit an address that you know."
            )
        note = "the web did not answer, only the library was searched" if self._web and not web else ""
        local = [result for results in found.values() for result in results]
        return SearchResults(_merged(local, list(web.values()), limit), query, note)

    @property
    def web_is_down(self) -> bool:
        """The web is asked for, and no provider of it answers now."""
        return bool(self._web) and self._probed.is_set() and all(self._rests(each) for each in self._web)

    def status(self) -> str:
        """Where is searched now, as a short text for the page."""
        local = ["library"] if self._local else []
        if self.mode == "library" or not self._web:
            return "library only" if local else "no search"
        if not self._probed.is_set():
            return " + ".join(["web", *local]) + " (checking whether the web answers)"
        if self.web_is_down:
            return "library only: the web does not answer" if local else "the web does not answer"
        return " + ".join(["web", *local])

    def _ask_web(
        self, query: str, limit: int, seconds: float
    ) -> tuple[dict[str, list[SearchResult]], dict[str, str]]:
        """The answers by provider in the providers' order, and why the others gave none."""
        answers: queue.SimpleQueue[tuple[str, list[SearchResult] | SearchError]] = queue.SimpleQueue()
        failed = {p.name: f"{p.name}: {reason}" for p in self._web if (reason := self._rests(p))}
        asked = [p for p in self._web if p.name not in failed]

        def ask(provider: SearchProvider) -> None:
            try:
                answers.put((provider.name, provider.search(query, limit)))
            except SearchError as error:
                answers.put((provider.name, error))
            except Exception as error:  # noqa: BLE001 - a third party's scraper may fail in any way; it must not take the search along
                answers.put((provider.name, SearchError(f"{type(error).__name__} ({error})")))

        for provider in asked:
            threading.Thread(
                target=ask, args=(provider,), name=f"search-{provider.name}", daemon=True
            ).start()
        deadline = time.monotonic() + max(0.0, seconds)
        got: dict[str, list[SearchResult]] = {}
        waiting = {p.name for p in asked}
        while waiting:
            try:
                name, answer = answers.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                break
            waiting.discard(name)
            if isinstance(answer, SearchError):
                failed[name] = self._rest(name, str(answer))
            else:
                got[name] = answer
        for name in waiting:
            failed[name] = self._rest(name, "did not answer in time")
        return {p.name: got[p.name] for p in asked if p.name in got}, failed

    def _probe(self) -> None:
        homes = {urlsplit(p.home).netloc: p.home for p in self._web}
        alive: dict[str, bool] = {}

        def knock(place: str, home: str) -> None:
            alive[place] = bool(self._reachable and self._reachable(home))

        knocks = [threading.Thread(target=knock, args=item, daemon=True) for item in homes.items()]
        for thread in knocks:
            thread.start()
        for thread in knocks:
            thread.join(3.0)
        for provider in self._web:
            if not alive.get(urlsplit(provider.home).netloc):
                self._rest(provider.name, "cannot be reached")
        self._probed.set()

    def _rest(self, name: str, reason: str) -> str:
        with self._lock:
            self._resting[name] = (time.monotonic() + self._cooldown, reason)
        return f"{name}: {reason}"

    def _rests(self, provider: SearchProvider) -> str:
        """Why a provider is not asked now; empty when it is."""
        with self._lock:
            until, reason = self._resting.get(provider.name, (0.0, ""))
            if until and until <= time.monotonic():
                del self._resting[provider.name]
                return ""
            return reason


def _merged(local: list[SearchResult], web: list[list[SearchResult]], limit: int) -> list[SearchResult]:
    """Good library matches first, then the web's in turn, then the other library ones; each address once."""
    good = [r for r in local if r.match >= _GOOD_MATCH][: limit if not any(web) else (limit + 1) // 2]
    in_turn = [r for r in chain.from_iterable(zip_longest(*web)) if r is not None]
    seen: set[str] = set()
    merged: list[SearchResult] = []
    for result in [*good, *in_turn, *local]:
        key = _key(result.url)
        if key not in seen:
            seen.add(key)
            merged.append(result)
    return merged[:limit]


def _key(url: str) -> str:
    """What two addresses of one page have in common."""
    try:
        parts = urlsplit(url.split("#")[0].strip())
    except ValueError:
        return url
    host = parts.netloc.lower().removeprefix("www.").removeprefix("m.")
    return f"{host}{parts.path.rstrip('/')}?{parts.query}"
