"""What the agent does with each reply of the model, and what it tells it back."""

import json
from pathlib import Path

import pytest

from agent.answer import UNVERIFIED, Answer
from agent.events import (
    CodeRun,
    CodeWritten,
    Notice,
    Outcome,
    OutputPrinted,
    ReasoningWritten,
    RunEnded,
    StepEnded,
    ThoughtWritten,
    ToolEnded,
    ToolStarted,
    Usage,
)
from agent.sandbox.wire.limits import Limits
from tests.agent_world import MARS, MakeWorld, Told, answer, step
from tests.scripted_endpoint import overloaded, reply, too_long_llama, too_long_tgi

QUESTION = "How many moons has Mars?"


def codes(told: Told) -> list[str]:
    return [event.code for event in told.all(CodeRun)]


def test_a_reply_that_was_cut_by_its_length_is_not_run(world: MakeWorld) -> None:
    app = world(
        reply("I compute.\n```python\nprint(1)\nfor moon in range(2", finish_reason="length"),
        answer("two"),
    )
    told = app.ask(QUESTION)
    assert codes(told) == ["final_answer('two', sources=[])"]
    assert "length limit" in app.sent(1)
    assert told.all(StepEnded)[0].summary == "nothing was run"


def test_a_draft_inside_the_thinking_is_not_run_and_not_sent_back(world: MakeWorld) -> None:
    draft = "<think>Maybe\n```python\nprint('draft')\n```\nNo.</think>"
    app = world(reply(f"{draft}I print.\n```python\nprint('real')\n```\n"), answer("two"))
    told = app.ask(QUESTION)
    assert codes(told)[0] == "print('real')"
    assert "draft" in told.text(ReasoningWritten)
    assert "draft" not in told.text(ThoughtWritten) + told.text(CodeWritten)
    assert "draft" not in json.dumps(app.endpoint.chats[1])


def test_a_draft_in_the_reasoning_that_the_server_splits_off_is_not_run(world: MakeWorld) -> None:
    app = world(
        step("I print.", "print('real')", reasoning="```python\nprint('draft')\n```\n"),
        answer("two"),
        server={"flavour": "openai"},
    )
    told = app.ask(QUESTION)
    assert codes(told)[0] == "print('real')"
    assert "draft" not in json.dumps(app.endpoint.chats[1])


def test_only_the_first_of_several_blocks_is_run(world: MakeWorld) -> None:
    guess = "Output:\ntwo\n\n```python\nfinal_answer('guessed')\n```\n"
    app = world(reply(f"I look.\n```python\nprint('first')\n```\n{guess}"), answer("two"))
    told = app.ask(QUESTION)
    assert codes(told)[0] == "print('first')"
    assert told.end.answer == "two"


@pytest.mark.parametrize("profile", ["compact", "full"])
def test_a_plan_is_asked_for_only_if_it_is_wanted(world: MakeWorld, profile: str) -> None:
    words = "the facts that are needed, in their order"
    words = words if profile == "full" else "name the facts"
    for plan in (False, True):
        app = world(answer("two"), answer("two"), prompt_profile=profile, plan=plan)
        app.ask(QUESTION)
        task = app.sent(0)
        assert QUESTION in task and (words in task) is plan


def test_settings_for_memory_and_evidence_reach_the_agent(world: MakeWorld) -> None:
    look = [step(f"Look {n}.", f"print({n})") for n in range(3)]
    app = world(*look, answer("two", (MARS, "invented")), memory_steps=1, evidence_check=False)
    end = app.ask(QUESTION).end
    assert (end.outcome, end.sources[0].status) == (Outcome.ANSWERED, UNVERIFIED)
    last = [str(m["content"]) for m in app.endpoint.chats[3]["messages"]]
    assert "Look 2." in " ".join(last) and "Look 1." not in " ".join(last)


def test_the_same_code_is_not_run_again(world: MakeWorld) -> None:
    look = step("I look.", "print(web_search('Mars'))")
    app = world(look, look, answer("two"))
    told = app.ask(QUESTION)
    assert len(told.all(ToolStarted)) == 2  # the search and the answer
    assert "exactly this" in app.sent(2)


def test_code_that_failed_may_be_run_again_once_something_else_was_done(world: MakeWorld) -> None:
    use = step("I print it.", "print(moons)")
    app = world(use, use, step("I set it first.", "moons = 2"), use, answer("two"))
    told = app.ask(QUESTION)
    assert codes(told)[:3] == ["print(moons)", "moons = 2", "print(moons)"]
    assert told.text(OutputPrinted).strip() == "2"


def test_turning_the_page_again_is_no_repetition(world: MakeWorld) -> None:
    app = world(*[step("On.", "print(page_down())") for _ in range(2)], answer("two"))
    assert codes(app.ask(QUESTION))[:2] == ["print(page_down())"] * 2


def test_a_reply_without_code_is_told_so_and_the_second_in_a_row_is_the_answer_that_there_is(
    world: MakeWorld,
) -> None:
    app = world(reply("Mars has moons."), reply("Mars has two moons, Phobos and Deimos."))
    told = app.ask(QUESTION)
    assert "no ```python block" in app.sent(1)
    assert told.end.outcome is Outcome.PARTIAL
    assert told.end.answer == "Mars has two moons, Phobos and Deimos."
    assert told.end.reason == "The model stated this without closing its work."


@pytest.mark.parametrize(
    ("stated", "outcome"),
    [
        ("Mars has the two moons Phobos and Deimos.", Outcome.ANSWERED),
        ("It has nine.", Outcome.PARTIAL),
        ("Galileo saw them in 1877.", Outcome.PARTIAL),
    ],
)
def test_a_model_that_goes_in_circles_is_taken_at_its_word_and_only_a_page_makes_it_an_answer(
    world: MakeWorld, stated: str, outcome: Outcome
) -> None:
    look = step("I look.", "print(web_search('Mars'))")
    told = world(look, *[reply(stated), look] * 5).ask(QUESTION)
    assert (told.end.outcome, told.end.answer, told.end.steps) == (outcome, stated, 4)


def test_an_empty_reply_is_no_answer(world: MakeWorld) -> None:
    app = world(reply(""), reply(""), answer("two"))
    assert app.ask(QUESTION).end.outcome is Outcome.ANSWERED


def test_steps_used_up_end_the_run_as_partial_with_the_last_thought(world: MakeWorld) -> None:
    app = world(
        step("I search.", "print(web_search('Mars moons'))"),
        step("Mars has two moons, Phobos and Deimos", "print(1)"),
        max_steps=2,
    )
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.PARTIAL
    assert told.end.answer == "Mars has two moons, Phobos and Deimos"
    assert told.end.reason == "The run used its 2 steps before the answer was complete."
    assert [(source.url, source.status) for source in told.end.sources] == [(MARS, "located")]
    assert "last step" in app.sent(1)


def test_code_that_fails_is_told_with_its_line_and_its_variables_stay(world: MakeWorld) -> None:
    app = world(
        step("I compute.", "moons = 2\nprint('so far')\nmoons + unknown"),
        step("Again.", "moons * 10"),
        answer("two"),
    )
    told = app.ask(QUESTION)
    assert "so far" in app.sent(1)
    assert "moons + unknown" in app.sent(1)
    assert "NameError: name 'unknown' is not defined" in app.sent(1)
    first, second = told.all(StepEnded)[:2]
    assert first.error.startswith("NameError: name 'unknown' is not defined")
    assert "\n" not in first.error
    assert second.error == ""
    assert "20" in app.sent(2)


def test_the_value_of_the_last_expression_is_shown_to_model_and_visitor(world: MakeWorld) -> None:
    app = world(step("I compute.", "6 * 7"), answer("two"))
    told = app.ask(QUESTION)
    assert told.text(OutputPrinted) == "42"
    assert app.sent(1) == "Output:\n42"


def test_a_tool_that_fails_is_told_and_the_run_goes_on(world: MakeWorld) -> None:
    app = world(step("I read.", "visit_page('file:///etc/passwd')"), answer("two"))
    told = app.ask(QUESTION)
    failed = told.all(ToolEnded)[0]
    assert not failed.ok
    assert "file" in failed.summary
    assert failed.summary in app.sent(1)
    assert told.end.outcome is Outcome.ANSWERED


def test_a_box_that_dies_is_replaced_and_its_code_may_be_run_again(world: MakeWorld) -> None:
    keep = step("I keep it.", "moons = 2")
    app = world(
        keep, step("Oh.", "import os\nos._exit(1)"), keep, step("I print.", "print(moons)"), answer("two")
    )
    told = app.ask(QUESTION)
    assert "variables are lost" in app.sent(2)
    assert codes(told)[2] == "moons = 2"
    assert told.all(StepEnded)[3].error == ""
    assert told.end.outcome is Outcome.ANSWERED


def test_code_that_never_ends_is_interrupted_and_told(world: MakeWorld) -> None:
    app = world(step("I wait.", "while True: pass"), answer("two"), limits=Limits(step_seconds=2))
    told = app.ask(QUESTION)
    assert "longer than 2 s" in app.sent(1)
    assert told.end.outcome is Outcome.ANSWERED


def test_long_output_is_cut_for_the_model_at_its_middle(world: MakeWorld) -> None:
    app = world(step("I print.", "print('a' * 9000 + 'b' * 9000)"), answer("two"))
    app.ask(QUESTION)
    assert len(app.sent(1)) < 17_000
    assert app.sent(1).startswith("Output:\naaa")
    assert "characters left out" in app.sent(1)
    assert app.sent(1).endswith("bbb")


def test_a_prompt_that_is_too_long_is_shortened_and_asked_again_once(world: MakeWorld) -> None:
    app = world(
        *[step(f"I print {n}.", f"print('moon {n} of many\\n' * 500)") for n in range(2)],
        too_long_llama(9000, 8192),
        answer("two"),
        server={"flavour": "llama.cpp"},
    )
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.ANSWERED
    refused, asked = (json.dumps(app.endpoint.chats[number]) for number in (2, 3))
    assert len(asked) < len(refused) * 0.7
    assert told.all(StepEnded)[2].step == 3


def test_a_prompt_that_stays_too_long_fails_with_one_sentence(world: MakeWorld) -> None:
    app = world(step("I print.", "print('moon\\n' * 2000)"), too_long_tgi(), too_long_tgi())
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.FAILED
    assert "does not fit the model's context" in told.end.reason
    assert len(app.endpoint.chats) == 3


def test_text_with_more_tokens_than_it_looks_is_shortened_by_what_the_server_counted(
    world: MakeWorld,
) -> None:
    """A character of Chinese is about a token, four times the estimate."""
    app = world(
        step("I print.", "print('火星有两颗卫星' * 2000)", usage=None),
        too_long_tgi(13_000, 4096),
        answer("two"),
    )
    assert app.ask(QUESTION).end.outcome is Outcome.ANSWERED
    refused, asked = (sum(len(m["content"]) for m in chat["messages"]) for chat in app.endpoint.chats[1:])
    assert asked / refused < 4096 / 13_000


def test_a_wrong_quote_is_sent_back_once_and_then_shown_as_unverified(world: MakeWorld) -> None:
    wrong = (MARS, "Mars has three moons")
    app = world(answer("three", wrong), answer("3", wrong))
    told = app.ask(QUESTION)
    assert "does not stand in library://mars.md" in app.sent(1)
    assert told.end.outcome is Outcome.ANSWERED
    assert (told.end.answer, told.end.sources[0].status) == ("3", "unverified")


def test_a_wrong_quote_in_the_last_step_does_not_cost_the_answer(world: MakeWorld) -> None:
    app = world(answer("three", (MARS, "Mars has three moons")), max_steps=1)
    told = app.ask(QUESTION)
    assert (told.end.outcome, told.end.answer) == (Outcome.ANSWERED, "three")
    assert told.end.sources[0].status == "unverified"


def test_an_answer_that_was_sent_back_is_kept_when_the_model_never_repeats_it(world: MakeWorld) -> None:
    app = world(
        answer("three", (MARS, "Mars has three moons")), step("I look again.", "print(1)"), max_steps=2
    )
    told = app.ask(QUESTION)
    assert (told.end.outcome, told.end.answer) == (Outcome.PARTIAL, "three")


def test_a_small_model_is_not_asked_to_correct_its_quotes(world: MakeWorld) -> None:
    app = world(reply("I look."), answer("three", (MARS, "Mars has three moons")), prompt_profile="compact")
    told = app.ask(QUESTION)
    assert told.end.outcome is Outcome.ANSWERED
    assert ("unverified", MARS) in [(source.status, source.url) for source in told.end.sources]


def test_a_placeholder_copied_from_the_prompt_is_no_answer(world: MakeWorld) -> None:
    told = world(answer("..."), answer("two")).ask(QUESTION)
    assert (told.end.outcome, told.end.answer) == (Outcome.ANSWERED, "two")


def test_nothing_after_the_final_answer_is_run(world: MakeWorld) -> None:
    app = world(step("Done.", "final_answer('two')\nprint('still here')"))
    told = app.ask(QUESTION)
    assert told.text(OutputPrinted) == ""
    assert told.end.answer == "two"


def test_a_small_model_is_reminded_of_the_question_and_not_of_all_of_a_long_one(world: MakeWorld) -> None:
    app = world(
        step("1.", "print(1)"), answer("two"), step("1.", "print(1)"), answer("two"), prompt_profile="compact"
    )
    app.ask(QUESTION)
    assert app.sent(1).endswith(f"Question: {QUESTION}")
    long = "Here is a long story. " * 300 + QUESTION
    app.ask(long)
    assert long in str(app.endpoint.chats[3]["messages"])
    assert len(app.sent(3)) < 1000
    assert app.sent(3).endswith(QUESTION)


def test_a_small_model_searches_for_the_whole_question_first_whatever_it_wrote(world: MakeWorld) -> None:
    asked = 'How many moons has the "Red Planet"?'
    app = world(step("I need Venus first.", "print('Venus')"), answer("two"), prompt_profile="compact")
    told = app.ask(asked)
    assert codes(told)[0] == f"print(web_search({asked!r}))"
    assert told.text(ThoughtWritten).startswith("I need Venus first.")
    assert told.text(CodeWritten).startswith(codes(told)[0])
    assert "Venus')" not in told.text(CodeWritten)
    assert MARS in app.sent(1)


def test_a_small_model_searches_for_a_follow_up_together_with_what_it_follows(world: MakeWorld) -> None:
    app = world(*[reply("I look."), answer("Mars")] * 2, prompt_profile="compact")
    app.ask("Which planet is red?")
    assert codes(app.ask("How many moons has it?"))[0] == "print(web_search('How many moons has it? Mars'))"


def test_a_small_model_reads_what_was_attached_first(world: MakeWorld, tmp_path: Path) -> None:
    app = world(reply("I look."), answer("two"), prompt_profile="compact")
    (tmp_path / "moons.txt").write_text("Phobos")
    assert codes(app.ask(QUESTION, [tmp_path / "moons.txt"]))[0] == "print(inspect_file_as_text('moons.txt'))"
    assert "Phobos" in app.sent(1)


def test_a_small_model_writes_its_own_query_for_a_question_too_long_to_be_one(world: MakeWorld) -> None:
    app = world(step("I count.", "print(1)"), answer("two"), prompt_profile="compact")
    assert codes(app.ask(QUESTION * 30))[0] == "print(1)"


def test_the_words_of_a_page_are_no_template_of_the_prompt(world: MakeWorld) -> None:
    app = world(step("I print.", "print('{{ question }} {% raw %}')"), answer("two"))
    app.ask("What is {{ 7 * 7 }}?")
    assert "{{ question }} {% raw %}" in app.sent(1)
    assert "What is {{ 7 * 7 }}?" in app.sent(0)


@pytest.mark.slow
def test_a_wait_for_the_model_is_told_as_a_notice(world: MakeWorld) -> None:
    app = world(overloaded("0.01"), overloaded("0.01"), answer("two"))
    told = app.ask(QUESTION)
    assert told.all(Notice)[0].text.startswith("The model is busy")
    assert told.end.outcome is Outcome.ANSWERED


def test_tokens_are_those_that_the_server_counted(world: MakeWorld) -> None:
    app = world(step("1.", "print(1)", usage=(100, 7)), step("2.", "final_answer('two')", usage=(150, 9)))
    told = app.ask(QUESTION)
    assert [event.usage for event in told.all(StepEnded)] == [Usage(100, 7), Usage(150, 9)]
    assert told.end.usage == Usage(250, 16)
    assert told.end.steps == 2


def test_an_estimate_of_tokens_says_that_it_is_one(world: MakeWorld) -> None:
    told = world(step("1.", "final_answer('two')", usage=None)).ask(QUESTION)
    assert told.end.usage.estimated
    assert told.end.usage.prompt_tokens > 300


def test_a_step_is_summed_up_in_a_visitors_words(world: MakeWorld) -> None:
    visit = f"visit_page('{MARS}')"
    summaries = {
        "web_search('Mars moons')": "searched, 1 result",
        "web_search('zyzzyva')": "searched, nothing found",
        "web_search('Mars')\nweb_search('Venus')": "searched 2 times",
        visit: "read 1 page",
        f"web_search('Mars')\n{visit}\nvisit_page('library://venus.md')": "searched, read 2 pages",
        f"{visit}\nfind_on_page_ctrl_f('Phobos')": "read 1 page, looked for words in a page",
        "visit_page('library://nowhere.md')": "1 call failed",
        "x = 1": "computed",
        "1 / 0": "the code failed",
        "print('never": "the code failed",
    }
    app = world(*[step("I work.", source) for source in summaries], answer("two"))
    told = app.ask(QUESTION)
    assert [event.summary for event in told.all(StepEnded)] == [*summaries.values(), "answered"]


def test_the_answer_of_the_host_never_crosses_into_the_box(world: MakeWorld) -> None:
    told = world(step("Done.", "class Sneaky(str): pass\nfinal_answer(Sneaky('two'))")).ask(QUESTION)
    assert isinstance(told.events[-1], RunEnded)
    assert type(told.end.answer) is str
    assert told.end.answer == "two"
    assert Answer.__name__ not in told.end.answer
