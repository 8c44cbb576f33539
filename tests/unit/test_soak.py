"""Visitors come and go; what their sessions held is given back. `make soak` does it a thousand times."""

import pytest

from tests.agent_world import MakeWorld
from tests.soak import model, soak

pytestmark = pytest.mark.slow


def test_sessions_that_end_crash_or_are_stopped_leave_nothing_behind(world: MakeWorld) -> None:
    app = world()
    app.endpoint._always = model
    before, after = soak(app, 10, warm=5)
    assert after.left(before) == []
