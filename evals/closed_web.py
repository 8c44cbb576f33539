"""A closed web: a few pages served on loopback, and a search over exactly these.

    with ClosedWeb(Path("pages.jsonl")) as web:
        search = SearchChain([web], mode="library")
        Fetcher(allow_local=True).get(search.search("Oslo")[0].url)

The pages are a folder of HTML files that an ordinary web server serves, so they
are read through the same fetcher and converter as any other page.
"""

import html
import re
import tempfile
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from evals.questions import load_rows
from tools.search.library import SCHEME, Library
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

_PAGE = '<!doctype html>\n<html><head><meta charset="utf-8"><title>{0}</title></head>\n<body><h1>{0}</h1>\n{1}</body></html>\n'
_NO_NAME = re.compile(r"[^\w.()-]+")


class ClosedWeb:
    """A SearchProvider and the web that it searches. Lives until `close`."""

    name = "closed web"
    local = True
    home = ""
    filters: frozenset[Filter] = frozenset()

    def __init__(self, pages: Path) -> None:
        """`pages`: a JSONL file, `title` and `text` a line. Raises BadQuestions."""
        self._folder = tempfile.TemporaryDirectory(prefix="closed-web-")
        folder = Path(self._folder.name)
        for row in load_rows(pages, ("title", "text")):
            _free_place(folder, row["title"]).write_text(page_html(row["title"], row["text"]), "utf-8")
        self._index = Library(folder, None, scan_seconds=float("inf"))
        self._index.refresh()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}/"
        serve = partial(self._server.serve_forever, poll_interval=0.05)
        threading.Thread(target=serve, name="closed-web", daemon=True).start()

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        """The best passage of each of the best pages."""
        found = self._index.search(query, limit)
        return [
            replace(result, url=result.url.replace(SCHEME, self.address), provider=self.name)
            for result in found
        ]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._index.close()
        self._folder.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Who read what is in each run's own ledger."""


def page_html(title: str, text: str) -> str:
    """A plain page; blank lines part the paragraphs."""
    paragraphs = [html.escape(part.strip()) for part in html.unescape(text).split("\n\n") if part.strip()]
    body = "".join(f"<p>{paragraph}</p>\n" for paragraph in paragraphs)
    return _PAGE.format(html.escape(html.unescape(title)), body)


def _free_place(folder: Path, title: str) -> Path:
    """A file named like the page; a second page of the same name gets a number."""
    name = _NO_NAME.sub("_", html.unescape(title)).strip("_.")[:80] or "page"
    path, number = folder / f"{name}.html", 2
    while path.exists():
        path, number = folder / f"{name}_{number}.html", number + 1
    return path
