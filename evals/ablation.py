"""Ablations: the same questions, asked with one thing changed at a time, at one endpoint or at several.

Each arm is an evaluation of its own, in a folder of its own within that of the
ablation, and goes on like any other; the table is made of what is there.
"""

import argparse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError
from rich.console import Console
from rich.text import Text

from agent.errors import SettingsError
from agent.services import Services
from agent.settings import HttpUrl, Settings
from evals.command import Task, open_page, own_folder, report, run
from evals.folder import BadFolder, Folder
from evals.questions import digest
from evals.report.ablation import Entry, ablation_page, ablation_table, markdown, write_csv
from evals.sides import SIDES, Side
from evals.stage import OpenServices
from evals.summary import Summary

# What an arm does not change is as the app has it without any variable.
_BASE: Mapping[str, Any] = {"plan": False, "memory_steps": 0, "evidence_check": True}
_CODELESS = "4"
_HUB = ("huggingface.co", "endpoints.huggingface.cloud", "hf.space")


@dataclass(frozen=True)
class Arm:
    """One way to work: an agent, and the settings that make it so. `about`: in words."""

    name: str
    about: str
    side: str = "research"
    changed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def needs_code(self) -> bool:
        return self.side == "research" and self.changed.get("sandbox") != _CODELESS


ARMS = {
    arm.name: arm
    for arm in (
        Arm("code", "code actions"),
        Arm("json", "JSON tool calls", changed={"sandbox": _CODELESS}),
        Arm("bare", "bare model, no tools", side="bare"),
        Arm("plan", "code, plan first", changed={"plan": True}),
        Arm("no-memory", "code, no memory", changed={"memory_steps": 1}),
        Arm("no-check", "code, no evidence check", changed={"evidence_check": False}),
    )
}


@dataclass(frozen=True)
class Place:
    """An endpoint named in the command; the settings' own one has no address."""

    url: str = ""
    model: str = ""

    def settings(self, settings: Settings) -> Settings:
        """With this endpoint. A token goes only where it is meant for."""
        if not self.url:
            return settings
        host = urlsplit(self.url).hostname or ""
        same = host == urlsplit(settings.tgi_url).hostname
        hub = self.url.startswith("https://") and any(host == hub or host.endswith(f".{hub}") for hub in _HUB)
        tokens = {
            "tgi_token": settings.tgi_token if same else None,
            "hf_token": settings.hf_token if same or hub else None,
        }
        return settings.model_copy(update={"tgi_url": self.url, "model_id": self.model, **tokens})


def arm_options(command: argparse.ArgumentParser) -> None:
    """What `ablate` takes beyond what asking takes."""
    command.add_argument(
        "--arms", nargs="+", choices=list(ARMS), default=list(ARMS), help="which; the others are compared with the first"
    )  # fmt: skip
    command.add_argument(
        "--endpoint", type=_place, action="append", default=[], metavar="URL=MODEL",
        help="ask each arm at this endpoint; may be given several times",
    )  # fmt: skip


def ablate(task: Task, given: argparse.Namespace, console: Console) -> Path:
    """Ask every arm, or what is left of it, and tell the table; the folder. Raises errors under ResearchError."""
    side = SIDES["research"]
    root: Path = given.out or own_folder(task.asked, "ablation", side, task.settings)
    arms = [
        (ARMS[name], place) for place in given.endpoint or [Place()] for name in dict.fromkeys(given.arms)
    ]
    try:
        for arm, place in arms:
            console.rule(_title(arm, place), align="left")
            settings = place.settings(task.settings).model_copy(update={**_BASE, **arm.changed})
            asked = replace(task, settings=settings, open_services=partial(_checked, task.open_services, arm))
            path = run(asked, given, console, _side(arm), root / _folder(arm, place))
            report(path, console)
    finally:
        # Also of what there is when the rest is still to be asked.
        tell(root, [(_title(arm, place), _folder(arm, place)) for arm, place in arms], console)
    if given.open:
        open_page(root / "report.html", console)
    return root


def tell(root: Path, arms: list[tuple[str, str]], console: Console) -> None:
    """Show the table of the arms (title, folder), and write the page, the CSV file and the table in Markdown."""
    entries = [
        Entry(title, name, Summary(Folder.read(root / name)))
        for title, name in arms
        if (root / name / "run.json").exists()
    ]
    entries = [entry for entry in entries if entry.summary.asked]
    if not entries:
        return
    console.print(ablation_table(entries))
    try:
        write_csv(entries, root / "ablation.csv")
        (root / "ablation.md").write_text(markdown(entries), "utf-8")
        (root / "report.html").write_text(ablation_page(entries), "utf-8")
    except OSError as error:
        raise BadFolder(f"The table cannot be written into {root} ({error.strerror}): make room.") from error
    console.print(Text(f"Report: {root / 'report.html'}"), soft_wrap=True)


@contextmanager
def _checked(
    opened: OpenServices, arm: Arm, settings: Settings, console: Console, work: Path | None
) -> Iterator[Services]:
    with opened(settings, console, work) as services:
        if arm.needs_code and not services.pool.level.runs_code:
            raise SettingsError(
                f"The arm {arm.name} cannot be asked, because the sandbox runs no code here:"
                " unset SANDBOX, or name other arms with --arms."
            )
        yield services


def _side(arm: Arm) -> Side:
    """The arm's name is part of every result's key."""
    return replace(SIDES[arm.side], name=arm.name)


def _title(arm: Arm, place: Place) -> str:
    if not place.url:
        return arm.about
    host = urlsplit(place.url).netloc
    return f"{arm.about} ({place.model} at {host})" if place.model else f"{arm.about} ({host})"


def _folder(arm: Arm, place: Place) -> str:
    return f"{arm.name}-{digest(f'{place.url} {place.model}')}" if place.url else arm.name


def _place(text: str) -> Place:
    url, _, model = text.partition("=")
    try:
        address = TypeAdapter(HttpUrl).validate_python(url)
    except ValidationError:
        address = ""
    if not address:
        raise argparse.ArgumentTypeError(f"{text!r} is no http(s) address, or address=model")
    return Place(address, model)
