"""What this machine gives the app, and whether it could start safely here: `make doctor`.

Ends with 1 when something would stop the start. Nothing is fetched, and no run
that is going on is touched.
"""

import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from agent.checkup import embedded, not_set_up, read_behind_a_lock, rendered, searched
from agent.errors import ModelError, ResearchError, SandboxError, SettingsError
from agent.model.capabilities import read_capabilities
from agent.model.model_file import QWEN
from agent.sandbox.command import Command
from agent.sandbox.level import LEVELS, NO_CODE, SMALL
from agent.sandbox.probe import Trial, attack, choose_level
from agent.senses import senses_of
from agent.services import named_endpoint, sandbox_command
from agent.settings import Settings, load_settings
from agent.web import build_library, build_search, embedder_of, manners_of, renderer_of
from lock import landlock, seccomp
from ui.launch import need_free_port

_SEARCH_SECONDS = 5.0
# The app goes on in the background where the doctor stops reading.
_READ_SECONDS = 5.0
_LEAST_FREE = 200 << 20


class State(StrEnum):
    """Good, worth knowing, or in the way of a safe start."""

    OK = "✓"
    NOTE = "!"
    BAD = "✗"


@dataclass(frozen=True)
class Finding:
    what: str
    found: str
    state: State = State.OK


def examine(settings: Settings, trials: dict[int, Trial], command: Command | None) -> Iterator[Finding]:
    """Everything that the start of the app depends on. `trials`: what the attacks found at each level."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    python = platform.python_version()
    yield Finding(
        "machine", f"{platform.machine()}, {os.cpu_count()} cores, {memory / 1e9:.0f} GB, Python {python}"
    )
    yield Finding("kernel", f"{platform.system()} {platform.release()}")
    abi = landlock.version()
    yield Finding("Landlock", f"ABI {abi}" if abi else "none", State.OK if abi else State.NOTE)
    filters = seccomp.filters_here()
    yield Finding("seccomp", filters or "none", State.OK if filters else State.NOTE)
    for number, trial in trials.items():
        holds = f"holds, {len(trial.outcomes)} attacks refused"
        state = State.NOTE if trial.problem else State.OK
        yield Finding(
            f"level {LEVELS[number]}", f"does not hold: {trial.problem}" if trial.problem else holds, state
        )
    yield _level(settings, command)
    locked, told = read_behind_a_lock()
    yield Finding("files", told, State.OK if locked else State.NOTE)
    yield _model(settings)
    yield from _searching(settings)
    yield _rendering(settings)
    yield from _perceiving(settings)
    yield _folder("runs and pages", settings.data_dir, _LEAST_FREE)
    try:
        need_free_port(settings.app_host, settings.port)
        yield Finding("port", f"{settings.port} is free")
    except ResearchError as error:
        yield Finding("port", str(error), State.NOTE)


def _rendering(settings: Settings) -> Finding:
    renderer = renderer_of(settings)
    if renderer is None:
        why = "not used (RENDER=off)" if settings.render == "off" else "absent"
        told = f"{why}; a page that is empty without its scripts is read from the data that it carries"
        return Finding("Chromium", told, State.NOTE)
    good, told = rendered(renderer)
    renderer.close()
    return Finding("Chromium", told, State.OK if good else State.NOTE)


def _perceiving(settings: Settings) -> Iterator[Finding]:
    try:
        senses = senses_of(settings)
    except SettingsError as error:
        yield Finding("pictures", str(error), State.BAD)
        return
    for what, model, lacks in (
        ("pictures", senses.vision, "only their size and details are read (VISION_MODEL)"),
        ("recordings", senses.speech, "only their length and details are read (TRANSCRIPTION_URL)"),
    ):
        yield Finding(what, f"{model.served.name} at {model.served.host}" if model else lacks)


def _level(settings: Settings, command: Command | None) -> Finding:
    wanted = None if settings.sandbox == "auto" else int(settings.sandbox)
    began = time.monotonic()
    try:
        level = choose_level(wanted, fail_closed=bool(settings.space_id), command=command)
    except SandboxError as error:
        return Finding("sandbox", str(error), State.BAD)
    found = f"level {level} is in force, chosen in {time.monotonic() - began:.2f} s: {level.reason}"
    return Finding("sandbox", found, State.OK if level.number < SMALL.number else State.NOTE)


def _model(settings: Settings) -> Finding:
    endpoint = named_endpoint(settings)
    if endpoint is not None:
        try:
            known = read_capabilities(endpoint.url, endpoint.token, settings.model_id or None, 10)
        except ModelError as error:
            return Finding(
                "model", f"{error} The app starts, and asks again when a question comes.", State.NOTE
            )
        return Finding(
            "model", f"{known.name} answers, {known.context_tokens or 'unknown'} tokens of context"
        )
    file = settings.embedded_gguf or settings.cache_dir / QWEN.name
    if file.is_file() and file.stat().st_size == QWEN.size:
        return Finding("model", f"embedded, {QWEN.size / 1e9:.1f} GB are here")
    if settings.embedded_gguf:
        return Finding("model", "EMBEDDED_GGUF names a file that is not the embedded model", State.BAD)
    place = _folder("model", settings.cache_dir, QWEN.size + _LEAST_FREE)
    fetched = f"embedded, the first start fetches {QWEN.size / 1e9:.1f} GB; {place.found}"
    return Finding("model", fetched, State.BAD if place.state is State.BAD else State.NOTE)


def _searching(settings: Settings) -> Iterator[Finding]:
    library = build_library(settings)
    try:
        library.refresh(_READ_SECONDS)
        search = build_search(settings, library, manners_of(settings))
        search.probe()
        search.wait_until_probed(_SEARCH_SECONDS)
        yield Finding("search", search.status(), State.NOTE if search.web_is_down else State.OK)
        for place in (place for place in search.places if not place.local):
            answers, told = searched(place)
            yield Finding(f"  {place.name}", told, State.OK if answers else State.NOTE)
        if settings.search != "library" and (missing := not_set_up(settings)):
            yield Finding("  not set up", ", ".join(missing))
        progress, problems = library.progress, library.problems()
        unread = f", {len(problems)} cannot be read whole: {problems[0]}" if problems else ""
        state = State.OK if progress.total and progress.is_whole and not problems else State.NOTE
        yield Finding("library", f"{progress} in {settings.library_dir.name}{unread}", state)
        if (embedder := embedder_of(settings)) is not None:
            answers, told = embedded(embedder)
            yield Finding("  by meaning", told, State.OK if answers else State.NOTE)
    finally:
        library.close()


def _folder(what: str, folder: Path, needed: int) -> Finding:
    """Whether it can be written, and has room for `needed` bytes."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding(what, f"{folder} cannot be written ({error.strerror})", State.BAD)
    room = f"{folder} has {free / 1e9:.1f} GB free"
    return Finding(
        what,
        room if free > needed else f"{room}, which is too little",
        State.OK if free > needed else State.BAD,
    )


def told(findings: Sequence[Finding]) -> Table:
    """The findings, a row each."""
    colour = {State.OK: "green", State.NOTE: "yellow", State.BAD: "red"}
    table = Table("", "what", "found", box=None)
    for finding in findings:
        table.add_row(Text(finding.state, colour[finding.state]), finding.what, Text(finding.found))
    return table


def attacks(trials: dict[int, Trial]) -> Table:
    """How each attack of the probe ended at each level."""
    table = Table("attack", *(f"level {number}" for number in trials), box=None)
    for name in dict.fromkeys(name for trial in trials.values() for name in trial.outcomes):
        cells = [_ending(trial.outcomes.get(name)) for trial in trials.values()]
        table.add_row(name.replace("_", " "), *cells)
    return table


def _ending(how: str | None) -> Text:
    if how is None:
        return Text("–", "dim")
    return Text(how.partition(": '")[0] or "GOT THROUGH", "" if how else "bold red")


def main() -> int:
    """The exit code of the command."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        settings = load_settings()
        command = sandbox_command(settings)
    except ResearchError as error:
        console.print(told([Finding("settings", str(error), State.BAD)]))
        return 1
    tried = [n for n in LEVELS if n != NO_CODE.number and not (command and n == SMALL.number)]
    trials = {number: attack(number, command) for number in tried}
    findings = list(examine(settings, trials, command))
    console.print(told(findings))
    console.print()
    console.print(attacks(trials))
    bad = [finding.what for finding in findings if finding.state is State.BAD]
    console.print(
        f"\nThe app cannot start safely here: {', '.join(bad)}." if bad else "\nThe app can start here."
    )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
