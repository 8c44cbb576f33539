"""Files of the library read by a process of its own, one after the other.

A file that crashes its reader, hangs or wants all memory costs that process,
which is started anew for the next file; and the app's own threads are not kept
from their work by thousands of files.
"""

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import astuple
from pathlib import Path
from typing import Any, Self

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tools.search.passages import Passage
from tools.search.reading import Parsed, parsed, unread

MEMORY_BYTES = 1_500_000_000
SECONDS = 60.0
# A process that has grown so far gives its memory back by ending.
_GROWN_KB = 600_000
_GENTLE = 10


class ReadApart:
    """A context manager; the process is started by the first file and ended with the context."""

    def __init__(self, folder: Path, seconds: float = SECONDS) -> None:
        """`seconds`: what one file may take."""
        self._folder = folder
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def read(self, path: str, size: int) -> Parsed:
        """The same as `parsed`, whatever the file does to its reader."""
        process = self._process or self._started()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps([str(self._folder), path, size]).encode() + b"\n")
            process.stdin.flush()
            line = self._line(process)
        except (BrokenPipeError, ValueError):  # it has died, or was closed by another thread
            line = b""
        if line is None or not line.endswith(b"\n"):
            self.close()
            why = f"does not end within {self._seconds:.0f} s" if line is None else "ended its reader"
            return unread(path, f"{path} {why}: it is damaged or too large, and is not searched.")
        told: dict[str, Any] = json.loads(line)
        if told.pop("last"):
            self.close()
        passages = tuple(Passage(*each) for each in told.pop("passages"))
        return Parsed(**told, passages=passages)

    def close(self) -> None:
        """Ends the process; may be called twice."""
        process, self._process = self._process, None
        if process is not None:
            os.killpg(process.pid, signal.SIGKILL)  # with the readers that it runs apart itself
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with suppress(BrokenPipeError):  # of what it was still to be told
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        # No -m: with -I the child sees neither the folder nor the environment of this process.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-X", "utf8", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            start_new_session=True,
        )
        return self._process

    def _line(self, process: subprocess.Popen[bytes]) -> bytes | None:
        """One line of its answer, shorter when it ended; None when it took too long."""
        assert process.stdout is not None
        deadline = time.monotonic() + self._seconds
        pieces: list[bytes] = []
        while True:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return None
            piece = os.read(process.stdout.fileno(), 1 << 20)
            pieces.append(piece)
            if not piece or piece.endswith(b"\n"):
                return b"".join(pieces)


def _serve() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(_GENTLE)
    # A reader's library that prints must not be taken for an answer.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        folder, path, size = json.loads(asked.get())
        last = False
        try:
            found = parsed(Path(folder), path, size)
        except Exception as error:  # noqa: BLE001 - whatever a file does, it must not stop the files after it
            found = unread(path, f"{path} cannot be read ({type(error).__name__}): it is not searched.")
            last = isinstance(error, MemoryError)
        last = last or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _GROWN_KB
        told = {**vars(found), "passages": [astuple(each) for each in found.passages], "last": last}
        answers.write(json.dumps(told).encode() + b"\n")
        answers.flush()


def _listen(asked: queue.SimpleQueue[bytes]) -> None:
    """Ends this process at once when the app has ended, even in the middle of a file."""
    for line in sys.stdin.buffer:
        asked.put(line)
    os._exit(0)


if __name__ == "__main__":
    _serve()
