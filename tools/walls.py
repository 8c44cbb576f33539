"""Answers that are not the page that was asked for: bot walls, logins, paywalls, and "not found" with status 200."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from lxml import etree

from tools.charset import decode

_HEAD = 65_536
_LOOKED_AT = 400_000
# A page with more words than this is read for what it says, whatever its title.
_SHORT = 1_500

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

_LOGIN_WORDS = re.compile(
    r"(?i)\b(log ?in|sign ?in|log ?on|sign ?on|anmelden|einloggen|connexion|iniciar sesi[oó]n|accedi)\b|登录|登入|ログイン|로그인|войти|вход"
)
_LOGIN_PATH = re.compile(
    r"(?i)/(log-?in|sign-?in|log-?on|sso|saml2?|oauth2?|auth|session/new|accounts?/login)(/|\.|$)"
)
_MISSING = re.compile(
    r"(?i)\b(error|http)?\s*404\b|\b(page|file|article|document|site|content|resource|url|item|object)s?\b[^.!?]{0,30}"
    r"\b(not (be )?found|does(n['’]t| not) exist|no longer (exists|available)|(is|was) (missing|removed|deleted)|unavailable)"
    r"|^\W*(oops\W+)?not found\W*$|\bcan(['’]t|not) (be found|find (the|that|this) page)"
    r"|seite[^.!?]{0,30}nicht gefunden|page (introuvable|non trouvée)|página no (encontrada|existe)|pagina non trovata"
    r"|страница не найдена|页面不存在|找不到页面|ページが見つかりません"
)
_TITLED = re.compile(rb"(?i)<(title|h1)\b")
_PAYWALL = re.compile(rb'"isAccessibleForFree"\s*:\s*(?:"\s*)?false', re.IGNORECASE)


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


def is_login(url: str, content: bytes, charset: str = "") -> bool:
    """Whether an HTML page is a form to log in and nothing else. `charset`: the one that the server named."""
    if b"password" not in content[:_LOOKED_AT].lower():
        return False
    root = _tree(content, charset)
    if root is None or not root.xpath("//input[translate(@type, 'PASWORD', 'pasword') = 'password']"):
        return False
    named = any(_LOGIN_WORDS.search(each) for each in _headings(root)) or bool(
        _LOGIN_PATH.search(urlsplit(url).path)
    )
    return named and _words(root) < _SHORT


def is_behind_paywall(content: bytes) -> bool:
    """Whether an HTML page says of itself that it is not free to read."""
    return bool(_PAYWALL.search(content[:_LOOKED_AT]))


def says_not_found(content: bytes, charset: str = "") -> bool:
    """Whether an HTML page only says that what was asked for is not there, whatever its status."""
    if not _TITLED.search(content[:_LOOKED_AT]):
        return False
    root = _tree(content, charset)
    return (
        root is not None and any(_MISSING.search(each) for each in _headings(root)) and _words(root) < _SHORT
    )


def _tree(content: bytes, charset: str) -> etree._Element | None:
    text = decode(content[:_LOOKED_AT], charset)[0].replace("\0", "")
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        return etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _headings(root: etree._Element) -> list[str]:
    """The page's title and its first headings."""
    found = [root.xpath("string(//title)")]
    found += [heading.xpath("string()") for heading in root.xpath("(//h1 | //h2)[position() < 3]")]
    return [" ".join(str(each).split())[:200] for each in found]


def _words(root: etree._Element) -> int:
    """Characters of text that a reader would see, roughly."""
    texts = root.xpath("//body//text()[not(ancestor::script or ancestor::style or ancestor::template)]")
    return sum(len(str(text).strip()) for text in texts)
