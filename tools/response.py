"""What an HTTP response says besides its body, and bodies that are not the page that was asked for."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

import httpcore

from tools.address import shown
from tools.connection import BadCertificate

_HEAD = 65_536
_REFRESH_HEAD = 16_384

# (what it is called, a mark in the body that only its own pages carry)
_MARKS = (
    ("a bot check (Cloudflare)", re.compile(rb"<title>\s*(Just a moment\.\.\.|Attention Required! \| Cloudflare)|/cdn-cgi/challenge-platform/h/\w/orchestrate|cf-browser-verification")),
    ("a bot check (PerimeterX)", re.compile(rb"px-captcha|_pxAppId[^;]{0,80};[\s\S]{0,2000}captcha")),
    ("a bot check (DataDome)", re.compile(rb"geo\.captcha-delivery\.com|ct\.captcha-delivery\.com")),
    ("a bot check (Imperva)", re.compile(rb"Incapsula incident ID|_Incapsula_Resource[^>]{0,200}(incident|SWUDNSAI)")),
    ("a bot check (Akamai)", re.compile(rb"<title>\s*Access Denied\s*</title>[\s\S]{0,1500}(edgesuite\.net|Reference&#32;&#35;)|sec-if-cpt-container")),
    ("a bot check (AWS)", re.compile(rb"awsWafCookieDomainList|gokuProps\s*=")),
    ("a bot check (Anubis)", re.compile(rb"Making sure you(&#39;|'|\xe2\x80\x99)re not a bot!")),
    ("a captcha", re.compile(rb"(?i)<title>[^<]{0,60}(captcha|are you a (human|robot)|robot check|security check|verify you are human)[^<]{0,60}</title>")),
)  # fmt: skip

_REFRESH_TAG = re.compile(rb"(?i)<meta\s[^>]{0,500}?http-equiv\s*=\s*[\"']?refresh[\"']?[^>]{0,2000}>")
_CONTENT = re.compile(rb"(?is)content\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_REFRESH = re.compile(r"(?is)^\s*(\d+(?:\.\d*)?|\.\d+)\s*[;,\s]\s*(?:url\s*=\s*)?[\"']?(.+?)[\"']?\s*$")


def wall_of(status: int, headers: Mapping[str, str], content: bytes) -> str:
    """What keeps the page from being read, such as "a bot check (Cloudflare)"; empty when nothing does."""
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return "a bot check (Cloudflare)"
    if headers.get("x-amzn-waf-action", "").lower() in ("challenge", "captcha"):
        return "a bot check (AWS)"
    if status >= 400 or len(content) < _HEAD:
        for name, mark in _MARKS:
            if mark.search(content[:_HEAD]):
                return name
    return ""


def refresh_target(headers: Mapping[str, str], media_type: str, content: bytes) -> str | None:
    """Where a page sends its reader at once (Refresh header or meta refresh of at most 2 s); None when it stays."""
    rules = [headers.get("refresh", "")]
    if media_type in ("text/html", "application/xhtml+xml", ""):
        head = re.sub(
            rb"(?is)<!--.*?(-->|$)|<(script|style|textarea|noscript)\b.*?</\2", b"", content[:_REFRESH_HEAD]
        )
        for tag in _REFRESH_TAG.findall(head)[:1]:
            if rule := _CONTENT.search(tag):
                rules.append((rule[1] or rule[2] or b"").decode("utf-8", "replace").replace("&amp;", "&"))
    for said in rules:
        if (parts := _REFRESH.match(said)) and float(parts[1]) <= 2:
            return parts[2]
    return None


def header_text(header: bytes) -> str:
    """A header's value: UTF-8 as many send it, else Latin-1 as the standard has it."""
    try:
        return header.decode("utf-8")
    except UnicodeDecodeError:
        return header.decode("latin-1")


def filename_of(headers: Mapping[str, str], url: str) -> str:
    """The file's own name, without any folder: from Content-Disposition, else from the address."""
    disposition = headers.get("content-disposition", "")
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
        advice = "the page is not there, so search for it or use another source"
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
