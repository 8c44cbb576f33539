"""A run as chat messages: one block a step, what happened nested inside, the answer outside.

A pure projection of the event log. Adding an event costs the length of the
event; `messages` renders only the steps that changed since the last time, and
no text on the page grows beyond a fixed size.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

import gradio as gr
from gradio.components.chatbot import OptionDict

from agent.events import Event, Notice, Outcome, RunEnded, RunStarted, Source, StepStarted
from ui.step import Step
from ui.untrusted import attribute, literal, literal_lines, prose, web_address
from ui.words import NO_SOURCE, count, duration, ending


def transcript(events: Iterable[Event], key: str = "run") -> list[gr.ChatMessage]:
    """The messages of a whole log; `key` keeps the steps of several runs on one page apart."""
    whole = Transcript(key)
    for event in events:
        whole.add(event)
    return whole.messages()


class _Block(Protocol):
    def messages(self) -> Sequence[gr.ChatMessage]: ...


class _Said:
    """Messages outside the steps."""

    def __init__(self, *messages: gr.ChatMessage) -> None:
        self._messages = messages

    def messages(self) -> Sequence[gr.ChatMessage]:
        return self._messages


class _Told(_Said):
    """A notice between steps; the next one takes its place, so that a wait counts in one line."""

    def __init__(self, text: str) -> None:
        super().__init__(gr.ChatMessage(f"<small><i>{literal(text)}</i></small>"))


class Transcript:
    """The messages of one run, kept up to date event by event."""

    def __init__(self, key: str = "run") -> None:
        self._key = key
        self._blocks: list[_Block] = []
        self._steps: dict[int, Step] = {}
        self._asked = ""

    def add(self, event: Event) -> None:
        last = self._blocks[-1] if self._blocks else None
        match event:
            case RunStarted():
                self._asked = event.question
                self._blocks.append(_Said(asked(event.question, event.files)))
            case Notice() if isinstance(last, Step) and not last.ended:
                last.add(event)
            case Notice(text=text):
                if isinstance(last, _Told):
                    self._blocks.pop()
                self._blocks.append(_Told(text))
            case StepStarted(step=number):
                self._steps[number] = Step(number, f"{self._key}-{number}")
                self._blocks.append(self._steps[number])
            case RunEnded():
                for step in self._steps.values():
                    step.close()
                self._blocks.append(_Said(*_ending(event, self._asked)))
            case _:
                if event.step in self._steps:
                    self._steps[event.step].add(event)

    def messages(self) -> list[gr.ChatMessage]:
        return [message for block in self._blocks for message in block.messages()]


def asked(question: str, files: Iterable[str]) -> gr.ChatMessage:
    """The visitor's question, with the names of the files that came with it."""
    names = "".join(f"\n<code>{literal(name)}</code>" for name in files)
    return gr.ChatMessage(literal_lines(question) + names, role="user")


def _ending(event: RunEnded, question: str) -> list[gr.ChatMessage]:
    said = []
    if event.answer.strip():
        label = {Outcome.ANSWERED: "", Outcome.PARTIAL: "<small>Partial answer</small>\n\n"}
        so_far = label.get(event.outcome, "<small>So far</small>\n\n")
        said.append(gr.ChatMessage(so_far + _answer(event.answer, event.sources)))
    if event.sources:
        lines = "\n".join(f"{place}. {_source(source)}" for place, source in enumerate(event.sources, 1))
        said.append(gr.ChatMessage(f"<small>Sources</small>\n\n{lines}"))
    elif event.answer.strip():
        said.append(gr.ChatMessage(f"<small>{NO_SOURCE}</small>"))
    cost = f"{count(event.steps, 'step')} · {duration(event.seconds)}"
    last = gr.ChatMessage(f"<small>{literal(ending(event))} · {cost}</small>")
    if question and event.outcome is not Outcome.ANSWERED:
        last.options = [OptionDict(value=question, label="Ask again")]
    return [*said, last]


def _answer(answer: str, sources: Sequence[Source]) -> str:
    """The answer; its [1] lead to the source and carry the quoted words."""

    def link(match: re.Match[str]) -> str:
        place = int(match[1])
        if not 0 < place <= len(sources):
            return match[0]
        quote, address = sources[place - 1].quote, web_address(sources[place - 1].url)
        if address:
            return f'[\\[{place}\\]]({address} "{literal(quote)}")'
        return f'<abbr title="{attribute(quote)}">\\[{place}\\]</abbr>' if quote else match[0]

    return prose(answer, lambda text: re.sub(r"\[(\d{1,2})\](?![(:\[])", link, text))


def _source(source: Source) -> str:
    title = literal(source.title or source.url)
    address = web_address(source.url)
    name = f"[{title}]({address})" if address else title
    if not address and source.url != source.title:
        name += f" <code>{literal(source.url)}</code>"
    quote = f" “{literal(source.quote)}”" if source.quote else ""
    place = f", {literal(source.place)}" if source.place else ""
    match source.status:
        case "verified":
            return f"{name} ✓{quote}{place}"
        case "located":
            return f"{name}{quote}{place}"
        case _:
            return f"{name} *unverified{quote}{place}*"
