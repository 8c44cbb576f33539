"""The answer, its sources, and the check that each quote stands in its page.

A quote is looked for in the whole text of the page, with white space, case and
typographic marks folded. A source without a quote is given the sentence in
which the answer's own words stand, if there is one.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from smolagents import Tool

from agent.events import Source
from agent.evidence import literals, place_of, restated_sentence, supporting_sentence
from tools.errors import BadArguments, ToolError
from tools.page import Document, plain_text

VERIFIED, LOCATED, UNVERIFIED = "verified", "located", "unverified"

_NOT_THERE = "these words do not stand in the page"
_NOT_READ = "this page was not read in this run"
_NOT_CHECKED = "not looked up, because EVIDENCE_CHECK is 0"

_LONGEST_ANSWER = 20_000
_MOST_SOURCES = 8
_MOST_SEARCHED = 12
_MOST_LEADS = 3  # each may cost a connection
_LONGEST_QUOTE = 600
# What a small model copies out of the prompt.
_PLACEHOLDERS = ("...", "…", "the answer")
_NUMBER = re.compile(r"\d[\d.,]*\d")
_ADDRESS = re.compile(r"^\s*(\w+://\S|[^\s.]+(\.[^\s.]+)+\s*$)|\.\w{1,5}\s*$")  # or the name of a file


@dataclass(frozen=True)
class Answer:
    """What the agent answered, with its sources as the check left them."""

    text: str
    sources: tuple[Source, ...]


class Read(Protocol):
    """A document that the agent opened."""

    @property
    def url(self) -> str: ...
    @property
    def title(self) -> str: ...


def read_but_not_quoted(documents: Iterable[Read]) -> list[Source]:
    """What an ending without an answer can name."""
    return [
        Source(read.url, read.title or read.url, "", UNVERIFIED, "read, but not quoted") for read in documents
    ]


@dataclass(frozen=True)
class Named:
    """A source as the agent named it; `quote` may be empty."""

    url: str
    quote: str


class FinalAnswer(Tool):  # type: ignore[misc]
    """Ends the run with an answer. A quote that does not stand in its page is sent back once."""

    name = "final_answer"
    description = (
        "Ends the work with the answer. sources: list of (url, words copied exactly from that page);"
        " each quote is looked up."
    )
    inputs = {  # noqa: RUF012
        "answer": {"type": "any", "description": "the answer, short and direct"},
        "sources": {"type": "any", "description": "list of (url, quote)", "nullable": True},
    }
    output_type = "any"

    def __init__(
        self,
        read: Callable[[str], Document],
        at_hand: Callable[[], Sequence[str]],
        shown: Callable[[], Sequence[str]],
        question: str,
        *,
        leads: Callable[[], Sequence[tuple[str, str]]] = list,
        insist: bool,
        check: bool = True,
    ) -> None:
        """`read`: the document at an address. `at_hand`: addresses that this run read, or
        that are read without a connection, newest last. `shown`: all that it came across.
        `leads`: addresses that it only saw among results, each with the words shown of it.

        `insist`: whether a wrong quote is sent back to the model once; `sent_back` is then the answer it had.
        `check`: whether sources are looked up at all; if not, they stay as the model named them.
        """
        super().__init__()
        self.thought = self.code = ""  # of the step that answers
        self._read = read
        self._at_hand = at_hand
        self._shown = shown
        self._leads = leads
        self._question = question
        self._checks = check
        self.insist = insist and check
        self.sent_back: Answer | None = None

    def forward(self, answer: Any, sources: Any = None) -> Answer:
        text = as_text(answer)[:_LONGEST_ANSWER]
        if not text:
            raise BadArguments("The answer is empty: call final_answer(answer, sources=[...]) with a text.")
        if text in _PLACEHOLDERS:
            raise BadArguments(f"{text!r} stands for the answer: call final_answer with the answer itself.")
        named = named_sources(sources)
        if not self._checks:
            return Answer(text, tuple(Source(s.url, s.url, s.quote, UNVERIFIED, _NOT_CHECKED) for s in named))
        checked = [self._check(source, text) for source in named]
        wrong = [source for source in checked if source.status == UNVERIFIED and source.quote]
        if wrong and self.insist:
            self.insist = False
            self.sent_back = Answer(text, tuple(checked))
            raise ToolError(_correction(wrong[0]))
        if not any(source.status in (VERIFIED, LOCATED) for source in checked):
            checked += self._located_elsewhere(text, {source.url for source in checked})
        return Answer(text, tuple(checked[:_MOST_SOURCES]))

    def without_insisting(self, answer: str) -> Answer:
        """The answer with the sources that can be found for it, whatever their check says."""
        self.insist = False
        self.thought = self.code = ""  # a number of it that stands somewhere does not support a statement
        checked: Answer = self.forward(answer)
        return checked

    def summary(self, result: Answer) -> str:
        """One line for the visitor."""
        found = sum(source.status != UNVERIFIED for source in result.sources)
        return f"{found} of {len(result.sources)} sources checked" if result.sources else "no source"

    def _check(self, source: Named, answer: str) -> Source:
        if _is_web(source.url) and _bare(source.url) not in {_bare(url) for url in self._shown()}:
            return Source(source.url, source.url, source.quote, UNVERIFIED, _NOT_READ)
        try:
            document = self._read(source.url)
        except ToolError as error:
            return Source(source.url, source.url, source.quote, UNVERIFIED, str(error))
        text = plain_text(document.markdown)
        quote, status, place = source.quote, VERIFIED, place_of(text, source.quote) if source.quote else ""
        if not quote:
            quote, _ = supporting_sentence(text, self._wanted(answer), self._question)
            status, place = LOCATED, place_of(text, quote) if quote else ""
        if not place:
            status = UNVERIFIED
            place = _NOT_THERE if source.quote else "read, but not quoted"
        return Source(document.url, document.title or document.url, quote, status, place)

    def _located_elsewhere(self, answer: str, tried: set[str]) -> list[Source]:
        """Sources for an answer that has no good one: where its words stand, or else what it was computed from."""
        at_hand = [url for url in dict.fromkeys(self._at_hand()) if url not in tried]
        found = self._located(answer, at_hand[-_MOST_SEARCHED:])
        return found or self._located(answer, self._promising(answer, tried.union(at_hand)))

    def _located(self, answer: str, urls: Iterable[str]) -> list[Source]:
        best: dict[str, tuple[int, Source]] = {}
        for url in urls:
            try:
                document = self._read(url)
            except ToolError:
                continue  # a page that cannot be read again is no source
            text, title = plain_text(document.markdown), document.title or document.url
            for words in self._wanted(answer):
                quote, score = supporting_sentence(text, [words], self._question)
                if not quote and words == answer:
                    quote, score = restated_sentence(text, answer)
                if score > (best[words][0] if words in best else 0):
                    best[words] = score, Source(document.url, title, quote, LOCATED, place_of(text, quote))
        found = [best[answer]] if answer in best else best.values()
        return list(dict.fromkeys(source for _, source in found))

    def _promising(self, answer: str, tried: set[str]) -> list[str]:
        """Pages that were not opened, of which a result showed the answer's words, the likeliest first."""
        wanted = self._wanted(answer)
        scores: dict[str, int] = {}
        for url, snippet in self._leads():
            _, score = supporting_sentence(snippet, wanted, self._question)
            if score and url not in tried:
                scores[url] = max(score, scores.get(url, 0))
        return sorted(scores, key=lambda url: -scores[url])[:_MOST_LEADS]

    def _wanted(self, answer: str) -> list[str]:
        return list(dict.fromkeys([answer, *literals(self.code), *_NUMBER.findall(self.thought)]))


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _bare(url: str) -> str:
    """The address without what does not change the page."""
    return url.partition("#")[0].rstrip("/")


def _correction(wrong: Source) -> str:
    """What the model is told about a quote, once."""
    if wrong.place != _NOT_THERE:
        return f"The source cannot be read ({wrong.place}): name another one, and call final_answer again."
    return (
        f"{wrong.quote[:120]!r} does not stand in {wrong.url}: copy the words exactly from"
        " that page, or name another source, and call final_answer again."
    )


def as_text(value: Any) -> str:
    """The answer as text: a whole number without its .0, a list as lines, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list | tuple | set):
        return "\n".join(as_text(item) for item in value).strip()
    return str(value).strip()


def named_sources(value: Any) -> list[Named]:
    """The sources in whatever shape a model gives them; what carries no address is left out."""
    if value is None:
        return []
    if isinstance(value, dict):
        value = [value] if _field(value, "url") else list(value.items())
    if isinstance(value, str) or not isinstance(value, Iterable):
        value = [value]
    items = list(value)
    if len(items) == 2 and all(isinstance(item, str) for item in items) and "://" not in items[1]:
        items = [tuple(items)]
    named = [source for item in items if (source := _named(item))]
    return list(dict.fromkeys(named))[:_MOST_SOURCES]


def _named(item: Any) -> Named | None:
    url, quote = item, ""
    if isinstance(item, list | tuple) and item:
        url, quote = item[0], item[1] if len(item) > 1 else ""
    elif not isinstance(item, str):
        url, quote = _field(item, "url"), _field(item, "quote") or ""
    url = url if isinstance(url, str) else _field(url, "url")
    if not isinstance(url, str) or not _ADDRESS.search(url):
        return None
    return Named(url.strip(), str(quote or "").strip()[:_LONGEST_QUOTE])


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)
