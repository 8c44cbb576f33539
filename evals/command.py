"""What the commands do: run a set, and tell what was found."""

import argparse
import webbrowser
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agent.errors import SettingsError
from agent.events import Outcome
from agent.services import Services
from agent.settings import Settings
from evals.budget import Meter
from evals.display import Display
from evals.engine import Engine, Threads
from evals.figures import machine
from evals.folder import About, BadFolder, Folder, held
from evals.options import prices, question_limit, total_limit
from evals.questions import QuestionSet, digest
from evals.ray_cluster import check_cluster
from evals.ray_engine import ray_engine
from evals.report.page import report_page
from evals.report.table import paired_words, summary_table, write_csv
from evals.runner import Runner
from evals.sides import Side
from evals.stage import OpenServices
from evals.summary import Summary, compared
from evals.verdict import SCORERS


@dataclass(frozen=True)
class Task:
    """A set, what it is asked with, and the settings for that."""

    asked: QuestionSet
    open_services: OpenServices
    settings: Settings


def run(
    task: Task, given: argparse.Namespace, console: Console, side: Side, path: Path | None = None
) -> Path:
    """Ask the set, or what is left of it; the folder, which is `path` if given. Raises errors under ResearchError."""
    asked, settings = task.asked, task.settings
    cost = prices(given)
    if (given.dollars or given.question_dollars) and not cost.known:
        raise SettingsError("A budget in dollars needs prices: add --price READ WRITTEN.")
    if given.max_steps:
        settings = settings.model_copy(update={"max_steps": given.max_steps})
    if given.engine == "ray":
        check_cluster(settings)
    path = path or given.out or own_folder(asked, side.name, side, settings)
    with held(path) as work, task.open_services(settings, console, work) as services:
        about = About(
            name=asked.name,
            world=asked.world,
            model=services.endpoint.capabilities().name,
            side=side.name,
            steps=services.settings.max_steps,
            code=side.fingerprint(),
            scorer=asked.scorer,
            form=asked.form,
            notice=asked.notice,
            prompt_price=cost.prompt,
            completion_price=cost.completion,
            machine=machine(),
        )
        folder = Folder.write(path, about, asked)
        stored = folder.results_file()
        if stored.damaged:
            console.print(
                f"Damaged lines in results.jsonl, as a kill leaves them: {stored.damaged}; what they held is asked again."
            )
        meter = Meter(stored.lines, question=question_limit(given), total=total_limit(given), prices=cost)
        display = Display(console, meter, SCORERS[asked.scorer])
        with _engine(given, services, side, task.open_services, settings) as engine:
            runner = Runner(
                services,
                side,
                asked,
                stored,
                engine=engine,
                repeats=given.repeat,
                concurrency=given.concurrency,
                meter=meter,
                again=lambda result: given.failed and result.outcome is Outcome.FAILED,
                tell=display.tell,
            )
            with display.of(len(asked.questions) * given.repeat, runner.open, given.concurrency):
                runner.run()
    return path


def _engine(
    given: argparse.Namespace, services: Services, side: Side, open_services: OpenServices, settings: Settings
) -> AbstractContextManager[Engine]:
    if given.engine == "ray":
        return ray_engine(services, side, open_services, settings, given.concurrency)
    return nullcontext(Threads(services, side))


def own_folder(asked: QuestionSet, kind: str, side: Side, settings: Settings) -> Path:
    """One for each set, kind of evaluation, endpoint and state of the side's code."""
    what = f"{kind} {side.fingerprint()} {settings.tgi_url} {settings.model_id} {settings.max_steps} {asked.world}"
    return settings.data_dir / "evals" / f"{asked.name.replace(' ', '-')}-{digest(what)}"


def score(path: Path, console: Console) -> None:
    """Show the table of an evaluation."""
    console.print(summary_table(Summary(Folder.read(path))))


def report(path: Path, console: Console, *, show: bool = False) -> Path:
    """Write the page and the CSV file, and open the page in a browser if `show`; the page."""
    summary = Summary(Folder.read(path))
    page = path / "report.html"
    try:
        write_csv(summary, path / "results.csv")
        page.write_text(report_page(summary), "utf-8")
    except OSError as error:
        raise BadFolder(f"The report cannot be written into {path} ({error.strerror}): make room.") from error
    console.print(Text(f"Report: {page}"), soft_wrap=True)
    if show:
        open_page(page, console)
    return page


def open_page(page: Path, console: Console) -> None:
    """In a browser, where there is one."""
    if not webbrowser.open(page.resolve().as_uri()):
        console.print("No browser was found here: open that file in one.")


def compare(first: Path, second: Path, console: Console) -> None:
    """Show two evaluations and whether one is better."""
    summaries = [Summary(Folder.read(path)) for path in (first, second)]
    for summary in summaries:
        console.print(summary_table(summary))
    pair = compared(*summaries)
    console.print(Text(paired_words(first.name, second.name, pair)), soft_wrap=True)
