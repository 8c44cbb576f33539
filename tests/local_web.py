"""A real web server on loopback for tests: threads, raw sockets, any misbehaviour a test needs.

    with LocalWeb({"/": "<h1>Hello</h1>", "/old": Answer(302, {"Location": "/"})}) as web:
        fetcher.get(web.url("/"))

A route is a text or bytes (sent as 200), an Answer, or a function that gets the
request and gives one of these, or takes the socket over and gives None.
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus


@dataclass
class Answer:
    """One response. `seconds` before it begins; `pause` between its pieces."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | str | list[bytes] = b""
    seconds: float = 0.0
    pause: float = 0.0
    length: int | None = None
    """Content-Length to claim; None for the true one (none at all when `body` is a list)."""


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]
    connection: socket.socket
    body: bytes = b""


Route = str | bytes | Answer | Callable[[Request], "str | bytes | Answer | None"]


class LocalWeb:
    """Serves `routes` (keys are paths, with the query or without) until closed. `requests` holds what was asked."""

    def __init__(
        self, routes: Mapping[str, Route] | Callable[[Request], Route], tls: ssl.SSLContext | None = None
    ) -> None:
        self.routes = routes
        self.requests: list[Request] = []
        self._tls = tls
        self._closing = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def close(self) -> None:
        self._closing.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # an accept that waits would take one more connection
        self._socket.close()

    def __enter__(self) -> "LocalWeb":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.settimeout(10)
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                request = self._read(connection)
                if request:
                    self.requests.append(request)
                    self._answer(request)
        except OSError:
            connection.close()

    def _read(self, connection: socket.socket) -> Request | None:
        head = b""
        while b"\r\n\r\n" not in head:
            more = connection.recv(65536)
            if not more:
                return None
            head += more
        head, _, body = head.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(body) < length and (more := connection.recv(65536)):
            body += more
        return Request(method, path, headers, connection, body)

    def _answer(self, request: Request) -> None:
        if callable(self.routes):
            route: Route | None = self.routes(request)
        else:
            route = self.routes.get(request.path, self.routes.get(request.path.split("?")[0]))
        if callable(route):
            route = route(request)
            if route is None:
                return
        if route is None:
            route = Answer(404, {"Content-Type": "text/plain"}, "no such page")
        answer = route if isinstance(route, Answer) else Answer(body=route)
        time.sleep(answer.seconds)
        pieces = (
            answer.body
            if isinstance(answer.body, list)
            else [answer.body.encode() if isinstance(answer.body, str) else answer.body]
        )
        headers = {"Content-Type": "text/html; charset=utf-8", "Connection": "close", **answer.headers}
        if answer.length is not None or not isinstance(answer.body, list):
            headers.setdefault(
                "Content-Length", str(answer.length if answer.length is not None else len(pieces[0]))
            )
        try:
            phrase = HTTPStatus(answer.status).phrase
        except ValueError:
            phrase = "Unheard Of"
        head = f"HTTP/1.1 {answer.status} {phrase}\r\n" + "".join(
            f"{k}: {v}\r\n" for k, v in headers.items() if v != ""
        )
        request.connection.sendall(head.encode("utf-8") + b"\r\n")
        for piece in pieces:
            if self._closing.wait(answer.pause) and answer.pause:
                return
            request.connection.sendall(piece)
