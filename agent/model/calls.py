"""Tool calls of a reply: as the chat API gives them, or as JSON that a model wrote as text."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from smolagents.models import ChatMessageToolCallStreamDelta

from agent.model.text import valid

# Where a call may begin in a text.
CALL_MARKS = ("{", "[{", "<tool_call>", "```")
_MOST_TRIED = 200  # braces of a text that may begin a call
_CLOSING = {"{": "}", "[": "]"}
_TAGS = ("<tool_call>", "</tool_call>", "```json", "```")


@dataclass(frozen=True)
class Call:
    """One call. problem: why it cannot be run, empty when it can."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict)
    problem: str = ""

    def __str__(self) -> str:
        return json.dumps({"name": self.tool, "arguments": self.arguments}, ensure_ascii=False)


class CallCollector:
    """Puts calls together from the pieces in which they stream in."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._arguments: dict[int, str] = {}

    def add(self, pieces: Sequence[ChatMessageToolCallStreamDelta]) -> None:
        for piece in pieces:
            place = piece.index if piece.index is not None else max(self._names, default=0)
            if piece.function is None:
                continue
            if piece.function.name:
                self._names[place] = self._names.get(place, "") + piece.function.name
            text = piece.function.arguments or ""
            text = text if isinstance(text, str) else json.dumps(text)
            self._arguments[place] = self._arguments.get(place, "") + text

    def calls(self) -> list[Call]:
        """In the order of their places."""
        return [
            _call(valid(self._names[place]), self._arguments.get(place, "")) for place in sorted(self._names)
        ]


def calls_in(text: str, tools: Iterable[str]) -> tuple[str, list[Call]]:
    """What of a text is no call, and the calls in it: JSON objects that name one of `tools`."""
    known, decoder = set(tools), json.JSONDecoder(strict=False)
    calls: list[Call] = []
    rest, at, tried = [], 0, 0
    while tried < _MOST_TRIED and (begin := text.find("{", at)) >= 0:
        try:
            found, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            found, end = None, begin + 1
        tried += 1
        call = _written(found, known)
        if call is None:
            end = begin + 1 if found is None else end
            rest.append(text[at:end])
        else:
            calls.append(call)
            rest.append(text[at:begin])
        at = end
    words = "".join([*rest, text[at:]])
    if calls:
        for tag in _TAGS:
            words = words.replace(tag, "")
        words = words.strip().strip("[],").strip()
    return words, calls


def completed(text: str) -> str:
    """The text with the closing brackets that a small model forgets at the end of its JSON.

    As it was where none are missing, where brackets cross, or where it ends within a string.
    """
    bare = text.rstrip()
    for tag in _TAGS:
        bare = bare.removesuffix(tag).rstrip()
    open_marks: list[str] = []
    quoted = escaped = False
    for mark in bare[max(0, bare.find("{")) :]:
        if quoted:
            quoted, escaped = escaped or mark != '"', mark == "\\" and not escaped
        elif mark in _CLOSING:
            open_marks.append(mark)
        elif mark == '"':
            quoted = True
        elif mark in _CLOSING.values() and (not open_marks or _CLOSING[open_marks.pop()] != mark):
            return text
    missing = "".join(_CLOSING[mark] for mark in reversed(open_marks))
    return text if quoted or not missing else bare + missing


def _written(found: object, known: set[str]) -> Call | None:
    """The call that an object of a text is, None when it is none."""
    if not isinstance(found, dict):
        return None
    inner = found.get("function")
    found = inner if isinstance(inner, dict) else found
    name = found.get("name")
    if not isinstance(name, str) or name not in known:
        return None
    arguments = found.get("arguments", found.get("parameters", {}))
    return _call(name, arguments if isinstance(arguments, str) else json.dumps(arguments))


def _call(name: str, text: str) -> Call:
    text = valid(text)
    try:
        arguments = json.loads(text or "{}", strict=False)
        if "\\u" in text:  # an escape may stand for half a character
            arguments = json.loads(valid(json.dumps(arguments, ensure_ascii=False)))
    except (ValueError, RecursionError):
        return Call(name, problem="its arguments are no JSON")
    if arguments is None:
        return Call(name)
    if not isinstance(arguments, dict):
        return Call(name, problem="its arguments are no JSON object")
    return Call(name, arguments)
