"""Measured figures, how they are shown, and the file that keeps them."""

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).resolve().parent.parent / "bench" / "results.json"


@dataclass(frozen=True)
class Figure:
    """One measurement. `theirs`: the same of what it is compared with, measured in the same call.

    `aim` and `note` are words for the reader.
    """

    name: str
    ours: float
    unit: str = ""
    theirs: float | None = None
    aim: str = ""
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours divided by theirs."""
        return self.ours / self.theirs if self.theirs else None


def show(console: Console, title: str, figures: Sequence[Figure], other: str = "") -> None:
    """The figures as a table; `other` names what is compared with, and the ratio is ours to theirs."""
    against = f", ours against {other}" if other else ""
    table = Table(title=title + against, title_justify="left", title_style="bold", box=SIMPLE)
    table.add_column("")
    columns = ["ours", "theirs", "ratio"] if other else [""]
    for column in columns:
        table.add_column(column, justify="right")
    table.add_column("")
    for figure in figures:
        words = [f"aim: {figure.aim}"] * bool(figure.aim) + [figure.note] * bool(figure.note)
        ratio = f"{figure.ratio:.3g}" if figure.ratio is not None else ""
        values = [_amount(figure.ours, figure.unit)]
        if other:
            values += [_amount(figure.theirs, figure.unit), ratio]
        table.add_row(figure.name, *values, "; ".join(words))
    console.print(table)


def save(
    section: str, figures: Sequence[Figure], *, other: str = "", about: str = "", path: Path = RESULTS
) -> None:
    """Put the section's figures into the results file, in the place of its older ones."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    rows = [{**{k: v for k, v in asdict(f).items() if v not in (None, "")}, **_rounded(f)} for f in figures]
    kept[section] = {
        "measured": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": machine(),
        **({"compared with": other} if other else {}),
        **({"about": about} if about else {}),
        "figures": rows,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(path)


def machine() -> str:
    """What the figures were measured on: "2 cores of …, 8 GB, Linux, Python 3.11"."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cores = len(os.sched_getaffinity(0))
    parts = (f"{cores} cores of {_processor()}", f"{memory:.0f} GB", platform.system())
    return ", ".join((*parts, f"Python {platform.python_version()}"))


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _rounded(figure: Figure) -> dict[str, float]:
    values = {"ours": figure.ours, "theirs": figure.theirs, "ratio": figure.ratio}
    return {name: float(f"{value:.4g}") for name, value in values.items() if value is not None}


def _amount(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    digits = 0 if value == int(value) or abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()
