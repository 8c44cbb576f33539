"""From the click on Stop to an idle box, whatever the code does: a session's own stop, with a model from a script."""

import statistics
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from agent.errors import Stopped
from agent.events import CodeWritten
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.level import SMALL, Level
from agent.sandbox.pool import BoxPool
from agent.sandbox.wire.limits import Limits
from agent.session import Session
from evals.figures import Figure
from tests.agent_world import App, open_app, step, until
from tests.scripted_endpoint import Answer

REPEAT = 5
_RUNS_FIRST = 0.3
_AIM = "within 200 ms"
STUBBORN = {
    "a loop in Python": "while True: pass",
    "a loop in C": "sum(range(10**11))",
    "a swallowed interrupt": "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
    "tool calls without end": "while True:\n    try: web_search('Mars')\n    except Exception: pass",
    "print without end": "while True: print('x' * 1000)",
    "a huge print": "while True: print('x' * 10**7)",
}
OF_CPYTHON = {
    "a huge power": "pow(7, 10**9)",
    "an ignored interrupt": "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass",
    "time.sleep": "import time\ntime.sleep(60)",
    "500 MB in use": "kept = None\nkept = bytes(b'a') * (500 << 20)\nsum(range(10**11))",
    "numpy": "kept = None  # of the one before, where its box was kept\nimport numpy\na = numpy.ones((6000, 6000))\nwhile True: a @ a",
    "a regular expression": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "sympy": "import sympy\nsympy.factorint(2**521 - 3)",
}


def measure_stop(level: Level) -> list[Figure]:
    """A figure for each kind of code: the median of five stops, and the slowest."""
    kinds = STUBBORN if level == SMALL else STUBBORN | OF_CPYTHON
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        pool = BoxPool(level, size=1)
        stack.callback(pool.close)
        app = open_app(folder, pool, (), stack.enter_context, {}, None, {})
        stack.callback(app.sessions.close_all)
        session = app.sessions.open()
        figures = [_stops(app, session, name, code) for name, code in kinds.items()]
        return [*figures, _of_a_tool(pool)]


def _stops(app: App, session: Session, name: str, code: str) -> Figure:
    def model(body: dict[str, Any]) -> Answer:
        made = step("I try.", code)
        assert not callable(made)
        return made

    app.endpoint._always = model
    taken = [_stop(app, session) for _ in range(REPEAT)]
    return _figure(session._executor.level, name, [each for each, _ in taken], sum(kept for _, kept in taken))


def _stop(app: App, session: Session) -> tuple[float, bool]:
    """Milliseconds from the click until the run has ended and the box is idle, or gone; and whether it was kept."""
    session._executor.cancel.clear()
    session._executor("None")  # the last stop may have cost the box
    run = session.ask("What is it?")
    until(lambda: any(isinstance(event, CodeWritten) for _, event in app.services.store.events(run.id)), 60)
    time.sleep(_RUNS_FIRST)
    box = session._executor._box
    assert box is not None and not run.ended, "the code ended before it was stopped"
    clicked = time.perf_counter()
    session.stop()
    while box.alive and any(_state(pid) == "R" for pid in processes(box.pid)):
        time.sleep(0.001)
    return (time.perf_counter() - clicked) * 1000, box.alive


def _of_a_tool(pool: BoxPool) -> Figure:
    """Stop while a tool does not return: it is left to itself."""
    executor = SandboxExecutor(Limits(), pool=pool)
    executor.send_tools({"wait": lambda: time.sleep(1)})
    executor("'there is a box'")
    taken = []
    for _ in range(REPEAT):
        clicked: list[float] = []

        def click(clicked: list[float] = clicked) -> None:
            clicked.append(time.perf_counter())
            executor.interrupt()

        threading.Timer(_RUNS_FIRST, click).start()
        try:
            executor("wait()")
        except Stopped:
            taken.append((time.perf_counter() - clicked[0]) * 1000)
    executor.cleanup()
    return _figure(executor.level, "a tool that blocks", taken, REPEAT)


def _figure(level: str, name: str, taken: list[float], kept: int) -> Figure:
    note = f"slowest of {len(taken)}: {max(taken):.0f} ms; box kept {kept} times"
    return Figure(f"level {level}: stop {name}", statistics.median(taken), "ms", aim=_AIM, note=note)


def processes(pid: int) -> list[int]:
    """The process and those below it."""
    found = [pid]
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if parent == pid:
            found.append(int(stat.parent.name))
    return found


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
