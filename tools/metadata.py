"""What a web page says of itself: who wrote it, when, in which language, and under which address it is at home.

The page may lie in all of it: each is a claim, short and of one line.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from lxml import etree

from tools.address import join

_LONGEST = 200
_MOST_AUTHORS = 5
_MOST_DATA, _MOST_SCRIPTS, _MOST_THINGS = 200_000, 20, 200
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?!\d)")
_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")
_PUBLISHED = (
    "article:published_time", "og:article:published_time", "datepublished", "date", "dc.date", "dcterms.created", "dc.date.issued",
    "citation_publication_date", "parsely-pub-date", "pubdate",
)  # fmt: skip
_MODIFIED = ("article:modified_time", "og:updated_time", "datemodified", "dcterms.modified", "last-modified")
# Things of schema.org whose author and dates are those of the page.
_WORKS = re.compile(r"(Article|Posting|Page|Report|Recipe|Dataset|Review|Book|CreativeWork|VideoObject)$")


@dataclass(frozen=True)
class Metadata:
    """Empty where the page says nothing. Dates are YYYY-MM-DD or YYYY-MM, `language` is a BCP 47 tag such as en-GB."""

    author: str = ""
    published: str = ""
    modified: str = ""
    language: str = ""
    canonical: str = ""

    def __str__(self) -> str:
        """Who and when, as one line."""
        dates = [self.published, f"changed {self.modified}" if self.modified > self.published else ""]
        return ", ".join(part for part in (f"by {self.author}" if self.author else "", *dates) if part)


NOTHING_SAID = Metadata()


def metadata_of(root: etree._Element, base: str) -> Metadata:
    """The metadata of a parsed page, its scripts still in it. `base`: what its addresses are relative to."""
    named = _named(root)
    works = list(_works(root))
    authors = [name for work in works for name in _names(work.get("author"))]
    authors += [value for name in _AUTHORS for value in named.get(name, ())]
    marked = "//*[@rel='author' or @itemprop='author'][not(self::meta)]"
    if not authors:
        authors = ["".join(each.itertext()) for each in root.xpath(marked)[:_MOST_AUTHORS]]
    days = [*(work.get("datePublished") for work in works), *_first(named, _PUBLISHED), *_times(root)]
    changes = [*(work.get("dateModified") for work in works), *_first(named, _MODIFIED)]
    told = [root.get("lang"), root.get("{http://www.w3.org/XML/1998/namespace}lang")]
    return Metadata(
        ", ".join(_lines(authors)[:_MOST_AUTHORS])[:_LONGEST],
        next(_days(days), ""),
        next(_days(changes), ""),
        next((tag for tag in told if tag and _LANGUAGE.fullmatch(tag)), ""),
        _canonical(root, base),
    )


def _named(root: etree._Element) -> dict[str, list[str]]:
    """The page's meta elements by name, in small letters."""
    found: dict[str, list[str]] = {}
    for meta in root.iter("meta"):
        name = (meta.get("name") or meta.get("property") or meta.get("itemprop") or "").lower()
        if value := (meta.get("content") or "").strip():
            found.setdefault(name, []).append(value)
    return found


def _first(named: dict[str, list[str]], names: Iterable[str]) -> list[str]:
    return [value for name in names for value in named.get(name, ())]


def _times(root: etree._Element) -> list[str]:
    """The day in the page's first time element that a reader takes for its own."""
    path = "(//time[@pubdate or @itemprop='datePublished' or contains(@class, 'publish') or contains(@class, 'entry-date')])[1]/@datetime"
    return [str(value) for value in root.xpath(path)]


def _works(root: etree._Element) -> Iterator[dict[str, Any]]:
    """What the page's JSON-LD describes as a written work."""
    scripts = root.xpath("//script[@type='application/ld+json']")
    waiting: list[Any] = [_json(script.text or "") for script in reversed(scripts[:_MOST_SCRIPTS])]
    for _ in range(_MOST_THINGS):
        if not waiting:
            return
        thing = waiting.pop()
        if isinstance(thing, list):
            waiting += reversed(thing[:_MOST_THINGS])
        elif isinstance(thing, dict):
            waiting += [thing[key] for key in ("mainEntity", "@graph") if key in thing]
            kinds = thing.get("@type")
            if any(_WORKS.search(str(kind)) for kind in (kinds if isinstance(kinds, list) else [kinds])):
                yield thing


def _json(text: str) -> Any:
    try:
        return json.loads(text) if len(text) <= _MOST_DATA else None
    except (ValueError, RecursionError):
        return None


def _names(author: Any) -> list[str]:
    """The names in what JSON-LD gives as author: a text, a person, or several."""
    several = author if isinstance(author, list) else [author]
    named = [each.get("name") if isinstance(each, dict) else each for each in several[:_MOST_AUTHORS]]
    return [name for name in named if isinstance(name, str)]


def _lines(values: Iterable[str]) -> list[str]:
    """Each once, as one line; addresses of profiles are no names."""
    lines = (re.sub(r"(?i)^by\s+", "", " ".join(value.split()))[:_LONGEST] for value in values)
    return list(dict.fromkeys(line for line in lines if line and "://" not in line))


def _days(values: Iterable[Any]) -> Iterator[str]:
    """The days among texts that begin with one, as ISO 8601 has them."""
    for value in values:
        match = _DAY.match(str(value or "").strip().replace("/", "-"))
        if match:
            try:
                date(int(match[1]), int(match[2]), int(match[3] or 1))
            except ValueError:
                continue
            yield match[0]


def _canonical(root: etree._Element, base: str) -> str:
    for target in root.xpath("(//link[@rel='canonical'])[1]/@href"):
        url = join(base, str(target).strip())
        if urlsplit(url).scheme in ("http", "https") and len(url) <= 2_000:
            return url
    return ""
