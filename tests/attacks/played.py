"""One attack at one level: in the terms of that level, with what is expected there."""

from agent.sandbox.level import NO_CODE, SMALL
from tests.attacks.arena import Arena, matches
from tests.attacks.battery import Attack
from tests.attacks.codeless import CODELESS, NO_CODE_IS_RUN, run_code
from tests.attacks.small import SMALL as SMALL_BATTERY


def played(attack: Attack, arena: Arena) -> tuple[str, bool]:
    """What happened, and whether that was expected."""
    expected, run = attack.expected, attack.run
    if arena.level.number == NO_CODE.number:
        expected, run = CODELESS.get(attack.number, (f"^{NO_CODE_IS_RUN}$", run_code))
    elif arena.level.number == SMALL.number and attack.number in SMALL_BATTERY:
        small = SMALL_BATTERY[attack.number]
        expected, run = small.expected, small.run
    happened = run(arena)
    return happened, matches(expected, happened)


def controls(attack: Attack, unlocked: Arena) -> list[str]:
    """What its harmless parts, for CPython and for Monty, come to where nothing is locked."""
    small = SMALL_BATTERY.get(attack.number)
    said = [attack.control(unlocked)] if attack.control else []
    return said + ([small.control(unlocked)] if small is not None and small.attempts else [])
