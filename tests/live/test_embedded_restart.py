"""An embedded server that dies is started again for the next question."""

import os
import signal
import time
from pathlib import Path

import pytest

from agent.services import build_services
from agent.settings import Settings

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]


def test_a_model_server_that_was_killed_is_there_again_for_the_next_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("SEARCH", "library")
    services = build_services(Settings(_env_file=None))
    try:
        embedded = services.endpoint.embedded
        assert embedded is not None and embedded.pid is not None
        os.kill(embedded.pid, signal.SIGKILL)
        while embedded.alive:
            time.sleep(0.05)
        model, _, _ = services.model()
        assert embedded.alive
        assert model.generate([{"role": "user", "content": "Say yes."}], max_tokens=3).content
    finally:
        services.close()
