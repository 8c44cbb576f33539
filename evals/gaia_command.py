"""GAIA, from the Hub or from a folder."""

import argparse
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agent.settings import load_settings
from evals.command import Task
from evals.folder import Folder
from evals.gaia.dataset import SPLITS, fetch_gaia, load_gaia
from evals.gaia.submission import BadSubmission, check_submission, write_submission
from evals.options import filtered
from evals.stage import open_web_services
from evals.summary import Summary


def options(parser: argparse.ArgumentParser) -> None:
    """What asking takes beyond what all sets take."""
    parser.add_argument("--split", choices=SPLITS, default="validation")
    parser.add_argument(
        "--folder", type=Path, help="folder of the dataset; without it the Hub, with HF_TOKEN"
    )


def task(given: argparse.Namespace, console: Console) -> Task:
    """The split, and the open web. Raises errors under ResearchError."""
    settings = load_settings()
    token = settings.hf_token.get_secret_value() if settings.hf_token else None
    folder = given.folder or fetch_gaia(given.split, token)
    asked = filtered(load_gaia(folder, given.split), given)
    return Task(asked, open_web_services, settings)


def submit_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path)
    parser.add_argument("--majority", action="store_true", help="submit what most repeats say")


def submit(given: argparse.Namespace, console: Console) -> None:
    """Write submission.jsonl and say whether the leaderboard would take it. Raises BadSubmission."""
    folder = Folder.read(given.folder)
    name, _, split = folder.about.name.partition(" ")
    if name != "gaia" or split not in SPLITS:
        raise BadSubmission(f"{given.folder} is an evaluation of {folder.about.name}: submit one of GAIA.")
    path = given.folder / "submission.jsonl"
    count = write_submission(Summary(folder), path, by_majority=given.majority)
    check_submission(path, folder.questions, split)
    console.print(Text(f"{path}: {count} answers in the leaderboard's form"), soft_wrap=True)
