"""One visitor's box, browser and files; and the registry that caps and expires them."""

import errno
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from agent.answer import UNVERIFIED, FinalAnswer
from agent.attachments import Attachments
from agent.errors import BadQuestion, ResearchError, RunError, TooManyRuns
from agent.events import Event, Notice, Outcome, RunEnded, RunStarted, Source
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

log = logging.getLogger(__name__)

_EARLIER = 2
_EARLIER_CHARS = 500
_STOP_SECONDS = 2.0
# After which the files of a session are those of an app that was killed.
_CRASHED_SECONDS = 24 * 3600.0


class Session:
    """One visitor. Nothing here is shared with another."""

    def __init__(
        self, services: Services, on_close: Callable[["Session"], None] = lambda session: None
    ) -> None:
        settings = services.settings
        self.id = secrets.token_urlsafe(16)
        self.last_used = time.monotonic()
        self._services = services
        self._on_close = on_close
        self._files_dir = _folder(settings) / self.id
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
            names = self._attachments.take(files)
            self.last_used = time.monotonic()
            self._run = run = self._new_run(question, names)
        try:
            run.start()
        except BaseException:
            self._attachments.drop(names)  # else they have other names when the question is asked again
            raise
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

    def stop(self) -> None:
        """Stop the run that is going on, if any, and give it a moment to say so in its log."""
        run = self._run
        if run is not None:
            run.stop()
            run.wait(_STOP_SECONDS)

    def close(self) -> None:
        """Free the box and the files, once a run that is going on has ended."""
        with self._lock:
            waits = self.closed or self.busy
            self.closed = True
        if not waits:
            self._free()

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
            cancel=cancel,
            seconds=services.settings.run_seconds,
            sources_so_far=lambda: self._read_so_far(run_id),
            on_end=lambda end: self._ended(question, end),
        )

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

    def _read_so_far(self, run_id: str) -> list[Source]:
        snapshots = self._services.store.snapshots(run_id)
        return [Source(s.url, s.title or s.url, "", UNVERIFIED, "read, but not quoted") for s in snapshots]

    def _ended(self, question: str, end: RunEnded) -> None:
        self.last_used = time.monotonic()
        self.remember(question, end)
        with self._lock:
            self._run = None
        if self.closed:
            self._free()


def _folder(settings: Settings) -> Path:
    """Where the files of all sessions are."""
    return settings.data_dir / "sessions"


class SessionRegistry:
    """All sessions of the app: at most so many, and none that idles for long."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.RLock()
        self._sessions: dict[str, Session] = {}
        for folder in _folder(services.settings).glob("*"):
            if folder.stat().st_mtime < time.time() - _CRASHED_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)

    def open(self) -> Session:
        """A new session; the longest idle one makes room. TooManyRuns when all are at work."""
        most, seconds = self._services.settings.max_sessions, self._services.settings.session_seconds
        with self._lock:
            idle = sorted((s for s in self._sessions.values() if not s.busy), key=lambda s: s.last_used)
            for session in idle:
                if len(self._sessions) >= most or session.last_used < time.monotonic() - seconds:
                    session.close()
            if len(self._sessions) >= most:
                raise TooManyRuns(
                    f"All {most} places are at work: try again in a minute, or run your own copy."
                )
            session = Session(self._services, self._forget)
            self._sessions[session.id] = session
            return session

    def warm(self) -> None:
        """Begin in the background what makes the first question of a visitor fast."""
        threading.Thread(target=self._warm, name="warm", daemon=True).start()

    def _warm(self) -> None:
        session = None
        try:
            session = self.open()
            embedded = self._services.endpoint.embedded
            session.warm(embedded.parallel if embedded else 1)
        except ResearchError as error:
            log.warning("nothing could be prepared for the first question: %s", error)
        finally:
            if session is not None:
                session.close()

    def get(self, session_id: str) -> Session | None:
        """The session, or None when it has ended or was never there."""
        with self._lock:
            session = self._sessions.get(session_id)
        return session if session is not None and not session.closed else None

    def close(self, session_id: str) -> None:
        """Let a session go; a run that is going on in it ends first."""
        session = self.get(session_id)
        if session is not None:
            session.close()

    def close_all(self) -> None:
        """Stop every run and let every session go."""
        with self._lock:
            sessions = list(self._sessions.values())
        for session in sessions:
            session.stop()
            session.close()

    def _forget(self, session: Session) -> None:
        with self._lock:
            self._sessions.pop(session.id, None)
