"""What the model is shown again when a conversation grows longer than its context."""

import pytest

from agent.memory import Memory
from agent.profile import load_profile

COMPACT, FULL = load_profile("compact"), load_profile("full")


def memory(budget: int | None, *outputs: str) -> Memory:
    talk = Memory(FULL, "You research.", "Question: How many moons?", budget)
    for number, output in enumerate(outputs, 1):
        talk.add(f"Thought {number}.\n```python\nrun({number})\n```", output)
    return talk


def contents(talk: Memory) -> list[str]:
    return [str(message.content) for message in talk.messages()]


def long(name: str, lines: int = 100) -> str:
    return "Output:\n" + "\n".join(f"{name} line {n} of the page" for n in range(lines))


def test_without_a_limit_every_output_stays_as_it_was() -> None:
    outputs = [long("a"), long("b"), long("c")]
    assert contents(memory(None, *outputs))[3::2] == outputs


def test_messages_take_turns_with_the_question_before_them() -> None:
    roles = [str(message.role.value) for message in memory(None, "x", "y").messages()]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    compact = Memory(COMPACT, "You research.", "Question: ?")
    roles = [str(message.role.value) for message in compact.messages()][1:]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"]


def test_without_memory_only_the_newest_step_is_shown_again() -> None:
    talk = memory(None, "first", "second", "third")
    talk.steps = 1
    assert contents(talk)[1:] == ["Question: How many moons?", "Thought 3.\n```python\nrun(3)\n```", "third"]
    talk.steps = 0
    assert "first" in contents(talk)


def test_old_outputs_are_shortened_first_and_the_newest_stays_whole() -> None:
    talk = memory(1500, long("a"), long("b"), long("c"))
    sent = contents(talk)
    assert len("".join(sent)) / 3.6 <= 1500
    assert FULL.shortened in sent[3]
    assert sent[3].startswith("Output:\na line 0 of the page")
    assert sent[3].endswith("a line 99 of the page")
    assert sent[-1] == long("c")


def test_thoughts_and_code_are_never_shortened() -> None:
    talk = memory(300, *[long(str(n)) for n in range(6)])
    assert contents(talk)[2::2] == [f"Thought {n}.\n```python\nrun({n})\n```" for n in range(1, 7)]


def test_what_was_shortened_stays_so_and_enough_goes_at_once_for_the_cached_prefix_to_hold() -> None:
    talk = memory(2000, long("a"), long("b"), long("c"), long("d"))
    first = contents(talk)
    talk.add("Thought 5.", "Output:\nlittle")
    assert contents(talk)[: len(first)] == first


def test_one_output_that_is_too_long_by_itself_is_cut_rather_than_lost() -> None:
    talk = memory(1000, long("a", 1000))
    sent = contents(talk)
    assert len("".join(sent)) / 3.6 <= 1000
    assert sent[-1].startswith("Output:\na line 0 of the page\na line 1 of the page")
    assert sent[-1].endswith("a line 999 of the page")
    assert len(sent[-1]) > 1000


def test_nothing_left_to_shorten_is_said() -> None:
    talk = memory(None, "short", "short too")
    assert talk.compact(10) is False
    assert memory(None, long("a"), "short").compact(500) is True


@pytest.mark.parametrize("characters_per_token", [1.0, 2.5, 5.0])
def test_the_estimate_learns_from_what_the_server_counted(characters_per_token: float) -> None:
    talk = memory(None, long("a"))
    size = sum(len(text) for text in contents(talk))
    talk.observed(int(size / characters_per_token))
    assert talk.tokens() == pytest.approx(size / characters_per_token, rel=0.02)
    talk.observed(0)  # the server counted nothing
    assert talk.tokens() == pytest.approx(size / characters_per_token, rel=0.02)
