"""How this room opens connections to a model server, and what it says when there is none."""

import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import Any
from urllib.parse import urlsplit

import httpx2

from agent.errors import EndpointRefused, EndpointUnreachable, ModelError
from agent.model.text import shown

# Bytes that are read of a server's description of itself, and of an error.
_DESCRIPTION_BYTES = 4 << 20
_ERROR_BYTES = 64 << 10


def host_of(url: str) -> str:
    """Host and port, the only part of an address that is shown: the rest may hold a key."""
    parts = urlsplit(url)
    return shown(parts.netloc.rpartition("@")[2] or url)


class Cut:
    """What ends one connection from another thread, at any moment; `trace` goes to the request's extensions."""

    def __init__(self) -> None:
        self.made = False
        self._guard = threading.Lock()
        self._socket: socket.socket | None = None

    def make(self) -> None:
        with self._guard:
            self.made = True
            self._shut()

    def trace(self, name: str, info: dict[str, Any]) -> None:
        with self._guard:
            if name.endswith(("connect_tcp.complete", "start_tls.complete")):
                self._socket = info["return_value"].get_extra_info("socket")
            if self.made:
                self._shut()

    def _shut(self) -> None:
        if self._socket is None:
            return
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it is closed already, which is what was wanted


@cache
def _certificates() -> SSLContext:
    return httpx2.create_ssl_context()


def http_client(url: str, timeout: httpx2.Timeout) -> httpx2.Client:
    """A client for that address: no redirects, no connection kept, no proxy for this machine itself."""
    host = urlsplit(url).hostname or ""
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    return httpx2.Client(
        verify=_certificates(),
        timeout=timeout,
        trust_env=not local,
        limits=httpx2.Limits(max_keepalive_connections=0),
    )


@dataclass(frozen=True)
class Answer:
    """What a server answered; the body may be cut, an error's sooner than a description's."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


def exchange(
    client: httpx2.Client, url: str, seconds: float, post: Mapping[str, Any] | None = None
) -> Answer:
    """One request and its answer within `seconds` in all, however slowly its bytes come. Raises ModelError."""
    cut = Cut()
    timer = threading.Timer(seconds, cut.make)
    timer.daemon = True
    timer.start()
    method = "GET" if post is None else "POST"
    try:
        with client.stream(method, url, json=post, extensions={"trace": cut.trace}) as response:
            answer = Answer(response.status_code, response.headers, read_some(response))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as error:
        raise unreachable(httpx2.ReadTimeout("") if cut.made else error, url) from error
    finally:
        timer.cancel()
    if cut.made:  # which may look like the end of the body
        raise unreachable(httpx2.ReadTimeout(""), url)
    return answer


def read_some(response: httpx2.Response) -> bytes:
    """The body as far as it is of use."""
    most, body = _DESCRIPTION_BYTES if response.is_success else _ERROR_BYTES, bytearray()
    for piece in response.iter_bytes():
        body += piece
        if len(body) >= most:
            break
    return bytes(body[:most])


def unreachable(error: Exception, url: str) -> ModelError:
    """The error for a connection that failed before there was any answer."""
    if isinstance(error, httpx2.UnsupportedProtocol):
        return EndpointRefused(
            "The model endpoint's address is none: it must begin with http:// or https://."
        )
    if isinstance(error, httpx2.InvalidURL | httpx2.LocalProtocolError | UnicodeError):
        return EndpointRefused(
            f"The model endpoint's address {host_of(url)} is no name that a server can have: correct it."
        )
    reason = (
        "it took too long"
        if isinstance(error, httpx2.TimeoutException)
        else shown(str(error)) or type(error).__name__
    )
    return EndpointUnreachable(
        f"No model endpoint answers at {host_of(url)} ({reason}): check the address and that the server runs."
    )
