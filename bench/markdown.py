"""HTML to Markdown: the product's converter against plain markdownify, on pages made here."""

import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from markdownify import markdownify

from evals.figures import Figure
from tools.webpage import html_document

T = TypeVar("T")

OTHER = "plain markdownify"
_REPEAT = 5


def article(sections: int = 120) -> str:
    """A page as the web has them: a menu, scripts, sections with links, lists and tables, a footer."""
    menu = "".join(f'<li><a href="/topic/{n}">Topic {n}</a></li>' for n in range(60))
    script = "<script>window.data = {" + ",".join(f'"k{n}": [1, 2, 3]' for n in range(200)) + "};</script>"
    body = "".join(_section(number) for number in range(sections))
    return (
        f"<!doctype html><html><head><title>The rivers</title><style>p {{ margin: 0 }}</style>{script}</head>"
        f"<body><nav><ul>{menu}</ul></nav><main><article><h1>The rivers</h1>{body}</article></main>"
        f"<footer><p>About us</p><ul>{menu}</ul></footer></body></html>"
    )


def nested(levels: int) -> str:
    """One sentence in so many boxes within boxes."""
    return f"<html><body>{'<div>' * levels}<p>The Orme is a river.</p>{'</div>' * levels}</body></html>"


def measure() -> list[Figure]:
    """Milliseconds a page, the fastest of five."""
    page = article()
    ours, _ = _fastest(partial(html_document, page, url="https://rivers.example/"))
    theirs, _ = _fastest(partial(markdownify, page))
    figures = [Figure(f"page of {len(page) / 1000:,.0f} kB", ours, "ms", theirs)]
    for levels in (100, 900):
        deep = nested(levels)
        ours, document = _fastest(partial(html_document, deep))
        assert "The Orme is a river." in document.markdown
        plain_time, note = _plain_time(deep)
        figures.append(Figure(f"{levels} boxes within boxes", ours, "ms", plain_time, note=note))
    return figures


def _plain_time(page: str) -> tuple[float | None, str]:
    try:
        return _fastest(partial(markdownify, page))[0], ""
    except RecursionError:
        return None, "plain markdownify fails with RecursionError"


def _fastest(convert: Callable[[], T]) -> tuple[float, T]:
    taken = []
    for _ in range(_REPEAT):
        began = time.perf_counter()
        converted = convert()
        taken.append((time.perf_counter() - began) * 1000)
    return min(taken), converted


def _section(number: int) -> str:
    rows = "".join(
        f"<tr><td>River {n}</td><td>{n * 7 + number} km</td><td>{n % 5}</td></tr>" for n in range(12)
    )
    items = "".join(f'<li>see <a href="river/{number}-{n}">tributary {n}</a></li>' for n in range(6))
    return (
        f'<section><h2 id="s{number}">Section {number}</h2>'
        f"<p>The <b>river</b> of section {number} rises in the <i>hills</i> and is <a href='/river/{number}'>long"
        f"</a>. {'It flows past villages, mills and meadows to the sea. ' * 5}</p><ul>{items}</ul>"
        f"<table><thead><tr><th>Name</th><th>Length</th><th>Bridges</th></tr></thead>{rows}</table></section>"
    )
