"""What happens inside a step, told as events and summed up in the visitor's words."""

import base64
from collections import Counter
from collections.abc import Callable

from agent.events import Event, FigureShown, OutputPrinted, ToolEnded, ToolStarted

Emit = Callable[[Event], None]

_READING = ("visit_page", "page_down", "page_up", "inspect_file_as_text", "find_archived_url")
_FINDING = ("find_on_page_ctrl_f", "find_next")


class StepNarrator:
    """The executor's observer for one step. Called from the thread that runs the step."""

    def __init__(self, step: int, emit: Emit) -> None:
        self._step = step
        self._emit = emit
        self._tools: dict[int, str] = {}
        self._done: Counter[str] = Counter()
        self._failed = 0
        self._figures = 0
        self._last = ""

    def tool_started(self, call: int, tool: str, arguments: str) -> None:
        self._tools[call] = tool
        self._emit(ToolStarted(self._step, call, tool, arguments))

    def tool_ended(self, call: int, ok: bool, seconds: float, summary: str) -> None:
        self._done[self._tools.get(call, "")] += ok
        self._failed += not ok
        self._last = summary if ok else self._last
        self._emit(ToolEnded(self._step, call, ok, seconds, summary))

    def printed(self, text: str) -> None:
        self._emit(OutputPrinted(self._step, text))

    def figure(self, png: bytes) -> None:
        self._figures += 1
        self._emit(FigureShown(self._step, base64.b64encode(png).decode()))

    def summary(self, ran: bool, error: str) -> str:
        """What the step did, e.g. "searched, 5 results" or "read 2 pages"; `ran`: code was run."""
        searches, found = self._done["web_search"], sum(self._done[tool] for tool in _FINDING)
        read = sum(self._done[tool] for tool in _READING)
        parts = []
        if searches:
            parts.append(
                f"searched, {self._last}" if sum(self._done.values()) == 1 else _times("searched", searches)
            )
        if read:
            parts.append(f"read {read} page{'s' * (read > 1)}")
        if found:
            parts.append("looked for words in a page")
        if saved := self._done["download"]:
            parts.append(f"saved {saved} file{'s' * (saved > 1)}")
        if self._figures:
            parts.append("drew a figure" if self._figures == 1 else f"drew {self._figures} figures")
        if self._done["final_answer"]:
            parts.append("answered")
        if self._failed:
            parts.append(f"{self._failed} call{'s' * (self._failed > 1)} failed")
        elif error:
            parts.append("the code failed" if ran else "nothing was run")
        return ", ".join(parts) or ("computed" if ran else "thought")


def _times(what: str, count: int) -> str:
    return what if count == 1 else f"{what} {count} times"
