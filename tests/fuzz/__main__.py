"""`make fuzz`: five minutes of forged frames for the host's decoder, guided by coverage; SECONDS=n for another time.

Ends with 1 when something but BadFrame was raised, when one input took longer
than two seconds, or when decoding all inputs that were kept, in a fresh
process, made it grow by more than 50 MB.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from rich.console import Console

from agent.sandbox.wire.frames import BadFrame
from tests.fuzz import target

GROWTH_MB = 50.0


def main(seconds: int) -> int:
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus, words, report = folder / "corpus", folder / "words", folder / "report"
        corpus.mkdir()
        for i, seed in enumerate(target.seeds()):
            (corpus / f"seed{i}").write_bytes(seed)
        words.write_text(target.dictionary())
        options = [
            f"-max_total_time={seconds}",
            "-timeout=2",
            "-rss_limit_mb=2048",
            "-max_len=8192",
            "-verbosity=0",
        ]
        options += [f"-dict={words}", f"-artifact_prefix={folder}/", str(corpus)]
        began = time.monotonic()
        with console.status(f"fuzzing for {seconds} s"):
            ended = subprocess.run(
                [sys.executable, "-m", "tests.fuzz.child", *options],
                env={**os.environ, "REPORT": str(report)},
                capture_output=True,
                text=True,
            )
        if ended.returncode != 0 or not report.exists():
            console.print(ended.stderr[-4000:], markup=False)
            console.print(f"[red]The decoder did not stand it (exit code {ended.returncode}).[/]")
            return 1
        told = json.loads(report.read_text())
        inputs = [path.read_bytes() for path in sorted(corpus.iterdir())]
    grown, steepest = growth(inputs)
    console.print(
        f"{told['runs']:,} inputs in {time.monotonic() - began:.0f} s: {told['frames']:,} frames read, "
        f"{told['refused']:,} refused, no crash; {len(inputs):,} kept inputs make the host grow by {grown:.1f} MB "
        f"(the fuzzer itself: {told['peak'] / 1e6:.0f} MB)"
    )
    if grown > GROWTH_MB:
        console.print(f"The host grew too much, most with the input {steepest!r}", markup=False)
        return 1
    return 0


def growth(inputs: list[bytes]) -> tuple[float, bytes]:
    """By how many MB this process's peak grows when it decodes each of `inputs`, the libraries being loaded;
    and the one that made it grow most."""
    _decode(target.seeds())
    peaks = [_peak()]
    for data in inputs:
        _decode([data])
        peaks.append(_peak())
    steps = [after - before for before, after in pairwise(peaks)]
    return peaks[-1] - peaks[0], inputs[steps.index(max(steps))]


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def _decode(inputs: list[bytes]) -> None:
    for data in inputs:
        with suppress(BadFrame):
            target.take_input(data)


if __name__ == "__main__":
    sys.exit(main(int(os.environ.get("SECONDS") or 300)))
