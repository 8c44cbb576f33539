"""Several places to search as one, with a memory of which do not answer."""

import queue
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest
from typing import Literal
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tools.errors import SearchError, ToolFailure
from tools.manners import Closed, all_open
from tools.search.rest import Resting
from tools.search.results import NO_FILTERS, Filters, Growing, SearchProvider, SearchResult, SearchResults

Mode = Literal["auto", "library", "web"]
Occasion = Callable[[str, Filters], bool]
"""Whether a provider suits a query."""

# A library result that has this share of the question's words goes before the web's.
_GOOD_MATCH = 0.75
# What links add to an address to see where a reader came from.
_TRACKING = re.compile(r"^(utm_.*|fbclid|gclid|msclkid|mc_cid|mc_eid|igshid|ref_src|spm)$")

# The abstract, the PDF and the HTML of a paper, in any version.
_PAPER = re.compile(r"/(?:abs|pdf|html)/([a-z.-]+/\d{7}|\d{4}\.\d{4,5})(?:v\d+)?(?:\.pdf)?$", re.IGNORECASE)


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
        occasions: Mapping[str, Occasion] | None = None,
        closed: Closed = all_open,
    ) -> None:
        """`cooldown`: seconds that a provider rests after a failure. `patience`: longest wait for the web.

        `reachable`: whether an address accepts connections, used by `probe`.
        `occasions`: when a provider is asked, by its name; one that is not in it always is.
        `closed`: which of the web's results are left out, and why.
        """
        self._local = [p for p in providers if p.local and mode != "web"]
        self._web = [p for p in providers if not p.local and mode != "library"]
        self.mode = mode
        self._patience = patience
        self._reachable = reachable
        self._occasions = occasions or {}
        self._closed = closed
        self._resting = Resting(cooldown)
        self._probed = threading.Event()
        self._probed.set()

    def probe(self) -> None:
        """Finds out in the background which web providers can be reached; returns at once."""
        if not self._web or self._reachable is None:
            return
        self._probed.clear()
        threading.Thread(target=self._probe, name="search-probe", daemon=True).start()

    def wait_until_probed(self, seconds: float) -> bool:
        """Whether it is known which providers can be reached, after at most `seconds`."""
        return self._probed.wait(seconds)

    def search(self, query: str, limit: int = 5, filters: Filters = NO_FILTERS) -> SearchResults:
        """The best results of all places, none when nothing was found.

        Raises SearchError when no place could search.
        """
        query = " ".join(query.split())
        started = time.monotonic()
        self._probed.wait(self._patience)
        found: dict[str, list[SearchResult]] = {}
        failed: dict[str, str] = {}
        # The library's documents are of no site of the web.
        for provider in () if filters.site and self._web else self._local:
            try:
                found[provider.name] = provider.search(query, limit, filters)
            except ToolFailure as error:
                failed[provider.name] = str(error)
        left = self._patience - (time.monotonic() - started)
        web, web_failed = self._ask_web(query, limit, filters, left)
        if not found and not web:
            reasons = "; ".join(each.rstrip(".") for each in {**failed, **web_failed}.values())
            raise SearchError(
                f"The search failed ({reasons or 'no place to search is set up'}): "
                "try again later, or visit an address that you know."
            )
        unread = [f"library: {each}" for each in self._caveats()] if found else []
        notes = ["the web did not answer, only the library was searched"] if self._web and not web else []
        if web:  # an arXiv that answered must not hide that the web at large did not
            notes += [f"{each.name} did not answer" for each in self._general if each.name in web_failed]
        unread += [f"the {name} did not answer" for name in failed]
        notes += unread
        answered = [p for p in [*self._local, *self._web] if found.get(p.name) or web.get(p.name)]
        remark = "; ".join(_unfiltered(answered, filters) + unread)
        local = [result for results in found.values() for result in results]
        fitting = [[r for r in results if filters.fits(r)] for results in web.values()]
        closed = {r.url: why for r in chain.from_iterable(fitting) if (why := self._closed(r.url))}
        from_web = [[r for r in results if r.url not in closed] for results in fitting]
        return SearchResults(_merged(local, from_web, limit), query, "; ".join(notes), remark, closed)

    @property
    def places(self) -> list[SearchProvider]:
        """All that may be asked in this mode, the engines behind one name each by its own."""
        found = [*self._local, *self._web]
        return [place for each in found for place in getattr(each, "engines", [each])]

    @property
    def web_is_down(self) -> bool:
        """The web is asked for, and no provider of it answers now."""
        general = self._general
        return bool(general) and self._probed.is_set() and all(self._resting.reason(p.name) for p in general)

    @property
    def _general(self) -> list[SearchProvider]:
        """The web's providers that are asked whatever the query."""
        return [p for p in self._web if self._occasions.get(p.name, _always)("", NO_FILTERS)]

    def status(self) -> str:
        """Where is searched now, as a short text for the page."""
        unread = self._caveats()
        return f"{self._reached()} ({unread[0]})" if unread else self._reached()

    def _caveats(self) -> list[str]:
        """What the local places leave out now."""
        told = [each.caveat() for each in self._local if isinstance(each, Growing)]
        return [each for each in told if each]

    def _reached(self) -> str:
        local = ["library"] if self._local else []
        if self.mode == "library" or not self._web:
            return "library only" if local else "no search"
        if not self._probed.is_set():
            return " + ".join(["web", *local]) + " (checking whether the web answers)"
        if self.web_is_down:
            return "library only: the web does not answer" if local else "the web does not answer"
        return " + ".join(["web", *local])

    def _ask_web(
        self, query: str, limit: int, filters: Filters, seconds: float
    ) -> tuple[dict[str, list[SearchResult]], dict[str, str]]:
        """The answers by provider in the providers' order, and why the others gave none."""
        answers: queue.SimpleQueue[tuple[str, list[SearchResult] | SearchError]] = queue.SimpleQueue()
        suited = [p for p in self._web if self._occasions.get(p.name, _always)(query, filters)]
        failed = {p.name: f"{p.name}: {why}" for p in suited if (why := self._resting.reason(p.name))}
        asked = [p for p in suited if p.name not in failed]

        def ask(provider: SearchProvider) -> None:
            try:
                answers.put((provider.name, provider.search(query, limit, filters)))
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
                failed[name] = self._resting.add(name, str(answer), answer.rest)
            else:
                got[name] = answer
        for name in waiting:
            failed[name] = self._resting.add(name, "did not answer in time")
        in_order = {p.name: failed[p.name] for p in suited if p.name in failed}
        return {p.name: got[p.name] for p in asked if p.name in got}, in_order

    def _probe(self) -> None:
        homes = {urlsplit(p.home).netloc: p.home for p in self._web if p.home}
        alive: dict[str, bool] = {}

        def knock(place: str, home: str) -> None:
            alive[place] = bool(self._reachable and self._reachable(home))

        knocks = [threading.Thread(target=knock, args=item, daemon=True) for item in homes.items()]
        for thread in knocks:
            thread.start()
        for thread in knocks:
            thread.join(3.0)
        for provider in self._web:
            if provider.home and not alive.get(urlsplit(provider.home).netloc):
                self._resting.add(provider.name, "cannot be reached")
        self._probed.set()


def _always(query: str, filters: Filters) -> bool:
    return True


def _unfiltered(answered: Sequence[SearchProvider], filters: Filters) -> list[str]:
    """Which of the filters were not applied by whom; the site's is applied here in any case.

    Of those that cannot filter by dates only results that give theirs are filtered, here too.
    """
    notes = []
    for kind in sorted(filters.used - {"site"}):
        names = [provider.name for provider in answered if kind not in provider.filters]
        if names:
            notes.append(f"{' and '.join(names)} cannot filter by {kind}")
    return notes


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
        port = parts.port
    except ValueError:
        return url
    host = re.sub(
        r"^(www\d?|m|mobile|amp)\.|(?<=\.)m\.(?=\w+\.\w+$)", "", parts.hostname or parts.netloc.lower()
    )
    place = host if port in (None, 80, 443) else f"{host}:{port}"
    path = re.sub(r"/(index\.(html?|php)|amp)?/?$", "", unquote(parts.path))
    if host.endswith("arxiv.org") and (paper := _PAPER.match(path)):
        return f"arxiv.org/{paper[1]}"
    query = sorted((key, value) for key, value in parse_qsl(parts.query, True) if not _TRACKING.match(key))
    return f"{place}{path}?{urlencode(query)}"
