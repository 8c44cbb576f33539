"""A team's folder of 10,000 documents: read in the background, searched, changed, and found again by the next start."""

import logging
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from bench.library_folder import Asked, TeamFolder
from evals.figures import Figure
from tools.search.embeddings import Vectors, unit_vectors
from tools.search.folder import scan
from tools.search.library import Library

DOCUMENTS = 10_000
_QUESTIONS = 200
_LEAST_PAUSE = 0.2
# What was written in many pieces is put in order once all is read.
_SETTLED_SECONDS = 3.0
_CHANGED = 777
_NUMBERS = 384


def measure(documents: int = DOCUMENTS) -> list[Figure]:
    """The folder is made here by a seed and thrown away again; half a minute of the time goes into that."""
    logging.disable(logging.INFO)  # the PDFs' maker tells each font
    with tempfile.TemporaryDirectory(prefix="library-size-") as place:
        team = TeamFolder(Path(place) / "team", documents)
        team.write()
        index = Path(place) / "index.sqlite"
        return [*_first_start(team, index), *_next_start(team, index), *_by_meaning(team, index)]


def _first_start(team: TeamFolder, index: Path) -> list[Figure]:
    asked = team.questions(_QUESTIONS)
    before, began = _resident("VmRSS"), time.perf_counter()
    library = Library(team.folder, index)
    library.start()
    started = time.perf_counter() - began
    meanwhile: list[float] = []
    reader = 0.0
    try:
        while not (library.progress.total and library.progress.is_whole):
            time.sleep(_LEAST_PAUSE)
            meanwhile.append(
                _milliseconds(lambda: library.search(asked[len(meanwhile) % _QUESTIONS].question))
            )
            reader = max(reader, _resident("VmHWM", _children()))
        took = time.perf_counter() - began
        size = (
            f"{sum(each.stat().st_size for each in team.folder.rglob('*') if each.is_file()) / 1e6:.0f} MB of"
        )
        return [
            Figure("start", started * 1000, "ms", note="the app goes on at once"),
            Figure("all read after", took, "s", note=f"{size} Markdown, HTML, text, CSV and PDF"),
            Figure("documents a second", team.documents / took),
            Figure("a search meanwhile, median", statistics.median(meanwhile), "ms"),
            Figure("a search meanwhile, 95%", _percentile(meanwhile, 95), "ms"),
            *_searches(library, asked),
            *_change(library, team),
            Figure("memory that the app gains", (_resident("VmRSS") - before) / 1000, "MB"),
            Figure("memory of the process that reads, peak", reader / 1000, "MB"),
            Figure("index on disk", sum(each.stat().st_size for each in index.parent.glob("index.sqlite*")) / 1e6, "MB"),
        ]  # fmt: skip
    finally:
        library.close()


def _searches(library: Library, asked: list[Asked]) -> list[Figure]:
    took: list[float] = []
    right = 0
    for each in asked:
        began = time.perf_counter()
        found = library.search(each.question)
        took.append((time.perf_counter() - began) * 1000)
        right += bool(each.path and found and found[0].url.endswith(each.path))
    known = sum(bool(each.path) for each in asked)
    return [
        Figure("a search, median of 200", statistics.median(took), "ms"),
        Figure("a search, 95%", _percentile(took, 95), "ms", aim="below 50 ms"),
        Figure("a search, longest", max(took), "ms"),
        Figure("the document asked for comes first", 100 * right / known, "%", note=f"of {known} questions"),
    ]


def _change(library: Library, team: TeamFolder) -> list[Figure]:
    looked = _milliseconds(lambda: scan(team.folder))
    time.sleep(3)  # as after a pause: the folder was not looked at just now
    team.write_one(_CHANGED, version=2)
    word = team.version_word(_CHANGED, 2)
    began = time.perf_counter()
    library.notice()
    while not library.search(word):
        time.sleep(0.01)
    seen = time.perf_counter() - began
    return [
        Figure("a look at the folder", looked, "ms"),
        Figure("a changed document is found after", seen, "s", note="from the next question on"),
    ]


def _next_start(team: TeamFolder, index: Path) -> list[Figure]:
    asked = team.questions(1)[0]
    began = time.perf_counter()
    library = Library(team.folder, index)
    library.start()
    try:
        found = library.search(asked.question)
        took = (time.perf_counter() - began) * 1000
        assert found and found[0].url.endswith(asked.path)
    finally:
        library.close()
    return [Figure("the next start, to the first search's answer", took, "ms")]


class _Anywhere:
    """A model of embeddings that takes no time and places texts anywhere: what is measured is the comparing."""

    name, batch = "anywhere", 256

    def embed(self, texts: Sequence[str], *, question: bool = False) -> Vectors:
        found = np.random.default_rng(len(texts)).standard_normal((len(texts), _NUMBERS))
        return unit_vectors(found.astype(np.float32), len(texts))

    def close(self) -> None: ...


def _by_meaning(team: TeamFolder, index: Path) -> list[Figure]:
    before = _resident("VmRSS")
    library = Library(team.folder, index, embedder=_Anywhere())
    library.refresh()
    library.close()
    library = Library(team.folder, index, embedder=_Anywhere())
    library.start()
    try:
        library.search("the first one reads the vectors")
        took = [_milliseconds(partial(library.search, each.question)) for each in team.questions(_QUESTIONS)]
    finally:
        library.close()
    return [
        Figure("a search by meaning too, median", statistics.median(took), "ms", note="without the model's own time"),
        Figure("a search by meaning too, 95%", _percentile(took, 95), "ms", aim="below 50 ms"),
        Figure("memory that the vectors take", (_resident("VmRSS") - before) / 1000, "MB", note=f"{_NUMBERS} numbers each"),
    ]  # fmt: skip


def _milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def _percentile(values: list[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def _children() -> list[str]:
    return [
        pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()
    ]


def _resident(what: str, processes: list[str] | None = None) -> float:
    """Kilobytes, of this process or of those."""
    total = 0.0
    for process in ["self"] if processes is None else processes:
        try:
            lines = Path(f"/proc/{process}/status").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        total += sum(float(line.split()[1]) for line in lines if line.startswith(f"{what}:"))
    return total
