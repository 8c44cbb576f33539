"""What the browser tests share."""

import shutil
from typing import Any

import pytest
from playwright.sync_api import expect

# A slow machine is not a failure: what takes long is measured by `make bench`.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """Debian's Chromium, or another one that is there; Playwright brings none of its own."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return {"executable_path": next((path for path in found if path), None), "args": ["--no-sandbox"]}


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes name no test: compressed ones hold the time, which differs between the processes of one run."""
    return argname if isinstance(val, bytes) else None
