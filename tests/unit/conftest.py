"""No variable of the shell that runs the tests may change what they find; and an app for those that want one."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agent.sandbox.pool import BoxPool
from agent.sandbox.wire.limits import Limits
from agent.settings import Settings
from tests.agent_world import App, MakeWorld, box_pool, open_app
from tests.model_sources import index, model
from tests.scripted_endpoint import Item

__all__ = ["box_pool", "index", "model"]


@pytest.fixture(scope="module", autouse=True)
def no_variable_set() -> Iterator[None]:
    """As on a fresh machine: none of the app's own variables is in the environment."""
    ours = {name.upper() for name in Settings.model_fields}
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper() in ours]:
            patch.delenv(name)
        yield


@pytest.fixture
def world(tmp_path: Path, box_pool: BoxPool) -> Iterator[MakeWorld]:
    """Makes apps that live as long as the test."""
    with ExitStack() as stack:

        def make(
            *script: Item, server: dict[str, Any] | None = None, limits: Limits | None = None, **settings: Any
        ) -> App:
            app = open_app(tmp_path, box_pool, script, stack.enter_context, server or {}, limits, settings)
            stack.callback(app.services.store.close)
            stack.callback(app.services.library.close)
            stack.callback(app.sessions.close_all)
            return app

        yield make
