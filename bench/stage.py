"""What the sections that need a model share: the endpoint that is configured, or the embedded server."""

import time
from contextlib import ExitStack
from functools import cached_property
from typing import Self

from rich.console import Console

from agent.model.embedded import EmbeddedServer, fetch_model
from agent.settings import Settings


class Stage:
    """A context manager; the embedded model is loaded when a section first asks for it, and once."""

    def __init__(self, settings: Settings, console: Console) -> None:
        self.console = console
        self.load_seconds: float | None = None
        """How long the embedded model took to load; None when another endpoint is configured."""
        self._settings = settings
        self._stack = ExitStack()

    @cached_property
    def settings(self) -> Settings:
        """The settings, with an endpoint in them that answers."""
        settings = self._settings
        if settings.tgi_url or settings.hf_token:
            return settings
        with self.console.status("fetching the model") as line:
            gguf = fetch_model(
                settings.cache_dir,
                settings.embedded_gguf,
                lambda done, total, source: line.update(
                    f"{source}: {done / 1e6:,.0f} of {total / 1e6:,.0f} MB"
                ),
            )
            line.update("loading the model")
            server = EmbeddedServer(gguf, context_tokens=settings.embedded_context)
            self._stack.callback(server.close)
            began = time.perf_counter()
            url = server.start()
            self.load_seconds = time.perf_counter() - began
        return settings.model_copy(update={"tgi_url": url})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
