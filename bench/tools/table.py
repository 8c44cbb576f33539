"""The rows of the table: what is asked, ours, and each peer's, measured in the same run."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from evals.figures import machine

RESULTS = Path(__file__).resolve().parents[1] / "tools.json"


@dataclass(frozen=True)
class Row:
    """One line. `peers`: their figures by name; `more`: whether the larger figure is the better one."""

    name: str
    aim: str
    ours: float
    peers: dict[str, float] = field(default_factory=dict)
    more: bool = False
    unit: str = ""
    note: str = ""

    @property
    def best(self) -> tuple[str, float] | None:
        """The peer that does best, and its figure."""
        if not self.peers:
            return None
        return (max if self.more else min)(self.peers.items(), key=lambda item: item[1])

    @property
    def ratio(self) -> float | None:
        """Ours divided by the best peer's."""
        return self.ours / self.best[1] if self.best and self.best[1] else None


def show(console: Console, title: str, rows: Sequence[Row]) -> None:
    """The rows as a table."""
    table = Table(title=title, title_justify="left", title_style="bold", box=SIMPLE)
    table.add_column("")
    for column in ("asked", "ours", "best peer", "ratio"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in rows:
        best = f"{_amount(row.best[1])} {row.best[0]}" if row.best else "–"
        ratio = f"{row.ratio:.3g}" if row.ratio is not None else ""
        table.add_row(row.name, row.aim, f"{_amount(row.ours)} {row.unit}".rstrip(), best, ratio, row.note)
    console.print(table)


def save(section: str, rows: Sequence[Row], *, every: int = 1, path: Path) -> None:
    """Put a section's rows into the results file, in the place of its older ones."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        kept = {}
    kept[section] = {
        "measured": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": machine(),
        "load": round(os.getloadavg()[2], 1),
        **({"only one file in": every} if every > 1 else {}),
        "rows": [_kept(row) for row in rows],
    }
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)


def write_page(titles: dict[str, str], path: Path) -> None:
    """The results file `path` as a page of Markdown beside it; `titles` by section, in their order."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    parts = [
        "# The file readers beside their peers",
        "Measured by `make bench-tools`, ours and the peers in the same run. The ratio is ours to the best peer's.",
    ]
    for section, title in titles.items():
        if section not in kept:
            continue
        sample = kept[section].get("only one file in")
        said = f"{kept[section]['measured']}, {kept[section]['machine']}" + (
            f", one file in {sample}" if sample else ""
        )
        if "load" in kept[section]:
            said += f", {kept[section]['load']} processes waiting for them: CPU seconds are more than alone"
        said += f"; {kept[section]['state']}" if "state" in kept[section] else ""
        lines = ["| | asked | ours | best peer | ratio |", "|---|---|---|---|---|"]
        for row in kept[section]["rows"]:
            best = (
                f"{_amount(row['peers'][row['best peer']])} ({row['best peer']})"
                if "best peer" in row
                else "–"
            )
            ours = " ".join([_amount(row["ours"]), *filter(None, [row.get("unit"), row.get("note")])])
            lines.append(
                f"| {row['name']} | {row['asked'] or '–'} | {ours} | {best} | {row.get('ratio', '–')} |"
            )
        parts += [f"## {title}", said, "\n".join(lines)]
    path.with_suffix(".md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _kept(row: Row) -> dict[str, Any]:
    told: dict[str, Any] = {"name": row.name, "asked": row.aim, "ours": _rounded(row.ours)}
    if row.unit:
        told["unit"] = row.unit
    if row.best:
        told |= {
            "best peer": row.best[0],
            "peers": {name: _rounded(value) for name, value in row.peers.items()},
        }
    if row.ratio is not None:
        told["ratio"] = _rounded(row.ratio)
    return told | ({"note": row.note} if row.note else {})  # fmt: skip


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3f}"
