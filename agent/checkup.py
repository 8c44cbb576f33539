"""Which places to search answer, and which are not set up; a search each. And what else the doctor tries."""

import time
from collections.abc import Sequence

from agent.settings import Settings
from agent.web import ENGINES
from tools.documents import read_bytes
from tools.errors import DocumentError, NotRendered, ToolFailure
from tools.fetch import Fetched, Fetcher
from tools.formats.locking import Lock, strongest_lock
from tools.rendering.renderer import Renderer
from tools.search.embeddings import Embedder
from tools.search.results import SearchProvider

_QUERY = "Mars"
_FILE = b"{\\rtf1 A text.}"
_LOCKS = {
    Lock.FULL: "each is read in a locked process: no other file, no secret, no network",
    Lock.BLIND: "each is read in a process locked by seccomp alone, without Landlock: it opens no file",
    Lock.LIMITED: "each is read in a process without a lock, as there is no seccomp: only its time and memory are "
    "bounded, and a hostile file that captures its reader may do what the app may",
}


def searched(provider: SearchProvider) -> tuple[bool, str]:
    """Whether a place answers, and what came of one search with its seconds."""
    started = time.monotonic()
    try:
        found = provider.search(_QUERY, 3)
    except ToolFailure as error:
        return False, f"does not answer: {error}"
    except Exception as error:  # noqa: BLE001 - a third party's scraper may fail in any way, and the next is to be asked
        return False, f"does not answer: {type(error).__name__} ({' '.join(str(error).split())[:160]})."
    seconds = time.monotonic() - started
    return True, f"answers in {seconds:.1f} s" + ("" if found else ", but found nothing")


def embedded(embedder: Embedder) -> tuple[bool, str]:
    """Whether a model of embeddings answers, and how long its vectors are."""
    started = time.monotonic()
    try:
        found = embedder.embed([_QUERY], question=True)
    except ToolFailure as error:
        return False, f"does not answer, so the library is searched by words only: {error}"
    finally:
        embedder.close()
    return True, f"answers in {time.monotonic() - started:.1f} s with {found.shape[1]} numbers for a text"


def rendered(renderer: Renderer) -> tuple[bool, str]:
    """Whether pages can be rendered, and how Chromium is kept in; one page that asks for nothing."""
    started = time.monotonic()
    page = Fetched("http://page.invalid/", 200, "text/html", b"<script>document.write(6 * 7)</script>")
    try:
        renderer.html(page, Fetcher())
    except NotRendered as error:
        return False, f"does not run: {error.why}; such pages are read from the data that they carry"
    seconds = time.monotonic() - started
    kept = (
        "in its own sandbox"
        if renderer.sandboxed
        else "without a sandbox of its own (no user namespaces here)"
    )
    return renderer.sandboxed, f"renders a page in {seconds:.1f} s, {kept} and without network"


def read_behind_a_lock() -> tuple[bool, str]:
    """Whether the processes that read strangers' files are locked whole, and how; tried on a small file."""
    lock = strongest_lock()
    try:
        read_bytes(_FILE)
    except DocumentError:
        return False, "cannot be read: the locked processes for PDFs, Office files and pictures do not start"
    return lock is Lock.FULL, _LOCKS[lock]


def not_set_up(settings: Settings) -> Sequence[str]:
    """The engines that lack their variable, each with its name."""
    return [f"{name} ({needs.upper()})" for name, needs in ENGINES.items() if not getattr(settings, needs)]
