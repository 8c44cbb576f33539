"""The fork server as a program: stdin is a socket on which each message brings a connection for a new child,
and in its one byte the child's seconds of CPU.

It never sees a file itself. Its children lock themselves before they read the
first byte: they may read Python and these readers, and nothing else; they write
nothing, connect nowhere, start nothing, signal nobody.
"""

import gc
import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from lock import process
from tools import documents
from tools.errors import Damaged, DocumentError
from tools.formats import apart
from tools.formats.locking import Lock, strongest_lock
from tools.formats.source import Source

_READERS = str(Path(__file__).resolve().parents[1])
_LOOK_SECONDS = 0.5
_OPEN_FILES = 64
# What nearly every child would import again, which takes as long as locking it.
_USUAL = "encodings.ascii encodings.cp1252 encodings.cp437 encodings.utf_16_le email.parser".split()
# What readers import only when they need it, for children that open no file.
_LAZY = "pdfminer.high_level fastparquet py7zr backports.zstd".split()


def main() -> None:
    """Fork a child for each message, reap the ended, end the overdue, and end with the one who started this."""
    control = socket.socket(fileno=os.dup(0))
    level = strongest_lock()
    _preload(_USUAL)
    if level is Lock.BLIND:
        _preload(
            [*_LAZY, *(f"encodings.{each.stem}" for each in Path(os.__file__).parent.glob("encodings/*.py"))]
        )
    process.readable()  # found once for all children
    gc.collect()
    gc.freeze()
    overdue: dict[int, float] = {}
    while True:
        ready, _, _ = select.select([control], [], [], _LOOK_SECONDS if overdue else None)
        for pid in list(overdue):
            if os.waitpid(pid, os.WNOHANG)[0] == pid:
                del overdue[pid]
            elif overdue[pid] < time.monotonic():
                os.kill(pid, signal.SIGKILL)
        if not ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            break
        for descriptor in descriptors:
            if (child := os.fork()) == 0:
                _child(descriptor, level, message[0])
            os.close(descriptor)
            overdue[child] = time.monotonic() + apart.WALL_SECONDS
    for pid in overdue:
        os.kill(pid, signal.SIGKILL)


def _child(connection: int, level: Lock, seconds: int) -> None:
    """Lock this process, let it use so many seconds of CPU, answer, and end it; nothing of it returns to the server's loop."""
    try:
        os.dup2(connection, 0)
        os.closerange(3, 1024)
        gc.disable()  # it ends with its file: nothing of it needs to be collected
        apart.inside = True
        for kind, value in (
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_NPROC, 0),
            (
                resource.RLIMIT_DATA,
                apart.MEMORY_BYTES,
            ),  # py7zr looks for the machine's memory where it is not set
        ):
            resource.setrlimit(kind, (value, value))
        process.lock(level, apart.MEMORY_BYTES, _OPEN_FILES, [_READERS])
        try:
            told = _read()
        except MemoryError:
            os._exit(1)
        answer = json.dumps(told, ensure_ascii=False).encode("utf-8", "surrogatepass")
        _send(len(answer).to_bytes(8, "big") + answer)
    finally:
        os._exit(0)


def _read() -> dict[str, object]:
    request = json.loads(_line())
    size, key = int(request.pop("content")), request.pop("format")
    source = Source(_taken(size), **request)
    try:
        document = documents.read_as((documents.BINARY | documents.TEXT)[key], source)
    except DocumentError as error:
        return {"error": str(error), "damaged": isinstance(error, Damaged)}
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - a library that fails in its own way has found a damaged file
        return {"failed": type(error).__name__}
    shown = {"title": document.title, "markdown": document.markdown, "note": document.note}
    return {**shown, "sheets": document.sheets, "metadata": asdict(document.metadata)}


def _preload(names: Sequence[str]) -> None:
    for name in names:
        try:
            import_module(name)
        except ImportError:  # an encoding of another system
            continue


def _line() -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            os._exit(1)
        line += byte
    return line


def _taken(size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = os.read(0, min(size - len(content), 1 << 20))
        if not piece:
            os._exit(1)
        content += piece
    return bytes(content)


def _send(answer: bytes) -> None:
    view = memoryview(answer)
    while view:
        view = view[os.write(0, view) :]
