"""The table of an ablation: in a terminal, as a page, as CSV and as Markdown."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from evals.report.page import PAGES
from evals.report.table import notes
from evals.statistics import Paired
from evals.summary import Group, Summary, compared

_HEAD = ("", "right", "95 %", "seconds", "tokens", "steps", "only the first", "only this", "p")
_COLUMNS = (
    "arm", "folder", "model", "questions", "pass_1", "low", "high", "seconds", "tokens", "steps",
    "only_first", "only_this", "p",
)  # fmt: skip
EXPLAINED = (
    "Seconds, tokens (read and written) and steps are means over the questions. The last three columns compare with"
    " the first row: how many questions only that one and only this one got right, and the exact p of McNemar's test"
    " (not corrected for the number of rows)."
)


@dataclass(frozen=True)
class Entry:
    """One arm as it is told. `folder`: its name within the ablation's."""

    title: str
    folder: str
    summary: Summary

    @cached_property
    def all(self) -> Group:
        return self.summary.all


def ablation_table(entries: Sequence[Entry]) -> RenderableType:
    """For a terminal."""
    shown = Table(title=heading(entries), title_justify="left", title_style="bold", box=SIMPLE)
    for name in _HEAD:
        shown.add_column(name, justify="right" if name else "left")
    for row in rows(entries):
        shown.add_row(*row)
    said = [Text(f" {EXPLAINED}"), *(Text(f" {note}", "yellow") for note in remarks(entries))]
    return Lines(shown, *said)


def heading(entries: Sequence[Entry]) -> str:
    """What was asked of what."""
    about = entries[0].summary.about
    models = ", ".join(dict.fromkeys(entry.summary.about.model for entry in entries))
    return f"{about.name}, {models}, at most {about.steps} steps"


def remarks(entries: Sequence[Entry]) -> list[str]:
    """What a reader has to know about the numbers of single arms."""
    return [f"{entry.title}: {note}" for entry in entries for note in notes(entry.summary)]


def rows(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """The cells as texts; those of the comparison are empty in the first row."""
    return [_row(entry, entries[0]) for entry in entries]


def markdown(entries: Sequence[Entry]) -> str:
    """The table for a README."""
    lines = [_HEAD, ("---", *["---:"] * (len(_HEAD) - 1)), *rows(entries)]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def write_csv(entries: Sequence[Entry], path: Path) -> None:
    """One row an arm."""
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(_COLUMNS)
        for entry in entries:
            group, pair = entry.all, _against(entry, entries[0])
            numbers = (group.pass_1, *group.interval, group.seconds, group.tokens, group.steps)
            out.writerow(
                [
                    entry.title,
                    entry.folder,
                    entry.summary.about.model,
                    len(group.asked),
                    *(f"{number:.4f}" for number in numbers),
                ]
                + ([pair.only_first, pair.only_second, f"{pair.p:.4g}"] if pair else ["", "", ""])
            )


def ablation_page(entries: Sequence[Entry]) -> str:
    """One HTML file that loads nothing; its links lead to the pages of the arms beside it."""
    return PAGES.get_template("ablation.html").render(
        title=heading(entries),
        about=entries[0].summary.about,
        head=_HEAD,
        rows=list(zip([entry.folder for entry in entries], rows(entries), strict=True)),
        explained=EXPLAINED,
        remarks=remarks(entries),
        bars=[(entry.title, entry.all) for entry in entries],
    )


def _row(entry: Entry, first: Entry) -> tuple[str, ...]:
    group, pair = entry.all, _against(entry, first)
    low, high = group.interval
    count = len(group.scored)
    right = round(group.pass_1 * count, 1)
    return (
        entry.title,
        f"{right:g} of {count}",
        f"{low:.0%} to {high:.0%}",
        f"{group.seconds:,.1f}",
        f"{group.tokens:,.0f}",
        f"{group.steps:.1f}",
        *((str(pair.only_first), str(pair.only_second), pair.p_shown) if pair else ("", "", "")),
    )


def _against(entry: Entry, first: Entry) -> Paired | None:
    return None if entry is first else compared(first.summary, entry.summary)
