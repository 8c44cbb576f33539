"""The Blocks page. Its handlers only begin, stop and read runs: a run goes on when nobody looks."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal
from weakref import WeakSet, WeakValueDictionary

import gradio as gr

from agent.errors import ResearchError, TooManyRuns
from agent.events import RunEnded
from agent.registry import SessionRegistry
from agent.run import Run
from agent.services import Services
from agent.session import Session
from tools.documents import SUFFIXES
from ui.api import add_research_function
from ui.chat import Transcript, asked, transcript
from ui.follow import follow_live
from ui.guarded import GuardedBlocks, Picked
from ui.rail import Progress, header, notices
from ui.visitors import Visitor, Visitors, is_secret, key_of, new_secret
from ui.words import NAME

FILE_TYPES = sorted(SUFFIXES)

INTRO = (
    "Ask a question. An agent writes Python that searches, reads and computes; "
    "you see every step, and the answer names its sources."
)

# The address names the run that is shown, so that reloading or sending it shows the run again.
_NAME_RUN_IN_ADDRESS = """(id) => {
    const address = new URL(window.location);
    address.searchParams.set("run", id);
    window.history.replaceState(null, "", address);
    return id;
}"""

_TURN_LIGHT_OR_DARK = "() => { document.body.classList.toggle('dark'); }"

# Pages that follow a run at once: less than what `launch` lets in, so that others can still ask and stop.
MOST_FOLLOWED = 200

# A browser begins to listen when its call was taken.
_HEARD_TENTHS = 100

# Where the browser keeps its secret. Gradio mixes in a word that every page is sent: that is none.
_KEPT_AS, _MIXED_IN = "open-deep-research", "of-this-browser"

Update = dict[Any, Any]


class Page:
    """The page's components, and what happens when they are used."""

    def __init__(self, services: Services, sessions: SessionRegistry, examples: Sequence[str]) -> None:
        """`examples`: questions for the empty page."""
        self._services = services
        self._sessions = sessions
        self._visitors = Visitors(lambda session: sessions.get(session) is not None, sessions.close)
        self._live: WeakValueDictionary[str, Run] = WeakValueDictionary()
        self._following: WeakSet[Transcript] = WeakSet()
        self.blocks = GuardedBlocks(
            title=NAME, fill_height=True, fill_width=True, analytics_enabled=False, delete_cache=(3600, 3600)
        )
        with self.blocks:
            self._lay_out(examples)
            self._connect()
            add_research_function(services, sessions)

    def _lay_out(self, examples: Sequence[str]) -> None:
        with gr.Row(elem_id="top"):
            self._header = gr.HTML(
                header(self._services.status()), elem_id="header", min_width=0, apply_default_css=False
            )
            self._shade = gr.Button("Light or dark", elem_id="shade", size="sm", min_width=0, scale=0)
        self._notices = gr.HTML(elem_id="notices", apply_default_css=False)
        with gr.Row(elem_id="desk"):
            with gr.Column(elem_id="talk", scale=1, min_width=0):
                self._chat = gr.Chatbot(
                    elem_id="chat",
                    label="Research",
                    show_label=False,
                    layout="panel",
                    height="100%",
                    scale=1,
                    buttons=[],
                    feedback_options=None,
                    latex_delimiters=[],
                    allow_tags=False,
                    placeholder=INTRO,
                    examples=[{"text": example} for example in examples],
                )
                self._trouble = gr.HTML(elem_id="trouble", apply_default_css=False)
                with gr.Row(elem_id="ask"):
                    self._box = gr.MultimodalTextbox(
                        elem_id="box",
                        label="Question",
                        show_label=False,
                        placeholder="Ask a question",
                        file_types=FILE_TYPES,
                        file_count="multiple",
                        max_plain_text_length=1_000_000,
                        max_lines=8,
                        autofocus=True,
                        submit_btn="Ask",
                        min_width=0,
                    )
                    self._stop = gr.Button(
                        "Stop", elem_id="stop", variant="stop", visible="hidden", scale=0, min_width=0
                    )
            with gr.Column(elem_id="side", scale=0, min_width=0):
                # Only one of the two is shown: the style sheet picks by the width of the window.
                with gr.Accordion("", open=False, elem_id="sheet") as self._line:
                    self._sheet = gr.HTML(elem_classes="surroundings", apply_default_css=False)
                self._rail = gr.HTML(elem_id="rail", elem_classes="surroundings", apply_default_css=False)
        self._run_id = gr.Textbox(visible="hidden", elem_id="run-id")
        self._browser = gr.BrowserState(None, storage_key=_KEPT_AS, secret=_MIXED_IN)

    def _connect(self) -> None:
        # How many runs there may be is the registry's business; reading one is never queued.
        private: dict[str, Any] = {
            "api_visibility": "private",
            "show_progress": "hidden",
            "concurrency_limit": None,
        }
        begun = [self._box, self._trouble, self._chat, self._run_id]
        shown = [self._chat, self._stop, self._box, self._line, self._sheet, self._rail]
        arrived = [self._header, self._notices, self._trouble, self._run_id, self._browser]
        self.blocks.load(self._arrive, self._browser, arrived, **private)
        self.blocks.unload(self._leave)
        self._box.submit(self._ask, self._box, begun, **private)
        self._chat.example_select(self._ask_picked, None, begun, **private)
        self._chat.option_select(self._ask_picked, None, begun, **private)
        self._run_id.change(
            self._show,
            self._run_id,
            shown,
            trigger_mode="multiple",
            js=_NAME_RUN_IN_ADDRESS,
            **private | {"concurrency_limit": MOST_FOLLOWED},
        )
        self._stop.click(self._stop_run, None, None, **private)
        self._shade.click(None, None, None, js=_TURN_LIGHT_OR_DARK, **private)

    def _arrive(self, secret: Any, request: gr.Request) -> Update:
        status, store = self._services.status(), self._services.store
        update: Update = {self._header: header(status), self._notices: notices(status)}
        if not is_secret(secret):
            update[self._browser] = secret = new_secret()
        run_id = _whole(str(dict(request.query_params or {}).get("run", "")))
        key = key_of(secret)
        own = run_id if store.conversation(run_id, key) else ""
        visitor = self._visitors.arrive(request.session_hash or "", key, own).visitor
        if visitor.key != key:
            self._recognise(visitor, key, own)
        if run_id and store.run(run_id) is None:
            update[self._trouble] = _trouble(
                "There is no run of that name here: it may be too old. Ask again."
            )
        elif run_id:
            update[self._run_id] = run_id
        return update

    def _recognise(self, visitor: Visitor, key: str, own: str) -> None:
        """Who asked before their page was heard of: the question is theirs all the same."""
        with visitor.asking:
            visitor.key = key
            if visitor.last:
                self._services.store.own(visitor.last, key, own)
            else:
                visitor.last = own

    def _leave(self, request: gr.Request) -> None:
        self._visitors.leave(request.session_hash or "")

    async def _ask(self, message: dict[str, Any] | None, request: gr.Request) -> Update:
        visitor = self._visitors.page(request.session_hash or "").visitor
        text, files = (message["text"], message["files"]) if message else ("", [])
        try:
            run = await asyncio.to_thread(self._begin, visitor, text, [Path(file) for file in files])
        except ResearchError as error:
            return {self._trouble: _trouble(str(error))}
        question = asked(run.started.question, run.started.files)  # as it was taken, not as it was sent
        return {
            self._box: None,
            self._trouble: "",
            self._chat: [*await self._before(visitor, run.id), question],
            self._run_id: run.id,
        }

    async def _ask_picked(self, picked: Picked, request: gr.Request) -> Update:
        return await self._ask({"text": picked.text, "files": []}, request)

    def _begin(self, visitor: Visitor, question: str, files: Sequence[Path]) -> Run:
        with visitor.asking:  # else two at once would open two sessions, one out of Stop's reach
            if visitor.run is not None and not visitor.run.ended:
                raise TooManyRuns(
                    "A run is still going on here: wait for its answer or stop it, then ask again."
                )
            session = self._sessions.get(visitor.session_id)
            if session is None:
                session = self._sessions.open(visitor.key)
                visitor.session_id = session.id
                self._remind(session, visitor)
            visitor.run = run = session.ask(question, files)
            self._services.store.own(run.id, visitor.key, visitor.last)
            visitor.last = run.id
            self._live[run.id] = run
            return run

    def _remind(self, session: Session, visitor: Visitor) -> None:
        """A session that is new knows what was asked and answered before the visitor was away."""
        store = self._services.store
        for run_id in store.conversation(visitor.last, visitor.key):
            record = store.run(run_id)
            for _, event in store.events(run_id, store.last_seq(run_id) - 1):
                if record is not None and isinstance(event, RunEnded):
                    session.remember(record.question, event)

    async def _show(self, run_id: str | None, request: gr.Request) -> AsyncIterator[Update]:
        """What the page shows of a run, from its first event to its last.

        Each update names all there is to change: the browser patches an update
        that it has not shown yet with the next one, so what only one of them
        names can get lost.
        """
        store, run_id = self._services.store, _whole(run_id or "")
        record = store.run(run_id)
        if record is None or not await self._is_heard(request.session_hash or ""):
            return
        page = self._visitors.page(request.session_hash or "")
        page.shows, visitor = run_id, page.visitor
        own = visitor.last == run_id or bool(await asyncio.to_thread(store.conversation, run_id, visitor.key))
        if own:
            visitor.run = self._live.get(run_id)
        earlier = await self._before(visitor, run_id)
        script, progress = Transcript(run_id), Progress()
        self._following.add(script)
        async for events in follow_live(store, run_id, lambda: len(self._following)):
            if page.shows != run_id:
                return  # the page shows another one by now
            for event in events:
                script.add(event)
                progress.add(event)
            elapsed = time.time() - record.started
            rail = progress.html(elapsed, await asyncio.to_thread(store.attempts, run_id))
            running = own and progress.end is None
            yield {
                self._chat: earlier + script.messages(),
                self._stop: gr.update(visible=_seen(running)),
                self._box: gr.update(submit_btn=False if running else "Ask"),
                self._line: gr.update(label=progress.line(elapsed)),
                self._sheet: rail,
                self._rail: rail,
            }

    async def _is_heard(self, name: str) -> bool:
        """Whether a page takes what it is told: Gradio keeps the rest, figures and all, for callers that never ask."""
        for _ in range(_HEARD_TENTHS):
            if self.blocks.listening is None or self.blocks.listening[name]:
                return True
            await asyncio.sleep(0.1)
        return False

    async def _before(self, visitor: Visitor, run_id: str) -> list[gr.ChatMessage]:
        """The visitor's earlier runs, when the run is one of their own."""
        store = self._services.store
        own = (await asyncio.to_thread(store.conversation, run_id, visitor.key))[:-1]
        logs = [(run, await asyncio.to_thread(store.events, run)) for run in own]
        return [message for run, log in logs for message in transcript((event for _, event in log), run)]

    def _stop_run(self, request: gr.Request) -> None:
        page = self._visitors.known(request.session_hash or "")
        if page is not None and page.visitor.run is not None:
            page.visitor.run.stop()


def _whole(text: str) -> str:
    """The text without halves of characters, which neither the store nor the browser takes."""
    return text.encode("utf-8", "replace").decode()


def _trouble(sentence: str) -> str:
    return f'<p role="alert">{escape(sentence)}</p>'


def _seen(wanted: bool) -> bool | Literal["hidden"]:
    """Hidden rather than absent, so that it is there at once when it is wanted."""
    return True if wanted else "hidden"
