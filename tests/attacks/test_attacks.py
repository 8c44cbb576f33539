"""Each attack at each level that this machine offers; `make attack` shows the same as a table."""

import pytest

from agent.errors import SandboxError
from agent.sandbox.probe import choose_level
from tests.attacks.arena import NOTHING_LOCKED, Arena
from tests.attacks.battery import BATTERY
from tests.attacks.played import controls, played


@pytest.fixture(scope="module", params=[1, 2, 3, 4])
def arena(request):
    try:
        level = choose_level(request.param)
    except SandboxError as error:
        pytest.skip(str(error))
    with Arena(level) as arena:
        yield arena


@pytest.fixture(scope="module")
def open_arena():
    with Arena(NOTHING_LOCKED) as arena:
        yield arena


def named(attack):
    return f"{attack.number} {attack.title}"


@pytest.mark.parametrize("attack", BATTERY, ids=named)
def test_the_attack_ends_as_expected(arena, attack):
    happened, expected = played(attack, arena)
    assert expected, happened


@pytest.mark.parametrize("attack", BATTERY, ids=named)
def test_its_harmless_parts_get_through_where_nothing_is_locked(open_arena, attack):
    assert [end for end in controls(attack, open_arena) if not end.startswith("got through")] == []
