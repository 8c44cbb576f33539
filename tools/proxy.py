"""An upstream proxy, asked to connect to the number that was checked here.

The proxy is told the address, never the name, so that it cannot resolve a name
to another, private address than the one that was checked.
"""

import base64
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class Proxy:
    """An HTTP proxy that lets CONNECT through. `authorization` is the value of its header, or nothing."""

    host: str
    port: int
    authorization: str = ""

    def __repr__(self) -> str:
        return f"Proxy({self.host}:{self.port})"

    def greeting(self, number: str, port: int) -> bytes:
        """What is sent to it for a connection to `number`."""
        where = f"[{number}]:{port}" if ":" in number else f"{number}:{port}"
        lines = [f"CONNECT {where} HTTP/1.1", f"Host: {where}"]
        if self.authorization:
            lines.append(f"Proxy-Authorization: {self.authorization}")
        return "\r\n".join([*lines, "", ""]).encode("ascii")


def parse_proxy(url: str) -> Proxy:
    """The proxy that `url` (http://user:password@host:port) names. Raises ValueError, without the password."""
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or not parts.port:
        raise ValueError("no http://host:port of a proxy")
    authorization = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        authorization = "Basic " + base64.b64encode(pair).decode("ascii")
    return Proxy(parts.hostname, parts.port, authorization)


def refusal(head: bytes) -> str:
    """Why a proxy that answered `head` gives no connection; nothing when it does."""
    status = head.split(b"\r\n")[0].split(b" ")
    if len(status) < 2 or not status[0].startswith(b"HTTP/1.") or not status[1].isdigit():
        return "the proxy answered something that is not HTTP"
    code = int(status[1])
    if code == 407:
        return "the proxy wants a name and password (407)"
    return "" if 200 <= code < 300 else f"the proxy does not let the connection through ({code})"
