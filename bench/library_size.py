"""A team's folder of 10,000 documents: read in the background, searched, changed, and found again by the next start."""

import logging
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.embeddings import NUMBERS, ImitationEmbeddings
from bench.library_folder import Asked, TeamFolder
from evals.figures import Figure
from tools.search.embeddings import EmbeddingsEndpoint
from tools.search.folder import scan
from tools.search.library import Library

DOCUMENTS = 10_000
_QUESTIONS = 200
_LEAST_PAUSE = 0.2
# What was written in many pieces is put in order once all is read.
_SETTLED_SECONDS = 3.0
_CHANGED = 777


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


def _by_meaning(team: TeamFolder, index: Path) -> list[Figure]:
    before = _resident("VmRSS")
    with ImitationEmbeddings() as served:
        began = time.perf_counter()
        library = Library(team.folder, index, embedder=EmbeddingsEndpoint(served.url))
        library.refresh()
        library.close()
        learned = time.perf_counter() - began
        library = Library(team.folder, index, embedder=EmbeddingsEndpoint(served.url))
        library.start()
        try:
            first = _milliseconds(partial(library.search, "the first one reads the vectors"))
            asked = team.questions(_QUESTIONS)
            took = [_milliseconds(partial(library.search, each.question)) for each in asked]
        finally:
            library.close()
    note = f"{NUMBERS} numbers each, from an imitation endpoint over loopback whose model takes no time"
    return [
        Figure("all vectors had after", learned, "s", note=note),
        Figure("the first search by meaning too", first, "ms", note="which reads the vectors"),
        Figure("a search by meaning too, median of 200", statistics.median(took), "ms"),
        Figure("a search by meaning too, 95%", _percentile(took, 95), "ms", aim="below 50 ms"),
        Figure("a search by meaning too, longest", max(took), "ms"),
        Figure("memory that the vectors take", (_resident("VmRSS") - before) / 1000, "MB"),
    ]


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
