"""Whatever a box sends, the host reads it or ends the box; nothing else is raised. `make fuzz` looks for longer."""

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.sandbox.wire.frames import BadFrame
from tests.fuzz import target

SEEDS = target.seeds()


def test_what_the_fuzzer_begins_with_is_read():
    assert sum(target.take_input(seed) for seed in SEEDS if b'"op":"call"' in seed) == 6


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
@example(b"\x00" + b"\xff" * 8)
@example(b"\x20\x40\x00" + b"[" * 60_000)
def test_any_bytes_are_read_or_refused(data):
    with suppress(BadFrame):
        target.take_input(data)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_value_that_knows_the_protocol_is_read_or_refused(recipe):
    with suppress(BadFrame):
        target.take_input(b"\xff" + recipe)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SEEDS), st.data())
def test_an_honest_frame_with_some_bytes_changed_is_read_or_refused(seed, data):
    changed = bytearray(seed)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(3, len(changed) - 1))] = data.draw(st.integers(0, 255))
    with suppress(BadFrame):
        target.take_input(bytes(changed))


@pytest.mark.parametrize("cut", [1, 7, 8, 9, 40])
def test_a_frame_that_is_cut_is_waited_for(cut):
    frame = target.framed(SEEDS[0][1:])
    assert target.take_frames(frame) == 1
    assert target.take_frames(frame[:cut]) == 0
    assert target.take_frames(frame + frame[:cut]) == 1
