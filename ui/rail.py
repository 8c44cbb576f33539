"""What surrounds the conversation, as HTML: the header line, and beside each run its sources and its cost."""

from collections.abc import Sequence
from html import escape
from typing import Protocol

from agent.events import (
    Event,
    Notice,
    RunEnded,
    RunStarted,
    Source,
    StepEnded,
    StepStarted,
    ToolEnded,
    ToolStarted,
    Usage,
)
from ui.untrusted import unturned, web_address
from ui.words import NAME, SOURCE_MARKS, count, duration

ADDRESSES = 12


class Attempt(Protocol):
    """One address that a run tried, as the ledger keeps it."""

    @property
    def url(self) -> str: ...
    @property
    def status(self) -> int | None: ...
    @property
    def error(self) -> str: ...


class Progress:
    """How far a run is, from its events."""

    def __init__(self) -> None:
        self.started: RunStarted | None = None
        self.step = 0
        self.waiting = ""
        self.usage = Usage()
        self.sources: Sequence[Source] = ()
        self.read: dict[str, str] = {}
        self.end: RunEnded | None = None
        self._reading: dict[tuple[int, int], str] = {}

    def add(self, event: Event) -> None:
        self.waiting = event.text if isinstance(event, Notice) else ""
        match event:
            case RunStarted():
                self.started = event
            case StepStarted(step=step):
                self.step = step
            case ToolStarted(step=step, call=call, tool="visit_page", arguments=address):
                self._reading[step, call] = address
            case ToolEnded(step=step, call=call, ok=True, summary=summary) if (step, call) in self._reading:
                self.read[self._reading[step, call]] = summary
            case StepEnded(usage=usage):
                self.usage += usage
            case RunEnded():
                self.end, self.usage, self.sources, self.step = event, event.usage, event.sources, event.steps
            case _:
                pass

    def line(self, elapsed: float) -> str:
        """All of it in one line, for a narrow screen."""
        if self.end:
            done = count(len(self.sources), "source")
        else:
            done = count(len(self.read), "page") if self.step else self._before_its_steps
        return f"{done} · {self._cost(elapsed)}"

    def html(self, elapsed: float, attempts: Sequence[Attempt] = ()) -> str:
        """The rail. `elapsed`: seconds since the run started, by the reader's clock, which may have been set back."""
        parts = []
        if self.end:
            parts.append(_section("Sources", _ordered([_source(source) for source in self.sources])))
        else:
            parts.append(_section("Read so far", _list([_shown(title) for title in self.read.values()])))
        parts.append(_section("Tried addresses", _attempts(attempts)))
        if self.started and self.started.files:
            parts.append(_section("Files", _list([_shown(name) for name in self.started.files])))
        parts.append(_section("This run", self._run(elapsed)))
        return "".join(parts)

    def _run(self, elapsed: float) -> str:
        if self.started is None:
            return ""
        most = self.started.max_steps
        if not self.step and not self.end:
            step = self._before_its_steps
        else:
            step = f"step {self.step} of {most}" if most and not self.end else count(self.step, "step")
        bar = (
            f'<progress max="{most}" value="{self.step}" aria-label="steps used"></progress>' if most else ""
        )
        return f"<p>{step}</p><p>{self._cost(elapsed)}</p>{bar}"

    @property
    def _before_its_steps(self) -> str:
        return "waiting" if self.waiting else "starting"

    def _cost(self, elapsed: float) -> str:
        seconds = duration(self.end.seconds if self.end else float(max(0, int(elapsed))))
        total = self.usage.prompt_tokens + self.usage.completion_tokens
        return f"{'about ' if self.usage.estimated else ''}{total:,} tokens · {seconds}" if total else seconds


def _shown(text: str) -> str:
    return escape(unturned(text))


def _section(name: str, content: str) -> str:
    return f"<section><h2>{name}</h2>{content}</section>" if content else ""


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>" if items else ""


def _ordered(items: Sequence[str]) -> str:
    return _list(items).replace("<ul>", "<ol>").replace("</ul>", "</ol>")


def _source(source: Source) -> str:
    title = _shown(source.title or source.url)
    address = web_address(source.url)
    name = (
        f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">{title}</a>'
        if address
        else title
    )
    return (
        f'{name} <span class="{escape(source.status)}">{SOURCE_MARKS.get(source.status, "unverified")}</span>'
    )


def _attempts(attempts: Sequence[Attempt]) -> str:
    if not attempts:
        return ""
    failed = [attempt for attempt in attempts if attempt.error]
    told = f"{len(attempts) - len(failed)} read" + (f" · {len(failed)} not" if failed else "")
    shown = [f"<span title='{_shown(a.error)}'>{_shown(_short(a.url))}</span>" for a in failed[-ADDRESSES:]]
    return f"<p>{told}</p>{_list(shown)}"


def _short(url: str) -> str:
    plain = url.split("://", 1)[-1]
    return plain if len(plain) <= 60 else plain[:59] + "…"


class Status(Protocol):
    """What is in force, as `Services.status` tells it."""

    @property
    def model(self) -> str: ...
    @property
    def search(self) -> str: ...
    @property
    def sandbox(self) -> str: ...
    @property
    def notices(self) -> Sequence[str]: ...


def header(status: Status) -> str:
    """The page's first line: its name, and which model, search and sandbox level are in force."""
    facts = (("model", status.model), ("search", status.search), ("sandbox", f"box {status.sandbox}"))
    told = " ▪ ".join(f'<span title="{what}">{escape(value)}</span>' for what, value in facts)
    return (
        f'<header><h1><a href="./" title="New question">{NAME}</a></h1><p class="facts">{told}</p></header>'
    )


def notices(status: Status) -> str:
    """One thin line for each thing a visitor should know before asking."""
    return "".join(f"<p>{escape(text)}</p>" for text in status.notices)
