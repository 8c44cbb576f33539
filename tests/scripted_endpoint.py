"""A model server that answers from a script, over the real wire.

    with ScriptedEndpoint([reply("thought\\n```python\\nprint(1)\\n```\\n")]) as endpoint:
        EndpointModel(endpoint.url, read_capabilities(endpoint.url, None)).generate(...)
    endpoint.chats[0]["messages"]      # what it was sent

It is a threaded HTTP server on a free loopback port that speaks the chat API
as TGI does (`flavour="tgi"`), or as llama.cpp or vLLM do (`"llama.cpp"`,
`"openai"`), in the shapes and with the refusals of the real ones: what the
real server would not take, this one does not take either.

The script is a list, one item a chat request, or one function for all of them.
An item is what `reply`, `broken_stream` or `refuse` (and the named refusals
below it) return, or a function from the request's JSON to such an item. A chat
request past the end of the list gets a 500 and is a fault of the test.
"""

import json
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

CHAT = "/v1/chat/completions"


@dataclass(frozen=True)
class Streamed:
    """A stream of deltas. `finish_reason` None: it just ends, without a reason and without [DONE]."""

    deltas: tuple[dict[str, Any], ...]
    finish_reason: str | None = "stop"
    usage: tuple[int, int] | None = None
    silent: float = 0.0
    delay: float = 0.0
    error: dict[str, Any] | None = None
    reset: bool = False
    raw: str = ""


@dataclass(frozen=True)
class Refusal:
    """An HTTP answer that is no stream."""

    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


Answer = Streamed | Refusal
Item = Answer | Callable[[dict[str, Any]], Answer]


def reply(
    text: str = "",
    *,
    pieces: Sequence[str] | None = None,
    reasoning: str = "",
    reasoning_key: str = "reasoning_content",
    tool_calls: Sequence[dict[str, Any]] = (),
    finish_reason: str | None = "stop",
    usage: tuple[int, int] | None = (50, 10),
    silent: float = 0.0,
    delay: float = 0.0,
) -> Streamed:
    """A good reply. `pieces` says how the text is split (by words if not given); times are seconds.

    `silent` is the wait before the first piece (the prefill), `delay` the wait
    before each one after it. `usage` is (prompt, completion) tokens, None for
    a server that counts none. `tool_calls` are OpenAI tool call deltas.
    """
    deltas: list[dict[str, Any]] = [{reasoning_key: piece} for piece in _words(reasoning)]
    deltas += [{"content": piece} for piece in (_words(text) if pieces is None else pieces)]
    deltas += [{"content": None, "tool_calls": [call]} for call in tool_calls]
    return Streamed(tuple(deltas), finish_reason, usage, silent, delay)


def broken_stream(text: str, *, error: str | None = None, reset: bool = False, raw: str = "") -> Streamed:
    """A stream that goes wrong after `text`.

    With `error`, as TGI does it: an error event under HTTP 200, then [DONE]. With
    `reset` the connection is reset. With `raw` these bytes are sent as they are.
    With none of them the stream ends as if all were well, but has no finish_reason.
    """
    event = {"message": error, "http_status_code": 422} if error else None
    return replace(reply(text, finish_reason=None, usage=None), error=event, reset=reset, raw=raw)


def refuse(status: int, body: str | dict[str, Any] = "", **headers: str) -> Refusal:
    """Any HTTP answer; `Retry_After="2"` becomes the header Retry-After."""
    text = body if isinstance(body, str) else json.dumps(body)
    return Refusal(status, text, {name.replace("_", "-"): value for name, value in headers.items()})


def overloaded(retry_after: str | None = None) -> Refusal:
    headers = {"Retry_After": retry_after} if retry_after is not None else {}
    return refuse(429, {"error": "Model is overloaded", "error_type": "overloaded"}, **headers)


def loading() -> Refusal:
    """llama.cpp while it loads the model."""
    return refuse(503, {"error": {"message": "Loading model", "type": "unavailable_error", "code": 503}})


def asleep() -> Refusal:
    """An HF Endpoint scaled to zero, as its proxy says it."""
    return refuse(503, {"error": "503 Service Unavailable"})


def too_long_tgi(given: int = 5000, limit: int = 4096, reply_tokens: int = 512) -> Refusal:
    text = (
        f"Input validation error: `inputs` tokens + `max_new_tokens` must be <= {limit}. "
        f"Given: {given} `inputs` tokens and {reply_tokens} `max_new_tokens`"
    )
    return refuse(422, {"error": text, "error_type": "validation"})


def too_long_llama(given: int = 9000, limit: int = 8192) -> Refusal:
    text = f"request ({given} tokens) exceeds the available context size ({limit} tokens), try increasing it"
    error = {"code": 400, "message": text, "type": "exceed_context_size_error"}
    return refuse(400, {"error": {**error, "n_prompt_tokens": given, "n_ctx": limit}})


def too_long_vllm(given: int = 4500, limit: int = 4096) -> Refusal:
    text = (
        f"This model's maximum context length is {limit} tokens. However, you requested {given + 500} tokens "
        f"({given} in the messages, 500 in the completion). Please reduce the length of the messages or completion."
    )
    return refuse(
        400, {"object": "error", "message": text, "type": "BadRequestError", "param": None, "code": 400}
    )


@dataclass
class Request:
    """One request that the server got. `hung_up` is set when the client went away before the end."""

    method: str
    path: str
    headers: dict[str, str]
    json: dict[str, Any]
    hung_up: threading.Event = field(default_factory=threading.Event)


class ScriptedEndpoint:
    """The server; a context manager. `url` is its address, `requests` all it got, `chats` the chat bodies.

    `token`: the generating routes want it as Bearer; `guard_all` guards every route, as HF Endpoints do.
    `down`: answers every route but chat with this refusal (a proxy's 503, a 500 …).
    """

    def __init__(
        self,
        script: Iterable[Item] | Callable[[dict[str, Any]], Answer] = (),
        *,
        flavour: str = "tgi",
        model: str = "Qwen/Qwen2.5-Coder-32B-Instruct",
        context_tokens: int = 32768,
        max_stop_sequences: int = 4,
        sees_images: bool = False,
        token: str | None = None,
        guard_all: bool = False,
        down: Refusal | None = None,
    ) -> None:
        assert flavour in ("tgi", "llama.cpp", "openai"), flavour
        self.flavour, self.model = flavour, model
        self.context_tokens, self.max_stop_sequences = context_tokens, max_stop_sequences
        self.sees_images, self.token, self.guard_all, self.down = sees_images, token, guard_all, down
        self.models: dict[str, Any] | None = None  # what /v1/models answers instead, for a server of many
        self.requests: list[Request] = []
        self._always = script if callable(script) else None
        self._script: list[Item] = [] if callable(script) else list(script)
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the chat requests, in order."""
        return [request.json for request in self.requests if request.path == CHAT]

    def add(self, *items: Item) -> None:
        """Append to the script while the server runs."""
        with self._lock:
            self._script.extend(items)

    def next_answer(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            item: Item | None = self._always or (self._script.pop(0) if self._script else None)
        if item is None:
            return refuse(500, {"error": "the script has no reply left", "error_type": "generation"})
        return item(body) if callable(item) else item

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(2)


def _words(text: str) -> list[str]:
    """Pieces of about a token each, whose sum is the text."""
    pieces: list[str] = []
    for character in text:
        if pieces and not (character.isspace() and not pieces[-1][-1].isspace()):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    endpoint: ScriptedEndpoint

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what many tests are about; anything else must be seen."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    request_record: Request

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._take({})
        endpoint = self.server.endpoint
        if endpoint.down is not None:
            return self._refuse(endpoint.down)
        if endpoint.guard_all and not self._allowed():
            return None
        known = _ROUTES[endpoint.flavour]
        if self.path not in known:
            return self._not_found()
        return self._json(200, known[self.path](endpoint))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            self._take({})
            return self._refuse(
                Refusal(400, "Failed to parse the request body as JSON: EOF at line 1 column 0")
            )
        self._take(body)
        if self.path == "/tokenize" and self.server.endpoint.flavour == "tgi":
            return (
                self._json(200, [{"id": 1, "text": "a", "start": 0, "stop": 1}]) if self._allowed() else None
            )
        if self.path != CHAT:
            return self._not_found()
        if not self._allowed():
            return None
        refusal = _validated(self.server.endpoint, body)
        answer = refusal or self.server.endpoint.next_answer(body)
        if isinstance(answer, Refusal):
            return self._refuse(answer)
        if not body.get("stream"):
            return self._whole(answer)
        return self._stream(answer, body)

    def _take(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.request_record = Request(self.command, self.path, headers, body)
        self.server.endpoint.requests.append(self.request_record)

    def _allowed(self) -> bool:
        endpoint = self.server.endpoint
        if endpoint.token is None or self.headers.get("Authorization") == f"Bearer {endpoint.token}":
            return True
        if endpoint.flavour == "tgi":
            self._refuse(Refusal(401))
        else:
            self._json(
                401, {"error": {"message": "Invalid API Key", "type": "authentication_error", "code": 401}}
            )
        return False

    def _not_found(self) -> None:
        if self.server.endpoint.flavour == "tgi":
            self._refuse(Refusal(404))
        else:
            self._json(404, {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}})

    def _json(self, status: int, body: Any) -> None:
        self._refuse(Refusal(status, json.dumps(body), {"Content-Type": "application/json"}))

    def _refuse(self, refusal: Refusal) -> None:
        body = refusal.body.encode()
        self.send_response(refusal.status)
        kind = "application/json" if body.startswith(b"{") else "text/plain; charset=utf-8"
        for name, value in {
            "Content-Type": kind,
            **refusal.headers,
            "Content-Length": str(len(body)),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _whole(self, answer: Streamed) -> None:
        text = "".join(delta.get("content") or "" for delta in answer.deltas)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.finish_reason}
        self._json(200, {**_envelope(self.server.endpoint), "object": "chat.completion", "choices": [choice]})

    def _stream(self, answer: Streamed, body: dict[str, Any]) -> None:
        endpoint = self.server.endpoint
        # llama.cpp sends its headers only with the first token, the others at once.
        if endpoint.flavour == "llama.cpp" and not self._wait(answer.silent):
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if endpoint.flavour != "llama.cpp" and not self._wait(answer.silent):
            return
        if endpoint.flavour != "tgi":
            self._event(_chunk(endpoint, {"role": "assistant", "content": None}, None))
        for number, delta in enumerate(answer.deltas):
            if not self._wait(answer.delay if number else 0):
                return
            role = {"role": "assistant"} if endpoint.flavour == "tgi" else {}
            self._event(_chunk(endpoint, {**role, **delta}, None))
        if answer.reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        if answer.raw:
            self._send(answer.raw)
        if answer.error:
            self._event({"error": answer.error})
        if answer.finish_reason is not None:
            last = {"role": "assistant", "content": ""} if endpoint.flavour == "tgi" else {}
            self._event(_chunk(endpoint, last, answer.finish_reason))
            if answer.usage and (body.get("stream_options") or {}).get("include_usage"):
                prompt, completion = answer.usage
                usage = {
                    "prompt_tokens": prompt,
                    "completion_tokens": completion,
                    "total_tokens": sum(answer.usage),
                }
                self._event({**_chunk(endpoint, {}, None), "choices": [], "usage": usage})
        if answer.finish_reason is not None or answer.error:
            self._send("data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def _wait(self, seconds: float) -> bool:
        """Wait, watching the connection; False (and noted) when the client has hung up."""
        end = time.monotonic() + seconds
        while True:
            readable, _, _ = select.select(
                [self.connection], [], [], max(0.0, min(0.02, end - time.monotonic()))
            )
            if readable:
                try:
                    gone = not self.connection.recv(1, socket.MSG_PEEK)
                except ConnectionError:
                    gone = True
                if gone:
                    self.request_record.hung_up.set()
                    self.close_connection = True
                    return False
            if time.monotonic() >= end:
                return True

    def _event(self, data: dict[str, Any]) -> None:
        self._send(f"data: {json.dumps(data, ensure_ascii=False)}\n\n")

    def _send(self, text: str) -> None:
        data = text.encode(errors="backslashreplace")  # half a character as JSON escapes it
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        except ConnectionError:
            self.request_record.hung_up.set()
            raise


def _envelope(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    fingerprint = "3.3.7-native" if endpoint.flavour == "tgi" else "b11549"
    identity = "" if endpoint.flavour == "tgi" else "chatcmpl-1"
    return {"id": identity, "created": 1767225600, "model": endpoint.model, "system_fingerprint": fingerprint}


def _chunk(endpoint: ScriptedEndpoint, delta: dict[str, Any], finish_reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {**_envelope(endpoint), "object": "chat.completion.chunk", "choices": [choice], "usage": None}


def _validated(endpoint: ScriptedEndpoint, body: dict[str, Any]) -> Refusal | None:
    """What the real server refuses, refused: so that a wrong request cannot pass a test."""
    if len(json.dumps(body)) > 2_000_000:
        return refuse(413, "Failed to buffer the request body: length limit exceeded")
    if endpoint.flavour == "openai" and body.get("model") != endpoint.model:
        text = f"The model `{body.get('model')}` does not exist."
        return refuse(404, {"object": "error", "message": text, "type": "NotFoundError", "code": 404})
    if endpoint.flavour == "tgi":
        return _validated_by_tgi(endpoint, body)
    return None


def _validated_by_tgi(endpoint: ScriptedEndpoint, body: dict[str, Any]) -> Refusal | None:
    stop, top_p = body.get("stop"), body.get("top_p")
    faults = [
        ("presence_penalty" in body, "a presence_penalty becomes a repetition penalty of 2"),
        ("stream_options" in body and body["stream_options"] is None, "stream_options: null"),
        (body.get("tools") == [], "an empty tools list turns the tool grammar on"),
        (top_p is not None and not 0 < top_p < 1, "`top_p` must be > 0.0 and < 1.0"),
        (stop is not None and not isinstance(stop, list), "stop: invalid type: string, expected a sequence"),
        (
            isinstance(stop, list) and len(stop) > endpoint.max_stop_sequences,
            "`stop` supports up to 4 sequences",
        ),
        ("max_tokens" in body and "max_completion_tokens" in body, "max_tokens and max_completion_tokens"),
        ("json_schema" in (body.get("response_format") or {}), "missing field `value`"),
    ]
    for wrong, text in faults:
        if wrong:
            return refuse(422, {"error": f"Input validation error: {text}", "error_type": "validation"})
    roles = [message["role"] for message in body["messages"]]
    turns = roles[1:] if roles[:1] == ["system"] else roles
    if any(role != ("user", "assistant")[number % 2] for number, role in enumerate(turns)):
        text = "Template error: Conversation roles must alternate user/assistant/user/assistant/..."
        return refuse(422, {"error": text, "error_type": "template_error"})
    return None


def _tgi_info(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    return {
        "model_id": endpoint.model,
        "model_sha": None,
        "model_pipeline_tag": "image-text-to-text" if endpoint.sees_images else "text-generation",
        "max_concurrent_requests": 128,
        "max_best_of": 2,
        "max_stop_sequences": endpoint.max_stop_sequences,
        "max_input_tokens": endpoint.context_tokens - 4096,
        "max_total_tokens": endpoint.context_tokens,
        "validation_workers": 2,
        "max_client_batch_size": 4,
        "router": "text-generation-router",
        "version": "3.3.7",
        "sha": None,
        "docker_label": "sha-0000000",
    }


def _llama_props(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    return {
        "default_generation_settings": {"n_ctx": endpoint.context_tokens},
        "total_slots": 2,
        "model_alias": endpoint.model,
        "model_path": f"/models/{endpoint.model}.gguf",
        "modalities": {"vision": endpoint.sees_images, "audio": False},
        "build_info": "b11549-0000000",
    }


def _models(endpoint: ScriptedEndpoint) -> dict[str, Any]:
    if endpoint.models is not None:
        return endpoint.models
    entry: dict[str, Any] = {
        "id": endpoint.model,
        "object": "model",
        "created": 0,
        "owned_by": endpoint.flavour,
    }
    if endpoint.flavour == "openai":
        entry |= {"owned_by": "vllm", "root": endpoint.model, "max_model_len": endpoint.context_tokens}
    return {"object": "list", "data": [entry]}


_ROUTES: dict[str, dict[str, Callable[[ScriptedEndpoint], Any]]] = {
    "tgi": {"/info": _tgi_info, "/v1/models": _models, "/health": lambda _: None},
    "llama.cpp": {"/props": _llama_props, "/v1/models": _models, "/health": lambda _: {"status": "ok"}},
    "openai": {"/v1/models": _models, "/version": lambda _: {"version": "0.19.0"}, "/health": lambda _: None},
}
