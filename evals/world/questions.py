"""Questions about a world, each with the one answer that follows from its facts.

Level 1 wants one or two facts, level 2 several pages and a computation, level 3
many pages or files and an ordering.
"""

import random
from collections.abc import Callable
from dataclasses import replace

from evals.questions import Question
from evals.world import kinds
from evals.world.asker import Asker, Posed
from evals.world.facts import Facts

_TRIES = 2000

LEVELS: dict[int, tuple[Callable[[Asker], Posed], ...]] = {
    1: (
        kinds.city_people,
        kinds.currency_of,
        kinds.calling_code,
        kinds.old_people,
        kinds.country_area,
        kinds.capital_zone,
        kinds.element_mass,
        kinds.newest_count,
    ),
    2: (
        kinds.density_of_seat,
        kinds.difference,
        kinds.csv_count,
        kinds.growth,
        kinds.clock_of,
        kinds.third_area,
        kinds.neighbours_area,
    ),
    3: (
        kinds.order_of_cities,
        kinds.attached_sum,
        kinds.dense_neighbours,
        kinds.seats_of_largest,
        kinds.attached_distance,
    ),
}
# The shares of the levels are about those of GAIA.
_ROUND = (1, 2, 1, 2, 3)


def posed(facts: Facts, count: int) -> list[Posed]:
    """`count` different questions; of any first ones, the levels have about their shares."""
    ask = Asker(facts, random.Random(f"questions {facts.seed}"))  # noqa: S311 - no secret
    rounds = -(-count // len(_ROUND))
    queues = {level: iter(_different(ask, level, rounds * _ROUND.count(level))) for level in LEVELS}
    return [next(queues[level]) for _ in range(rounds) for level in _ROUND][:count]


def _different(ask: Asker, level: int, count: int) -> list[Posed]:
    makers, found = LEVELS[level], []
    for number in range(_TRIES):
        question = replace(makers[number % len(makers)](ask), level=level)
        if question.question not in ask.used and question.answer:
            ask.used.add(question.question)
            found.append(question)
        if len(found) == count:
            return found
    raise AssertionError(f"the facts do not give {count} questions of level {level}")


def as_question(number: int, each: Posed, seed: int) -> Question:
    """Without its attachment, which `evals.world.build` puts beside it."""
    return Question(f"world-{seed}-{number:03}", each.question, each.answer, kind=each.kind, level=each.level)
