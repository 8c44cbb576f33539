"""Files are read in processes of their own, locked and limited, so that a hostile file harms only itself.

A fork server (`forkserver.py`), started when it is first needed, holds all
readers ready; each file gets a fork of it that sees no other file, no secret
and no network, and ends with its answer. That answer is JSON: a captured child
can lie about its own file, and about nothing else.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tools.errors import Damaged, DocumentError
from tools.formats.source import Source
from tools.metadata import Metadata
from tools.page import Document

MEMORY_BYTES = 850_000_000
CPU_SECONDS = 10
WALL_SECONDS = 45
_MAX_ANSWER = 120_000_000  # what a captured child can make the app unpack
_PIECE = 1 << 18
# Nothing of the app's own environment; more than one thread could not be locked.
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
}

_BEGIN = f"import sys\nsys.path.insert(0, {str(Path(__file__).resolve().parents[2])!r})\n"
_PROGRAM = "from tools.formats import forkserver\nforkserver.main()"

inside = False
"""Whether this process is such a child, whose files' own files are read where they are."""


def read_apart(source: Source, key: str, kind: str, seconds: int = CPU_SECONDS) -> Document:
    """The document in `source`, read by a process of its own within so many seconds of CPU, 255 at most.

    `key`: its format; `kind`: what to call it.

    Raises DocumentError, and Damaged when the reader found the file damaged.
    """
    head = json.dumps(asdict(replace(source, content=b"")) | {"content": len(source.content), "format": key})
    try:
        answer = _asked(head.encode() + b"\n", source.content, seconds)
    except (TimeoutError, ConnectionError):
        answer = b""
    if not answer:
        raise DocumentError(
            f"{source.shown} is {kind} that cannot be read within {seconds} s and "
            f"{MEMORY_BYTES // 1_000_000} MB: it is damaged or too large."
        )
    told: dict[str, Any] = json.loads(answer.decode("utf-8", "surrogatepass"))
    if "failed" in told:
        raise source.damaged(kind)  # its library failed in a way of its own
    if "error" in told:
        raise (Damaged if told["damaged"] else DocumentError)(str(told["error"]))
    sheets = tuple(tuple(tuple(row) for row in sheet) for sheet in told["sheets"])
    said = Metadata(**told["metadata"])
    return Document(source.url, told["title"], told["markdown"], told["note"], sheets, said)


def _asked(head: bytes, content: bytes, seconds: int) -> bytes:
    """What a child answers, whole or nothing. Raises TimeoutError, ConnectionError."""
    with _SERVER.child(seconds) as child:
        deadline = time.monotonic() + WALL_SECONDS
        child.settimeout(WALL_SECONDS)
        child.sendall(head)
        child.sendall(content)
        came = bytearray()
        while True:
            child.settimeout(max(0.001, deadline - time.monotonic()))
            piece = child.recv(_PIECE)
            if not piece:
                break
            came += piece
            if len(came) > _MAX_ANSWER:
                return b""
        return bytes(came[8:]) if int.from_bytes(came[:8], "big") == len(came) - 8 else b""


class ForkServer:
    """The process that forks the children of this one, started when first needed. Thread-safe."""

    def __init__(self, program: str = _PROGRAM) -> None:
        """`program`: the code that it runs, with the folder of the app at the front of its path."""
        self._program = program
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._owner = 0

    def child(self, seconds: int = CPU_SECONDS) -> socket.socket:
        """A connection to a new child, which has so many seconds of CPU. Raises ConnectionError when none can be had."""
        ours, theirs = socket.socketpair()
        with theirs:
            for _ in range(2):  # a server that has died, or that another process started, is replaced once
                try:
                    socket.send_fds(self._running(), [bytes([seconds])], [theirs.fileno()])
                except OSError:
                    self._forget()
                else:
                    return ours
        ours.close()
        raise ConnectionError("no process for reading files can be started")

    def _running(self) -> socket.socket:
        with self._lock:
            if self._control is not None and self._owner == os.getpid():
                return self._control
            self._control, theirs = socket.socketpair()
            with theirs:
                # With -I the server sees neither the folder nor the environment of this process.
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-X", "utf8", "-c", _BEGIN + self._program],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env=_ENVIRONMENT,
                    cwd="/",
                    start_new_session=True,
                )
            self._owner = os.getpid()
            return self._control

    def _forget(self) -> None:
        with self._lock:
            if self._control is not None:
                self._control.close()  # it ends when it has read the end of its input
                self._control = None
            if self._process is not None:
                self._process.poll()


_SERVER = ForkServer()
