"""The Blocks page. Every handler only reads a run's log: a run goes on when nobody looks."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import gradio as gr

from agent.errors import BadQuestion, ResearchError
from agent.run import Run
from agent.session import Services, SessionRegistry
from ui.api import add_research_function
from ui.chat import Transcript, transcript
from ui.follow import follow_live
from ui.rail import Progress, header, notices
from ui.words import NAME

FILE_TYPES = [".txt", ".md", ".html", ".htm", ".pdf", ".csv", ".tsv", ".json", ".xlsx"]

INTRO = (
    "Ask a question. An agent writes Python that searches, reads and computes; "
    "you see every step, and the answer names its sources."
)

# The address names the run that is shown, so that reloading or sending it shows the run again.
_NAME_RUN_IN_ADDRESS = """(id) => {
    const address = new URL(window.location);
    if (id) address.searchParams.set("run", id); else address.searchParams.delete("run");
    window.history.replaceState(null, "", address);
}"""

_TURN_LIGHT_OR_DARK = "() => { document.body.classList.toggle('dark'); }"

Update = dict[Any, Any]


@dataclass
class Visitor:
    """What the server remembers of one open page."""

    session_id: str = ""
    runs: list[str] = field(default_factory=list)
    run: Run | None = None


class Page:
    """The page's components and what happens when they are used."""

    def __init__(self, services: Services, sessions: SessionRegistry, examples: Sequence[str]) -> None:
        self._services = services
        self._sessions = sessions
        self._visitors: dict[str, Visitor] = {}
        self._live: WeakValueDictionary[str, Run] = WeakValueDictionary()
        self.blocks = self._build(examples)

    def _build(self, examples: Sequence[str]) -> gr.Blocks:
        private: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
        with gr.Blocks(
            title=NAME, fill_height=True, fill_width=True, analytics_enabled=False, delete_cache=(3600, 3600)
        ) as blocks:
            with gr.Row(elem_id="top"):
                self._header = gr.HTML(elem_id="header", min_width=0, apply_default_css=False)
                shade = gr.Button("☾", elem_id="shade", size="sm", min_width=0, scale=0)
            self._notices = gr.HTML(visible=False, apply_default_css=False, elem_id="notices")
            with gr.Row(elem_id="desk"):
                with gr.Column(elem_id="talk", scale=1, min_width=0):
                    self._chat = gr.Chatbot(
                        elem_id="chat",
                        show_label=False,
                        label="Research",
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
                    self._trouble = gr.HTML(visible=False, apply_default_css=False, elem_id="trouble")
                    with gr.Row(elem_id="ask"):
                        self._box = gr.MultimodalTextbox(
                            elem_id="box",
                            show_label=False,
                            label="Question",
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
                            "Stop", elem_id="stop", variant="stop", visible=False, scale=0, min_width=0
                        )
                with gr.Column(elem_id="side", scale=0, min_width=0):
                    # Only one of the two is shown: the style sheet picks by the width of the window.
                    with gr.Accordion("", open=False, visible=False, elem_id="sheet") as self._line:
                        self._sheet = gr.HTML(apply_default_css=False, elem_classes="surroundings")
                    self._rail = gr.HTML(
                        visible=False, apply_default_css=False, elem_id="rail", elem_classes="surroundings"
                    )
            self._run_id = gr.Textbox(visible="hidden", elem_id="run-id")

            outputs = [self._header, self._notices, self._chat, self._trouble, self._box, self._stop]
            outputs += [self._line, self._sheet, self._rail, self._run_id]
            gr.on([self._box.submit], self._asked, self._box, outputs, concurrency_limit=None, **private)
            self._chat.example_select(self._picked, None, outputs, concurrency_limit=None, **private)
            self._chat.option_select(self._repeated, None, outputs, concurrency_limit=None, **private)
            self._stop.click(self._stopped, None, self._stop, concurrency_limit=None, **private)
            self._run_id.change(None, self._run_id, None, js=_NAME_RUN_IN_ADDRESS, **private)
            shade.click(None, None, None, js=_TURN_LIGHT_OR_DARK, **private)
            blocks.load(self._arrived, None, outputs, concurrency_limit=None, **private)
            blocks.unload(self._left)
            add_research_function(self._services, self._sessions)
        return blocks

    async def _arrived(self, request: gr.Request) -> AsyncIterator[Update]:
        status = self._services.status()
        yield {
            self._header: header(status),
            self._notices: gr.update(value=notices(status), visible=bool(status.notices)),
        }
        run_id = str(dict(request.query_params or {}).get("run", ""))
        if not run_id:
            return
        if self._services.store.run(run_id) is None:
            yield self._trouble_update(
                "There is no run of that name here; it may be older than this app's store. Ask again."
            )
            return
        async for update in self._shown(self._visitor(request), run_id, []):
            yield update

    async def _picked(self, picked: gr.SelectData, request: gr.Request) -> AsyncIterator[Update]:
        async for update in self._asked({"text": str(picked.value["text"]), "files": []}, request):
            yield update

    async def _repeated(self, picked: gr.SelectData, request: gr.Request) -> AsyncIterator[Update]:
        async for update in self._asked({"text": str(picked.value), "files": []}, request):
            yield update

    async def _asked(self, message: dict[str, Any], request: gr.Request) -> AsyncIterator[Update]:
        visitor = self._visitor(request)
        try:
            run = await asyncio.to_thread(
                self._take, visitor, message["text"], [Path(f) for f in message["files"]]
            )
        except ResearchError as error:
            yield self._trouble_update(str(error))
            return
        earlier = []
        for run_id in visitor.runs[:-1]:
            events = await asyncio.to_thread(self._services.store.events, run_id)
            earlier += transcript((event for _, event in events), run_id)
        yield {self._box: gr.update(value=None)}
        async for update in self._shown(visitor, run.id, earlier):
            yield update

    def _take(self, visitor: Visitor, question: str, files: Sequence[Path]) -> Run:
        if visitor.run is not None and not visitor.run.ended:
            raise BadQuestion("A run is still going on here; wait for its answer or stop it, then ask again.")
        session = self._sessions.get(visitor.session_id) if visitor.session_id else None
        if session is None:
            session = self._sessions.open()
            visitor.session_id, visitor.runs = session.id, []
        visitor.run = session.ask(question, files)
        visitor.runs.append(visitor.run.id)
        self._live[visitor.run.id] = visitor.run
        return visitor.run

    async def _shown(
        self, visitor: Visitor, run_id: str, earlier: list[gr.ChatMessage]
    ) -> AsyncIterator[Update]:
        """The page's updates while it shows a run, from its first event to its last."""
        store = self._services.store
        record = store.run(run_id)
        started = record.started if record else time.time()
        visitor.run = self._live.get(run_id)
        script, progress = Transcript(run_id), Progress()
        running = record is None or record.ended is None
        yield {
            self._trouble: gr.update(visible=False),
            self._stop: gr.update(visible=running, interactive=True),
            self._box: gr.update(submit_btn=not running and "Ask"),
            self._run_id: run_id,
        }
        async for events in follow_live(store, run_id):
            for event in events:
                script.add(event)
                progress.add(event)
            attempts = await asyncio.to_thread(store.attempts, run_id)
            elapsed = time.time() - started
            rail = progress.html(elapsed, attempts)
            update: Update = {
                self._line: gr.update(label=progress.line(elapsed), visible=True),
                self._sheet: rail,
                self._rail: gr.update(value=rail, visible=True),
            }
            if events:
                update[self._chat] = earlier + script.messages()
            yield update
        yield {self._stop: gr.update(visible=False), self._box: gr.update(submit_btn="Ask")}

    def _stopped(self, request: gr.Request) -> Update:
        run = self._visitor(request).run
        if run is not None:
            run.stop()
        return gr.update(interactive=False)

    def _left(self, request: gr.Request) -> None:
        visitor = self._visitors.pop(request.session_hash or "", None)
        if visitor is not None and visitor.session_id:
            self._sessions.close(visitor.session_id)

    def _visitor(self, request: gr.Request) -> Visitor:
        return self._visitors.setdefault(request.session_hash or "", Visitor())

    def _trouble_update(self, sentence: str) -> Update:
        return {self._trouble: gr.update(value=f'<p role="alert">{escape(sentence)}</p>', visible=True)}
