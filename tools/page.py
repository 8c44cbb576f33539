"""What reading gives: a Document (whole) and a Page (one viewport of it).

Both are Markdown. Links and tables are read from the Markdown itself, so that
an HTML page, a PDF and a spreadsheet are all used in the same way.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tools.address import join
from tools.metadata import NOTHING_SAID, Metadata
from tools.tables import frame_of, frame_of_rows, table_spans

if TYPE_CHECKING:
    import pandas as pd

# Possessive repeats: a page of brackets must not make these backtrack.
_TARGET = r"<?((?:[^\s()<>]++|\([^\s()<>]*+\))++)>?(?:[ \t]+\"[^\"\n]*+\")?"
_WORDS = r"((?:[^\[\]]|\[[^\[\]]*+\](?:\([^()\s]*+\))?){0,2000}+)"
_IMAGE = re.compile(rf"!\[{_WORDS}\]\({_TARGET}\)")
_LINK = re.compile(rf"(?<!!)\[{_WORDS}\]\({_TARGET}\)")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*])")


@dataclass(frozen=True)
class Link:
    """A link of a page: its words and its full address."""

    text: str
    url: str


@dataclass(frozen=True)
class Document:
    """A whole document as Markdown. `note` is a sentence on what is missing or odd, mostly empty.

    `sheets`: the tables as the file's own reader found them, rows of text with the header first.
    """

    url: str
    title: str
    markdown: str
    note: str = ""
    sheets: tuple[tuple[tuple[str, ...], ...], ...] = field(default=(), compare=False, repr=False)
    metadata: Metadata = NOTHING_SAID

    @cached_property
    def links(self) -> tuple[Link, ...]:
        return tuple(links_of(self.markdown))

    @cached_property
    def tables(self) -> "tuple[pd.DataFrame, ...]":
        """Every table, as the file's own reader gave it or as it stands in the Markdown."""
        if self.sheets:
            return tuple(frame_of_rows(rows) for rows in self.sheets)
        return tuple(frame_of(self.markdown[a:b]) for a, b in table_spans(self.markdown))


@dataclass(frozen=True)
class Page:
    """Viewport `page` of `pages` of one document. `tables` are whole even when the viewport cuts them."""

    url: str
    title: str
    text: str
    page: int = 1
    pages: int = 1
    links: tuple[Link, ...] = ()
    tables: "tuple[pd.DataFrame, ...]" = field(default=(), compare=False, repr=False)
    note: str = ""
    metadata: Metadata = NOTHING_SAID

    def __str__(self) -> str:
        place = f" (page {self.page} of {self.pages})" if self.pages > 1 else ""
        said = f"\n{self.metadata}" if str(self.metadata) and self.page == 1 else ""
        note = f"\nNote: {self.note}" if self.note else ""
        return f"{self.title or self.url}{place}\n{self.url}{said}{note}\n\n{self.text}"


def links_of(markdown: str) -> Iterator[Link]:
    """The links of a piece of Markdown, images left out, each address once."""
    seen = set()
    for match in _LINK.finditer(markdown):
        if match[2] not in seen:
            seen.add(match[2])
            yield Link(plain_text(match[1]).strip(), match[2])


def without_targets(markdown: str) -> str:
    """The same Markdown with links and images reduced to their words: fewer tokens, nothing lost to read."""
    return _LINK.sub(r"\1", _IMAGE.sub(r"\1", markdown))


def without_links(markdown: str) -> str:
    """What is left when links and images are taken out with their words."""
    return _LINK.sub("", _IMAGE.sub("", markdown))


def plain_text(markdown: str) -> str:
    """The words as a reader sees them: no link targets, no emphasis marks. Line by line as before."""
    return _EMPHASIS.sub(r"\2", without_targets(markdown)).replace("\\|", "|")


def resolve_links(markdown: str, base: str) -> str:
    """The same Markdown with every link and image target made absolute."""

    def absolute(match: re.Match[str]) -> str:
        return (
            match[1] + escaped(join(base, match[2])) + match[3] if not match[2].startswith("#") else match[0]
        )

    return (
        re.sub(
            r"(\]\(<?)([^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)(>?(?:\s+\"[^\"\n]*\")?\))", absolute, markdown
        )
        if base
        else markdown
    )


def escaped(url: str) -> str:
    """An address that Markdown reads as one: no spaces, brackets balanced."""
    url = re.sub(r"\s+", "%20", url.strip())
    if url.count("(") != url.count(")"):
        url = url.replace("(", "%28").replace(")", "%29")
    return url.replace("<", "%3C").replace(">", "%3E")
