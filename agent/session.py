"""One visitor's box, browser and files."""

import errno
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from agent.answer import FinalAnswer, read_but_not_quoted
from agent.attachments import Attachments
from agent.errors import BadQuestion, RunError, TooManyRuns
from agent.events import Event, Notice, Outcome, RunEnded, RunStarted
from agent.places import Places
from agent.research import Earlier, ResearchAgent
from agent.run import Run
from agent.sandbox.executor import SandboxExecutor
from agent.services import Services
from agent.settings import Settings
from agent.store import no_room
from agent.tool_calls import ToolCallAgent
from tools.browser import TextBrowser
from tools.errors import ToolFatal
from tools.fetch import Fetcher
from tools.toolbox import toolbox

_EARLIER = 2
_EARLIER_CHARS = 500
_STOP_SECONDS = 2.0
_LEFT = "The page was closed while the question was in line; ask again."


class Session:
    """One visitor. Nothing here is shared with another."""

    def __init__(
        self,
        services: Services,
        places: Places | None = None,
        visitor: str = "",
        on_close: Callable[["Session"], None] = lambda session: None,
    ) -> None:
        """`places`: where its questions wait for their turn, if they have to; `visitor`: whose they are there."""
        settings = services.settings
        self.id = secrets.token_urlsafe(16)
        self.visitor = visitor or self.id
        self.last_used = time.monotonic()
        self._services = services
        self._places = places or Places(1)
        self._on_close = on_close
        self._files_dir = folder_of_sessions(settings) / self.id
        try:
            self._files_dir.mkdir(parents=True)
        except OSError as error:
            raise RunError(no_room(error.errno == errno.ENOSPC, str(error))) from error
        self._attachments = Attachments(self._files_dir, settings.max_file_mb)
        self._fetcher = Fetcher(
            allow_local=settings.allow_local_web, cache=services.store.page_cache(), manners=services.manners
        )
        self._executor = SandboxExecutor(
            services.limits, pool=services.pool, files_dir=self._files_dir, fatal=(ToolFatal,)
        )
        self._lock = threading.Lock()
        self._run: Run | None = None
        self._conversation: list[Earlier] = []
        self.closed = False

    @property
    def busy(self) -> bool:
        return self._run is not None and not self._run.ended

    def ask(self, question: str, files: Sequence[Path] = ()) -> Run:
        """Begin to research; returns at once. Raises errors under RunError."""
        question = question.encode("utf-8", "replace").decode().strip()
        limit = self._services.settings.max_question_chars
        if not question:
            raise BadQuestion("The question is empty: write what you want to know.")
        if len(question) > limit:
            raise BadQuestion(
                f"The question has {len(question):,} characters and the limit is {limit:,}:"
                " shorten it, or attach the long text as a file."
            )
        with self._lock:
            if self.closed:
                raise RunError("This session has ended: reload the page, then ask again.")
            if self.busy:
                raise TooManyRuns(
                    "A run is still going on here: wait for its answer or stop it, then ask again."
                )
            with ExitStack() as undo:
                names = self._attachments.take(files)
                # Else they have other names when the question is asked again.
                undo.callback(self._attachments.drop, names)
                self._places.join(self)
                undo.callback(self._places.leave_line, self)
                run = self._new_run(question, names)
                run.start()
                undo.pop_all()
            self._run, self.last_used = run, time.monotonic()
            return run

    def warm(self, conversations: int) -> None:
        """Prepare what every first question needs: this session's box, and the prompt in the model's cache.

        `conversations`: how many the model server remembers at once, each of which reads the prompt.
        """
        agents = [
            self._agent("warm", "", threading.Event(), lambda event: None) for _ in range(conversations)
        ]
        if self._services.pool.level.runs_code:
            agents[0].python_executor("None")
        for agent in agents:
            agent.warm()

    def remember(self, question: str, end: RunEnded) -> None:
        """Take a question with its answer into the conversation that the next question is part of."""
        if end.outcome in (Outcome.ANSWERED, Outcome.PARTIAL) and end.answer:
            self._conversation.append(Earlier(question[:_EARLIER_CHARS], end.answer[:_EARLIER_CHARS]))

    def stop(self, why: str = "") -> None:
        """Stop the run that is going on, if any, and give it a moment to say so in its log. `why`: as for a run."""
        run = self._run
        if run is not None:
            run.stop(why)
            run.wait(_STOP_SECONDS)

    def close(self) -> None:
        """Free the box and the files, once a run that is going on has ended; one that waits in line leaves it."""
        with self._lock:
            waits, run = self.closed or self.busy, self._run
            self.closed = True
        if not waits:
            self._free()
        elif run is not None and self._places.in_line(self):
            run.stop(_LEFT)

    def _free(self) -> None:
        self._executor.cleanup()
        shutil.rmtree(self._files_dir, ignore_errors=True)
        self._on_close(self)

    def _new_run(self, question: str, names: Sequence[str]) -> Run:
        services, run_id, cancel = self._services, secrets.token_urlsafe(16), threading.Event()
        services.library.notice()
        status = services.status()
        started = RunStarted(
            question, status.model, status.search, status.sandbox, tuple(names), services.settings.max_steps
        )

        def make_agent(emit: Callable[[Event], None]) -> ResearchAgent:
            services.endpoint.wait_until_ready(cancel, lambda sentence: emit(Notice(sentence)))
            return self._agent(run_id, question, cancel, emit)

        return Run(
            run_id,
            services.store,
            started,
            make_agent,
            turn=lambda tell: self._wait_in_line(cancel, tell),
            cancel=cancel,
            seconds=services.settings.run_seconds,
            sources_so_far=lambda: read_but_not_quoted(services.store.snapshots(run_id)),
            on_end=lambda end: self._ended(question, end),
        )

    def _wait_in_line(self, cancel: threading.Event, tell: Callable[[str], None]) -> None:
        began = time.monotonic()
        told = False

        def on_place(place: int) -> None:
            nonlocal told
            told = True
            tell(f"All places are taken; this question is number {place} in line, and starts by itself.")

        self._places.wait(self, cancel, on_place)
        if told:
            tell(f"The question was in line for {time.monotonic() - began:.0f} s.")

    def _agent(
        self, run_id: str, question: str, cancel: threading.Event, emit: Callable[[Event], None]
    ) -> ResearchAgent:
        services, store = self._services, self._services.store
        model, profile, prompt_tokens = services.model()
        ledger = store.ledger(run_id)
        self._fetcher.ledger, self._fetcher.cancel = ledger, cancel
        browser = TextBrowser(
            self._fetcher,
            services.library,
            ledger,
            profile.viewport_chars,
            self._files_dir,
            show_targets=not profile.example,
            renderer=services.renderer,
            senses=replace(services.senses, about=question),
        )
        self._executor.cancel = model.cancel = cancel

        def at_hand() -> list[str]:
            listed = [result.url for result in store.listed(run_id) if result.url.startswith("library://")]
            return listed + [snapshot.url for snapshot in store.snapshots(run_id)]

        def shown() -> list[str]:
            tried = [attempt.url for attempt in store.attempts(run_id)]
            return [result.url for result in store.listed(run_id)] + tried + at_hand()

        def leads() -> list[tuple[str, str]]:
            return [(result.url, result.snippet) for result in store.listed(run_id)]

        tools = toolbox(services.search, browser, profile.results, every=profile.every_tool)
        if services.tools is not None:
            tools = [tool for tool in tools if tool.name in services.tools]
        settings = services.settings
        final = FinalAnswer(
            browser.open,
            at_hand,
            shown,
            question,
            leads=leads,
            insist=profile.quotes,
            check=settings.evidence_check,
        )
        kind = ResearchAgent if services.pool.level.runs_code else ToolCallAgent
        return kind(
            tools,
            final,
            model,
            self._executor,
            profile,
            emit=emit,
            max_steps=settings.max_steps,
            prompt_tokens=prompt_tokens,
            memory_steps=settings.memory_steps,
            plan=settings.plan,
            conversation=self._conversation[-_EARLIER:],
            files=browser.attachments(),
        )

    def _ended(self, question: str, end: RunEnded) -> None:
        self.last_used = time.monotonic()
        self.remember(question, end)
        with self._lock:
            self._run = None
        if self.closed:
            self._free()


def folder_of_sessions(settings: Settings) -> Path:
    """Where the files of all sessions are."""
    return settings.data_dir / "sessions"
