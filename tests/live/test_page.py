"""The whole app as `make app` starts it, the embedded model behind it and a real browser before it.

SCREENSHOT=docs/screenshot.png keeps the picture (`make screenshot`).
"""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Browser

from agent.settings import PROJECT, Settings
from tests.ui.screenshot import screenshot

pytestmark = [pytest.mark.live, pytest.mark.timeout(900)]

QUESTION = "How many years after the Brooklyn Bridge was opened was the Golden Gate Bridge opened?"
KEPT = {"CACHE_DIR", "EMBEDDED_GGUF"}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ours = {name.upper() for name in Settings.model_fields} - KEPT
    env = {name: value for name, value in os.environ.items() if name not in ours}
    env |= {"PORT": str(port), "DATA_DIR": str(tmp_path_factory.mktemp("data"))}
    app = subprocess.Popen(
        [sys.executable, "app.py"], cwd=PROJECT, env=env, stderr=subprocess.PIPE, text=True
    )
    assert app.stderr is not None
    try:
        said = ""
        while "is at http" not in said:
            line = app.stderr.readline()
            assert line, f"the app ended before it served: {said}"
            said += line
        yield re.findall(r"is at (http\S+)", said)[0]
    finally:
        app.terminate()
        app.wait(60)


def test_a_visitor_of_a_fresh_machine_sees_the_embedded_model_answer_an_example(
    address: str, browser: Browser, tmp_path: Path
) -> None:
    target = Path(os.environ.get("SCREENSHOT") or tmp_path / "page.png")
    screenshot(browser, address, QUESTION, target, timeout=800)
    assert Image.open(target).size == (1280, 800)
