"""What one rendered page asks for, answered by the session's own Fetcher: Chromium itself asks nobody."""

import asyncio
import contextlib
import time
from collections.abc import Mapping
from concurrent.futures import Executor
from functools import partial
from urllib.parse import urlsplit

from playwright.async_api import Error, Page, Request, Route

from tools.errors import FetchError
from tools.fetch import Fetched, Fetcher
from tools.rendering.limits import RenderLimits

# What carries no text, so that it is not fetched unless a picture of the page is wanted.
_LOOKS = ("image", "font", "stylesheet")
_FETCHED = ("document", "script", "xhr", "fetch", "other")
_MAX_BODY = 100_000
_NO_REQUEST_HEADERS = (
    "accept-encoding", "connection", "content-length", "cookie", "host", "keep-alive", "te", "trailer", "transfer-encoding",
    "upgrade", "user-agent", "proxy-", "sec-",
)  # fmt: skip
_ANSWER_HEADERS = ("content-type", "access-control-", "x-")


class Traffic:
    """The requests of one page. `open`: how many are not answered yet; `last`: when one began or ended."""

    def __init__(
        self,
        page: Page,
        fetched: Fetched,
        fetcher: Fetcher,
        limits: RenderLimits,
        threads: Executor,
        *,
        looks: bool,
    ) -> None:
        """`fetched`: the page's own HTML, which is not asked for again. `looks`: pictures and styles are wanted too."""
        self.open = 0
        self.last = time.monotonic()
        self._page, self._first = page, fetched
        self._fetcher, self._limits, self._threads = fetcher, limits, threads
        self._kinds = (*_FETCHED, *_LOOKS) if looks else _FETCHED
        self._looks = looks
        self._until = time.monotonic() + limits.seconds
        self._asked = self._documents = self._bytes = 0

    @property
    def over(self) -> bool:
        """Whether the page has asked for more than it may: waiting for it would only bring more."""
        return self._asked > self._limits.requests

    async def answer(self, route: Route) -> None:
        """Answers a request, or lets it fail; a request that is not let through here goes nowhere at all."""
        self.open += 1
        self.last = time.monotonic()
        try:
            await self._answer(route, route.request)
        except FetchError:
            await _drop(route)
        except Error:
            pass  # the page went away in the meantime
        finally:
            self.open -= 1
            self.last = time.monotonic()

    async def _answer(self, route: Route, request: Request) -> None:
        self._asked += 1
        url = request.url.partition("#")[0]
        document = request.is_navigation_request()
        if document and not self._documents:
            self._documents = 1
            kind = self._first.content_type or "text/html"
            await route.fulfill(body=self._first.content, headers={"content-type": kind})
        elif request.resource_type == "stylesheet" and not self._looks:
            await route.fulfill(body="", content_type="text/css")  # some scripts wait for their styles
        elif self.over or not self._let_through(request, url, document=document):
            await _drop(route)
        else:
            await self._fetch(route, request, url, document=document)

    async def _fetch(self, route: Route, request: Request, url: str, *, document: bool) -> None:
        seconds = max(0.1, self._until - time.monotonic())
        body = request.post_data_buffer or b"" if request.method == "POST" else None
        ask = partial(self._fetcher.part, url, _sent(request.headers), body, seconds)
        answer = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        self._bytes += len(answer.content)
        # What is no page would be a download.
        odd = document and not answer.media_type.startswith(("text/", "application/xhtml"))
        if odd or self._bytes > self._limits.bytes:
            await _drop(route)
        else:
            await route.fulfill(status=answer.status, headers=_shown(answer.headers), body=answer.content)

    def _let_through(self, request: Request, url: str, *, document: bool) -> bool:
        if not url.startswith(("http://", "https://")) or request.resource_type not in self._kinds:
            return False
        if document:
            self._documents += 1
            # A window of its own has no frame yet.
            return self._documents <= self._limits.documents and request.frame.page == self._page
        if request.method == "GET":
            return True
        small = len(request.post_data_buffer or b"") <= _MAX_BODY
        return request.method == "POST" and small and _same_site(url, self._first.url)


async def _drop(route: Route) -> None:
    """Lets a request fail; a page that wants to lead on to nothing stays what it was."""
    with contextlib.suppress(Error):
        await route.abort("aborted" if route.request.is_navigation_request() else "failed")


def _same_site(url: str, other: str) -> bool:
    """Whether two hosts end in the same two labels: the page may send something to its own site, nowhere else."""
    first, second = ((urlsplit(each).hostname or "").split(".") for each in (url, other))
    return first[-2:] == second[-2:] if not first[-1].isdigit() else first == second


def _sent(headers: Mapping[str, str]) -> dict[str, str]:
    """What a script says with its request; no cookie, and nothing about the connection."""
    return {
        name.title(): value
        for name, value in headers.items()
        if not name.startswith(_NO_REQUEST_HEADERS) and value.isascii() and value.isprintable()
    }


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    """What the page learns of an answer's headers: nothing that makes Chromium keep, load or send anything."""
    kept = {n: v for n, v in headers.items() if n.startswith(_ANSWER_HEADERS) and n != "x-frame-options"}
    return {name: value for name, value in kept.items() if "\n" not in value}
