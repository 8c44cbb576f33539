"""The only door to the network: guarded, bounded, cached, written down."""

import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import replace

import httpcore

from tools.address import Address, join, parse_address, shown
from tools.archive import Copy, closest_copy
from tools.charset import decode
from tools.connection import Watch
from tools.errors import FetchError, Refused
from tools.exchange import REDIRECTS, Answer, Door, FetchLimits
from tools.judgement import Fetched, judged, noted
from tools.ledger import Attempt, CachedPage, Ledger, PageCache
from tools.manners import Manners
from tools.pace import Busy
from tools.response import chain_of, retry_after, status_sentence
from tools.walls import wall_of

__all__ = ["USER_AGENT", "FetchLimits", "Fetched", "Fetcher"]

USER_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; compatible; OpenDeepResearch/1.0)"
)
# A page must not be lost because its site is slow to give its robots.txt.
_ROBOTS_SECONDS = 4.0


class Fetcher:
    """Reads addresses for one session. Thread-safe.

    `ledger` and `cancel` are plain attributes: a run puts its own in before it
    starts; `cancel.set()` ends every fetch within about 0.2 s.
    """

    def __init__(
        self,
        *,
        limits: FetchLimits | None = None,
        allow_local: bool = False,
        cache: PageCache | None = None,
        ledger: Ledger | None = None,
        cancel: threading.Event | None = None,
        ssl_context: ssl.SSLContext | None = None,
        user_agent: str = USER_AGENT,
        manners: Manners | None = None,
    ) -> None:
        """`allow_local`: open private addresses and any port too, for tests and a team's own network."""
        self.limits = limits or FetchLimits()
        self.allow_local = allow_local
        self.cache = cache
        self.ledger = ledger
        self.cancel = cancel or threading.Event()
        self.manners = manners or Manners()
        self._door = Door(
            self.limits,
            allow_local=allow_local,
            user_agent=user_agent,
            proxy=self.manners.proxy,
            ssl_context=ssl_context,
        )

    def get(self, url: str) -> Fetched:
        """What stands at `url`, redirects followed.

        Raises Refused for an address that is never opened, FetchError for
        everything else that keeps it from being read, an HTTP error included.
        """
        return self._get(url, archive=self.manners.archive)

    def call(self, url: str, headers: Mapping[str, str] | None = None, body: bytes | None = None) -> Answer:
        """One request to an API that the operator set up, whatever its status: a GET, or a POST of `body`.

        No redirect is followed, and nothing is kept or written down, so that a
        key in the address or the headers goes nowhere else. Raises FetchError,
        whose message names the host only.
        """
        address = parse_address(url, allow_local=self.allow_local, ports=self.manners.ports)
        named = replace(address, url=f"{address.scheme}://{address.host}")
        return self._send(named, Watch(self.limits.total_seconds, self.cancel), headers, body)

    def part(
        self, url: str, headers: Mapping[str, str], body: bytes | None = None, seconds: float | None = None
    ) -> Answer:
        """What a page that is rendered asks for, whatever its status, redirects followed: a GET, or a POST of `body`.

        Its body never leaves the host that it was meant for, nor do its `headers`. Raises Refused and FetchError.
        """
        started = time.monotonic()
        watch = Watch(min(seconds or self.limits.total_seconds, self.limits.total_seconds), self.cancel)
        hops: list[str] = []
        answer, problem = Answer(0, {}), ""
        try:
            answer = self._part(self._parsed(url), watch, headers, body, hops)
        except FetchError as error:
            problem = str(error)
            raise
        finally:
            last, size = hops[-1] if hops else url, len(answer.content)
            self._note(
                Attempt(
                    url, last, answer.status or None, answer.media_type, size, time.monotonic() - started,
                    error=problem, hops=tuple(hops),
                )
            )  # fmt: skip
        return answer

    def find_copy(self, url: str, when: str = "") -> Copy:
        """The Internet Archive's copy of `url` closest to `when` (YYYYMMDD), or its newest. Raises FetchError."""
        if why := self.manners.closed(url):
            refused = _closed(url, why)
            self._note(Attempt(url, url, None, "", 0, 0.0, error=str(refused)))
            raise refused

        def ask(asked: str) -> bytes:
            answer = self.call(asked)
            if answer.status != 200:
                raise FetchError(status_sentence(asked, answer.status, answer.headers), asked, answer.status)
            return answer.content

        return closest_copy(url, when, ask, self.manners.archive_home)

    def reachable(self, url: str, seconds: float = 3.0) -> bool:
        """Whether something accepts a connection at `url` in time. Nothing is sent."""
        network = self._door.network(Watch(seconds, self.cancel))
        try:
            network.address = address = self._parsed(url)
            network.connect_tcp(address.host, address.port, timeout=seconds).close()
        except (FetchError, httpcore.NetworkError, httpcore.TimeoutException):
            return False
        return True

    def _get(self, url: str, *, archive: bool) -> Fetched:
        url = url.encode("utf-8", "replace").decode()
        started = time.monotonic()
        hops: list[str] = []
        try:
            fetched, warning = self._cached_or_live(url, hops)
        except FetchError as error:
            copy = self._instead(url, error) if archive and error.status in (403, 429) else None
            seconds = time.monotonic() - started
            replaced_by = copy.url if copy else ""
            self._note(
                Attempt(
                    url, error.url, error.status, "", 0, seconds, False, str(error), tuple(hops), replaced_by
                )
            )
            if copy is None:
                raise
            return copy
        self._note(
            Attempt(
                url,
                fetched.url,
                fetched.status,
                fetched.media_type,
                len(fetched.content),
                time.monotonic() - started,
                fetched.cached,
                fetched.note,
                tuple(hops),
            )
        )
        return noted(fetched, warning)

    def _instead(self, url: str, error: FetchError) -> Fetched | None:
        """The archive's copy of a page whose site does not let this program in; None when there is none."""
        try:
            copy = self.find_copy(url)
            fetched = self._get(copy.url, archive=False)
        except FetchError:
            return None  # the ledger has why; the site's own answer says more to the reader
        return noted(fetched, f"the site itself answered {error.status}: {copy}")

    def _cached_or_live(self, url: str, hops: list[str]) -> tuple[Fetched, str]:
        """The page, and a warning about robots.txt."""
        address = self._parsed(url)
        if self.cache is not None and (kept := self.cache.get(address.url)):
            hops.append(address.url)
            self._parsed(kept.url)  # where it once led may be closed by now
            warning = self._robots(address, Watch(self.limits.total_seconds, self.cancel))
            fetched = Fetched(
                kept.url, 200, kept.content_type, kept.content, kept.filename,
                cached=True, fragment=address.fragment,
            )  # fmt: skip
            return fetched, warning
        fetched, warning = self._follow(address, hops)
        if self.cache is not None and fetched.status == 200 and not fetched.note and fetched.content:
            self.cache.put(
                address.url, CachedPage(fetched.url, fetched.content_type, fetched.filename, fetched.content)
            )
        return fetched, warning

    def _follow(self, address: Address, hops: list[str]) -> tuple[Fetched, str]:
        """The page at the end of the redirects, and a warning about robots.txt."""
        watch = Watch(self.limits.total_seconds, self.cancel)
        fragment = address.fragment
        patient = True
        while True:
            hops.append(address.url)
            warning = self._robots(address, watch)
            answer = self._send(address, watch)
            if patient and (pause := self._pause(answer, watch)) is not None:
                patient = False
                self.cancel.wait(pause)
                answer = self._send(address, watch)
            fetched, target = judged(address, answer)
            if target is None or (fetched.content and join(address.url, target).split("#")[0] == address.url):
                return replace(fetched, fragment=fragment), warning
            if len(hops) > self.limits.redirects:
                raise FetchError(
                    f"{shown(hops[0])} only leads from one address to the next ({chain_of(hops)}): use another source.",
                    hops[0],
                    fetched.status,
                )
            address = self._parsed(join(address.url, target))
            fragment = address.fragment or fragment

    def _part(
        self, address: Address, watch: Watch, headers: Mapping[str, str], body: bytes | None, hops: list[str]
    ) -> Answer:
        origin = address.origin
        while True:
            hops.append(address.url)
            if self.manners.robots.mode == "obey":
                self._robots(address, watch)
            answer = self._send(address, watch, headers, body, apart=False)
            if answer.status not in REDIRECTS or not answer.headers.get("location"):
                return answer
            address = self._parsed(join(address.url, answer.headers["location"]))
            if len(hops) > self.limits.redirects:
                raise FetchError(
                    f"{shown(hops[0])} only leads from one address to the next ({chain_of(hops)}).", hops[0]
                )
            body = body if answer.status in (307, 308) and address.origin == origin else None
            headers = headers if address.origin == origin else {}

    def _send(
        self,
        address: Address,
        watch: Watch,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        *,
        apart: bool = True,
    ) -> Answer:
        try:
            with self.manners.pace.turn(address.host, watch, apart=apart):
                return self._door.send(address, watch, headers, body)
        except Busy:
            why = f"too many others are reading from {address.host}; try again later"
            why = "the run was stopped" if self.cancel.is_set() else why
            raise FetchError(f"{shown(address.url)} was not read: {why}.", address.url) from None

    def _pause(self, answer: Answer, watch: Watch) -> float | None:
        """Seconds to wait before asking again, as an overloaded server wishes; None not to."""
        if answer.status not in (429, 503) or wall_of(answer.status, answer.headers, answer.content):
            return None
        seconds = retry_after(answer.headers)
        short = seconds is not None and seconds <= min(self.limits.retry_after_seconds, watch.left() / 2)
        return seconds if short else None

    def _robots(self, address: Address, watch: Watch) -> str:
        """A warning that the site asks programs not to read this, or nothing. Raises FetchError when that is obeyed."""
        robots = self.manners.robots
        named = f"[{address.host}]" if ":" in address.host else address.host
        origin = f"{address.scheme}://{named}:{address.port}"
        if not robots.forbids(origin, address.target, lambda url: self._robots_text(url, watch)):
            return ""
        if robots.mode == "obey":
            raise FetchError(
                f"{shown(address.url)} is not read: the site's robots.txt asks programs not to, or does not come; use another source.",
                address.url,
            )
        return "the site's robots.txt asks programs not to read this page"

    def _robots_text(self, url: str, watch: Watch) -> str | None:
        """The robots.txt at `url`; nothing when there is none, None when the site does not say in time."""
        own = Watch(min(_ROBOTS_SECONDS, watch.left()), self.cancel)
        try:
            address = self._parsed(url)
            for _ in range(5):
                answer = self._door.send(address, own)
                if answer.status not in REDIRECTS or "location" not in answer.headers:
                    break
                address = self._parsed(join(address.url, answer.headers["location"]))
        except FetchError:
            return None
        if answer.status >= 500:
            return None
        return decode(answer.content, markup=False)[0] if answer.status == 200 else ""

    def _parsed(self, url: str) -> Address:
        address = parse_address(url, allow_local=self.allow_local, ports=self.manners.ports)
        if why := self.manners.closed(address.url):
            raise _closed(address.url, why)
        return address

    def _note(self, attempt: Attempt) -> None:
        if self.ledger is not None:
            self.ledger.attempt(attempt)


def _closed(url: str, why: str) -> Refused:
    return Refused(f"{shown(url)} is not read: {why}; use another source.", url)
