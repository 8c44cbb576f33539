"""Evaluations: `python -m evals gaia|world|set run|ablate|score|report|submit|compare`.

A run that was broken off, in whatever way, goes on with the same command.
"""

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agent.errors import ResearchError
from evals import gaia_command, set_command, world_command
from evals.ablation import ablate, arm_options
from evals.command import compare, report, run, score
from evals.options import filter_options, run_options, side_option
from evals.results import is_full
from evals.sides import SIDES

_SETS = {"gaia": gaia_command, "world": world_command, "set": set_command}


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    given = _parser().parse_args(arguments)
    console = Console()
    # A container that is stopped ends like one at the keyboard.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _do(given, console)
    except ResearchError as error:
        return _ended(str(error), 1)
    except OSError as error:
        if not is_full(error):
            raise
        where = f" ({error.filename})" if error.filename else ""
        return _ended(
            f"The disk is full{where}: make room, then give the same command again, which goes on.", 1
        )
    except KeyboardInterrupt:
        return _ended("Stopped; the same command goes on from here.", 130)
    finally:
        signal.signal(signal.SIGTERM, before)
    return 0


def _ended(why: str, code: int) -> int:
    Console(stderr=True).print(Text(why, "red" if code == 1 else ""), soft_wrap=True)
    return code


def _do(given: argparse.Namespace, console: Console) -> None:
    match given.action:
        case "run":
            path = run(_SETS[given.set].task(given, console), given, console, SIDES[given.side])
            score(path, console)
            report(path, console, show=given.open)
        case "ablate":
            ablate(_SETS[given.set].task(given, console), given, console)
        case "score":
            score(given.folder, console)
        case "report":
            report(given.folder, console, show=given.open)
        case "compare":
            compare(given.first_folder, given.second_folder, console)
        case "submit":
            gaia_command.submit(given, console)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    sets = parser.add_subparsers(dest="set", required=True, metavar="|".join(_SETS))
    for name, module in _SETS.items():
        actions = sets.add_parser(name, help=(module.__doc__ or "").splitlines()[0]).add_subparsers(
            dest="action", required=True
        )
        asking = actions.add_parser("run", help="ask the questions, or what is left of them")
        side_option(asking)
        arms = actions.add_parser("ablate", help="the same with one thing changed at a time, as one table")
        arm_options(arms)
        for action in (asking, arms):
            module.options(action)
            filter_options(action)
            run_options(action)
        actions.add_parser("score", help="show the table").add_argument("folder", type=Path)
        page = actions.add_parser("report", help="write the page and the CSV file")
        page.add_argument("folder", type=Path)
        for action in (asking, arms, page):
            action.add_argument("--open", action="store_true", help="open the page in a browser")
        two = actions.add_parser("compare", help="two evaluations side by side, with a paired test")
        two.add_argument("first_folder", type=Path)
        two.add_argument("second_folder", type=Path)
        if name == "gaia":
            gaia_command.submit_options(
                actions.add_parser("submit", help="write the leaderboard's file and check it")
            )
    return parser


def _quiet() -> None:
    """What goes wrong is told in one sentence, and not in the app's log as well; only a fault of ours has its traceback."""
    logging.basicConfig(level=logging.ERROR)
    logging.getLogger("agent.store").setLevel(logging.CRITICAL)  # a full disk is told of the results


if __name__ == "__main__":
    _quiet()
    sys.exit(main())
