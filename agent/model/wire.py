"""One chat request over HTTP that can be cut off at any moment.

`huggingface_hub.InferenceClient` blocks while the server is silent, and cannot be
interrupted from outside. So each request gets a thread that reads and a connection
of its own: whoever waits polls a queue, and to cut it the socket is shut down,
which wakes the reader and tells the server to stop generating.
"""

import queue
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
from huggingface_hub import ChatCompletionStreamOutput, InferenceClient
from huggingface_hub.errors import TextGenerationError
from huggingface_hub.inference._common import RequestParameters
from smolagents.models import ChatMessageToolCallFunction, ChatMessageToolCallStreamDelta

from agent.errors import EndpointRefused, ModelError, Stopped, StreamCut
from agent.events import Usage
from agent.model.connection import Cut, host_of, http_client, read_some, unreachable
from agent.model.refusals import error_in_stream, refusal, without_token
from agent.model.text import valid

# How long a cut may go unnoticed; the promise is 0.2 s.
_POLL_SECONDS = 0.05
# A line of the stream is a few hundred bytes.
_LINE_BYTES = 16 << 20


@dataclass(frozen=True)
class Chunk:
    """One event of the stream; empty where it says nothing of the kind.

    cached: tokens of the prompt that the server still knew and had not to read again.
    """

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[ChatMessageToolCallStreamDelta, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    cached: int | None = None


@dataclass(frozen=True)
class Timeouts:
    """Seconds: to connect, until the first event of the stream, and between two events."""

    connect: float
    first: float
    stall: float


class ChatStream(InferenceClient):
    """One streamed chat completion; iterate `chunks` once, `close` in any case.

    `body`: arguments of `InferenceClient.chat_completion`. `exact`: fields of the
    request that must reach the server as they are, past the client's own changes.
    """

    def __init__(
        self,
        chat_url: str,
        token: str,
        timeouts: Timeouts,
        body: dict[str, Any],
        exact: dict[str, Any],
        **headers: str,
    ) -> None:
        super().__init__(base_url=chat_url, token=token, headers=headers)
        self._url, self._token, self._timeouts = chat_url, token, timeouts
        self._body, self._exact = body, exact
        self._events: queue.Queue[Chunk | Exception | None] = queue.Queue()
        self._cut = Cut()
        self._streams = False  # the server answered with an event stream
        self._complete = False  # … and said that it is whole

    def chunks(self, cancel: threading.Event) -> Iterator[Chunk]:
        """The events, until the server says that it is done.

        Raises Stopped when `cancel` is set, StreamCut when the stream ends before
        it is complete or stands still, and what `refusal` makes of an answer.
        """
        if cancel.is_set():
            raise Stopped("The run was stopped.")
        threading.Thread(target=self._read, name="model-stream", daemon=True).start()
        wait = self._timeouts.first
        while (chunk := self._next(cancel, wait)) is not None:
            self._complete = self._complete or chunk.finish_reason is not None
            wait = self._timeouts.stall
            yield chunk
        if not self._streams:
            raise EndpointRefused(
                f"The server at {host_of(self._url)} answered, but not with a chat stream: check the endpoint's address."
            )
        if not self._complete:
            raise StreamCut(
                f"The model endpoint at {host_of(self._url)} ended its reply before it was complete: ask again."
            )

    def close(self) -> None:
        """Cut the connection; a server that is still writing stops."""
        self._cut.make()

    def _next(self, cancel: threading.Event, seconds: float) -> Chunk | None:
        deadline = time.monotonic() + seconds
        while not cancel.is_set():
            try:
                event = self._events.get(timeout=_POLL_SECONDS)
            except queue.Empty:
                if time.monotonic() > deadline:
                    raise StreamCut(
                        f"The model endpoint at {host_of(self._url)} was silent for {seconds:.0f} s: ask again."
                    ) from None
                continue
            if isinstance(event, ModelError):
                raise event
            if isinstance(event, Exception):
                raise self._typed(event) from event
            return event
        raise Stopped("The run was stopped.")

    # --- in the reader's thread ---------------------------------------------------------

    def _read(self) -> None:
        with self.exit_stack:
            try:
                for output in self.chat_completion(stream=True, **self._body):
                    self._events.put(_chunk(output))
                self._events.put(None)
            except Exception as error:  # noqa: BLE001 - handed to the waiting thread, which raises it
                self._events.put(error)

    def _inner_post(self, request_parameters: RequestParameters, *, stream: bool = False) -> Any:
        """What InferenceClient does here, on a connection that `close` can reach.

        It is the client's own seam for sending (pinned, and tested against a real
        server): the shared session that it would use cannot be cut for one request.
        """
        timeout = httpx2.Timeout(None, connect=self._timeouts.connect)
        client = self.exit_stack.enter_context(http_client(self._url, timeout))
        response = self.exit_stack.enter_context(
            client.stream(
                "POST",
                request_parameters.url,
                json={**(request_parameters.json or {}), **self._exact},  # type: ignore[dict-item]
                headers=request_parameters.headers,
                extensions={"trace": self._cut.trace},
            )
        )
        if not response.is_success:
            words = without_token(read_some(response).decode(errors="replace"), self._token)
            raise refusal(response.status_code, words, response.headers, host_of(self._url))
        self._streams = "event-stream" in response.headers.get("content-type", "")
        return self._lines(response.iter_bytes())

    def _lines(self, data: Iterable[bytes]) -> Iterator[str]:
        """Lines ended by \\n alone: httpx also breaks at U+2028 or U+0085, which may stand inside the JSON."""
        held = b""
        for piece in data:
            *lines, held = (held + piece).split(b"\n")
            for line in lines:
                text = line.decode(errors="replace").strip()
                if text.removeprefix("data:").strip() == "[DONE]":
                    self._complete = True
                    return
                yield text
            if len(held) > _LINE_BYTES:
                raise EndpointRefused(
                    f"The server at {host_of(self._url)} sent a line that does not end, "
                    "which is no chat stream: check the endpoint's address."
                )

    # --- errors -----------------------------------------------------------------------------

    def _typed(self, error: Exception) -> ModelError:
        host = host_of(self._url)
        if isinstance(error, TextGenerationError):
            return error_in_stream(error.args[0] if error.args else "", host, self._token)
        if self._streams and isinstance(error, httpx2.HTTPError):
            return StreamCut(
                f"The connection to the model endpoint at {host} broke in the middle of a reply: ask again."
            )
        if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL | OSError | UnicodeError):
            return unreachable(error, self._url)
        return EndpointRefused(
            f"The server at {host} does not speak the chat API ({type(error).__name__}): check the endpoint's address."
        )


def _chunk(output: ChatCompletionStreamOutput) -> Chunk:
    """The event, checked: the client takes whatever the server sent into its fields."""
    usage, cached = _counted(output)
    if not output.choices:
        return Chunk(usage=usage, cached=cached)
    choice = output.choices[0]
    delta = choice.delta
    # vLLM and llama.cpp name it differently, and only one of the two is in the client's own fields.
    reasoning = getattr(delta, "reasoning", None) or getattr(delta, "reasoning_content", None)
    calls = tuple(
        ChatMessageToolCallStreamDelta(
            index=call.index,
            id=call.id,
            type=call.type,
            function=ChatMessageToolCallFunction(call.function.arguments, call.function.name),
        )
        for call in delta.tool_calls or ()
    )
    return Chunk(
        _text(delta.content),
        _text(reasoning),
        calls,
        valid(_text(choice.finish_reason)) or None,
        usage,
        cached,
    )


def _text(value: object) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError("text was expected")
    return value or ""


def _counted(output: ChatCompletionStreamOutput) -> tuple[Usage | None, int | None]:
    """Tokens, and how many of the prompt came from the server's cache, where the server tells."""
    timings = getattr(output, "timings", None)  # llama.cpp, on every event
    if timings:
        counted = Usage(int(timings["cache_n"] + timings["prompt_n"]), int(timings["predicted_n"]))
        return counted, int(timings["cache_n"])
    if not output.usage:
        return None, None
    details = getattr(output.usage, "prompt_tokens_details", None) or {}
    cached = details.get("cached_tokens")
    counted = Usage(int(output.usage.prompt_tokens), int(output.usage.completion_tokens))
    return counted, None if cached is None else int(cached)
