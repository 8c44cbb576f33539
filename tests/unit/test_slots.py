"""Who gets which slot of the embedded model, and who waits for one."""

import threading

import pytest

from agent.errors import Stopped
from agent.model.slots import Slots
from tests.agent_world import until


class Conversation:
    """Something that a slot can belong to."""


def seat(slots: Slots, who: Conversation) -> int:
    with slots.taken(who, threading.Event()) as number:
        return number


def test_two_visitors_who_take_turns_keep_their_own_slots():
    slots, first, second = Slots(2), Conversation(), Conversation()
    assert [seat(slots, who) for who in (first, second, first, first, second)] == [0, 1, 0, 0, 1]


def test_a_new_conversation_takes_the_warm_slot_of_one_that_is_over():
    slots, first = Slots(2), Conversation()
    seat(slots, first)
    del first
    assert seat(slots, Conversation()) == 0


def test_a_third_visitor_displaces_who_was_away_longest_and_never_a_call_under_way():
    slots, first, second, third = Slots(2), Conversation(), Conversation(), Conversation()
    seat(slots, first)
    seat(slots, second)
    assert seat(slots, third) == 0
    with slots.taken(second, threading.Event()) as busy:
        assert seat(slots, first) != busy


def test_who_finds_the_model_at_work_waits_in_line_and_is_told_each_place():
    slots, never = Slots(1), threading.Event()
    told, served = {name: [] for name in "bcd"}, []

    def call(name):
        with slots.taken(Conversation(), never, told[name].append):
            served.append(name)

    threads = [threading.Thread(target=call, args=name) for name in "bcd"]
    with slots.taken(Conversation(), never):
        for place, (name, thread) in enumerate(zip("bcd", threads, strict=True), 1):
            thread.start()
            until(lambda name=name, place=place: told[name] == [place])
    for thread in threads:
        thread.join(30)
    assert served == ["b", "c", "d"]
    assert told["b"] == [1] and set(told["d"]) <= {1, 2, 3}
    with slots.taken(Conversation(), never) as number:
        assert number == 0


def test_stop_leaves_the_line_at_once_and_the_others_move_up():
    slots, never, stop = Slots(1), threading.Event(), threading.Event()
    places = []

    def last():
        with slots.taken(Conversation(), never, places.append):
            pass

    def stopped():
        with pytest.raises(Stopped), slots.taken(Conversation(), stop):
            pass

    with slots.taken(Conversation(), never):
        first = threading.Thread(target=stopped)
        first.start()
        until(lambda: len(slots._line) == 1)
        second = threading.Thread(target=last)
        second.start()
        until(lambda: places == [2])
        stop.set()
        first.join(30)
        assert not first.is_alive()
        until(lambda: places == [2, 1])
    second.join(30)
    assert slots._line == []
