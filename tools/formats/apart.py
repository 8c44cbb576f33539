"""Readers whose libraries may crash or grow without bound run in a process of their own, under limits.

The child gets the bytes and nothing else: no environment, no secrets. What it
sends back is JSON, so that a captured child can only lie about its own file.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.errors import Damaged, DocumentError
from tools.formats.source import Source
from tools.page import Document

MEMORY_BYTES = 1_000_000_000
CPU_SECONDS = 10
_WALL_SECONDS = 45
_MAX_ANSWER = 200_000_000
_BEGIN = b"\x1e"


def read_apart(source: Source, key: str, reader: Callable[[Source], Document] | None, kind: str) -> Document:
    """The document in `source`, read by a process of its own. `key`: its format, whose `reader` the child then needs
    no more than; `kind`: what to call it. Raises DocumentError.
    """
    request = asdict(replace(source, content=b"")) | {
        "format": key,
        "reader": f"{reader.__module__}:{reader.__name__}" if reader else "",
    }
    del request["content"]
    try:
        # No -m: with -I the child sees neither the folder nor the environment of this process.
        done = subprocess.run(
            [sys.executable, "-I", "-X", "utf8", str(Path(__file__).resolve())],
            input=json.dumps(request).encode() + b"\n" + source.content,
            capture_output=True,
            timeout=_WALL_SECONDS,
            env={},
        )
    except subprocess.TimeoutExpired:
        raise _too_much(source, kind) from None
    answer = done.stdout.rpartition(_BEGIN)[2]
    if done.returncode == 1 and b"MemoryError" not in done.stderr[-2000:]:
        raise source.damaged(kind)  # its library failed in a way of its own
    if done.returncode != 0 or not answer or len(answer) > _MAX_ANSWER:
        raise _too_much(source, kind)
    told = json.loads(answer)
    if "error" in told:
        raise (Damaged if told["damaged"] else DocumentError)(told["error"])
    sheets = tuple(tuple(tuple(row) for row in sheet) for sheet in told["sheets"])
    return Document(source.url, told["title"], told["markdown"], told["note"], sheets)


def _too_much(source: Source, kind: str) -> DocumentError:
    return DocumentError(
        f"{source.shown} is {kind} that cannot be read within {CPU_SECONDS} s and "
        f"{MEMORY_BYTES // 1_000_000} MB: it is damaged or too large."
    )


def _serve() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    request = json.loads(sys.stdin.buffer.readline())
    module, _, function = request.pop("reader").partition(":")
    key = request.pop("format")
    source = Source(sys.stdin.buffer.read(), **request)
    try:
        if module:  # a reader alone starts three times as fast as the registry of all
            document = getattr(import_module(module), function)(source)
        else:
            from tools.documents import BINARY, read_as

            document = read_as(BINARY[key], source)
        told = {
            "title": document.title,
            "markdown": document.markdown,
            "note": document.note,
            "sheets": document.sheets,
        }
    except DocumentError as error:
        told = {"error": str(error), "damaged": isinstance(error, Damaged)}
    sys.stdout.buffer.write(_BEGIN + json.dumps(told).encode())


if __name__ == "__main__":
    _serve()
