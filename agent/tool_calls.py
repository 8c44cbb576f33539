"""The research agent where no code may be run: the model calls the tools one by one, as JSON.

The loop, its events and its endings are those of `ResearchAgent`; what differs
is what a reply holds and what running it means. It does as smolagents'
ToolCallingAgent: calls of one reply run in their order, and each result is told.
"""

import json
from collections.abc import Generator
from contextlib import closing
from typing import Any

from smolagents import ActionStep, Tool
from smolagents.memory import ToolCall
from smolagents.monitoring import TokenUsage

from agent.errors import EndpointRefused
from agent.events import Outcome, ReasoningWritten, ReplyRestarted, ThoughtWritten
from agent.model.calls import CALL_MARKS, Call, CallCollector, calls_in, completed
from agent.model.pieces import open_end
from agent.model.reply import Reply
from agent.narrator import StepNarrator
from agent.research import Conclusion, ResearchAgent
from agent.sandbox.executor import SandboxExecutor

_MOST_CALLS = 8  # of one reply
# Blank characters in a row, after which a small model that must call a tool writes no other ones.
_MOST_BLANK = 60


class ToolCallAgent(ResearchAgent):
    """An agent whose replies are tool calls. Its executor runs the tools and no code."""

    _calls: list[Call]
    # The server takes no tools: the calls are then JSON in the text, as the prompt describes them.
    _refused: bool

    def _begin(self, question: str, max_steps: int) -> None:
        super()._begin(question, max_steps)
        self._calls, self._refused = [], False

    def warm(self) -> None:
        self._begin("", self.max_steps)
        self.model.generate(self._talk.messages(), tools_to_call_from=self._offered(), max_tokens=1)

    def _offered(self) -> list[Tool]:
        return list(self.tools.values())

    def _stream(self, step: ActionStep) -> Generator[Any, None, Reply]:
        if not self._refused:
            try:
                return (yield from self._reply(step, self._offered()))
            except EndpointRefused:
                if step.step_number > 1:
                    raise
                self._refused = True
        return (yield from self._reply(step, None))

    def _reply(self, step: ActionStep, tools: list[Tool] | None) -> Generator[Any, None, Reply]:
        step.model_input_messages = messages = self._talk.messages()
        number, finish, text, told = step.step_number, None, "", 0
        collector = CallCollector()
        with closing(self.model.generate_stream(messages, tools_to_call_from=tools)) as deltas:
            for delta in deltas:
                if delta.restart:
                    text, told = "", 0
                    self._emit(ReplyRestarted(number))
                if delta.reasoning:
                    self._emit(ReasoningWritten(number, delta.reasoning))
                text += delta.content or ""
                sure = min(
                    (at for mark in CALL_MARKS if (at := text.find(mark)) >= 0),
                    default=open_end(text, CALL_MARKS),
                )
                if sure > told:
                    self._emit(ThoughtWritten(number, text[told:sure]))
                    told = sure
                collector.add(delta.tool_calls or [])
                finish = delta.finish_reason or finish
                yield delta
                if "}" in (delta.content or "") and calls_in(text, self.tools)[1]:
                    break  # written as text, and whole: what follows is not wanted, if it ever ends
                if len(text) - len(text.rstrip()) > _MOST_BLANK:
                    break
        usage = self.model.last_usage
        step.token_usage = TokenUsage(usage.prompt_tokens, usage.completion_tokens)
        if not usage.estimated:
            self._talk.observed(usage.prompt_tokens)
        thought, calls = text, collector.calls()
        if not calls:
            thought, calls = calls_in(text, self.tools)
        if not calls and finish != "length":
            said, calls = calls_in(completed(text), self.tools)
            thought = said if calls else thought
        if text[told:].strip() and (not calls or collector.calls()):
            self._emit(ThoughtWritten(number, text[told:]))
        self._calls = calls[:_MOST_CALLS]
        cut = finish == "length" and (not calls or any(call.problem for call in calls))
        written = "\n".join(str(call) for call in self._calls)
        return Reply(thought.strip(), written or None, truncated=cut)

    def _run_code(self, step: ActionStep, code: str, narrator: StepNarrator) -> tuple[str, str]:
        """What the calls gave, and what went wrong; `code` is their text, which is not run."""
        self._last_code = code
        step.tool_calls = [
            ToolCall(call.tool, call.arguments, f"call_{step.step_number}_{number}")
            for number, call in enumerate(self._calls, 1)
        ]
        self.final.thought, self.final.code = self.last_thought, ""
        self.final.insist &= step.step_number < self.max_steps
        executor: SandboxExecutor = self.python_executor
        executor.observer = narrator
        given, wrong = [], []
        for number, call in enumerate(self._calls, 1):
            if call.problem:
                wrong.append(f"{call.tool} was not called, because {call.problem}.")
                continue
            outcome = executor.call(number, call.tool, _arguments(call))
            if outcome.error:
                wrong.append(f"{call.tool}: {outcome.error}")
            elif call.tool == self.final.name:
                step.action_output = outcome.value
                self.conclusion = Conclusion(Outcome.ANSWERED, outcome.value)
                break
            else:
                text = str(outcome.value)
                narrator.printed(text + "\n")
                given.append(text)
        if not wrong:
            self._ran.add(code)
        return "\n\n".join(given), "\n".join(wrong)

    def _written(self, reply: Reply) -> str:
        if reply.code is None:
            return super()._written(reply)
        calls = "\n".join(f"<tool_call>\n{call}\n</tool_call>" for call in reply.code.split("\n"))
        return f"{reply.thought.strip()}\n{calls}".strip()


def _arguments(call: Call) -> dict[str, Any]:
    """The arguments; lists that a schema made a model write as text are read."""
    read = dict(call.arguments)
    sources = read.get("sources")
    if isinstance(sources, str) and sources.lstrip().startswith(("[", "{")):
        try:
            read["sources"] = json.loads(sources)
        except ValueError:
            return read
    return read
