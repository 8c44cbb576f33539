"""EndpointModel: chat with TGI, or any server that speaks its chat API, for an agent.

    messages -> request -> ChatStream -> reasoning split off -> stop text cut -> deltas

Transient failures before the first token are waited out and told; whatever comes
after it is raised, since half of the reply was shown already.
"""

import json
import math
import re
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any

from smolagents import ChatMessage, Model, Tool
from smolagents.models import agglomerate_stream_deltas, get_tool_json_schema

from agent.errors import EndpointBusy, EndpointUnreachable, ModelError, Stopped, StreamCut
from agent.events import Usage
from agent.model.capabilities import Capabilities, routes, token_for
from agent.model.messages import chat_messages
from agent.model.pauses import Pauses, so_far
from agent.model.reading import Reading, ReplyDelta
from agent.model.refusals import is_loading
from agent.model.slots import slots_of
from agent.model.wire import ChatStream, Chunk, Timeouts

__all__ = ["EndpointModel", "ReplyDelta"]

# Models whose chat template opens <think> itself, so that the reply begins inside it.
_THINKING = re.compile(r"(?<![a-z0-9])(r1|qwq|thinking|reasoning|reasoner)(?![a-z0-9])", re.IGNORECASE)
# TGI's default; a server that does not tell takes that many.
_STOPS = 4
# Bytes of text per token, until the server has counted a prompt.
_BYTES_PER_TOKEN = 4.0
_WAITS: dict[type[ModelError], str] = {
    EndpointBusy: "is busy or waking up",
    EndpointUnreachable: "does not answer",
    StreamCut: "broke off before it began",
}


class EndpointModel(Model):  # type: ignore[misc] # smolagents ships no types
    """One agent's line to a model server; cheap, so make one for each run.

    `cancel`: set it to end a call within 0.2 s (it raises Stopped, and the server
    stops generating). `on_wait`: told one sentence whenever a call has to wait.
    `lost`: asked when a call fails, it says in one sentence that the server is gone for good.
    `usage`: tokens of all calls of this object; `last_usage`: of the last one, and
    `last_cached`: how many of its prompt the server still knew (None: it does not tell).
    """

    def __init__(
        self,
        base_url: str,
        capabilities: Capabilities,
        *,
        token: str | None = None,
        max_tokens: int = 2048,
        temperature: float = 0.0,
        connect_timeout: float = 10,
        first_token_timeout: float = 300,
        stall_timeout: float = 60,
        wake_timeout: float = 600,
        max_wait: float = 120,
        retries: int = 4,
        backoff: float = 1.0,
    ) -> None:
        """Times in seconds.

        first_token_timeout: from the request to the first event, the prefill included.
        wake_timeout: how long a server may take to wake up or load its model.
        max_wait: the longest that a call waits for an overloaded server in all.
        backoff: the first wait, which then doubles each time; a server can only ask for a longer one.
        """
        super().__init__(model_id=capabilities.model_id)
        self.capabilities = capabilities
        self.max_tokens, self.temperature = max_tokens, temperature
        self.cancel = threading.Event()
        self.on_wait: Callable[[str], None] | None = None
        self.lost: Callable[[], str] = str
        self.usage = self.last_usage = Usage()
        self.last_cached: int | None = None
        self._url, self._slots = routes(base_url).chat, slots_of(routes(base_url).root)
        self._token = token_for(self._url, token)
        self._timeouts = Timeouts(connect_timeout, first_token_timeout, stall_timeout)
        self._wake_timeout, self._max_wait = wake_timeout, max_wait
        self._retries, self._backoff = retries, backoff
        self._bytes_per_token = _BYTES_PER_TOKEN
        # llama.cpp parses reasoning itself.
        self._thinks = capabilities.server != "llama.cpp" and bool(_THINKING.search(capabilities.name))

    def generate(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, Any] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **options: Any,
    ) -> ChatMessage:
        """The whole reply; `raw` holds its `finish_reason` and `reasoning`. Options as in `generate_stream`."""
        deltas: list[ReplyDelta] = []
        reasoning = ""
        stream = self.generate_stream(
            messages, stop_sequences, response_format, tools_to_call_from, **options
        )
        for delta in stream:
            if delta.restart:
                reasoning += "".join(earlier.content or "" for earlier in deltas)
                deltas.clear()
            reasoning += delta.reasoning or ""
            deltas.append(delta)
        message = agglomerate_stream_deltas(list(deltas))
        message.raw = {"finish_reason": deltas[-1].finish_reason, "reasoning": reasoning}
        return message

    def generate_stream(
        self,
        messages: list[ChatMessage],
        stop_sequences: list[str] | None = None,
        response_format: dict[str, Any] | None = None,
        tools_to_call_from: list[Tool] | None = None,
        **options: Any,
    ) -> Generator[ReplyDelta]:
        """The reply as it is written. Content holds neither stop text nor reasoning.

        options: `max_tokens`, `temperature`, `seed`, `tool_choice`; others are a TypeError.
        Raises the errors under `agent.errors.ModelError`, and Stopped.
        """
        stops = [stop for stop in stop_sequences or () if stop]
        sent = self._stops_to_send(stops)
        body = self._body(messages, sent, response_format, tools_to_call_from, **options)
        reading = Reading(self._thinks, stops, trusted=sent == stops)
        try:
            place = self._slots.taken(self, self.cancel, self._in_line) if self._slots else nullcontext()
            with place as slot:
                body["extra_body"] = self._extras(slot)
                with closing(self._chunks(body, response_format)) as chunks:
                    for chunk in chunks:
                        yield from reading.take(chunk)
                        if reading.enough:
                            break
            yield from reading.end(self._spent(body, reading))
        except Stopped:
            reading.events += 1  # the prompt was read for nothing, but it was read
            raise
        finally:
            self._thinks = self._thinks or reading.thinks
            self.last_usage, self.last_cached = self._spent(body, reading), reading.cached
            self.usage += self.last_usage

    def _stops_to_send(self, stops: list[str]) -> list[str]:
        """As many as the server takes; none to a model that thinks, which a stop would end in mid-thought."""
        limit = self.capabilities.max_stop_sequences
        return [] if self._thinks else stops[: _STOPS if limit is None else limit]

    def _body(
        self,
        messages: list[ChatMessage],
        stops: list[str],
        response_format: dict[str, Any] | None,
        tools: list[Tool] | None,
        *,
        max_tokens: int | None = None,
        temperature: float | None = None,
        seed: int | None = None,
        tool_choice: str | None = "required",
    ) -> dict[str, Any]:
        """Arguments of InferenceClient.chat_completion, which leaves out what is None.

        Left out on purpose: presence_penalty (TGI makes a repetition penalty of a 0)
        and top_p (TGI refuses a 1), as well as empty lists.
        """
        return {
            "model": self.capabilities.model_id,
            "messages": chat_messages(messages, self.capabilities.sees_images),
            "max_tokens": max_tokens or self.max_tokens,
            "temperature": self.temperature if temperature is None else temperature,
            "seed": seed,
            "stop": stops or None,
            "tools": [get_tool_json_schema(tool) for tool in tools] if tools else None,
            "tool_choice": tool_choice if tools else None,
            "response_format": response_format,
            "stream_options": {"include_usage": True},
        }

    def _extras(self, slot: int | None) -> dict[str, Any]:
        """What only llama.cpp understands: it then counts at each event, so that a reply cut short is measured too."""
        if self.capabilities.server != "llama.cpp":
            return {}
        return {
            "timings_per_token": True,
            "cache_prompt": True,
            **({} if slot is None else {"id_slot": slot}),
        }

    def _chunks(self, body: dict[str, Any], response_format: dict[str, Any] | None) -> Generator[Chunk]:
        """The stream's events, after as many attempts as it takes and `retries` and the waits allow."""
        # The client turns a JSON schema into TGI's own shape; others want what OpenAI defined.
        unchanged = response_format is not None and self.capabilities.server != "tgi"
        exact = {"response_format": response_format} if unchanged else {}
        begun, failures, pauses = time.monotonic(), 0, Pauses(self._backoff)
        headers: dict[str, str] = {}
        timeouts = self._timeouts
        while True:
            stream = ChatStream(self._url, self._token, timeouts, body, exact, **headers)
            started = False
            try:
                for chunk in stream.chunks(self.cancel):
                    started = True
                    yield chunk
                return
            except (EndpointBusy, EndpointUnreachable, StreamCut) as error:
                if gone := self.lost():
                    raise EndpointUnreachable(gone) from error
                if started:
                    raise StreamCut(str(error)) from error
                if isinstance(error, EndpointBusy):
                    # The proxy of an HF Endpoint that sleeps now holds the request until it is awake.
                    headers = {"X-Scale-Up-Timeout": f"{self._wake_timeout:.0f}"}
                    timeouts = replace(self._timeouts, first=self._timeouts.first + self._wake_timeout)
                loading = isinstance(error, EndpointBusy) and is_loading(error)
                failures += not loading
                named = error.retry_after if isinstance(error, EndpointBusy) else None
                seconds, waited = pauses.next(named), time.monotonic() - begun
                if failures > self._retries or waited + seconds > (
                    self._wake_timeout if loading else self._max_wait
                ):
                    raise
                what = "is still loading" if loading else _WAITS[type(error)]
                self._waits(f"The model {what}; asking again in {seconds:.0f} s{so_far(waited)}.")
            finally:
                stream.close()
            if self.cancel.wait(seconds):
                raise Stopped("The run was stopped.")

    def _in_line(self, place: int) -> None:
        self._waits(f"The model is answering others first; this question is number {place} in line.")

    def _waits(self, sentence: str) -> None:
        if self.on_wait is not None:
            self.on_wait(sentence)

    def _spent(self, body: dict[str, Any], reading: Reading) -> Usage:
        """What the server counted, else an estimate, made with the ratio of bytes to tokens seen so far."""
        prompt_bytes = len(json.dumps(body["messages"], ensure_ascii=False).encode())
        if reading.usage is not None:
            if reading.usage.prompt_tokens:
                self._bytes_per_token = prompt_bytes / reading.usage.prompt_tokens
            return reading.usage
        if not reading.events:
            return Usage()
        prompt, completion = (
            math.ceil(size / self._bytes_per_token) for size in (prompt_bytes, reading.size)
        )
        return Usage(prompt, completion, estimated=True)
