"""A progress bar for the one long wait there is before the page: the embedded model's file.

`python -m ui.fetching` fetches and verifies the file, and does nothing else.
"""

import sys
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
from rich.text import Text

from agent.errors import ModelFileError, SettingsError
from agent.model.embedded import fetch_model
from agent.settings import load_settings


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

    told = -1

    def tell(done: int, total: int, source: str) -> None:
        nonlocal told
        if not console.is_terminal:  # a log shows no bar, and minutes of silence look like a fault
            if (tenths := 10 * done // max(total, 1)) != told:
                told = tenths
                console.print(
                    f"The model: {source}, {10 * tenths} % of {total / 1e9:.1f} GB", highlight=False
                )
            return
        bar.start()
        bar.update(task, description=f"The model: {source}", completed=done, total=total, visible=True)

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


def main() -> int:
    """The exit code of the command."""
    console = Console(stderr=True)
    try:
        settings = load_settings()
        with fetching(console) as tell:
            path = fetch_model(settings.cache_dir, settings.embedded_gguf, tell)
    except (SettingsError, ModelFileError) as error:
        console.print(Text(str(error), "red"), soft_wrap=True)
        return 1
    console.print(Text(f"The embedded model is ready: {path}"), soft_wrap=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
