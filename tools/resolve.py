"""The numbers that a name stands for, and which of them may be connected to.

`tools/connection.py` connects to the numbers that `resolve` checked and to
nothing else, so that a name cannot mean one thing when it is checked and
another when it is opened.
"""

import ipaddress
import re
import socket
import threading

from tools.address import Address, shown
from tools.errors import FetchError, Refused

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
            raise FetchError(f"{shown(address.url)} was not read: the run was stopped.", address.url)
        if waited >= seconds:
            raise FetchError(
                f"{shown(address.url)} cannot be reached: the name {address.host} was not resolved in {seconds:.0f} s.",
                address.url,
            )
    if not found:
        raise FetchError(
            f"{shown(address.url)} cannot be reached: the name {address.host} does not resolve; check the address.",
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


def _refused(address: Address, problem: str) -> Refused:
    return Refused(
        f"{shown(address.url)} is not opened: {address.host} {problem}; only public pages can be read.",
        address.url,
    )
