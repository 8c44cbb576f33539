"""Stored answers: one JSON object a line, appended as soon as a question is answered.

A result is good for one side, question, model and state of the code (`code`):
what was answered by other code is not taken for an answer of this one.
"""

import errno
import hashlib
import json
import os
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from agent.errors import ResearchError
from agent.events import Outcome, Usage

_PROJECT = Path(__file__).resolve().parent.parent


class ResultsNotKept(ResearchError):
    """The file of the results cannot be written."""


@dataclass(frozen=True)
class Key:
    """What an answer is the answer of. `world`: which pages could be searched; `steps`: how many were allowed.

    `repeat` counts from 0 where a question is asked several times.
    """

    side: str
    question: str
    world: str
    model: str
    steps: int
    code: str
    repeat: int = 0


@dataclass(frozen=True)
class Result:
    """One answered question. Tokens and `seconds` are of the whole run; `reason` is why it is not simply answered.

    `sources`: "verified address" and the like. `trace`: what was written and seen, one text a step. `blocked`:
    addresses that refused to be read. `leaks`: pages that carry the benchmark, and what became of each.
    `interrupted`: ended from outside, so the question is still to be asked.
    """

    key: Key
    answer: str
    outcome: Outcome
    reason: str
    prompt_tokens: int
    completion_tokens: int
    estimated: bool
    seconds: float
    steps: int
    sources: tuple[str, ...] = ()
    trace: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    interrupted: bool = False
    leaks: tuple[str, ...] = ()

    @classmethod
    def failed(cls, key: Key, reason: str, usage: Usage | None = None) -> "Result":
        """Of a question that could not be asked to its end."""
        used = usage or Usage()
        return cls(
            key,
            "",
            Outcome.FAILED,
            reason,
            used.prompt_tokens,
            used.completion_tokens,
            used.estimated,
            0.0,
            0,
        )

    @property
    def usage(self) -> Usage:
        return Usage(self.prompt_tokens, self.completion_tokens, self.estimated)


_RESULT = TypeAdapter(Result)


class ResultsFile:
    """The results in one JSONL file. A line that a kill cut in half is as if it had not been asked.

    Safe to use from several threads of one process.
    """

    def __init__(self, path: Path) -> None:
        """Raises ResultsNotKept when the file cannot be read or its folder not be made."""
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[Key, Result] = {}
        self.lines: list[Result] = []
        """Every result that was ever stored, those asked again and those interrupted too: what was spent."""
        self.damaged = 0
        """How many lines hold no result, because a kill cut them in half or for another reason."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = path.read_bytes().split(b"\n") if path.exists() else []
        except OSError as error:
            raise ResultsNotKept(f"{path} cannot be used ({error.strerror}): name another file.") from error
        for line in lines:
            if result := _result(line):
                self._remember(result)
            elif line.strip():
                self.damaged += 1

    def get(self, key: Key) -> Result | None:
        """The newest result of that key which was not interrupted."""
        return self._known.get(key)

    def add(self, result: Result) -> None:
        """Keep it, on disk when this returns. Raises ResultsNotKept; what was stored before stays."""
        line = json.dumps(asdict(result), ensure_ascii=False).encode("utf-8", "replace")
        with self._lock:
            try:
                self._append(line)
            except OSError as error:
                raise ResultsNotKept(
                    f"A result cannot be kept in {self._path} ({error.strerror}): make room, then give the"
                    " same command again, which goes on from the results that are there."
                ) from error
            self._remember(result)

    def _append(self, line: bytes) -> None:
        with self._path.open("a+b") as file:
            if file.tell() and not _ends_line(file.fileno()):
                file.write(b"\n")
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _remember(self, result: Result) -> None:
        self.lines.append(result)
        if not result.interrupted:
            self._known[result.key] = result


def is_full(error: OSError) -> bool:
    """Whether the disk, or the user's share of it, is full."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def fingerprint(parts: Sequence[str | Path]) -> str:
    """A short name for the content of files, of all Python and YAML files in folders, and of plain texts.

    Paths are relative to the project.
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(part.encode())
            continue
        place = _PROJECT / part
        files = (
            sorted(f for f in place.rglob("*") if f.suffix in (".py", ".yaml")) if place.is_dir() else [place]
        )
        for file in files:
            digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def _result(line: bytes) -> Result | None:
    try:
        return _RESULT.validate_json(line)
    except ValidationError:
        return None


def _ends_line(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, 1, size - 1) == b"\n"
