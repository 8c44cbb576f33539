"""Files that are text already: web pages, Markdown, everything else as it stands."""

import re

from tools.charset import charset_in, decode
from tools.formats.source import Source
from tools.page import Document, resolve_links
from tools.webpage import html_document

# Atomic: many comments before something else must not be tried in all their ways.
_HTML_START = re.compile(
    rb"^(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(?:(?><!--.*?-->)\s*+)*+<(!doctype\s+html|html|head|body|title|meta|div|p|h1|table|script)\b",
    re.IGNORECASE | re.DOTALL,
)
_MAIL_START = re.compile(
    rb"^(?:From [^\n]*\n)?(?:(?:Return-Path|Received|Delivered-To|From|To|Cc|Subject|Date|Message-ID|MIME-Version|Reply-To|X-[\w-]+|"
    rb"DKIM-Signature|Content-Type|Content-Transfer-Encoding|Sender|In-Reply-To|References|User-Agent):[^\n]*\n(?:[ \t][^\n]*\n)*){3}",
    re.IGNORECASE,
)


def looks_like_html(content: bytes) -> bool:
    """Whether the bytes begin as a web page does."""
    return bool(_HTML_START.match(content[:4096]))


def looks_like_mail(content: bytes) -> bool:
    """Whether the bytes begin with at least three header lines of a message."""
    return bool(_MAIL_START.match(content[:8192].replace(b"\r\n", b"\n")))


def page_document(source: Source) -> Document:
    """A web page."""
    text, _ = decode(source.content, charset_in(source.content_type))
    return html_document(text, url=source.url, name=source.name, main_only=source.main_only)


def markdown_document(source: Source) -> Document:
    """A Markdown file: its first heading is the title, its links become absolute."""
    text = re.sub(r"\A---\n.*?\n---\n", "", source.text(), flags=re.DOTALL)
    heading = re.search(r"(?m)^#{1,2}\s+(.+?)\s*#*$", text)
    return source.document(resolve_links(text, source.url), title=heading[1] if heading else "")


def plain_document(source: Source) -> Document:
    """Any other text, as it stands."""
    markup = source.content.lstrip().startswith(b"<?xml")
    return source.document(source.text(markup=markup))
