"""A server that says at once that it is not ready is asked ever less often."""

import pytest

from agent.model.pauses import Pauses, so_far


def pauses(*named: float | None, first: float = 1.0) -> list[float]:
    line = Pauses(first)
    return [line.next(each) for each in named]


def test_the_pauses_grow_to_a_quarter_of_a_minute() -> None:
    assert pauses(*[None] * 7) == [1, 2, 4, 8, 15, 15, 15]


def test_a_server_that_asks_to_be_asked_at_once_is_asked_no_more_often() -> None:
    assert pauses(0, 0, 0.1, 0, 0, 0) == [1, 2, 4, 8, 15, 15]


def test_a_server_that_asks_for_patience_gets_it() -> None:
    assert pauses(20, 3, 3, 60) == [20, 3, 4, 60]


def test_ten_minutes_of_a_server_that_is_never_ready_are_some_forty_questions() -> None:
    line, waited, asked = Pauses(1.0), 0.0, 0
    while waited < 600:
        waited, asked = waited + line.next(0), asked + 1
    assert asked < 50


@pytest.mark.parametrize(("seconds", "said"), [(0.2, ""), (40.4, ", 40 s so far")])
def test_a_wait_counts(seconds: float, said: str) -> None:
    assert so_far(seconds) == said
