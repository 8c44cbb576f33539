"""Any questions by file: JSONL of question, answer, and optionally the pages that hold the answers."""

import argparse
from contextlib import AbstractContextManager
from pathlib import Path

from rich.console import Console

from agent.services import Services
from agent.settings import Settings, load_settings
from evals.command import Task
from evals.options import filtered
from evals.questions import QuestionSet, by_id, load_questions
from evals.results import fingerprint
from evals.stage import closed_web_services, open_web_services
from evals.verdict import SCORERS


def options(parser: argparse.ArgumentParser) -> None:
    """What asking takes beyond what all sets take."""
    parser.add_argument("--questions", type=Path, required=True, help="JSONL, question and answer a line")
    parser.add_argument("--pages", type=Path, help="JSONL, title and text a line; without it the open web")
    parser.add_argument("--scorer", choices=list(SCORERS), default="exact", help="how answers are compared")


def task(given: argparse.Namespace, console: Console) -> Task:
    """The questions, and the pages or the open web. Raises errors under ResearchError."""
    questions = tuple(by_id(load_questions(given.questions)).values())
    world = fingerprint([given.pages.resolve()]) if given.pages else "web"
    asked = QuestionSet(given.questions.stem, questions, scorer=given.scorer, world=world)

    def services(settings: Settings, work: Path) -> AbstractContextManager[Services]:
        if given.pages:
            return closed_web_services(settings, console, given.pages, settings.max_steps, work)
        return open_web_services(settings, console, work)

    return Task(filtered(asked, given), services, load_settings())
