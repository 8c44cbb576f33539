"""A progress bar for the one long wait there is before the page: the embedded model's file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)


@contextmanager
def fetching(console: Console) -> Iterator[Callable[[int, int, str], None]]:
    """What to tell (bytes done, bytes in all, from where); nothing is shown until it is told something."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=False,
    )
    task = bar.add_task("", visible=False)

    def tell(done: int, total: int, source: str) -> None:
        bar.start()
        bar.update(task, description=f"The model: {source}", completed=done, total=total, visible=True)

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()
