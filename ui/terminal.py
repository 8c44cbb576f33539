"""The same run in a terminal: `python -m ui.terminal "question"`.

Steps go to standard error, the answer to standard output. The exit code is 0
with an answer, 1 without one and 130 when it was stopped.
"""

import logging
import os
import re
import signal
import sys
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.status import Status
from rich.syntax import Syntax
from rich.text import Text

from agent.errors import ResearchError
from agent.events import (
    CodeRun,
    CodeWritten,
    Event,
    Notice,
    Outcome,
    OutputPrinted,
    ReasoningWritten,
    ReplyRestarted,
    RunEnded,
    RunStarted,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    ToolEnded,
    ToolStarted,
)
from agent.registry import SessionRegistry
from agent.services import Services, build_services
from agent.settings import load_settings
from ui.clip import OUTPUT_CHARS, Clip
from ui.fetching import fetching
from ui.follow import follow
from ui.logs import keep_log
from ui.untrusted import turns_shown, unturned
from ui.words import NO_SOURCE, SOURCE_MARKS, count, duration, ending

EXIT_CODES = {Outcome.ANSWERED: 0, Outcome.PARTIAL: 0, Outcome.FAILED: 1, Outcome.STOPPED: 130}

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def plain(text: str) -> str:
    """The text without the control characters that a page could move the cursor or turn a line with."""
    return unturned(_CONTROL.sub("", text))


class OutputLost(ResearchError):
    """Standard output or standard error does not take what is written."""


class Narrator:
    """Tells a run's events as they come."""

    def __init__(self, steps: Console, answer: Console) -> None:
        """`steps`: where the work is told; `answer`: where only the answer and its sources go."""
        self._steps = steps
        self._answer = answer
        self._wait = Status("", console=steps, spinner="line")
        self._mid_line = False
        self._calls: dict[tuple[int, int], str] = {}
        self._output = Clip(OUTPUT_CHARS)

    def tell(self, events: Iterable[Event]) -> Outcome | None:
        """The outcome, once the run has ended."""
        outcome = None
        for event in events:
            outcome = self._tell(event)
        return outcome

    def _tell(self, event: Event) -> Outcome | None:
        match event:
            case RunStarted():
                self._line(f"{event.model} ▪ {event.search} ▪ box {event.sandbox}", "dim")
                self._waiting("starting")
            case Notice(text=text) if self._steps.is_terminal:
                self._waiting(text)
            case Notice(text=text):
                self._line(text, "dim")
            case StepStarted(step=step):
                self._line(f"\nStep {step}", "bold")
                self._waiting("thinking")
            case ReasoningWritten(text=text):
                self._stream(text, "dim italic")
            case ThoughtWritten(text=text):
                self._stream(text, "")
            case ReplyRestarted():
                self._line("(all of that was reasoning)", "dim")
            case CodeWritten():
                self._waiting("writing code")
            case CodeRun(code=code):
                self._end_line()
                self._steps.print(
                    Syntax(
                        plain(turns_shown(code)),
                        "python",
                        theme="ansi_dark",
                        background_color="default",
                        word_wrap=True,
                        padding=(0, 2),
                    )
                )
                self._waiting("running")
            case ToolStarted(step=step, call=call, tool=tool, arguments=arguments):
                self._calls[step, call] = f"{tool} {arguments}"
                self._waiting(self._calls[step, call])
            case ToolEnded():
                name = self._calls.pop((event.step, event.call), "tool")
                mark = "✓" if event.ok else "✗"
                self._line(
                    f"  {name} → {event.summary}  {event.seconds:.1f} s {mark}", "" if event.ok else "yellow"
                )
            case OutputPrinted(text=text):
                self._output.add(text)
            case StepEnded():
                self._step_ended(event)
            case RunEnded():
                return self._run_ended(event)
            case _:
                pass
        return None

    def _step_ended(self, event: StepEnded) -> None:
        if self._output:
            self._line(str(self._output).rstrip(), "dim", indent="  ")
            self._output = Clip(OUTPUT_CHARS)
        if event.error:
            self._line(event.error, "red")
        self._line(f"{event.summary or 'done'} · {duration(event.seconds)}", "dim")
        self._waiting("thinking")

    def _run_ended(self, event: RunEnded) -> Outcome:
        self._end_line()
        self._wait.stop()
        if event.answer:
            self._steps.print()
            text = plain(event.answer)
            # A link shows where it leads: a terminal opens any scheme, whatever its words say.
            shown = Markdown(text, hyperlinks=False) if self._answer.is_terminal else Text(text)
            self._answer.print(shown, soft_wrap=True)
            for place, source in enumerate(event.sources, 1):
                mark = SOURCE_MARKS.get(source.status, "unverified")
                quote = f"“{source.quote}”" if source.quote else ""
                words = (f"[{place}]", source.title, source.url, mark, quote)
                self._answer.print(Text(plain(" ".join(filter(None, words)))), soft_wrap=True)
            if not event.sources:
                self._steps.print(Text(NO_SOURCE, "dim"))
        tokens = event.usage.prompt_tokens + event.usage.completion_tokens
        cost = f"{count(event.steps, 'step')} · {tokens:,} tokens · {duration(event.seconds)}"
        self._line(f"\n{ending(event)} · {cost}", "" if event.answer else "red")
        return event.outcome

    def _waiting(self, what: str) -> None:
        self._end_line()
        self._wait.update(Text(plain(what), "dim", no_wrap=True, overflow="ellipsis"))
        self._wait.start()

    def _stream(self, text: str, style: str) -> None:
        self._wait.stop()
        self._steps.print(Text(plain(text), style), end="", soft_wrap=True)
        self._mid_line = not text.endswith("\n")

    def _line(self, text: str, style: str, indent: str = "") -> None:
        self._end_line()
        self._wait.stop()
        shown = "\n".join(indent + line for line in plain(text).split("\n"))
        self._steps.print(Text(shown, style), soft_wrap=True)

    def _end_line(self) -> None:
        if self._mid_line:
            self._steps.print()
            self._mid_line = False


def ask(services: Services, question: str, narrator: Narrator) -> Outcome:
    """Research one question and tell it; Ctrl-C ends the run, and its ending is told too."""
    sessions = SessionRegistry(services)
    session = sessions.open()
    outcome = None
    try:
        run = session.ask(question)
        before = signal.signal(signal.SIGINT, lambda *_: run.stop())
        try:
            for events in follow(services.store, run.id):
                try:
                    outcome = narrator.tell(events)
                except OSError as error:
                    raise OutputLost(
                        f"The run cannot be told here ({error.strerror}): write it elsewhere."
                    ) from error
        finally:
            signal.signal(signal.SIGINT, before)
        return outcome or Outcome.FAILED
    finally:
        sessions.close_all()


def main(words: Sequence[str]) -> int:
    """The exit code of the command."""
    steps, answer = Console(stderr=True), Console()
    try:
        settings = load_settings()
        # The steps are the log of a terminal; only what went wrong is told besides.
        keep_log(max(logging.WARNING, logging.getLevelNamesMapping()[settings.log_level]))
        with fetching(steps) as progress:
            services = build_services(settings, progress)
        try:
            return EXIT_CODES[ask(services, " ".join(words), Narrator(steps, answer))]
        finally:
            services.close()
    except OutputLost as error:
        # What is still held would fail again when Python ends.
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        try:
            steps.print(Text(str(error), "red"), soft_wrap=True)
        except OSError:
            os.dup2(nothing, sys.stderr.fileno())
        return 1
    except ResearchError as error:
        steps.print(Text(str(error), "red"), soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return EXIT_CODES[Outcome.STOPPED]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
