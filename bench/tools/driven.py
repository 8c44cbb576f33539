"""A converter in a process of its own, watched from outside: seconds, CPU and memory of it and of all it starts."""

import json
import os
import select
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.tools.corpus import Case

LIMIT_SECONDS = 10.0
_START_SECONDS = 120.0
_LOOK_SECONDS = 0.05
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROGRAM = Path(__file__).with_name("converters.py")
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Outcome:
    """What became of one file. `error` is empty when it was read; `cpu` is in seconds, `memory` and `size` in bytes."""

    case: Case
    error: str
    seconds: float
    cpu: float
    memory: int
    size: int
    text: str


class Converter:
    """A context manager. `said`: how many lines its libraries printed."""

    def __init__(self, name: str, python: str, folder: Path) -> None:
        self._line = [python, "-I", "-X", "utf8", str(_PROGRAM), name, str(_ROOT)]
        self._out = folder / "converted.md"
        self._noise = folder / "noise.txt"
        self._process: subprocess.Popen[bytes] | None = None
        self._before = 0.0

    def __enter__(self) -> "Converter":
        self._noise.unlink(missing_ok=True)
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    @property
    def said(self) -> int:
        return self._noise.read_bytes().count(b"\n") if self._noise.exists() else 0

    def read(self, case: Case) -> Outcome:
        """The outcome of one file, within the limit of time."""
        process = self._started()
        asked = {"path": str(case.file), "url": case.url, "out": str(self._out)}
        self._out.unlink(missing_ok=True)
        began = time.perf_counter()
        assert process.stdin
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        told, memory = self._answer(LIMIT_SECONDS)
        seconds = time.perf_counter() - began
        cpu = _family_cpu(process.pid)
        spent, self._before = max(0.0, cpu - self._before), cpu
        error = told if isinstance(told, str) else str(told["error"])
        if isinstance(told, str):
            self._end()
        text = "" if error else self._out.read_text(encoding="utf-8", errors="replace")
        return Outcome(case, error, seconds, spent, memory, case.file.stat().st_size, text)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            with self._noise.open("ab") as noise:
                self._process = subprocess.Popen(
                    self._line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=noise, bufsize=0
                )
            told, _ = self._answer(_START_SECONDS)
            if isinstance(told, str):
                raise RuntimeError(f"the converter {self._line[-2]!r} does not start: {told}")
            self._before = _family_cpu(self._process.pid)
        return self._process

    def _answer(self, limit: float) -> tuple[dict[str, Any] | str, int]:
        """The answer, or why there is none; and the most memory that was seen meanwhile."""
        assert self._process and self._process.stdout
        came, memory, deadline = b"", 0, time.monotonic() + limit
        while not came.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], _LOOK_SECONDS)
            if ready:
                piece = os.read(self._process.stdout.fileno(), 1 << 16)
                if not piece:
                    return "crash", memory
                came += piece
            elif time.monotonic() > deadline:
                return "timeout", memory
            else:
                memory = max(memory, _family_memory(self._process.pid))
        return json.loads(came), memory

    def _end(self) -> None:
        if self._process is None:
            return
        family = _family(self._process.pid)
        self._process.kill()
        for pid in family[1:]:
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                continue
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()
        self._process = None


def convert(
    name: str, python: str, cases: Sequence[Case], folder: Path, pause: Path | None = None
) -> tuple[list[Outcome], int]:
    """The outcomes of all files, and how many lines were printed meanwhile. While `pause` exists, it waits."""
    outcomes = []
    with Converter(name, python, folder) as converter:
        for case in cases:
            while pause and pause.exists():
                time.sleep(1)
            outcomes.append(converter.read(case))
        return outcomes, converter.said


def _family(root: int) -> list[int]:
    """The process and all that it started."""
    found = [root]
    for pid in found:  # which grows meanwhile
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            try:
                found += map(int, task.read_text("ascii").split())
            except OSError:
                continue
    return found


def _family_cpu(root: int) -> float:
    """Seconds of CPU that the process, what it started and what of it has ended have used."""
    ticks = 0
    for pid in _family(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def _family_memory(root: int) -> int:
    """Bytes resident in the largest process of the family."""
    sizes = [0]
    for pid in _family(root):
        try:
            sizes.append(int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * _PAGE)
        except (OSError, IndexError):
            continue
    return max(sizes)
