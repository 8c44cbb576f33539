"""`make soak`: opens and closes a thousand sessions, each with a question, a box and a tool call, and counts what stays.

Every tenth visitor's box crashes, every tenth is stopped in the middle of a loop.
Ends with 1 when a descriptor, a process, a thread or a file is left behind, or memory grows.
"""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from agent.events import CodeWritten, Outcome
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from tests.agent_world import App, answer, open_app, step, until
from tests.scripted_endpoint import Answer

WARM = 30
GROWTH_MB = 20.0
CRASH, STOP, ASK = "crash", "stop", "ask"
_CODE = {
    CRASH: "import ctypes\nctypes.string_at(0)",
    STOP: "while True: pass",
    ASK: "print(len(web_search('Mars moons')))",
}


@dataclass(frozen=True)
class Held:
    """What this process holds: counts, and resident memory in MB."""

    descriptors: int
    processes: int
    threads: int
    folders: int
    megabytes: float

    def left(self, before: "Held") -> list[str]:
        """What is more now than it was, as words."""
        names = ("descriptors", "processes", "threads", "folders")
        more = {name: getattr(self, name) - getattr(before, name) for name in names}
        return [f"{count} {name}" for name, count in more.items() if count > 0]


def held(app: App) -> Held:
    """Children that ended but were not reaped count as processes."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[stat.parent.name] = stat.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
    below = {str(os.getpid())}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Held(
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        processes=len(below) - 1,
        threads=threading.active_count(),
        folders=len(list((app.services.settings.data_dir / "sessions").iterdir())),
        megabytes=pages * os.sysconf("SC_PAGESIZE") / 1e6,
    )


def model(body: dict[str, Any]) -> Answer:
    """The scripted model: the code that the question names, then the answer."""
    messages = body["messages"]
    asked = next(kind for kind in (CRASH, STOP, ASK) if f"<{kind}>" in str(messages))
    made = step("I try.", _CODE[asked]) if "I try." not in str(messages) else answer("two")
    assert not callable(made)
    return made


def visit(app: App, number: int) -> None:
    """One visitor: opens a session, asks, leaves."""
    kind = {3: CRASH, 7: STOP}.get(number % 10, ASK)
    session = app.sessions.open()
    run = session.ask(f"How many moons does Mars have? <{kind}>")
    if kind == STOP:
        until(lambda: any(isinstance(event, CodeWritten) for _, event in app.services.store.events(run.id)))
        run.stop()
    end = app.told(run).end
    assert end.outcome is (Outcome.STOPPED if kind == STOP else Outcome.ANSWERED), end
    app.sessions.close(session.id)
    app.endpoint.requests.clear()


def soak(
    app: App, visits: int, on_visit: Callable[[int], object] = lambda number: None, warm: int = WARM
) -> tuple[Held, Held]:
    """What was held after `warm` visits, and after `visits` more."""
    for number in range(warm):
        visit(app, number)
    before = _settled(app)
    for number in range(visits):
        visit(app, number)
        on_visit(number + 1)
    return before, _settled(app)


def _settled(app: App) -> Held:
    time.sleep(1.0)  # the pool's next box has started, threads that were let go have ended
    return held(app)


def main(visits: int) -> int:
    console = Console()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        pool = BoxPool(choose_level(), size=1, preload=())
        stack.callback(pool.close)
        app = open_app(Path(folder), pool, (), stack.enter_context, {}, None, {})
        app.endpoint._always = model
        stack.callback(app.sessions.close_all)
        began = time.monotonic()
        with console.status("visiting") as line:
            before, after = soak(app, visits, lambda number: line.update(f"{number} of {visits} visits"))
        left, grown = after.left(before), after.megabytes - before.megabytes
        console.print(
            f"{visits} sessions in {time.monotonic() - began:.0f} s: "
            f"{', '.join(left) or 'nothing'} left behind, memory {grown:+.1f} MB ({after.megabytes:.0f} MB)"
        )
        return 1 if left or grown > GROWTH_MB else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))
