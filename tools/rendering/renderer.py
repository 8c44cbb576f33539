"""Renders pages for all sessions: one Chromium, a context of its own for each page, closed when idle."""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from playwright.async_api import BrowserContext, Error, Page, WebSocketRoute

from tools.address import shown
from tools.errors import FetchError, NotRendered
from tools.fetch import Fetched, Fetcher
from tools.rendering.acts import Act, read_html, take_picture
from tools.rendering.chromium import Chromium
from tools.rendering.limits import RenderLimits
from tools.rendering.traffic import Traffic
from tools.rendering.visited import Visited

T = TypeVar("T")

_QUIET_SECONDS = 0.6
_SLICE = 0.1
_CLOSE_SECONDS = 3.0
_THREADS = 12
_WINDOW = {"width": 1280, "height": 1600}


class Renderer:
    """Thread-safe. Nothing runs until the first page needs it."""

    def __init__(self, executable: Path, limits: RenderLimits | None = None) -> None:
        self.limits = limits or RenderLimits()
        self._executable = executable
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._threads = ThreadPoolExecutor(_THREADS, "rendering-fetch")
        self._places = asyncio.Semaphore(self.limits.together)
        self._starting = asyncio.Lock()
        self._chromium: Chromium | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._at_work = 0
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def sandboxed(self) -> bool:
        """Whether the Chromium that runs now has its own sandbox, besides the lock that it always has."""
        return self._chromium is not None and self._chromium.sandboxed

    def html(self, fetched: Fetched, fetcher: Fetcher) -> Visited[str]:
        """The HTML of a page as its scripts made it; as `visit`."""
        return self.visit(fetched, fetcher, read_html)

    def picture(self, fetched: Fetched, fetcher: Fetcher) -> Visited[bytes]:
        """A PNG of what a reader would see of it first; as `visit`."""
        return self.visit(fetched, fetcher, take_picture, looks=True)

    def visit(self, fetched: Fetched, fetcher: Fetcher, act: Act[T], *, looks: bool = False) -> Visited[T]:
        """Runs the scripts of a page whose HTML was fetched, and does `act` once it has settled.

        `fetcher` answers all that the page asks for; its `cancel` ends the visit.
        `looks`: pictures and styles are loaded too. Raises NotRendered, and
        FetchError when the run is stopped.
        """
        job = asyncio.run_coroutine_threadsafe(self._visit(fetched, fetcher, act, looks), self._running())
        while not wait([job], _SLICE).done:
            if fetcher.cancel.is_set():
                job.cancel()
                raise FetchError(f"{shown(fetched.url)} was not read: the run was stopped.", fetched.url)
        return job.result()

    def close(self) -> None:
        """Ends Chromium and everything else; the renderer is not used again."""
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(self._end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=loop.run_forever, name="rendering", daemon=True)
                self._thread.start()
            return self._loop

    async def _visit(self, fetched: Fetched, fetcher: Fetcher, act: Act[T], looks: bool) -> Visited[T]:
        limits = self.limits
        try:
            async with asyncio.timeout(limits.seconds), self._places, self._started() as chromium:
                watch = asyncio.create_task(chromium.watch_memory(limits.memory_bytes))
                try:
                    return await self._on_page(chromium, fetched, fetcher, act, looks)
                except Error as error:
                    if not chromium.memory_was_over and "crash" not in str(error).lower():
                        raise
                    full = f"its scripts took more memory than there is for them ({limits.memory_bytes >> 20} MB in all)"
                    raise _failed(fetched, full) from error
                finally:
                    watch.cancel()
        except TimeoutError:
            raise _failed(fetched, "its scripts did not end in time") from None
        except Error as error:
            raise _failed(fetched, _first_line(error)) from error

    async def _on_page(
        self, chromium: Chromium, fetched: Fetched, fetcher: Fetcher, act: Act[T], looks: bool
    ) -> Visited[T]:
        limits = self.limits
        async with _context(chromium) as context:
            page = await context.new_page()
            traffic = Traffic(page, fetched, fetcher, limits, self._threads, looks=looks)
            await context.route("**/*", traffic.answer)
            context.on("page", _close_page)
            place = f"{fetched.url}#{fetched.fragment}" if fetched.fragment else fetched.url
            until = time.monotonic() + limits.settle_seconds
            loaded = asyncio.Event()
            page.on("load", lambda _: loaded.set())
            with contextlib.suppress(Error):  # too slow, or led elsewhere: what stands then is read
                await page.goto(place, wait_until="commit", timeout=limits.settle_seconds * 1000)
            while time.monotonic() < until and not traffic.over:
                if loaded.is_set() and not traffic.open and time.monotonic() - traffic.last > _QUIET_SECONDS:
                    break
                await asyncio.sleep(_SLICE)
            return Visited(page.url.partition("#")[0], await act(page, limits))

    @contextlib.asynccontextmanager
    async def _started(self) -> AsyncIterator[Chromium]:
        """Chromium, started if need be; closed a while after the last one has done with it."""
        self._at_work += 1
        if self._idle is not None:
            self._idle.cancel()
        try:
            async with self._starting:
                if self._chromium is None or not self._chromium.alive:
                    await self._let_go()
                    self._chromium = await Chromium.start(self._executable, self.limits.memory_bytes // 2)
            yield self._chromium
        finally:
            self._at_work -= 1
            if not self._at_work:
                self._idle = asyncio.get_running_loop().call_later(self.limits.idle_seconds, self._rest)

    async def _end(self) -> None:
        await self._let_go()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _rest(self) -> None:
        if not self._at_work:
            task = asyncio.get_running_loop().create_task(self._let_go())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _let_go(self) -> None:
        chromium, self._chromium = self._chromium, None
        if chromium is not None:
            await chromium.close()


@contextlib.asynccontextmanager
async def _context(chromium: Chromium) -> AsyncIterator[BrowserContext]:
    """A context that may do nothing but show a page."""
    context = await chromium.browser.new_context(
        accept_downloads=False,
        service_workers="block",
        permissions=[],
        viewport=_WINDOW,  # type: ignore[arg-type]
        locale="en-US",
    )
    try:
        await context.route_web_socket("**/*", _refuse_socket)
        yield context
    finally:
        try:
            await asyncio.wait_for(context.close(), _CLOSE_SECONDS)
        except (Error, TimeoutError):
            chromium.kill()  # a page that cannot be closed must not go on


async def _refuse_socket(socket: WebSocketRoute) -> None:
    await socket.close()


async def _close_page(page: Page) -> None:
    with contextlib.suppress(Error):
        await page.close()


def _failed(fetched: Fetched, why: str) -> NotRendered:
    return NotRendered(why, fetched.url, fetched.status)


def _first_line(error: Error) -> str:
    return error.message.partition("\n")[0].strip().rstrip(".")[:200]
