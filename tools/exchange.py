"""One request over a connection to a checked address, and its answer, under caps."""

import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import certifi
import httpcore

from tools.address import Address, shown
from tools.coding import CODINGS, BodyDecoder, UnknownCoding
from tools.connection import CheckedNetwork, Watch
from tools.errors import FetchError
from tools.proxy import Proxy
from tools.response import header_text, wire_sentence

REDIRECTS = (300, 301, 302, 303, 307, 308)

_WIRE = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError)
# A connection that is lost at once is tried once more; one that was slow would cost the reader as much again.
_QUICK_SECONDS = 2.0


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
    retry_after_seconds: float = 5.0
    """Longest wait that a server may ask for; it is obeyed once."""


@dataclass(frozen=True)
class Answer:
    """What came back. Header names are in lower case; `note` says what is missing from `content`."""

    status: int
    headers: Mapping[str, str]
    content: bytes = b""
    note: str = ""

    @property
    def media_type(self) -> str:
        """The type without parameters, in lower case: "text/html"."""
        return self.headers.get("content-type", "").split(";")[0].strip().lower()


class Door:
    """Sends requests, a connection for each. Thread-safe."""

    def __init__(
        self,
        limits: FetchLimits,
        *,
        allow_local: bool,
        user_agent: str,
        proxy: Proxy | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._limits = limits
        self._allow_local = allow_local
        self._user_agent = user_agent
        self._proxy = proxy
        self._given_ssl = ssl_context

    def network(self, watch: Watch) -> CheckedNetwork:
        """Connections that live as long as `watch` lets them."""
        return CheckedNetwork(watch, allow_local=self._allow_local, proxy=self._proxy)

    def send(
        self,
        address: Address,
        watch: Watch,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """The answer to a GET, or to a POST of `body`, whatever its status; of a redirect without the body.

        Raises Refused for an address that is never opened, FetchError when no
        answer came.
        """
        started = time.monotonic()
        network = self.network(watch)
        network.address = address
        try:
            try:
                return self._once(network, address, watch, headers or {}, body)
            except (httpcore.ReadError, httpcore.RemoteProtocolError) as error:
                silent = not isinstance(error, httpcore.RemoteProtocolError) or "without sending" in str(
                    error
                )
                quick = time.monotonic() - started < _QUICK_SECONDS
                if body is not None or not (silent and quick and watch.left()):
                    raise
                return self._once(network, address, watch, headers or {}, body)
        except _WIRE as error:
            if watch.cancel.is_set():
                raise FetchError(
                    f"{shown(address.url)} was not read: the run was stopped.", address.url
                ) from error
            raise FetchError(wire_sentence(address.url, error), address.url) from error

    @cached_property
    def _ssl(self) -> ssl.SSLContext:
        """Made when first needed: reading the certificates of the world takes a while."""
        if self._given_ssl is not None:
            return self._given_ssl
        context = ssl.create_default_context()
        context.load_verify_locations(certifi.where())
        return context

    def _once(
        self,
        network: CheckedNetwork,
        address: Address,
        watch: Watch,
        headers: Mapping[str, str],
        body: bytes | None,
    ) -> Answer:
        limits = self._limits
        timeout = {
            "connect": limits.connect_seconds,
            "read": limits.silence_seconds,
            "write": limits.silence_seconds,
            "pool": limits.total_seconds,
        }
        default_port = address.port == (443 if address.scheme == "https" else 80)
        host = f"[{address.host}]" if ":" in address.host else address.host
        sent: dict[str | bytes, str | bytes] = {
            "Host": host if default_port else f"{host}:{address.port}",
            "User-Agent": self._user_agent,
            "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.8",
            "Accept-Language": "en,*;q=0.5",
            "Accept-Encoding": CODINGS,
        }
        sent.update(headers.items())
        if body is not None:
            sent["Content-Length"] = str(len(body))
        place = httpcore.URL(
            scheme=address.scheme, host=address.host, port=address.port, target=address.target
        )
        tls = self._ssl if address.scheme == "https" else None
        method = "GET" if body is None else "POST"
        # One connection a hop: kept-alive ones would let one name's TLS session serve another name.
        with (
            httpcore.ConnectionPool(ssl_context=tls, network_backend=network) as pool,
            pool.stream(
                method, place, headers=sent, content=body, extensions={"timeout": timeout}
            ) as response,
        ):
            answered = {k.decode("latin-1").lower(): header_text(v) for k, v in response.headers}
            if response.status in REDIRECTS and answered.get("location"):
                return Answer(response.status, answered)
            return self._read(address, response, answered, watch)

    def _read(
        self, address: Address, response: httpcore.Response, headers: Mapping[str, str], watch: Watch
    ) -> Answer:
        limits = self._limits
        if response.status < 400:
            _refuse_early(address, response.status, headers, limits.wire_bytes)
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
        return Answer(response.status, headers, bytes(content), note)


def _refuse_early(address: Address, status: int, headers: Mapping[str, str], most: int) -> None:
    """Ends what could not be read anyway before its body comes: too large, or a film of no known length."""
    media_type = headers.get("content-type", "").split(";")[0].strip().lower()
    length = headers.get("content-length", "")
    declared = int(length) if length.isascii() and length.isdigit() else None
    if declared is None and media_type.startswith("video/"):
        size = f"a stream of {media_type} without a known length"
    elif declared is not None and declared > most and not media_type.startswith("text/"):
        size = f"{declared / 1e6:,.0f} MB of {media_type or 'unknown type'}"
    else:
        return
    raise FetchError(
        f"{shown(address.url)} is {size}, more than the {most / 1e6:,.0f} MB that are read here: use another source.",
        address.url,
        status,
    )
