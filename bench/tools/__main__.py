"""`python -m bench.tools [section …]`: the file readers beside their peers, on the files of CORPUS_DIR.

Without CORPUS_DIR only the sections that need no files are measured.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.tools import behaviours, made
from bench.tools.driven import convert
from bench.tools.sections import SECTIONS, Converted, Section
from bench.tools.table import RESULTS, save, show, write_page
from evals.figures import machine

_WITHOUT_FILES = {"made": ("Pages made here", made.measure), "web": ("The live web", behaviours.measure)}


_TITLES = {name: each.title for name, each in SECTIONS.items()} | {
    name: title for name, (title, _) in _WITHOUT_FILES.items()
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    options = argparse.ArgumentParser(
        prog="python -m bench.tools", description=(__doc__ or "").split("\n\n")[0]
    )
    names = [*_WITHOUT_FILES, *SECTIONS]
    options.add_argument(
        "sections", nargs="*", metavar="section", help=f"of {', '.join(names)}; all without any"
    )
    options.add_argument("--every", type=int, default=1, metavar="N", help="only one file in N of each suite")
    options.add_argument(
        "--peers", default=sys.executable, metavar="PYTHON", help="the Python that has the peers"
    )
    options.add_argument(
        "--pause", type=Path, metavar="FILE", help="wait between two files while FILE exists"
    )
    options.add_argument("--failed", action="store_true", help="name the files that ours cannot read")
    options.add_argument("--dry", action="store_true", help="leave bench/tools.json and its page as they are")
    given = options.parse_args(arguments)  # fmt: skip
    corpus = os.environ.get("CORPUS_DIR", "")
    if unknown := [name for name in given.sections if name not in names]:
        options.error(f"there is no section {unknown[0]!r}: choose of {', '.join(names)}")
    if not corpus and any(name in SECTIONS for name in given.sections):
        options.error("this section needs CORPUS_DIR, a folder of files; bench/tools/__init__.py says which")
    console = Console()
    console.print(machine())
    for name in given.sections or [*_WITHOUT_FILES, *(SECTIONS if corpus else [])]:
        if name in SECTIONS:
            title = SECTIONS[name].title
            rows = SECTIONS[name].rows(_converted(SECTIONS[name], Path(corpus), given, console))
        else:
            title, measure = _WITHOUT_FILES[name]
            rows = measure()
        show(console, title, rows)
        if not given.dry:
            save(name, rows, every=given.every if name in SECTIONS else 1, path=RESULTS)
            write_page(_TITLES, RESULTS)
    return 0


def _converted(
    section: Section, corpus: Path, given: argparse.Namespace, console: Console
) -> dict[str, Converted]:
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        chosen = section.cases(corpus, Path(folder), given.every)
        for name in (*section.ours, *section.peers):
            python = sys.executable if name in section.ours else given.peers
            with console.status(f"{name}: {len(chosen)} files"):
                found[name] = Converted(*convert(name, python, chosen, Path(folder), given.pause))
            if given.failed and name in section.ours:
                for outcome in found[name].failed:
                    console.print(f"{name}: {outcome.case.path}: {outcome.error}", markup=False)
    return found


if __name__ == "__main__":
    sys.exit(main())
