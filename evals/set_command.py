"""Any questions by file: JSONL of question, answer, and optionally the pages that hold the answers."""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console

from agent.services import Services
from agent.settings import Settings, load_settings
from evals.command import Task
from evals.options import filtered
from evals.questions import QuestionSet, by_id, load_questions, load_rows
from evals.results import fingerprint
from evals.stage import OpenServices, closed_web_services, open_web_services
from evals.verdict import SCORERS


def options(parser: argparse.ArgumentParser) -> None:
    """What asking takes beyond what all sets take."""
    parser.add_argument("--questions", type=Path, required=True, help="JSONL, question and answer a line")
    parser.add_argument("--pages", type=Path, help="JSONL, title and text a line; without it the open web")
    parser.add_argument("--scorer", choices=list(SCORERS), default="exact", help="how answers are compared")


def task(given: argparse.Namespace, console: Console) -> Task:
    """The questions, and the pages or the open web. Raises errors under ResearchError."""
    questions = tuple(by_id(load_questions(given.questions)).values())
    services: OpenServices = open_web_services
    world = "web"
    if given.pages:
        load_rows(given.pages, ("title", "text"))
        services = partial(_services, given.pages.name, given.pages.read_bytes())
        world = fingerprint([given.pages.resolve()])
    asked = QuestionSet(given.questions.stem, questions, scorer=given.scorer, world=world)
    return Task(filtered(asked, given), services, load_settings())


@contextmanager
def _services(
    name: str, pages: bytes, settings: Settings, console: Console, work: Path | None
) -> Iterator[Services]:
    """The pages come as content: another machine has no such file."""
    with tempfile.TemporaryDirectory(prefix="pages-", dir=work) as place:
        path = Path(place) / name
        path.write_bytes(pages)
        with closed_web_services(settings, console, path, settings.max_steps, work) as services:
            yield services
