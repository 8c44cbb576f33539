"""Prompt profiles: all the words that the agent says to the model, one YAML file a profile."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml
from jinja2 import Environment, StrictUndefined
from pydantic import BaseModel, ConfigDict
from smolagents import Tool

_FOLDER = Path(__file__).parent / "prompts"
_jinja = Environment(undefined=StrictUndefined, keep_trailing_newline=False, autoescape=False)  # noqa: S701 # plain text for a model
_jinja.filters["literal"] = repr

# Below this context, or up to this many parameters, a model does better with the short prompt.
_SMALL_CONTEXT = 12_000
_SMALL_BILLIONS = 4.0


class Profile(BaseModel):
    """One profile; texts are Jinja templates. Numbers are characters, results and tokens.

    calls: functions shown in the prompt as [call, note]; a tool that none of them
    names is shown with its own signature and description. quotes: whether
    the model is asked for verbatim quotes, and gets one chance to correct one.
    every_tool: whether the tools are offered that a small model does better
    without. plan: what asks for a plan, after the question. opening: code of the
    first step, for which the model then writes only the thought; empty lets it
    write that code too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    results: int
    viewport_chars: int
    observation_chars: int
    reply_tokens: int
    quotes: bool
    every_tool: bool
    system: str
    calls: dict[str, tuple[str, str]]
    example: list[dict[Literal["user", "assistant"], str]]
    task: str
    plan: str
    opening: str
    observation: str
    no_code: str
    repeated: str
    truncated: str
    shortened: str

    def system_text(self, tools: Mapping[str, Tool]) -> str:
        """The system prompt with the functions that are there."""
        shown = [call for name, call in self.calls.items() if name in tools]
        named = " ".join(call for call, _ in shown)
        shown += [
            (_signature(tool), str(tool.description))
            for name, tool in tools.items()
            if f"{name}(" not in named
        ]
        return self.render(self.system, tools=[{"call": call, "note": note} for call, note in shown])

    @staticmethod
    def render(template: str, **values: Any) -> str:
        """The text with its values filled in; a missing value is an error, not a blank."""
        return _jinja.from_string(template).render(**values).strip()


@lru_cache
def load_profile(name: str) -> Profile:
    """The profile `compact` or `full`, or the words `calls` of `without_code`."""
    return Profile.model_validate(yaml.safe_load((_FOLDER / f"{name}.yaml").read_text(encoding="utf-8")))


def without_code(profile: Profile) -> Profile:
    """The profile for an agent that runs no code and calls the tools as JSON: other words, the same numbers."""
    numbers = ("results", "viewport_chars", "observation_chars", "reply_tokens", "quotes", "every_tool")
    return load_profile("calls").model_copy(update={name: getattr(profile, name) for name in numbers})


def profile_for(wanted: str, context_tokens: int | None, billions: float | None) -> str:
    """The profile's name: `wanted` unless it is "auto", which picks compact for a small context or model."""
    if wanted != "auto":
        return wanted
    small = (context_tokens or _SMALL_CONTEXT) < _SMALL_CONTEXT
    small = small or (billions is not None and billions <= _SMALL_BILLIONS)
    return "compact" if small else "full"


def _signature(tool: Tool) -> str:
    inputs: Iterable[tuple[str, dict[str, Any]]] = tool.inputs.items()
    return f"{tool.name}({', '.join(name + '=None' * bool(spec.get('nullable')) for name, spec in inputs)})"
