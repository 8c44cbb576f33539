"""Which addresses may be opened, decided on the numbers a name stands for.

`parse_address` makes one canonical form of what a person or a model typed;
`resolve` turns its host into numbers and refuses the lot when one of them is
not an ordinary public address. `tools/fetch.py` connects to those numbers and
to nothing else, so that a name cannot mean one thing when it is checked and
another when it is opened.
"""

import ipaddress
import re
import socket
import threading
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

import idna

from tools.errors import FetchError, Refused

PORTS = frozenset({80, 443, 8080})

_IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

# Names that clouds answer with credentials, and names that mean this machine or this network.
_LOCAL_NAME = re.compile(
    r"(^|\.)(localhost|localdomain|local|internal|intranet|lan|home\.arpa)$|^metadata(\.|$)|^instance-data(\.|$)"
)
# Public by number, yet an agent of the cloud that the machine runs in (Azure's wire server).
_METADATA = frozenset({ipaddress.ip_address("168.63.129.16"), ipaddress.ip_address("fd00:ec2::254")})
# IANA's special-purpose blocks, named here because what Python's `is_global` knows differs by its version.
_NOT_PUBLIC = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16",
        "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
    )
)  # fmt: skip
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_FILE_NAME = re.compile(
    r"^[^/\\?#]+\.(pdf|csv|tsv|xlsx?|xlsb|ods|docx?|odt|rtf|pptx?|txt|md|json|jsonl|xml|ya?ml|html?|epub|zip|tar|gz"
    r"|png|jpe?g|gif|webp|svg|mp3|wav|m4a|mp4|py|ipynb|log|sqlite|db|parquet)$",
    re.IGNORECASE,
)
_HOST_LIKE = re.compile(
    r"^(\[[0-9a-f:.]+\]|[^\s/?#:@]+\.[^\s/?#:@.]{2,}|localhost|[\d.]+)\.?(:\d+)?([/?#]|$)", re.IGNORECASE
)


@dataclass(frozen=True)
class Address:
    """An http(s) address in its one canonical form: ASCII, no credentials, `url` without fragment."""

    url: str
    scheme: str
    host: str
    port: int
    target: str
    fragment: str


def parse_address(text: str, *, allow_local: bool = False) -> Address:
    """The address that `text` names; a missing scheme means https.

    Raises Refused for another scheme, a port that is not open to pages, a file
    name or path, or something that is no address at all.
    """
    typed = re.sub(r"[\t\r\n]", "", text).strip().strip("<>\"'`").strip()
    shown = _short(typed)
    if not typed:
        raise Refused(
            "No address was given: pass the full address of a page, such as https://example.org/.", typed
        )
    scheme = re.match(r"^([a-zA-Z][a-zA-Z0-9+.-]*):(?!\d+(?:[/?#]|$))", typed)
    if scheme is None:
        if typed.startswith("//"):
            typed = "https:" + typed
        elif _FILE_NAME.match(typed) or typed.startswith(("/", "./", "../", "~", "\\")):
            raise Refused(
                f"{shown} is a file, not a web address: read an attached file with inspect_file_as_text.",
                typed,
            )
        elif _HOST_LIKE.match(typed):
            typed = "https://" + typed
        else:
            raise Refused(
                f"{shown} is not an address: search for it with web_search and visit the .url of a result.",
                typed,
            )
    elif scheme[1].lower() not in ("http", "https"):
        raise Refused(f"{shown} is not opened: only http and https addresses can be read here.", typed)

    # A backslash is a slash to every browser; read otherwise, `http://a\@b` would name two hosts.
    typed = typed.replace("\\", "/")
    typed = re.sub(r"^(https?):/*", r"\1://", typed, flags=re.IGNORECASE)
    try:
        parts = urlsplit(typed)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = _host(parts.hostname or "")
    except (ValueError, UnicodeError) as error:
        raise Refused(f"{shown} is not a valid address ({error}): check how it is written.", typed) from None
    if not allow_local and port not in PORTS:
        allowed = ", ".join(str(p) for p in sorted(PORTS))
        raise Refused(f"{shown} is not opened: port {port} is not one for web pages ({allowed}).", typed)
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/?%:@!$&'()*+,;=~-._[]|")
    default_port = port == (443 if parts.scheme == "https" else 80)
    netloc = (f"[{host}]" if ":" in host else host) + ("" if default_port else f":{port}")
    return Address(
        url=urlunsplit((parts.scheme, netloc, path, query, "")),
        scheme=parts.scheme,
        host=host,
        port=port,
        target=path + ("?" + query if query else ""),
        fragment=parts.fragment,
    )


def join(base: str, target: str) -> str:
    """`target` as a full address, read as a link in the document at `base` (which may be a library:// one)."""
    try:
        if base.startswith("library://"):
            # urljoin does not know the scheme; the library's root is a root like any other.
            joined = urljoin("http://library.invalid/" + base[10:], target)
            return re.sub(r"^http://library\.invalid/", "library://", joined)
        return urljoin(base, target)
    except ValueError:
        return target


def resolve(address: Address, *, allow_local: bool, seconds: float, cancel: threading.Event) -> list[str]:
    """The numbers that `address.host` stands for, each checked; best first.

    Raises Refused when any of them is not public (loopback and private ones
    are let through with `allow_local`, a cloud's metadata never), FetchError
    when the name does not resolve in time or `cancel` is set.
    """
    if not allow_local and _LOCAL_NAME.search(address.host):
        raise _refused(address, "names this machine or its network")
    numbers = _lookup(address, seconds, cancel)
    for number in numbers:
        if problem := _why_not(ipaddress.ip_address(number), allow_local):
            raise _refused(address, problem)
    return numbers


def _lookup(address: Address, seconds: float, cancel: threading.Event) -> list[str]:
    found: list[str] = []
    errors: list[str] = []
    done = threading.Event()

    def ask() -> None:
        try:
            for _, _, _, _, where in socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM):
                number = str(where[0]).split("%")[0]
                if number not in found:
                    found.append(number)
        except (OSError, UnicodeError) as error:
            errors.append(str(error))
        finally:
            done.set()

    # The system's resolver can neither be cancelled nor given a deadline, so it gets a thread to be left behind.
    threading.Thread(target=ask, name="resolve", daemon=True).start()
    waited = 0.0
    while not done.wait(0.05):
        waited += 0.05
        if cancel.is_set():
            raise FetchError(f"{_short(address.url)} was not read: the run was stopped.", address.url)
        if waited >= seconds:
            raise FetchError(
                f"{_short(address.url)} cannot be reached: the name {address.host} was not resolved in {seconds:.0f} s.",
                address.url,
            )
    if not found:
        raise FetchError(
            f"{_short(address.url)} cannot be reached: the name {address.host} does not resolve; check the address.",
            address.url,
        )
    return found


def _why_not(number: _IPAddress, allow_local: bool) -> str:
    """Why an address is not opened, or nothing."""
    for embedded in _embedded(number):
        if problem := _why_not(embedded, allow_local):
            return problem
    if number in _METADATA or number.is_link_local:
        return "is a link-local or metadata address"
    if allow_local and (number.is_loopback or number.is_private) and not number.is_unspecified:
        return ""
    if number.is_loopback:
        return "is this machine itself"
    if not number.is_global or number.is_multicast or number.is_reserved or number.is_unspecified:
        return "is a private or reserved address"
    if any(number in network for network in _NOT_PUBLIC if network.version == number.version):
        return "is a private or reserved address"
    return ""


def _embedded(number: _IPAddress) -> list[_IPAddress]:
    """The IPv4 addresses that an IPv6 address carries and that a router may unpack."""
    if isinstance(number, ipaddress.IPv4Address):
        return []
    found: list[_IPAddress] = [n for n in (number.ipv4_mapped, number.sixtofour) if n is not None]
    if number in _NAT64:
        found.append(ipaddress.IPv4Address(int(number) & 0xFFFFFFFF))
    return found


def _host(raw: str) -> str:
    """A host as browsers read it: percent signs and width folded, IDN as punycode, numbers in dotted form."""
    host = unquote(raw).rstrip(".")
    if ":" in host:
        return str(ipaddress.IPv6Address(host.split("%")[0]))
    if not host.isascii():
        host = idna.encode(host, uts46=True, transitional=False).decode("ascii")
    host = host.lower()
    last = host.rsplit(".", 1)[-1]
    if last.isdigit() or re.fullmatch(r"0x[0-9a-f]*", last):
        return _dotted(host)
    if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", host) or len(host) > 253:
        raise ValueError("its host is empty or has characters that no host has")
    return host


def _dotted(host: str) -> str:
    """2130706433, 0x7f.1 and 0177.0.0.1 are all 127.0.0.1 to a browser and to the C library."""
    parts = host.split(".")
    try:
        numbers = [
            int(p, 16) if p.startswith("0x") else int(p, 8) if p.startswith("0") and p != "0" else int(p)
            for p in parts
        ]
    except ValueError:
        numbers = []
    if (
        not 1 <= len(numbers) <= 4
        or any(n > 255 for n in numbers[:-1])
        or numbers[-1] >= 256 ** (5 - len(numbers))
    ):
        raise ValueError("its number is no IPv4 address")
    value = numbers[-1] + sum(n << (24 - 8 * i) for i, n in enumerate(numbers[:-1]))
    return str(ipaddress.IPv4Address(value))


def _refused(address: Address, problem: str) -> Refused:
    return Refused(
        f"{_short(address.url)} is not opened: {address.host} {problem}; only public pages can be read.",
        address.url,
    )


def _short(url: str, limit: int = 120) -> str:
    return url if len(url) <= limit else url[: limit - 1] + "…"
