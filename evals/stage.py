"""What an evaluation runs on: the app's own services, with the web exchanged and a store of their own."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from agent.services import Services, build_services
from agent.settings import PROJECT, Settings
from evals.closed_web import ClosedWeb
from evals.leaks import carries_benchmark
from tools.manners import Closed, all_open
from tools.search.chain import SearchChain
from tools.search.results import SearchProvider

TWO_TOOLS = ("web_search", "visit_page")

OpenServices = Callable[[Settings, Console, Path | None], AbstractContextManager[Services]]
"""Services for a set, given a place for what the runs read; it can be pickled, so that any machine can make them."""


@contextmanager
def library_services(settings: Settings, console: Console) -> Iterator[Services]:
    """The default that works offline: the sample library and the configured model."""
    with _services(settings, console, search="library", library_dir=PROJECT / "library") as services:
        yield services


@contextmanager
def closed_web_services(
    settings: Settings, console: Console, pages: Path, max_steps: int, folder: Path | None = None
) -> Iterator[Services]:
    """Only the pages of that file can be searched and read, with two tools and the short prompt."""
    changed = {"prompt_profile": "compact", "max_steps": max_steps}
    with ClosedWeb(pages) as web, offline_services(settings, console, web, folder, **changed) as services:
        services.tools = TWO_TOOLS
        yield services


@contextmanager
def offline_services(
    settings: Settings, console: Console, web: SearchProvider, folder: Path | None = None, **changed: Any
) -> Iterator[Services]:
    """Only what that web on loopback holds can be searched and read, with all tools."""
    changed = {"search": "library", "allow_local_web": True, **changed}
    with _services(settings, console, folder, **changed) as services:
        services.search = SearchChain([web], mode="library")
        yield services


@contextmanager
def open_web_services(
    settings: Settings, console: Console, folder: Path | None = None, **changed: Any
) -> Iterator[Services]:
    """The app as it is configured, but for the pages that carry a benchmark's questions or answers."""
    with _services(settings, console, folder, closed=carries_benchmark, **changed) as services:
        yield services


@contextmanager
def _services(
    settings: Settings,
    console: Console,
    folder: Path | None = None,
    *,
    closed: Closed = all_open,
    **changed: Any,
) -> Iterator[Services]:
    """`folder`: where what the runs read is kept while they go on; a temporary one if not given."""
    with (
        tempfile.TemporaryDirectory(prefix="evals-", dir=folder) as place,
        console.status("preparing the model") as line,
    ):

        def progress(done: int, total: int, source: str) -> None:
            line.update(f"fetching the model from {source}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")

        services = build_services(
            settings.model_copy(update={"data_dir": Path(place), **changed}),
            progress,
            closed=closed,
        )
        line.stop()
        try:
            yield services
        finally:
            services.close()
