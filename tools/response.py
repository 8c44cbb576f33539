"""What an HTTP response says besides its body: where it leads, how it is called, what its status means."""

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import httpcore

from tools.address import shown
from tools.connection import BadCertificate

_REFRESH_HEAD = 16_384
# The pattern looks back and forth, so a header of a hundred thousand spaces must not reach it.
_REFRESH_CHARS = 2_000

_REFRESH_TAG = re.compile(rb"(?i)<meta\s[^>]{0,500}?http-equiv\s*=\s*[\"']?refresh[\"']?[^>]{0,2000}>")
_CONTENT = re.compile(rb"(?is)content\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_REFRESH = re.compile(r"(?is)^\s*(\d+(?:\.\d*)?|\.\d+)\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?(.+?)[\"']?\s*$")


def refresh_of(headers: Mapping[str, str], media_type: str, content: bytes) -> tuple[float, str] | None:
    """(seconds, target) of a Refresh header or a meta refresh; None when the page stays."""
    rules = [headers.get("refresh", "")]
    if media_type in ("text/html", "application/xhtml+xml", ""):
        head = re.sub(
            rb"(?is)<!--.*?(-->|$)|<(script|style|textarea|noscript)\b.*?</\2", b"", content[:_REFRESH_HEAD]
        )
        for tag in _REFRESH_TAG.findall(head)[:1]:
            if rule := _CONTENT.search(tag):
                rules.append((rule[1] or rule[2] or b"").decode("utf-8", "replace").replace("&amp;", "&"))
    for said in rules:
        if parts := _REFRESH.match(said[:_REFRESH_CHARS].strip()):
            return float(parts[1]), parts[2]
    return None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from a number or a date; None when it does not say."""
    said = headers.get("retry-after", "").strip()
    if said.isascii() and said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def header_text(header: bytes) -> str:
    """A header's value: UTF-8 as many send it, else Latin-1 as the standard has it."""
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError:
        return header.decode("latin-1")


def filename_of(headers: Mapping[str, str], url: str) -> str:
    """The file's own name, without any folder: from Content-Disposition, else from the address."""
    disposition = headers.get("content-disposition", "")[:2_000]
    name = ""
    if extended := re.search(r"filename\*\s*=\s*[\w-]*'[^']*'([^;\s]+)", disposition, re.IGNORECASE):
        name = unquote(extended[1])
    elif plain := re.search(r"filename\s*=\s*(\"((?:[^\"\\]|\\.)*)\"|[^;\s]+)", disposition, re.IGNORECASE):
        name = plain[2] or plain[1]
    name = name or unquote(urlsplit(url).path)
    name = re.sub(r"[\x00-\x1f\x7f]", "", PurePosixPath(name.replace("\\", "/")).name)
    return "" if name in (".", "..") else name[:200]


def status_sentence(url: str, status: int, headers: Mapping[str, str]) -> str:
    """What an HTTP error means for a reader, and what to do."""
    try:
        phrase = f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        phrase = str(status)
    if status in (404, 410):
        advice = "the page is not there, so search for it, or for an archived copy of it"
    elif status in (401, 402, 407):
        advice = "it wants a login or payment, so use another source"
    elif status in (403, 451):
        advice = "the site does not let this program in, so use another source"
    elif status in (429, 503) and headers.get("retry-after"):
        advice = (
            f"it is overloaded and asks to wait ({headers['retry-after']}), so use another source meanwhile"
        )
    elif status == 429:
        advice = "it has had too many requests, so use another source meanwhile"
    elif status >= 500:
        advice = "the server failed, so try later or use another source"
    else:
        advice = "the server does not take this request, so check the address"
    return f"{shown(url)} answered {phrase}: {advice}."


def wire_sentence(url: str, error: Exception) -> str:
    """Why nothing came, in words."""
    if isinstance(error, BadCertificate):
        return f"{shown(url)} is not read: its TLS certificate is not valid ({error})."
    if isinstance(error, httpcore.ConnectTimeout):
        return f"{shown(url)} cannot be reached: nothing answered in time."
    if isinstance(error, httpcore.TimeoutException):
        return f"{shown(url)} did not answer in time: try again later or use another source."
    if isinstance(error, httpcore.ProtocolError):
        return f"{shown(url)} answered something that is not proper HTTP ({error})."
    return f"{shown(url)} cannot be reached: {str(error) or 'the connection was lost'}."


def chain_of(urls: list[str]) -> str:
    """The hops of a redirect, the middle of a long one left out."""
    kept = urls if len(urls) <= 4 else [*urls[:2], "…", urls[-1]]
    return " -> ".join(shown(url) for url in kept)
