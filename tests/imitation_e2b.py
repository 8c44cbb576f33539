"""An imitation of E2B on loopback: its control API and the process API of a sandbox, over the wire of its own client.

A "sandbox" is a process group on this machine. Only what `e2b_command.py` uses is there.
"""

import asyncio
import json
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import uvicorn
from e2b.envd.process.process_connect import Process, ProcessASGIApplication
from e2b.envd.process.process_pb import (
    ProcessEvent,
    SendInputRequest,
    SendInputResponse,
    StartRequest,
    StartResponse,
)
from protobuf import Oneof

KEY = "e2b_not_a_real_key"


class _Processes(Process):
    """The process API inside a sandbox."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._running: dict[int, asyncio.subprocess.Process] = {}

    async def start(self, request: StartRequest, ctx: Any) -> AsyncIterator[StartResponse]:
        assert request.process is not None
        child = await asyncio.create_subprocess_exec(
            request.process.cmd,
            *[argument for argument in request.process.args if argument != "-l"],
            stdin=asyncio.subprocess.PIPE if request.stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": self._path},
            start_new_session=True,
        )
        self._running[child.pid] = child
        yield _told(Oneof("start", ProcessEvent.StartEvent(pid=child.pid)))
        assert child.stdout and child.stderr
        while data := await child.stdout.read(1 << 16):
            yield _told(Oneof("data", ProcessEvent.DataEvent(output=Oneof("stdout", data))))
        if data := await child.stderr.read():
            yield _told(Oneof("data", ProcessEvent.DataEvent(output=Oneof("stderr", data))))
        end = ProcessEvent.EndEvent(exit_code=await child.wait(), exited=True, status="exited")
        yield _told(Oneof("end", end))

    async def send_input(self, request: SendInputRequest, ctx: Any) -> SendInputResponse:
        assert request.process and request.process.selector and request.input and request.input.input
        child = self._running[int(request.process.selector.value)]
        assert child.stdin
        child.stdin.write(request.input.input.value)
        await child.stdin.drain()
        return SendInputResponse()

    def kill(self) -> None:
        for pid in self._running:
            with suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        self._running.clear()


def _told(event: Any) -> StartResponse:
    return StartResponse(event=ProcessEvent(event=event))


class ImitationE2B:
    """`with ImitationE2B(path) as e2b:`; `path`: the PATH of what runs in its sandboxes.

    created: what was asked of each sandbox; killed: how many were. variables: how the client finds it.
    """

    def __init__(self, path: str) -> None:
        self.created: list[dict[str, Any]] = []
        self.killed = 0
        self._processes = _Processes(path)
        self._inside = ProcessASGIApplication(self._processes)
        config = uvicorn.Config(
            self._serve, interface="asgi3", host="127.0.0.1", port=0, log_level="warning", lifespan="off"
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)

    def __enter__(self) -> "ImitationE2B":
        self._thread.start()
        while not self._server.started:
            self._thread.join(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.kill()
        self._server.should_exit = True
        self._thread.join(5)

    @property
    def variables(self) -> dict[str, str]:
        port = self._server.servers[0].sockets[0].getsockname()[1]
        address = f"http://127.0.0.1:{port}"
        return {"E2B_API_URL": address, "E2B_SANDBOX_URL": address, "E2B_HTTP_VERSION": "1.1"}

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        path, method = scope["path"], scope["method"]
        if path.startswith("/process.Process/"):
            await self._inside(scope, receive, send)
            return
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message.get("body", b"")
            if not message.get("more_body"):
                break
        key = dict(scope["headers"]).get(b"x-api-key", b"").decode()
        status, answer = 204, b""
        if path != "/health" and key != KEY:
            status, answer = 401, b'{"code": 401, "message": "the key is not known"}'
        elif path == "/v2/sandboxes" and method == "POST":
            self.created.append(json.loads(body))
            made = {"templateID": "t", "sandboxID": "s1", "clientID": "c", "envdVersion": "0.6.4"}
            status, answer = 201, json.dumps(made).encode()
        elif method == "DELETE":
            self.killed += 1
            self._processes.kill()
        head = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": status, "headers": head})
        await send({"type": "http.response.body", "body": answer})
