"""`make attack`: every attack at every level and in every situation that this machine offers, and what happened.

A table for each situation: as the user who started it, inside a system call
filter like Docker's, and, started by root, as an ordinary user too. Ends with 1
when something happened that was not expected.
"""

import argparse
import sys
import time

from rich.console import Console
from rich.table import Table

from agent.errors import SandboxError
from agent.sandbox.level import LEVELS
from agent.sandbox.probe import choose_level
from tests.attacks.arena import NOTHING_LOCKED, Arena, filter_like_docker
from tests.attacks.battery import BATTERY
from tests.attacks.played import controls, played
from tests.attacks.situations import problem, situations


def everywhere(options: list[str]) -> int:
    """Run the battery in each situation, one after the other; 1 when one of them had a surprise."""
    console, failed = Console(width=None if sys.stdout.isatty() else 140), 0
    for situation in situations():
        why = problem(situation)
        if why:
            console.print(f"[yellow]Not to be had here: {situation.title}, because {why}[/]")
        else:
            failed |= bool(situation.run(*options))
    return failed


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--here", metavar="TITLE", help="run once, in this process, under this title")
    options.add_argument("--outer", action="store_true", help="run under a filter like Docker's")
    options.add_argument("--times", action="store_true")
    given = options.parse_args()
    if given.here is None:
        return everywhere(["--times"] * given.times)
    if given.outer:
        filter_like_docker()
    console, surprises = Console(width=None if sys.stdout.isatty() else 140), 0
    levels = []
    for number in LEVELS:
        try:
            levels.append(choose_level(number))
        except SandboxError as error:
            console.print(f"[yellow]Level {number} is not offered here: {error}[/]")
    if not levels:
        console.print("[red]No level holds on this machine.[/]")
        return 1
    table = Table("#", "attack", *(f"level {level}" for level in levels), "nothing locked")
    arenas = [Arena(level) for level in levels]
    control = Arena(NOTHING_LOCKED)
    began = time.monotonic()
    for attack in BATTERY:
        cells = []
        for arena in arenas:
            happened, expected = played(attack, arena)
            surprises += not expected
            cells.append(happened if expected else f"[bold red]SURPRISE[/] {happened}")
        said = controls(attack, control)
        through = "got through" if said else "not tried"
        if not all(end.startswith("got through") for end in said):
            surprises += 1
            through = f"[bold red]PROVES NOTHING[/] {'; '.join(said)}"
        table.add_row(str(attack.number), attack.title, *cells, through)
        if given.times:
            console.print(attack.number, round(time.monotonic() - began, 1))
    table.title = f"{given.here}: the code {arenas[0].neighbour.runs_as}"
    table.title_justify, table.title_style = "left", "bold"
    for arena in (*arenas, control):
        arena.__exit__()
    console.print(table)
    console.print(
        f"{len(BATTERY)} attacks at {len(levels)} levels in {time.monotonic() - began:.0f} s, {surprises} surprises"
    )
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
