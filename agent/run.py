"""One question: a worker thread that writes an append-only event log, and a way to stop it."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.answer import Answer
from agent.errors import ResearchError, Stopped
from agent.events import (
    CodeWritten,
    Event,
    Notice,
    Outcome,
    OutputPrinted,
    ReasoningWritten,
    RunEnded,
    RunStarted,
    Source,
    ThoughtWritten,
    Usage,
)
from agent.model.endpoint import EndpointModel
from agent.research import Conclusion, ResearchAgent
from agent.store import Store
from tools.errors import ToolFatal

log = logging.getLogger(__name__)

_FLUSH_SECONDS = 0.1
_Text = ReasoningWritten | ThoughtWritten | CodeWritten | OutputPrinted


class EventWriter:
    """Writes a run's events; pieces of text that follow each other within 0.1 s become one event."""

    def __init__(self, store: Store, run_id: str) -> None:
        self._store = store
        self._run_id = run_id
        self._lock = threading.Lock()
        self._held: _Text | None = None
        self._text_written = 0.0

    def __call__(self, event: Event) -> None:
        with self._lock:
            if not isinstance(event, _Text):
                self._write_held()
                self._store.append(self._run_id, event)
                return
            held = self._held
            if held is not None and type(held) is type(event) and held.step == event.step:
                self._held = replace(event, text=held.text + event.text)
                return
            self._write_held()
            self._held = event
            if time.monotonic() - self._text_written >= _FLUSH_SECONDS:
                self._write_held()
            else:
                # A timer, since what comes next may be a minute of silence.
                timer = threading.Timer(_FLUSH_SECONDS, self._flush)
                timer.daemon = True
                timer.start()

    def _flush(self) -> None:
        with self._lock:
            self._write_held()

    def _write_held(self) -> None:
        if self._held is not None:
            self._store.append(self._run_id, self._held)
            self._held, self._text_written = None, time.monotonic()


class Run:
    """One question on its way. `start` returns at once; the log in the store tells the rest."""

    def __init__(
        self,
        run_id: str,
        store: Store,
        started: RunStarted,
        make_agent: Callable[[Callable[[Event], None]], ResearchAgent],
        *,
        turn: Callable[[Callable[[str], None]], None],
        cancel: threading.Event,
        seconds: float,
        sources_so_far: Callable[[], Sequence[Source]],
        on_end: Callable[[RunEnded], None] = lambda end: None,
    ) -> None:
        """`make_agent` builds the agent in the worker thread, given where to tell its events.

        `turn` returns when the work may begin, and is given where to tell the wait.
        `cancel` reaches the line, the model, the tools and the box. `seconds`: the
        run's limit, from its turn on. `sources_so_far`: what was read, for an ending
        without an answer.
        """
        self.id = run_id
        self._store = store
        self.started = started
        self._make_agent = make_agent
        self._turn = turn
        self._cancel = cancel
        self._seconds = seconds
        self._sources_so_far = sources_so_far
        self._on_end = on_end
        self._out_of_time = False
        self._why_stopped = ""
        self._writer = EventWriter(store, run_id)
        self._thread = threading.Thread(target=self._work, name=f"run {run_id[:6]}", daemon=True)
        self._done = threading.Event()

    def start(self) -> None:
        """Open the log and begin to work."""
        try:
            self._store.create_run(self.id, self.started.question)
            self._writer(self.started)
            self._thread.start()
        except BaseException:
            self._done.set()  # else its session would wait for it for ever
            raise

    def stop(self, why: str = "") -> None:
        """Ask the run to end; its log says so within about 0.2 s. `why`: one sentence, unless its visitor asked."""
        self._why_stopped = why
        self._cancel.set()

    @property
    def ended(self) -> bool:
        return self._done.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether the run has ended after at most `timeout` seconds."""
        return self._done.wait(timeout)

    def _work(self) -> None:
        began = time.monotonic()
        timer = threading.Timer(self._seconds, self._time_is_up)
        timer.daemon = True
        agent: ResearchAgent | None = None
        try:
            self._turn(self._notice)
            timer.start()
            agent = self._make_agent(self._writer)
            model: EndpointModel = agent.model
            model.on_wait = self._notice
            agent.run(self.started.question)
            conclusion = agent.conclusion or Conclusion(
                Outcome.FAILED, Answer("", ()), "The work ended early."
            )
        except Stopped:
            conclusion = self._stopped(agent)
        except (ResearchError, ToolFatal) as error:
            conclusion = self._found(agent, Outcome.FAILED, str(error))
        except Exception:
            log.exception("run %s failed", self.id)
            reason = "Something in the app failed while it worked on this question; ask again."
            conclusion = self._found(agent, Outcome.FAILED, reason)
        finally:
            timer.cancel()
        end = RunEnded(
            outcome=conclusion.outcome,
            answer=conclusion.answer.text,
            sources=conclusion.answer.sources,
            reason=conclusion.reason,
            seconds=time.monotonic() - began,
            usage=agent.model.usage if agent else Usage(),
            steps=agent.step_number if agent else 0,
        )
        self._close(end)

    def _close(self, end: RunEnded) -> None:
        # First the session, so that a reader of the last event may ask again at once.
        for tell in (self._on_end, self._writer):
            try:
                tell(end)
            except Exception:
                log.exception("the ending of run %s could not be told", self.id)
        self._done.set()

    def _notice(self, sentence: str) -> None:
        self._writer(Notice(sentence))

    def _time_is_up(self) -> None:
        self._out_of_time = True
        self._cancel.set()

    def _stopped(self, agent: ResearchAgent | None) -> Conclusion:
        if self._out_of_time:
            return self._found(agent, Outcome.PARTIAL, f"The run used its {self._seconds:g} seconds.")
        return self._found(agent, Outcome.STOPPED, self._why_stopped)

    def _found(self, agent: ResearchAgent | None, outcome: Outcome, reason: str) -> Conclusion:
        """An ending without an answer, with the last thought and what was read."""
        thought = agent.last_thought if agent else ""
        read: tuple[Source, ...] = ()
        try:
            read = tuple(self._sources_so_far())
        except Exception:
            log.exception("what run %s had read cannot be told", self.id)
        return Conclusion(outcome, Answer(thought, read), reason)
