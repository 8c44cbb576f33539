"""How this room opens connections to a model server, and what it says when there is none."""

from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from urllib.parse import urlsplit

import httpx2

from agent.errors import EndpointRefused, EndpointUnreachable, ModelError


def host_of(url: str) -> str:
    """Host and port, the only part of an address that is shown: the rest may hold a key."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] or url


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


def unreachable(error: Exception, url: str) -> ModelError:
    """The error for a connection that failed before there was any answer."""
    if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol | httpx2.LocalProtocolError):
        return EndpointRefused(
            "The model endpoint's address is none: it must begin with http:// or https://."
        )
    reason = (
        "it took too long"
        if isinstance(error, httpx2.TimeoutException)
        else str(error) or type(error).__name__
    )
    return EndpointUnreachable(
        f"No model endpoint answers at {host_of(url)} ({reason}): check the address and that the server runs."
    )
