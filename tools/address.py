"""Addresses as people and models type them, brought to one form that only means one thing."""

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

import idna

from tools.errors import Refused

PORTS = frozenset({80, 443, 8080})

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

    @property
    def origin(self) -> tuple[str, str, int]:
        """What has to be the same for a key to be sent on."""
        return self.scheme, self.host, self.port


def parse_address(text: str, *, allow_local: bool = False, ports: frozenset[int] = frozenset()) -> Address:
    """The address that `text` names; a missing scheme means https. `ports`: open besides PORTS.

    Raises Refused for another scheme, a port that is not open to pages, a file
    name or path, or something that is no address at all.
    """
    text = text.encode("utf-8", "replace").decode()  # half a character is no part of any address
    typed = re.sub(r"[\t\r\n]", "", text).strip().strip("<>\"'`").strip()
    named = shown(typed)
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
                f"{named} is a file, not a web address: read an attached file with inspect_file_as_text.",
                typed,
            )
        elif _HOST_LIKE.match(typed):
            typed = "https://" + typed
        else:
            raise Refused(
                f"{named} is not an address: search for it with web_search and visit the .url of a result.",
                typed,
            )
    elif scheme[1].lower() not in ("http", "https"):
        raise Refused(f"{named} is not opened: only http and https addresses can be read here.", typed)

    # A backslash is a slash to every browser; read otherwise, `http://a\@b` would name two hosts.
    typed = typed.replace("\\", "/")
    typed = re.sub(r"^(https?):/*", r"\1://", typed, flags=re.IGNORECASE)
    try:
        parts = urlsplit(typed)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = _host(parts.hostname or "")
    except (ValueError, UnicodeError) as error:
        raise Refused(f"{named} is not a valid address ({error}): check how it is written.", typed) from None
    if not allow_local and port not in PORTS | ports:
        allowed = ", ".join(str(p) for p in sorted(PORTS | ports))
        raise Refused(f"{named} is not opened: port {port} is not one for web pages ({allowed}).", typed)
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


def shown(url: str, limit: int = 120) -> str:
    """An address for a sentence: long ones are cut."""
    return url if len(url) <= limit else url[: limit - 1] + "…"


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
