"""No variable of the shell that runs the tests may change what they find."""

import os
from collections.abc import Iterator

import pytest

from agent.settings import Settings


@pytest.fixture(scope="module", autouse=True)
def no_variable_set() -> Iterator[None]:
    """As on a fresh machine: none of the app's own variables is in the environment."""
    ours = {name.upper() for name in Settings.model_fields}
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.upper() in ours]:
            patch.delenv(name)
        yield
