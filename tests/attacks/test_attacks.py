"""Each attack at each level that this machine offers; `make attack` shows the same as a table."""

import pytest

from agent.errors import SandboxError
from agent.sandbox.probe import LIMITS_ONLY, choose_level
from tests.attacks.arena import Arena, matches
from tests.attacks.battery import BATTERY


@pytest.fixture(scope="module", params=[1, 2])
def arena(request):
    try:
        level = choose_level(request.param)
    except SandboxError as error:
        pytest.skip(str(error))
    with Arena(level) as arena:
        yield arena


@pytest.fixture(scope="module")
def open_arena():
    with Arena(LIMITS_ONLY) as arena:
        yield arena


def named(attack):
    return f"{attack.number} {attack.title}"


@pytest.mark.parametrize("attack", BATTERY, ids=named)
def test_the_attack_ends_as_expected(arena, attack):
    happened = attack.run(arena)
    assert matches(attack.expected, happened), happened


@pytest.mark.parametrize("attack", [attack for attack in BATTERY if attack.control], ids=named)
def test_the_attack_gets_through_where_nothing_is_locked(open_arena, attack):
    assert attack.control(open_arena).startswith("got through")
