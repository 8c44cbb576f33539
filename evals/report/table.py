"""The summary of an evaluation in a terminal, and its results as CSV."""

import csv
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from evals.statistics import Paired
from evals.summary import Group, Summary
from evals.verdict import Verdict

_COLUMNS = (
    "id", "level", "kind", "attachments", "repeat", "verdict", "answer", "truth", "outcome", "reason",
    "seconds", "steps", "prompt_tokens", "completion_tokens", "dollars", "leaks",
)  # fmt: skip
# A spreadsheet takes a cell that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def summary_table(summary: Summary) -> RenderableType:
    """By group: what is right, and what it costs."""
    shown = Table(title=title(summary), title_justify="left", title_style="bold", box=SIMPLE)
    repeats = summary.all.k
    names = ["", "questions", "pass@1", "95 %"]
    names += [f"pass@{repeats}", "majority"] if repeats > 1 else []
    names += ["steps", "tokens", "seconds"] + (["$"] if summary.prices.known else [])
    for name in names:
        shown.add_column(name, justify="right" if name else "left")
    for group in summary.groups:
        shown.add_row(*_row(summary, group, repeats))
    counts = summary.all.verdicts
    said = ", ".join(f"{counts[kind]} {kind}" for kind in Verdict if counts[kind])
    return Lines(shown, Text(" " + said), *(Text(" " + note, "yellow") for note in notes(summary)))


def title(summary: Summary) -> str:
    """What was asked of what."""
    about = summary.about
    return f"{about.name}, {about.model}, {about.side}, at most {about.steps} steps"


def notes(summary: Summary) -> list[str]:
    """What a reader has to know about the numbers."""
    found = []
    if summary.missing:
        found.append(f"{summary.missing} of {summary.missing + len(summary.asked)} questions have no result.")
    if unknown := len(summary.asked) - len(summary.all.scored):
        found.append(
            f"The true answers of {unknown} questions are not known here: all shares are of the others."
        )
    uneven = {len(each.results) for each in summary.asked}
    if len(uneven) > 1:
        found.append(f"The questions have {min(uneven)} to {max(uneven)} repeats.")
    leaked = [result for result in summary.all.results if result.leaks]
    if leaked:
        seen = sum(any(not leak.startswith("refused ") for leak in result.leaks) for result in leaked)
        trust = (
            f"{seen} were shown their question there, so do not trust these" if seen else "none was shown one"
        )
        found.append(f"{len(leaked)} results met pages that carry the benchmark: {trust}.")
    if summary.estimated:
        found.append("The server did not count all tokens; some are estimated.")
    return found


def paired_words(first: str, second: str, pair: Paired) -> str:
    """Two runs side by side, in one sentence."""
    if pair.count == 0:
        return "The two runs have no question in common."
    means = "is more than chance explains" if pair.p < 0.05 else "may be chance: neither can be called better"
    return (
        f"Of {pair.count} questions that both were asked, {first} got {pair.both + pair.only_first} and"
        f" {second} got {pair.both + pair.only_second} right; {pair.only_first} only the first and"
        f" {pair.only_second} only the second (McNemar, exact p: {pair.p_shown}), which {means}."
    )


def write_csv(summary: Summary, path: Path) -> None:
    """One row a result."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(_COLUMNS)
        for each in summary.asked:
            question = each.question
            names = " ".join(name.name for name in question.files)
            for result in each.results:
                cells = (
                    question.id, question.level or "", question.kind, names, result.key.repeat,
                    each.verdict(result), result.answer, question.answer, result.outcome, result.reason,
                    f"{result.seconds:.2f}", result.steps, result.prompt_tokens, result.completion_tokens,
                    f"{summary.prices.of(result.usage):.6f}" if summary.prices.known else "",
                    "\n".join(result.leaks),
                )  # fmt: skip
                rows.writerow([_cell(cell) for cell in cells])


def _cell(value: object) -> object:
    text = isinstance(value, str) and value.startswith(_FORMULA) and not _is_number(value)
    return f"'{value}" if text else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _row(summary: Summary, group: Group, repeats: int) -> list[str]:
    low, high = group.interval
    cells = [group.name, str(len(group.asked)), f"{group.pass_1:.1%}", f"{low:.0%} to {high:.0%}"]
    cells += [f"{group.pass_k:.1%}", f"{group.majority:.1%}"] if repeats > 1 else []
    cells += [f"{group.steps:.1f}", f"{group.tokens:,.0f}", f"{group.seconds:,.1f}"]
    return cells + ([f"{summary.cost(group):.4f}"] if summary.prices.known else [])
