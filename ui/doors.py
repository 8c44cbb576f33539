"""What may come in from outside, decided before Gradio reads a byte of it.

Gradio answers far more than this page asks for, and takes bodies of any size.
Whoever can reach the app can call all of that, and what a browser has open
beside the page can too.
"""

import re
import shutil
import time
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# What the page, gradio_client and curl use.
_OPEN = re.compile(
    r"/(config|theme\.css|favicon\.ico|robots\.txt|manifest\.json|(assets|static)/.*)?/?"
    r"|/gradio_api/(info|openapi\.json|app_id|startup-events|theme\.css|queue/(join|data|status)|cancel|reset"
    r"|upload(_progress)?|heartbeat/[^/]+|file=.*|(run|api|call)/research(/[^/]+)?|call/v2/research(/[^/]+)?)/?"
)
_UPLOAD, _LISTEN = "/gradio_api/upload", "/gradio_api/queue/data"
# A question of the longest kind, each of its characters escaped.
_MOST_BYTES = 8_000_000
# An upload that was cut leaves its file behind, which Gradio forgets.
_LEFT_SECONDS = 600.0


@dataclass(frozen=True)
class Uploads:
    """What uploads may use. `folder`: where Gradio keeps them; `most`: bytes of one request; `spare`: left on the disk."""

    folder: Path
    most: int
    spare: int

    @classmethod
    def on_disk(cls, folder: Path, most: int) -> "Uploads":
        """A tenth of the disk, 1 GB at most, stays free of uploads: the runs need some."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, most, min(1 << 30, shutil.disk_usage(folder).total // 10))

    def room(self) -> int:
        """How many bytes of uploads the disk takes now."""
        return shutil.disk_usage(self.folder).free - self.spare

    def sweep(self) -> None:
        """Remove what is left of uploads that were cut."""
        for path in self.folder.glob("tmp*"):
            try:
                if path.is_file() and path.stat().st_mtime < time.time() - _LEFT_SECONDS:
                    path.unlink()
            except FileNotFoundError:
                continue


class _TooMuch(Exception):
    """More came than a request may have."""


class Doors:
    """The ASGI app around Gradio's: a request that the page would not make gets one sentence."""

    def __init__(
        self,
        app: ASGIApp,
        uploads: Uploads,
        names: Collection[str] = (),
        listening: Counter[str] | None = None,
    ) -> None:
        """`names`: the hosts that the app answers as; without any, it does not look. `listening`: counts who hears us."""
        self._listening: Counter[str] = Counter() if listening is None else listening
        self._app = app
        self._uploads = uploads
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        most = self._uploads.most if _is(scope, _UPLOAD) else _MOST_BYTES
        begun = False

        async def bounded() -> Message:
            nonlocal most
            message = await receive()
            most -= len(message.get("body", b""))
            if most < 0 or (_is(scope, _UPLOAD) and self._uploads.room() < 0):
                raise _TooMuch
            return message

        async def tell(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        listener = QueryParams(scope["query_string"]).get("session_hash", "") if _is(scope, _LISTEN) else ""
        self._listening[listener] += 1
        try:
            await self._app(scope, bounded, tell)
        except _TooMuch:
            if not begun:
                await _too_much()(scope, receive, send)
        finally:
            self._listening[listener] -= 1
            if not self._listening[listener]:
                del self._listening[listener]

    def _refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        if self._names and not _known(headers.get("host", ""), self._names):
            return PlainTextResponse(
                "This app answers on its own machine only: open it as localhost, or name this host in HOST_NAMES.",
                421,
            )
        # Other pages in the same browser can send, though not read.
        origin = headers.get("origin")
        if self._names and origin is not None and not _known(origin.partition("://")[2], self._names):
            return PlainTextResponse("This app is not for other pages to use: open it itself.", 403)
        if not _OPEN.fullmatch(scope["path"]):
            return PlainTextResponse("There is nothing here: open the page at /.", 404)
        told = headers.get("content-length", "")
        length = int(told) if told.isdecimal() else 0
        if length > (self._uploads.most if _is(scope, _UPLOAD) else _MOST_BYTES):
            return _too_much()
        if _is(scope, _UPLOAD):
            self._uploads.sweep()
            if self._uploads.room() < length:
                return PlainTextResponse(
                    "There is no room for files now: ask without one, or try again later.", 507
                )
        return None


def _is(scope: Scope, place: str) -> bool:
    path: str = scope["path"]
    return path.rstrip("/") == place


def _known(netloc: str, names: Iterable[str]) -> bool:
    try:
        host = urlsplit(f"//{netloc}").hostname or ""
    except ValueError:
        return False
    return host in names or host.endswith(".localhost")


def _too_much() -> PlainTextResponse:
    return PlainTextResponse("That is more than this app takes at once: send less.", 413)
