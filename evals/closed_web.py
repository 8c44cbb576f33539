"""A closed web: a folder of pages served on loopback, and a search over exactly these.

    with ClosedWeb(Path("pages.jsonl")) as web:
        search = SearchChain([web], mode="library")
        Fetcher(allow_local=True).get(search.search("Oslo")[0].url)

An ordinary web server serves the pages, so they are read through the same
fetcher and converter as any other page.
"""

import html
import re
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from evals.questions import load_rows
from tools.search.library import SCHEME, Library
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

_PAGE = '<!doctype html>\n<html><head><meta charset="utf-8"><title>{0}</title></head>\n<body><h1>{0}</h1>\n{1}</body></html>\n'
_FORM = '<form action="/search"><input name="q" value="{0}"><button>Search</button></form>\n<ol>{1}</ol>'
_NO_NAME = re.compile(r"[^\w.()-]+")
_FOUND = 10


class FolderWeb:
    """A SearchProvider and the web that it searches: a folder of files. Lives until `close`."""

    name = "closed web"
    local = True
    home = ""
    filters: frozenset[Filter] = frozenset()

    def __init__(
        self, folder: Path, index: Path | None = None, redirects: Mapping[str, str] | None = None
    ) -> None:
        """`index`: where what the search knows is kept, in memory if not given. `redirects`: path -> path."""
        self.redirects = redirects or {}
        self._index = Library(folder, index, scan_seconds=float("inf"))
        self._index.refresh()
        self._server = _Server(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
        self._server.web = self
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class ClosedWeb(FolderWeb):
    """The web of a JSONL file of pages."""

    def __init__(self, pages: Path) -> None:
        """`pages`: `title` and `text` a line. Raises BadQuestions."""
        self._folder = tempfile.TemporaryDirectory(prefix="closed-web-")
        folder = Path(self._folder.name)
        for row in load_rows(pages, ("title", "text")):
            _free_place(folder, row["title"]).write_text(page_html(row["title"], row["text"]), "utf-8")
        super().__init__(folder)

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


class _Server(ThreadingHTTPServer):
    web: FolderWeb


class _Handler(SimpleHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/search":
            self._search(" ".join(parse_qs(parts.query).get("q", [])))
        elif target := self.server.web.redirects.get(parts.path):
            self.send_response(301)
            self.send_header("Location", target)
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            super().do_GET()

    def _search(self, query: str) -> None:
        found = self.server.web.search(query, _FOUND) if query.strip() else []
        items = (
            f'<li><a href="{html.escape(each.url)}">{html.escape(each.title)}</a><p>{html.escape(each.snippet)}</p></li>'
            for each in found
        )
        content = _PAGE.format("Search", _FORM.format(html.escape(query), "".join(items))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

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
