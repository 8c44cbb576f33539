"""One step of a run as one block of the chat, whatever has happened of it so far."""

from collections.abc import Sequence
from typing import Literal

import gradio as gr
from gradio.components.chatbot import MetadataDict

from agent.events import (
    CodeRun,
    CodeWritten,
    FigureShown,
    Notice,
    OutputPrinted,
    ReasoningWritten,
    ReplyRestarted,
    StepEnded,
    StepStarted,
    ThoughtWritten,
    ToolEnded,
    ToolStarted,
)
from ui.clip import OUTPUT_CHARS, TEXT_CHARS, Clip
from ui.untrusted import fenced, literal, prose

FIGURE_CHARS = 2_000_000

StepEvent = (
    StepStarted
    | ReasoningWritten
    | ReplyRestarted
    | ThoughtWritten
    | CodeWritten
    | CodeRun
    | ToolStarted
    | ToolEnded
    | OutputPrinted
    | FigureShown
    | StepEnded
)

_DOING = {
    "web_search": "searching",
    "visit_page": "reading",
    "page_up": "reading",
    "page_down": "reading",
    "find_on_page_ctrl_f": "searching the page",
    "find_next": "searching the page",
    "inspect_file_as_text": "reading a file",
    "page_links": "listing the links",
    "page_tables": "reading the tables",
    "find_archived_url": "looking into the archive",
    "download": "saving a file",
    "final_answer": "checking the answer",
}


Status = Literal["pending", "done"]


class Step:
    """The parent message of one step and its children: thought, code, calls, output, figures, error."""

    def __init__(self, number: int, key: str) -> None:
        """`key`: unique on the page; the children name it as their parent."""
        self.number = number
        self.ended = False
        self._key = key
        self._doing = "thinking"
        self._reasoning = Clip(TEXT_CHARS)
        self._thought = Clip(TEXT_CHARS)
        self._written = Clip(TEXT_CHARS)
        self._code = ""
        self._calls: dict[int, tuple[ToolStarted, ToolEnded | None]] = {}
        self._output = Clip(OUTPUT_CHARS)
        self._figures: list[str] = []
        self._notice = ""
        self._end: StepEnded | None = None
        self._shown: list[gr.ChatMessage] | None = None

    def add(self, event: StepEvent | Notice) -> None:
        self._shown = None
        if not isinstance(event, Notice):
            self._notice = ""
        if isinstance(event, ReasoningWritten | ThoughtWritten | CodeWritten):
            self._notice = ""  # the model writes: what was waited for is there
        match event:
            case ReasoningWritten(text=text):
                self._reasoning.add(text)
            case ReplyRestarted():
                self._reasoning.add(f"{self._thought}{self._written}")
                self._thought, self._written = Clip(TEXT_CHARS), Clip(TEXT_CHARS)
            case ThoughtWritten(text=text):
                self._thought.add(text)
            case CodeWritten(text=text):
                self._written.add(text)
                self._doing = "writing code"
            case CodeRun(code=code):
                self._code = code
                self._doing = "running"
            case ToolStarted(call=call, tool=tool):
                self._calls[call] = (event, None)
                self._doing = _DOING.get(tool, f"calling {tool}")
            case ToolEnded(call=call) if call in self._calls:
                self._calls[call] = (self._calls[call][0], event)
                if all(end for _, end in self._calls.values()):
                    self._doing = "running"
            case OutputPrinted(text=text):
                self._output.add(text)
            case FigureShown(png_base64=png) if len(png) <= FIGURE_CHARS:
                self._figures.append(png)
            case Notice(text=text):
                self._notice = text
            case StepEnded():
                self._end = event
                self.ended = True

    def close(self) -> None:
        """The run is over: a step that wrote no end of its own waits for nothing any more."""
        self._shown = None
        self.ended = True

    def messages(self) -> Sequence[gr.ChatMessage]:
        if self._shown is None:
            parent = gr.ChatMessage(
                "",
                metadata=MetadataDict(
                    title=self._title(), id=self._key, status="done" if self.ended else "pending"
                ),
            )
            self._shown = [parent, *self._children()]
        return self._shown

    def _title(self) -> str:
        if self._end is None:
            did = "not finished" if self.ended else self._doing
            return f"Step {self.number} · {literal(did)}"
        did = self._end.summary or ("went wrong" if self._end.error else "done")
        return f"Step {self.number} · {literal(did)} · {self._end.seconds:.1f} s"

    def _children(self) -> list[gr.ChatMessage]:
        children = []
        if self._reasoning:
            over = self.ended or bool(self._thought) or bool(self._written) or bool(self._code)
            children.append(
                self._child(prose(str(self._reasoning)), "Reasoning", "done" if over else "pending")
            )
        if self._thought:
            children.append(self._child(prose(str(self._thought))))
        if self._code:
            children.append(self._child(fenced(self._code, "python")))
        elif self._written:
            note = "\n\n<small>This code was not run.</small>" if self.ended else ""
            children.append(self._child(fenced(str(self._written), "python") + note))
        if self._calls:
            children.append(self._child(self._call_table()))
        if self._output:
            children.append(self._child(fenced(str(self._output), "text")))
        children += [self._child(f"![figure](data:image/png;base64,{png})") for png in self._figures]
        if self._notice and not self.ended:
            children.append(self._child(f"<small>{literal(self._notice)}</small>"))
        if self._end and self._end.error:
            children.append(self._child(f"**Error** {literal(self._end.error)}"))
        return children

    def _child(self, content: str, title: str = "", status: Status | None = None) -> gr.ChatMessage:
        metadata = MetadataDict(parent_id=self._key)
        if title:
            metadata["title"] = title
        if status:
            metadata["status"] = status
        return gr.ChatMessage(content, metadata=metadata)

    def _call_table(self) -> str:
        rows = ["| | | |", "|-|-|-:|"]
        for start, end in self._calls.values():
            told = f"{literal(start.arguments)}"
            if end is None:
                rows.append(f"| {literal(start.tool)} | {told} | … |")
                continue
            summary = f" → {literal(end.summary)}" if end.summary else ""
            rows.append(
                f"| {literal(start.tool)} | {told}{summary} | {end.seconds:.1f} s {'✓' if end.ok else '✗'} |"
            )
        return "\n".join(rows)
