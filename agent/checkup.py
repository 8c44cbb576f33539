"""Which places to search answer, and which are not set up; a search each. And whether the embeddings do."""

import time
from collections.abc import Sequence

from agent.settings import Settings
from agent.web import ENGINES
from tools.errors import NotRendered, ToolFailure
from tools.fetch import Fetched, Fetcher
from tools.rendering.renderer import Renderer
from tools.search.embeddings import Embedder
from tools.search.results import SearchProvider

_QUERY = "Mars"


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


def not_set_up(settings: Settings) -> Sequence[str]:
    """The engines that lack their variable, each with its name."""
    return [f"{name} ({needs.upper()})" for name, needs in ENGINES.items() if not getattr(settings, needs)]
