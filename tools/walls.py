"""Answers that are not the page that was asked for: bot checks and refreshes."""

import re
from collections.abc import Mapping

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
