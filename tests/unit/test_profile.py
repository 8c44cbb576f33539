"""All the words that the agent says to a model: how many they are, for which model, and that none is missing."""

from pathlib import Path

import jinja2
import pytest
from smolagents import Tool

from agent.answer import FinalAnswer
from agent.memory import Memory
from agent.profile import Profile, load_profile, profile_for
from agent.services import _billions
from tests.agent_world import LIBRARY
from tools.browser import TextBrowser
from tools.fetch import Fetcher
from tools.search.chain import SearchChain
from tools.search.library import Library
from tools.toolbox import toolbox

# Fewer than any tokenizer of these models needs for English and Python, so the estimate is high.
CHARS_PER_TOKEN = 3.0


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, Tool]:
    return _tools(tmp_path, load_profile("compact"))


def _tools(tmp_path: Path, profile: Profile) -> dict[str, Tool]:
    for name, text in LIBRARY.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    library = Library(tmp_path, None)
    browser = TextBrowser(Fetcher(), library)
    final = FinalAnswer(browser.open, list, list, "?", insist=False)
    offered = toolbox(SearchChain([library]), browser, every=profile.every_tool)
    return {tool.name: tool for tool in [*offered, final]}


def prompt(profile: Profile, tools: dict[str, Tool]) -> Memory:
    task = profile.render(profile.task, question="", conversation=[], files=[])
    return Memory(profile, profile.system_text(tools), task)


def test_the_compact_prompt_costs_less_than_700_tokens_tools_and_example_included(
    tools: dict[str, Tool],
) -> None:
    text = "".join(str(message.content) for message in prompt(load_profile("compact"), tools).messages())
    assert len(text) / CHARS_PER_TOKEN < 700


def test_the_full_prompt_costs_less_than_half_of_what_smolagents_spends(tmp_path: Path) -> None:
    full = load_profile("full")
    text = "".join(str(message.content) for message in prompt(full, _tools(tmp_path, full)).messages())
    assert "download(url)" in text
    assert "web_search(query, site=None, after=None, before=None, language=None)" in text
    assert len(text) / CHARS_PER_TOKEN < 2300 / 2


@pytest.mark.parametrize("name", ["compact", "full"])
def test_every_function_is_named_in_the_prompt(tools: dict[str, Tool], name: str) -> None:
    text = load_profile(name).system_text(tools)
    assert [tool for tool in tools if f"{tool}(" not in text] == []


@pytest.mark.parametrize("name", ["compact", "full"])
def test_a_function_that_is_not_there_is_not_named(tools: dict[str, Tool], name: str) -> None:
    few = {known: tools[known] for known in ("web_search", "final_answer")}
    text = load_profile(name).system_text(few)
    assert "web_search(" in text
    assert "inspect_file_as_text(query" not in text
    assert "- inspect_file_as_text(" not in text


def test_a_function_that_the_compact_profile_does_not_know_is_shown_by_its_own_description(
    tools: dict[str, Tool],
) -> None:
    class Weigh(Tool):
        name = "weigh"
        description = "Weighs a planet."
        inputs = {"planet": {"type": "string", "description": "its name"}}  # noqa: RUF012
        output_type = "number"

        def forward(self, planet: str) -> float:
            return 1.0

    text = load_profile("compact").system_text({**tools, "weigh": Weigh()})
    assert "weigh(planet) - Weighs a planet." in text
    assert "web_search(query) - list of results" in text


@pytest.mark.parametrize("name", ["compact", "full"])
def test_no_text_of_a_profile_waits_for_a_value_that_nobody_gives(name: str) -> None:
    profile = load_profile(name)
    files, conversation = ["a.csv"], [{"question": "Before?", "answer": "Yes."}]
    task = profile.render(profile.task, question="Now?", conversation=conversation, files=files)
    for text in ("Before?", "Yes.", "a.csv", "Now?"):
        assert text in task
    told = profile.render(
        profile.observation, output="{{ 7*7 }}", error="It failed.", last=True, question="Now?"
    )
    assert "{{ 7*7 }}" in told  # the web's words are no template
    assert "It failed." in told
    assert "final_answer" in told
    assert profile.render(profile.no_code, question="Now?")


def test_a_value_that_is_missing_is_an_error_and_not_a_blank() -> None:
    with pytest.raises(jinja2.UndefinedError):
        Profile.render("{{ question }}")


@pytest.mark.parametrize(
    ("model", "context", "expected"),
    [
        ("Qwen2.5-Coder-1.5B-Instruct", 8192, "compact"),
        ("Qwen2.5-Coder-1.5B-Instruct", 131072, "compact"),
        ("meta-llama/Llama-3.2-3B-Instruct", 131072, "compact"),
        ("Qwen/Qwen2.5-Coder-32B-Instruct", 32768, "full"),
        ("Qwen/Qwen2.5-Coder-32B-Instruct", 8192, "compact"),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", 262144, "full"),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 32768, "full"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", 131072, "full"),
        ("openai/gpt-oss-20b", 131072, "full"),
        ("some-model", None, "full"),
    ],
)
def test_a_small_model_or_a_small_context_gets_the_compact_prompt(
    model: str, context: int | None, expected: str
) -> None:
    assert profile_for("auto", context, _billions(model)) == expected


@pytest.mark.parametrize("wanted", ["compact", "full"])
def test_the_variable_decides_over_size_and_context(wanted: str) -> None:
    assert profile_for(wanted, 4096, 1.5) == wanted
    assert profile_for(wanted, 200_000, 400) == wanted
