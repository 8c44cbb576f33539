"""Which messages the model is sent: the prompt, the question, and as much of the work as fits.

Old outputs are shortened first, and the newest only when nothing else helps;
thoughts and code stay. Once something is shortened it stays so, and enough goes
at once, so that the server's cached prefix breaks rarely.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from smolagents import ChatMessage
from smolagents.models import MessageRole

from agent.profile import Profile

# A guess that holds for English, code and most tokenizers; `observed` corrects it.
_CHARS_PER_TOKEN = 3.6
_FREED = 0.7
# Characters that stay at the beginning and at the end of a shortened output.
_KEPT = 150


@dataclass
class Turn:
    """One step as the model sees it again: what it wrote, and the answer it got."""

    reply: str
    output: str


@dataclass
class Memory:
    """The conversation of one run. `budget`: tokens a prompt may have, None without a limit.

    `steps`: how many of the newest turns are shown, 0 for all.
    """

    profile: Profile
    system: str
    task: str
    budget: int | None = None
    steps: int = 0
    turns: list[Turn] = field(default_factory=list)
    _ratio: float = _CHARS_PER_TOKEN

    def add(self, reply: str, output: str) -> None:
        self.turns.append(Turn(reply, output))

    def messages(self) -> list[ChatMessage]:
        """What to send now, oldest first, within the budget as far as shortening can reach it."""
        if self.budget is not None and self.tokens() > self.budget:
            self.compact(self.budget)
        return self._messages()

    def compact(self, budget: int) -> bool:
        """Shorten old outputs until about 70 % of `budget` is used; whether anything could be shortened.

        The newest output is what the model asked for last: it is halved, and only while the rest leaves no room.
        """
        before = self._size()
        note = self.profile.shortened
        for turn in self.turns[:-1]:
            if self.tokens() <= budget * _FREED:
                break
            if len(turn.output) > len(note) + 2 * _KEPT + 2:
                turn.output = _shortened(turn.output, note, _KEPT)
        for turn in self.turns[-1:]:
            while self.tokens() > budget and len(turn.output) > len(note) + 4 * _KEPT:
                turn.output = _shortened(turn.output, note, len(turn.output) // 2 - _KEPT)
        return self._size() < before

    def observed(self, prompt_tokens: int) -> None:
        """Learn how many characters a token has from a prompt that the server has counted."""
        if prompt_tokens > 0:
            self._ratio = max(1.0, self._size() / prompt_tokens)

    def tokens(self) -> int:
        """An estimate of the prompt's tokens."""
        return int(self._size() / self._ratio)

    def _size(self) -> int:
        return sum(len(str(message.content)) for message in self._messages())

    def _messages(self) -> list[ChatMessage]:
        example = [(role, text) for turn in self.profile.example for role, text in turn.items()]
        shown = self.turns[-self.steps :]
        work = [entry for turn in shown for entry in (("assistant", turn.reply), ("user", turn.output))]
        talk: Sequence[tuple[str, str]] = [("system", self.system), *example, ("user", self.task), *work]
        return [ChatMessage(role=MessageRole(role), content=text) for role, text in talk if text]


def _shortened(output: str, note: str, head: int) -> str:
    """The first `head` characters and the last few, which ask for the next step."""
    return f"{output[:head]}\n{note}\n{output[-_KEPT:]}"
