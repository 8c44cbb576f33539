"""How every page of the world looks: a menu, a trail, a heading, tables, and a foot."""

import html
from collections.abc import Iterable, Sequence

from evals.world import SOURCES

_MENU = (
    ("/index.html", "Home"), ("/countries/index.html", "Countries"), ("/elements/index.html", "Elements"),
    ("/currencies/index.html", "Currencies"), ("/languages/index.html", "Languages"),
    ("/zones/index.html", "Time zones"), ("/files/index.html", "Files"), ("/search", "Search"),
)  # fmt: skip

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>
<body>
<header><nav><ul>{menu}</ul></nav></header>
<main>
<p class="trail">{trail}</p>
<h1>{title}</h1>
{body}
</main>
<footer><p>{foot}</p></footer>
</body></html>
"""


def page(title: str, body: str, trail: Sequence[tuple[str, str]] = (), date: str = "") -> bytes:
    """A whole page. `body` is HTML, all else is text; `date` is when it was last changed."""
    menu = "".join(f"<li>{link(*entry)}</li>" for entry in _MENU)
    head = f'<meta name="date" content="{date}">' if date else ""
    foot = text(f"Last changed {date}. {SOURCES}" if date else SOURCES)
    steps = " › ".join(link(*entry) for entry in trail)
    filled = _PAGE.format(title=text(title), head=head, menu=menu, trail=steps, body=body, foot=foot)
    return filled.encode()


def text(value: object) -> str:
    return html.escape(str(value))


def link(address: str, name: str) -> str:
    return f'<a href="{html.escape(address)}">{text(name)}</a>'


def facts_table(rows: Iterable[tuple[str, str]]) -> str:
    """Name and value a row; a value is HTML."""
    lines = "".join(f"<tr><th>{text(name)}</th><td>{value}</td></tr>\n" for name, value in rows)
    return f'<table class="facts">\n{lines}</table>\n'


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table with a head; cells are HTML."""
    head = "".join(f"<th>{text(column)}</th>" for column in columns)
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    title = f"<caption>{text(caption)}</caption>" if caption else ""
    return f"<table>{title}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{lines}</tbody></table>\n"


def paragraph(*sentences: str) -> str:
    """Sentences are HTML."""
    return f"<p>{' '.join(sentences)}</p>\n"


def bullets(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>\n"
