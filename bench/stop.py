"""From the click on Stop to an idle box, whatever the code does."""

import statistics
import threading
import time

from agent.errors import Stopped
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.wire.limits import Limits
from evals.figures import Figure

REPEAT = 20
_RUNS_FIRST = 0.15
_AIM = "within 200 ms"
STUBBORN = {
    "a loop in Python": "while True: pass",
    "a loop in C": "sum(range(10**11))",
    "a huge power": "pow(7, 10**9)",
    "a swallowed interrupt": (
        "import time\nwhile True:\n    try:\n        while True: time.sleep(0.001)\n    except BaseException: pass"
    ),
    "an ignored interrupt": "import signal\nsignal.signal(2, signal.SIG_IGN)\nwhile True: pass",
    "time.sleep": "import time\ntime.sleep(60)",
    "a tool that blocks": "wait()",
    "tool calls without end": "while True: echo('x' * 100_000)",
    "print without end": "while True: print('x' * 1000)",
    "a huge print": "while True: print('x' * 10**7)",
    "500 MB in use": "kept = bytes(b'a') * (500 << 20)\nsum(range(10**11))",
}


def measure_stop(pool: BoxPool) -> list[Figure]:
    """A figure for each kind of code: the median of twenty stops, and the slowest."""
    executor = SandboxExecutor(Limits(step_seconds=60, tool_calls=10**9), pool=pool)
    executor.send_tools({"wait": lambda: time.sleep(1), "echo": lambda value: value})
    try:
        return [_stops(executor, name, code) for name, code in STUBBORN.items()]
    finally:
        executor.cleanup()


def _stops(executor: SandboxExecutor, name: str, code: str) -> Figure:
    taken, kept = [], 0
    for _ in range(REPEAT):
        executor("mine = 1")
        taken.append(_stop(executor, code))
        kept += executor("'mine' in globals()").output == "True"
    variables = "kept" if kept == REPEAT else "lost" if not kept else f"kept {kept} times"
    note = f"slowest of {REPEAT}: {max(taken):.0f} ms; variables {variables}"
    return Figure(f"stop: {name}", statistics.median(taken), "ms", aim=_AIM, note=note)


def _stop(executor: SandboxExecutor, code: str) -> float:
    """Milliseconds from the click until the step has ended: its box is idle then, or gone."""
    clicked: list[float] = []

    def click() -> None:
        clicked.append(time.perf_counter())
        executor.interrupt()

    threading.Timer(_RUNS_FIRST, click).start()
    try:
        executor(code)
    except Stopped:
        return (time.perf_counter() - clicked[0]) * 1000
    raise AssertionError("the code ended before it was stopped")
