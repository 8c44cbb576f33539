"""The research agent: ask the model, run what it wrote, tell it what came out, until it answers.

The loop is ours; tools, memory steps and `run()` are those of smolagents, so
the agent works wherever a CodeAgent does. What it does is told as events.
"""

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from smolagents import ActionStep, CodeAgent, FinalAnswerStep, LogLevel, Tool
from smolagents.memory import ToolCall
from smolagents.monitoring import Timing, TokenUsage

from agent.answer import UNVERIFIED, Answer, FinalAnswer
from agent.errors import BoxLost, CodeError, ContextOverflow, SandboxError
from agent.events import (
    CodeRun,
    CodeWritten,
    Event,
    Outcome,
    ReasoningWritten,
    ReplyRestarted,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    Usage,
)
from agent.memory import Memory
from agent.model.endpoint import EndpointModel
from agent.model.reply import Reply, ReplyParser
from agent.narrator import StepNarrator
from agent.profile import Profile
from agent.sandbox.executor import SandboxExecutor

# Of a long question, how much the model is reminded of after each step.
_REMINDER_CHARS = 600
# Of a question, how much still makes a query.
_LONGEST_QUERY = 400
_FENCE = "```"
_STOPS = ["\n```\n", "\nOutput:", "\nQuestion:"]
_IDLE_STEPS = 3  # steps in a row in which nothing was run
# Calls that give something else each time, so that the same code may run again.
_MOVING = ("page_down", "page_up", "find_next")


@dataclass(frozen=True)
class Earlier:
    """A question of the same session that was answered before."""

    question: str
    answer: str


@dataclass(frozen=True)
class Conclusion:
    """How the agent's work ended. `reason`: why, when it is not simply answered."""

    outcome: Outcome
    answer: Answer
    reason: str = ""


class ResearchAgent(CodeAgent):  # type: ignore[misc]
    """A code agent whose code runs in a box and whose steps are told as events."""

    def __init__(
        self,
        tools: Sequence[Tool],
        final: FinalAnswer,
        model: EndpointModel,
        executor: SandboxExecutor,
        profile: Profile,
        *,
        emit: Callable[[Event], None] = lambda event: None,
        max_steps: int = 12,
        prompt_tokens: int | None = None,
        memory_steps: int = 0,
        plan: bool = False,
        conversation: Sequence[Earlier] = (),
        files: Sequence[str] = (),
    ) -> None:
        """`final` ends the work, the other `tools` do it. `prompt_tokens`: the longest prompt, None without a limit.

        `memory_steps`: how many of the newest steps the model sees again, 0 for all. `plan`: whether it is asked for one.
        `conversation`: what was asked before, oldest first. `files`: names of attached files.
        """
        self.profile = profile
        self._lacks = executor.lacks
        super().__init__(
            tools=[*tools, final],
            model=model,
            executor=executor,
            max_steps=max_steps,
            verbosity_level=LogLevel.OFF,
            stream_outputs=True,
            code_block_tags="markdown",
        )
        taken: object = self.python_executor
        if taken is not executor:
            raise SandboxError("The agent did not take the sandbox it was given, so nothing may be run.")
        self.final = final
        self.conclusion: Conclusion | None = None
        self.last_thought = ""
        self._emit = emit
        self._prompt_tokens, self._memory_steps = prompt_tokens, memory_steps
        self._plan = plan
        self._conversation = list(conversation)
        self._files = list(files)
        self._question = ""
        self._opening = ""
        self._ran: set[str] = set()
        self._idle = 0
        self._last_code = ""
        self._talk = Memory(profile, "", "")

    def initialize_system_prompt(self) -> str:
        return f"{self.profile.system_text(self.tools)}\n\n{self._lacks}".rstrip()

    def warm(self) -> None:
        """Let the server read the prompt that every run begins with, so that its cache holds it."""
        self._begin("", self.max_steps)
        self.model.generate(self._talk.messages(), max_tokens=1)

    def _run_stream(
        self, task: str, max_steps: int, images: object = None
    ) -> Generator[ActionStep | FinalAnswerStep | Any]:
        """One run. Raises what ends it early: Stopped, and the errors under ModelError and SandboxError."""
        self._begin(task, max_steps)
        for self.step_number in range(1, max_steps + 1):
            step = ActionStep(step_number=self.step_number, timing=Timing(start_time=time.time()))
            yield from self._step_stream(step)
            self._finalize_step(step)
            self.memory.steps.append(step)
            yield step
            if self.conclusion is not None:
                break
        if self.conclusion is None:
            self.conclusion = self._partial(
                f"The run used its {max_steps} steps before the answer was complete."
            )
        yield FinalAnswerStep(self.conclusion.answer.text)

    def _begin(self, question: str, max_steps: int) -> None:
        words = {"question": question, "conversation": self._conversation, "files": self._files}
        asked = self.profile.render(self.profile.task, **words)
        if self._plan:
            asked = f"{asked}\n{self.profile.plan}"
        self._question, self.conclusion, self.max_steps = question, None, max_steps
        self._opening = self._first_code(question)
        self._ran, self._last_code, self._idle = set(), "", 0
        self._talk = Memory(
            self.profile, self.system_prompt, asked, self._prompt_tokens, steps=self._memory_steps
        )

    def _first_code(self, question: str) -> str:
        """What the first step runs whatever the model writes; empty where the model writes it."""
        first = "inspect_file_as_text" if self._files else "web_search"
        if first not in self.tools or (not self._files and len(question) > _LONGEST_QUERY):
            return ""
        words = {"question": question, "conversation": self._conversation, "files": self._files}
        return self.profile.render(self.profile.opening, **words)

    def _step_stream(self, memory_step: ActionStep) -> Generator[Any]:
        """Ask the model, run its code, tell it what came out."""
        step, last = memory_step, memory_step.step_number == self.max_steps
        began = time.monotonic()
        self._emit(StepStarted(step.step_number))
        narrator = StepNarrator(step.step_number, self._emit)
        reply = yield from self._ask(step)
        output, error, ran = "", "", False
        if reply.truncated:
            error = self.profile.truncated
        elif reply.code is not None and self._repeats(reply.code):
            error = self.profile.repeated
        elif reply.code is not None:
            ran = True
            output, error = self._run_code(step, reply.code, narrator)
        self._take_stated(reply, ran, last)
        step.observations, step.is_final_answer = output, self.conclusion is not None
        self._talk.add(self._written(reply), self._told(reply, output, error, step.step_number))
        usage, seconds = self.model.last_usage, time.monotonic() - began
        first_line = error.strip().splitlines()[-1] if error.strip() else ""
        self._emit(
            StepEnded(step.step_number, seconds, usage, narrator.summary(ran, error), first_line[:300])
        )

    def _ask(self, step: ActionStep) -> Generator[Any, None, Reply]:
        """The model's reply, streamed; a prompt that is too long is shortened once."""
        try:
            reply = yield from self._stream(step)
        except ContextOverflow as error:
            self._talk.observed(error.prompt_tokens or 0)
            tokens = self._talk.tokens()
            if not self._talk.compact(min(tokens, error.limit or tokens) * 3 // 4):
                raise
            reply = yield from self._stream(step)
        if reply.thought.strip():
            self.last_thought = reply.thought.strip()
        step.model_output = self._written(reply)
        return reply

    def _stream(self, step: ActionStep) -> Generator[Any, None, Reply]:
        step.model_input_messages = messages = self._talk.messages()
        parser, number, finish = ReplyParser(), step.step_number, None
        opening = self._opening if number == 1 else ""
        for delta in self.model.generate_stream(messages, stop_sequences=[_FENCE] if opening else _STOPS):
            if delta.restart:
                parser = ReplyParser()
                self._emit(ReplyRestarted(number))
            if delta.reasoning:
                self._emit(ReasoningWritten(number, delta.reasoning))
            for piece in parser.feed(delta.content or ""):
                kind = ThoughtWritten if piece.kind == "thought" else CodeWritten
                self._emit(kind(number, piece.text))
            finish = delta.finish_reason or finish
            yield delta
        for piece in parser.flush():
            kind = ThoughtWritten if piece.kind == "thought" else CodeWritten
            self._emit(kind(number, piece.text))
        usage: Usage = self.model.last_usage
        step.token_usage = TokenUsage(usage.prompt_tokens, usage.completion_tokens)
        if not usage.estimated:
            self._talk.observed(usage.prompt_tokens)
        reply = parser.close(finish)
        if not opening:
            return reply
        self._emit(CodeWritten(number, opening))
        return Reply(reply.thought, opening, truncated=False)

    def _run_code(self, step: ActionStep, code: str, narrator: StepNarrator) -> tuple[str, str]:
        """What the code printed and the value of its last expression; and the error that it met."""
        self._last_code = code
        self._emit(CodeRun(step.step_number, code))
        step.code_action = code
        step.tool_calls = [ToolCall("python_interpreter", code, f"call_{step.step_number}")]
        self.final.thought, self.final.code = self.last_thought, code
        self.final.insist &= step.step_number < self.max_steps  # after the last step nothing can be corrected
        executor: SandboxExecutor = self.python_executor
        executor.observer = narrator
        try:
            result = executor(code)
        except (CodeError, BoxLost) as error:
            if isinstance(error, BoxLost):
                self._ran.clear()  # what it had computed is gone
            return str(executor.state["_print_outputs"]), str(error)
        self._ran.add(code)
        if result.is_final_answer:
            step.action_output = result.output
            self.conclusion = Conclusion(Outcome.ANSWERED, result.output)
            return result.logs, ""
        value = "" if result.output is None else str(result.output)
        if value:
            narrator.printed(value)
        return "\n".join(part for part in (result.logs.rstrip(), value) if part), ""

    def _repeats(self, code: str) -> bool:
        """It ran well before, or failed just now: it would give the same again."""
        seen = code in self._ran or code == self._last_code
        return seen and not any(call in code for call in _MOVING)

    def _take_stated(self, reply: Reply, ran: bool, last: bool) -> None:
        """What a model states without code is its answer once it does nothing else: whole if a page says so too."""
        self._idle = 0 if ran else self._idle + 1
        prose = reply.code is None and not reply.truncated and bool(reply.thought.strip())
        again = bool(self._talk.turns) and "```" not in self._talk.turns[-1].reply
        if (prose and (again or last)) or self._idle >= _IDLE_STEPS:
            self.conclusion = self._partial("The model stated this without closing its work.")
            if prose and any(source.status != UNVERIFIED for source in self.conclusion.answer.sources):
                self.conclusion = Conclusion(Outcome.ANSWERED, self.conclusion.answer)

    def _partial(self, reason: str) -> Conclusion:
        """An answer that was sent back, or else the last thought with what the check finds for it."""
        answer = self.final.sent_back
        if answer is None:
            thought = self.last_thought
            answer = self.final.without_insisting(thought) if thought else Answer("", ())
        return Conclusion(Outcome.PARTIAL, answer, reason)

    def _told(self, reply: Reply, output: str, error: str, number: int) -> str:
        """The message that answers the model's reply."""
        question = _clipped(self._question, _REMINDER_CHARS)
        if reply.code is None and not reply.truncated:
            return self.profile.render(self.profile.no_code, question=question)
        words = {"output": _clipped(output, self.profile.observation_chars), "error": error[-1500:]}
        last = number + 1 == self.max_steps
        return self.profile.render(self.profile.observation, **words, last=last, question=question)

    def _written(self, reply: Reply) -> str:
        """The reply as the model is shown it again: what did not count is left out."""
        if reply.code is None:
            return reply.thought.strip() or "(empty reply)"
        return f"{reply.thought.strip()}\n```python\n{reply.code.strip()}\n```".strip()


def _clipped(text: str, limit: int) -> str:
    """The beginning and the end of a text that is longer than `limit` characters."""
    if len(text) <= limit:
        return text.rstrip()
    head, tail = limit * 3 // 4, limit // 4
    return f"{text[:head]}\n[{len(text) - head - tail} characters left out]\n{text[-tail:].rstrip()}"
