"""The app: settings -> services -> page -> launch."""

import logging
import signal
import sys
import threading

from rich.console import Console

from agent.errors import ResearchError
from agent.registry import SessionRegistry
from agent.services import build_services
from agent.settings import load_settings
from ui.examples import examples
from ui.fetching import fetching
from ui.launch import launch, need_free_port
from ui.logs import keep_log
from ui.page import Page
from ui.words import NAME


def main() -> None:
    """Serve the page until the process is told to end; everything that was started is ended then."""
    settings = load_settings()
    keep_log(logging.getLevelNamesMapping()[settings.log_level])
    console = Console(stderr=True)
    host = "0.0.0.0" if settings.space_id else settings.app_host  # noqa: S104 - a Space is reached through its proxy
    need_free_port(host, settings.port)
    with fetching(console) as progress:
        services = build_services(settings, progress)
    sessions = SessionRegistry(services)
    over = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: over.set())
    try:
        page = Page(services, sessions, examples(settings.library_dir))
        if services.endpoint.embedded is not None:
            sessions.warm()
        address = launch(page.blocks, host, settings.port, settings.max_file_mb, settings.host_names)
        console.print(f"{NAME} is at {address}", highlight=False, soft_wrap=True)
        over.wait()
        page.blocks.close(verbose=False)
    finally:
        sessions.close_all()
        services.close()


if __name__ == "__main__":
    try:
        main()
    except ResearchError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(130)
