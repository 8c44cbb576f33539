"""One reply on its way in: from the wire's events to what an agent reads."""

from collections.abc import Iterator
from dataclasses import dataclass

from smolagents import TokenUsage
from smolagents.models import ChatMessageStreamDelta

from agent.events import Usage
from agent.model.pieces import FINISHED, Piece, ReasoningSplitter, StopCutter
from agent.model.text import Joiner
from agent.model.wire import Chunk

# A server that honours a stop ends within a few events; one that goes on has missed it.
_EVENTS_AFTER_STOP = 8


@dataclass
class ReplyDelta(ChatMessageStreamDelta):  # type: ignore[misc] # smolagents ships no types
    """A piece of a reply. `restart`: all content before it was reasoning, and is to be forgotten.

    The last one carries `finish_reason` and `token_usage`.
    """

    reasoning: str | None = None
    finish_reason: str | None = None
    restart: bool = False


class Reading:
    """One reply on its way in: what of each event is reasoning, what is content, and where it ends.

    `trusted`: the server was told all stop sequences, and so ends by itself.
    """

    def __init__(self, thinks: bool, stops: list[str], trusted: bool) -> None:
        self.usage: Usage | None = None
        self.cached: int | None = None
        self.events = self.size = 0  # `size`: bytes of text, for an estimate
        self._finish_reason: str | None = None
        self._splitter = ReasoningSplitter(thinks)
        self._cutter = StopCutter(stops)
        self._stops, self._trusted = stops, trusted
        self._content, self._reasoning = Joiner(), Joiner()
        self._fed = False
        self._late = 0

    @property
    def thinks(self) -> bool:
        """The template opens <think> without saying so."""
        return self._splitter.surprised

    @property
    def enough(self) -> bool:
        """The reply is over, though the server may not know it."""
        return self._cutter.stopped and (not self._trusted or self._late > _EVENTS_AFTER_STOP)

    def take(self, chunk: Chunk) -> Iterator[ReplyDelta]:
        content = self._content.feed(chunk.content)
        reasoning = self._reasoning.feed(chunk.reasoning, last=bool(content))
        if reasoning and not self._fed:
            self._splitter = ReasoningSplitter()  # the server splits it off itself
        self._fed = self._fed or bool(content)
        self.events += 1
        self.size += len((reasoning + content).encode())
        self.usage = chunk.usage or self.usage
        self.cached = self.cached if chunk.cached is None else chunk.cached
        self._finish_reason = chunk.finish_reason or self._finish_reason
        self._late += self._cutter.stopped
        if reasoning:
            yield ReplyDelta(reasoning=reasoning)
        if chunk.tool_calls:
            yield ReplyDelta(tool_calls=list(chunk.tool_calls))
        yield from self._deltas(self._splitter.feed(content))

    def end(self, usage: Usage) -> Iterator[ReplyDelta]:
        """What was held back, and the last delta."""
        if half := self._content.feed("", last=True):
            yield from self._deltas(self._splitter.feed(half))
        yield from self._deltas(self._splitter.close(self._finish_reason))
        if rest := self._cutter.close():
            yield ReplyDelta(content=rest)
        reason = self._finish_reason
        if self._cutter.stopped and reason not in FINISHED:
            reason = "stop_sequence"
        yield ReplyDelta(
            finish_reason=reason, token_usage=TokenUsage(usage.prompt_tokens, usage.completion_tokens)
        )

    def _deltas(self, pieces: list[Piece]) -> Iterator[ReplyDelta]:
        for piece in pieces:
            if piece.kind == "restart":
                self._cutter = StopCutter(self._stops)
                yield ReplyDelta(restart=True)
            elif piece.kind == "reasoning":
                yield ReplyDelta(reasoning=piece.text)
            elif text := self._cutter.feed(piece.text):
                yield ReplyDelta(content=text)
