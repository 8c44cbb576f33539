"""Pages made here that are deeper or longer than any parser likes, read by us and by plain markdownify."""

import time
from collections.abc import Callable

from markdownify import markdownify

from bench.markdown import nested
from bench.tools.table import Row
from tools.webpage import html_document

_LEVELS = 10_000
_MB = 1_000_000


def measure() -> list[Row]:
    """Seconds of CPU; the long page's are those a 10 MB."""
    deep = nested(_LEVELS)
    rows = [
        Row(f"{_LEVELS:,} nested divs", "under 2 s a 10 MB", _cpu(html_document, deep), _peer(deep), unit="s")
    ]
    for size in (5, 50):
        page = _long(size * _MB)
        cpu = _cpu(html_document, page) * 10 / size
        rows.append(Row(f"a {size} MB page, a 10 MB", "linear, under 2 s", cpu, unit="s"))
    return rows


def _long(size: int) -> str:
    """An article of at least so many characters: paragraphs with links, lists and tables."""
    part = (
        "<section><h2>Section</h2><p>The <b>river</b> rises in the <i>hills</i> and is <a href='/long'>long</a>. "
        f"{'It flows past villages, mills and meadows to the sea. ' * 12}</p><ul><li>one</li><li>two</li></ul>"
        "<table><tr><th>Name</th><th>Length</th></tr><tr><td>Orme</td><td>120 km</td></tr></table></section>"
    )
    return f"<html><body><main>{part * (size // len(part) + 1)}</main></body></html>"


def _peer(page: str) -> dict[str, float]:
    try:
        return {"markdownify": _cpu(markdownify, page)}
    except RecursionError:
        return {}


def _cpu(convert: Callable[[str], object], page: str) -> float:
    began = time.process_time()
    convert(page)
    return time.process_time() - began
