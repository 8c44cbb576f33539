"""The only door to the network: guarded, bounded, cached, written down."""

import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import certifi
import httpcore

from tools.address import Address, join, parse_address, shown
from tools.coding import CODINGS, BodyDecoder, UnknownCoding
from tools.connection import CheckedNetwork, Watch
from tools.errors import FetchError
from tools.ledger import Attempt, CachedPage, Ledger, PageCache
from tools.response import (
    chain_of,
    filename_of,
    header_text,
    refresh_target,
    status_sentence,
    wall_of,
    wire_sentence,
)

USER_AGENT = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko; compatible; OpenDeepResearch/1.0)"
)


@dataclass(frozen=True)
class FetchLimits:
    """What one fetch may cost: seconds and bytes."""

    connect_seconds: float = 8.0
    silence_seconds: float = 15.0
    """Longest wait for the first byte, and between two."""
    total_seconds: float = 30.0
    """Everything together, redirects included."""
    wire_bytes: int = 20_000_000
    decoded_bytes: int = 30_000_000
    redirects: int = 10


@dataclass(frozen=True)
class Fetched:
    """An answer. `url` is where it came from after redirects; `note` says what is missing from `content`."""

    url: str
    status: int
    content_type: str
    content: bytes
    filename: str = ""
    note: str = ""
    cached: bool = False

    @property
    def media_type(self) -> str:
        """The type without parameters, in lower case: "text/html"."""
        return self.content_type.split(";")[0].strip().lower()


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
    ) -> None:
        """`allow_local`: open private addresses and any port too, for tests and a team's own network."""
        self.limits = limits or FetchLimits()
        self.allow_local = allow_local
        self.cache = cache
        self.ledger = ledger
        self.cancel = cancel or threading.Event()
        self._given_ssl = ssl_context
        self._user_agent = user_agent

    def get(self, url: str) -> Fetched:
        """What stands at `url`, redirects followed.

        Raises Refused for an address that is never opened, FetchError for
        everything else that keeps it from being read, an HTTP error included.
        """
        started = time.monotonic()
        try:
            address = parse_address(url, allow_local=self.allow_local)
            if self.cache is not None and (kept := self.cache.get(address.url)):
                fetched = Fetched(kept.url, 200, kept.content_type, kept.content, kept.filename, cached=True)
            else:
                fetched = self._follow(address)
                if self.cache is not None and fetched.status == 200 and not fetched.note and fetched.content:
                    self.cache.put(
                        address.url,
                        CachedPage(fetched.url, fetched.content_type, fetched.filename, fetched.content),
                    )
        except FetchError as error:
            self._note(
                Attempt(url, error.url, error.status, "", 0, time.monotonic() - started, error=str(error))
            )
            raise
        seconds = time.monotonic() - started
        size = len(fetched.content)
        self._note(
            Attempt(
                url,
                fetched.url,
                fetched.status,
                fetched.media_type,
                size,
                seconds,
                fetched.cached,
                fetched.note,
            )
        )
        return fetched

    def reachable(self, url: str, seconds: float = 3.0) -> bool:
        """Whether something accepts a connection at `url` in time. Nothing is sent."""
        watch = Watch(seconds, self.cancel)
        network = CheckedNetwork(watch, allow_local=self.allow_local)
        try:
            network.address = address = parse_address(url, allow_local=self.allow_local)
            network.connect_tcp(address.host, address.port, timeout=seconds).close()
        except (FetchError, httpcore.ConnectError, httpcore.ConnectTimeout):
            return False
        return True

    @cached_property
    def _ssl(self) -> ssl.SSLContext:
        """Made when first needed: reading the certificates of the world takes a while."""
        if self._given_ssl is not None:
            return self._given_ssl
        context = ssl.create_default_context()
        context.load_verify_locations(certifi.where())
        return context

    def _note(self, attempt: Attempt) -> None:
        if self.ledger is not None:
            self.ledger.attempt(attempt)

    def _follow(self, address: Address) -> Fetched:
        watch = Watch(self.limits.total_seconds, self.cancel)
        chain = [address.url]
        while True:
            fetched, target = self._request(address, watch)
            if target is None or (fetched.content and join(address.url, target) == address.url):
                return fetched
            if len(chain) > self.limits.redirects:
                raise FetchError(
                    f"{shown(chain[0])} only leads from one address to the next ({chain_of(chain)}): use another source.",
                    chain[0],
                    fetched.status,
                )
            address = parse_address(join(address.url, target), allow_local=self.allow_local)
            chain.append(address.url)

    def _request(self, address: Address, watch: Watch) -> tuple[Fetched, str | None]:
        """One hop: the answer, and where it leads when it is no page itself."""
        limits = self.limits
        network = CheckedNetwork(watch, allow_local=self.allow_local)
        network.address = address
        timeout = {
            "connect": limits.connect_seconds,
            "read": limits.silence_seconds,
            "write": limits.silence_seconds,
            "pool": limits.total_seconds,
        }
        default_port = address.port == (443 if address.scheme == "https" else 80)
        host = f"[{address.host}]" if ":" in address.host else address.host
        headers: dict[str | bytes, str | bytes] = {
            "Host": host if default_port else f"{host}:{address.port}",
            "User-Agent": self._user_agent,
            "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.8",
            "Accept-Language": "en,*;q=0.5",
            "Accept-Encoding": CODINGS,
        }
        place = httpcore.URL(
            scheme=address.scheme, host=address.host, port=address.port, target=address.target
        )
        tls = self._ssl if address.scheme == "https" else None
        try:
            # One connection a hop: kept-alive ones would let one name's TLS session serve another name.
            with (
                httpcore.ConnectionPool(ssl_context=tls, network_backend=network) as pool,
                pool.stream("GET", place, headers=headers, extensions={"timeout": timeout}) as response,
            ):
                answered = {k.decode("latin-1").lower(): header_text(v) for k, v in response.headers}
                location = answered.get("location")
                if response.status in (301, 302, 303, 307, 308) and location:
                    return Fetched(address.url, response.status, "", b""), location
                fetched = self._body(address, response, answered, watch)
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError) as error:
            if self.cancel.is_set():
                raise FetchError(
                    f"{shown(address.url)} was not read: the run was stopped.", address.url
                ) from error
            raise FetchError(wire_sentence(address.url, error), address.url) from error
        if wall := wall_of(fetched.status, answered, fetched.content):
            raise FetchError(
                f"{shown(address.url)} is behind {wall}, so it cannot be read here: use another source.",
                address.url,
                fetched.status,
            )
        if fetched.status >= 400:
            raise FetchError(
                status_sentence(address.url, fetched.status, answered), address.url, fetched.status
            )
        return fetched, refresh_target(answered, fetched.media_type, fetched.content)

    def _body(
        self, address: Address, response: httpcore.Response, headers: Mapping[str, str], watch: Watch
    ) -> Fetched:
        limits = self.limits
        content_type = headers.get("content-type", "")
        fetched = Fetched(address.url, response.status, content_type, b"", filename_of(headers, address.url))
        declared = int(length) if (length := headers.get("content-length", "")).isdigit() else 0
        if declared > limits.wire_bytes and response.status < 400 and not content_type.startswith("text/"):
            raise FetchError(
                f"{shown(address.url)} is {declared / 1e6:,.0f} MB of {fetched.media_type or 'unknown type'}, "
                f"more than the {limits.wire_bytes / 1e6:,.0f} MB that are read here: use another source.",
                address.url,
                response.status,
            )
        try:
            decoder = BodyDecoder(headers.get("content-encoding", ""), limits.decoded_bytes)
        except UnknownCoding as error:
            raise FetchError(
                f"{shown(address.url)} came in a coding that nobody asked for ({error}): use another source.",
                address.url,
                response.status,
            ) from None
        content = bytearray()
        wire = 0
        note = ""
        try:
            for chunk in response.iter_stream():
                wire += len(chunk)
                content += decoder.feed(chunk)
                if decoder.full or wire > limits.wire_bytes:
                    note = f"only the first {len(content) / 1e6:,.1f} MB of this document were read"
                    break
                if decoder.broken:
                    note = "the compressed data is damaged: what follows is missing"
                    break
                if not watch.left():
                    raise httpcore.ReadTimeout("no time left")
        except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
            if not content or watch.cancel.is_set():
                raise
            slow = isinstance(error, httpcore.TimeoutException)
            note = (
                f"the {'server was too slow' if slow else 'connection was cut'}: only the beginning arrived"
            )
        return replace(fetched, content=bytes(content), note=note)
