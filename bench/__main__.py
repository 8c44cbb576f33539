"""`python -m bench [section …]`: measures, prints tables and writes bench/results.json.

Every comparison measures both sides in the same call. HOTPOT_DIR names a folder
with pages.jsonl and questions.jsonl for the section hotpot, which is left out
without it.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agent.errors import ResearchError
from agent.settings import load_settings
from bench import evaluation, library_size, markdown, model, run, sandbox
from bench.stage import Stage
from evals import compare, library
from evals.figures import Figure, machine, save, show
from evals.questions import load_questions
from evals.results import ResultsFile
from evals.stage import closed_web_services, library_services


@dataclass(frozen=True)
class Section:
    """One table. `other`: what the figures are compared with."""

    title: str
    measure: Callable[[Stage], list[Figure]]
    other: str = ""


def measure_library(stage: Stage) -> list[Figure]:
    with library_services(stage.settings, stage.console) as services:
        answered = library.ask_library(services, load_questions(library.QUESTIONS), stage.console)
        stage.console.print(library.table(answered, services.endpoint.name))
    return library.figures(answered)


def measure_hotpot(stage: Stage) -> list[Figure]:
    folder = Path(os.environ["HOTPOT_DIR"])
    pages, questions = folder / "pages.jsonl", load_questions(folder / "questions.jsonl")[:10]
    with closed_web_services(stage.settings, stage.console, pages, compare.MAX_STEPS) as services:
        stored = ResultsFile(compare.RAW)
        return compare.compare(services, pages, questions, compare.AGENTS, stored, stage.console)


SECTIONS = {
    "sandbox": Section("The sandbox", lambda stage: sandbox.measure(), sandbox.OTHER),
    "markdown": Section("HTML to Markdown", lambda stage: markdown.measure(), markdown.OTHER),
    "model": Section("The model", model.measure),
    "run": Section("A run", run.measure),
    "library-size": Section("A library of 10,000 documents", lambda stage: library_size.measure()),
    "library": Section("The library's questions", measure_library),
    "evaluation": Section("The runner of evaluations", lambda stage: evaluation.measure()),
    "hotpot": Section("Ten questions on a closed web", measure_hotpot, compare.STOCK),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command."""
    options = argparse.ArgumentParser(prog="python -m bench", description=__doc__.split("\n\n")[0])
    options.add_argument(
        "sections", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}; all without any"
    )
    given = options.parse_args(arguments)
    unknown = [name for name in given.sections if name not in SECTIONS]
    if unknown:
        options.error(f"there is no section {unknown[0]!r}: choose of {', '.join(SECTIONS)}")
    with_hotpot = bool(os.environ.get("HOTPOT_DIR"))
    if "hotpot" in given.sections and not with_hotpot:
        options.error("the section hotpot needs HOTPOT_DIR, a folder with pages.jsonl and questions.jsonl")
    chosen = given.sections or [name for name in SECTIONS if name != "hotpot" or with_hotpot]
    console = Console()
    console.print(machine())
    try:
        with Stage(load_settings(), console) as stage:
            for name in chosen:
                section = SECTIONS[name]
                figures = section.measure(stage)
                show(console, section.title, figures, section.other)
                save(name, figures, other=section.other, about=section.title)
    except ResearchError as error:
        Console(stderr=True).print(Text(str(error), "red"), soft_wrap=True)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
