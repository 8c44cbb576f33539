"""The sandbox against the interpreter that stock smolagents runs the model's code in."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from smolagents.local_python_executor import LocalPythonExecutor, PythonExecutor

from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.level import LEVELS, SMALL, Level
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level, probe
from agent.sandbox.wire.limits import Limits
from bench.stop import measure_stop, processes
from evals.figures import Figure

OTHER = "LocalPythonExecutor"
SNIPPETS = (
    "total = 0\nfor i in range(100_000):\n    total += i * i % 7\ntotal",
    "primes = [n for n in range(2, 2000) if all(n % d for d in range(2, int(n**0.5) + 1))]\nlen(primes)",
    "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(17)",
    "counts = {}\nfor i in range(50_000):\n    k = str(i % 97)\n    counts[k] = counts.get(k, 0) + 1\nlen(counts)",
    "n, steps = 27, 0\nfor start in range(1, 400):\n    n = start\n    while n != 1:\n        n = 3 * n + 1 if n % 2 else n // 2\n        steps += 1\nsteps",
    "grid = [[(x * y) % 10 for x in range(150)] for y in range(150)]\nsum(map(sum, grid))",
    "text = 'the quick brown fox ' * 500\nwords = {}\nfor w in text.split():\n    words[w] = words.get(w, 0) + 1\nlen(words)",
    "items = [(i * 7919) % 1009 for i in range(300)]\nfor i in range(len(items)):\n    for j in range(len(items) - 1 - i):\n        if items[j] > items[j + 1]:\n            items[j], items[j + 1] = items[j + 1], items[j]\nitems[0]",
    "a, b = 0, 1\nfor _ in range(20_000):\n    a, b = b, (a + b) % 1_000_007\na",
    "def collatz(n):\n    length = 0\n    while n > 1:\n        n = n // 2 if n % 2 == 0 else 3 * n + 1\n        length += 1\n    return length\nmax(range(1, 800), key=collatz)",
)
_CALLS = 500
_PANDAS = "import pandas"


def measure() -> list[Figure]:
    """What a box costs at each level that holds here, its speed against the other, and how it stops."""
    figures = [
        Figure("probe and choice of the level", _milliseconds(choose_level, 5), "ms", aim="under 1,000 ms")
    ]
    levels = [level for level in LEVELS.values() if level.runs_code and not probe(level.number)]
    for level in levels:
        figures += _level(level, compared=level == levels[0])
    for level in levels:
        figures += measure_stop(level)
    return figures


def _level(level: Level, compared: bool) -> list[Figure]:
    """Start, overhead and memory. Cold is: the app runs, and no box is kept ready."""
    cold, warm = BoxPool(level, size=0), BoxPool(level, size=1)
    first, start = _milliseconds(lambda: _start(cold), 1), _milliseconds(lambda: _start(cold), 9)
    warm_start = [_warm_start(warm) for _ in range(7)]
    box, local = _executor(warm), LocalPythonExecutor(additional_authorized_imports=["time"])
    try:
        local.send_tools({"echo": _echo})
        box("1" if level == SMALL else _PANDAS)
        their_step = _milliseconds(lambda: local("1"), 300) if compared else None
        their_call = _call(local) if compared else None
        figures = [
            Figure(
                "box start, the app's very first",
                first,
                "ms",
                note="libraries are loaded, once for all boxes",
            ),
            Figure("box start, cold", start, "ms", aim="at most 300 ms"),
            Figure("box start, from the warm pool", statistics.median(warm_start), "ms", aim="at most 20 ms"),
            Figure(
                "overhead of a step", _milliseconds(lambda: box("1"), 300), "ms", their_step, "at most 0.5 ms"
            ),
            Figure("round trip of a tool", _call(box), "ms", their_call, "at most 0.3 ms"),
            Figure("memory of a box (RSS)", _resident_mb(box), "MB", aim="at most 110 MB"),
        ]
        if compared:
            figures += [*_loaded_memory(box), _snippets(box, local)]
        return [replace(figure, name=f"level {level}: {figure.name}") for figure in figures]
    finally:
        box.cleanup()
        cold.close()
        warm.close()


def _call(executor: PythonExecutor) -> float:
    """Milliseconds of one of many calls in one step."""
    return _milliseconds(lambda: executor(f"for i in range({_CALLS}):\n    x = echo(1)"), 3) / _CALLS


def _loaded_memory(box: SandboxExecutor) -> list[Figure]:
    """What a library adds to a box that imports it."""
    figures = []
    for code in ("import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()", "import scipy.stats"):
        box(code)
        figures.append(Figure(f"… and with {code.split()[1].split('.')[0]} too", _resident_mb(box), "MB"))
    return figures


def _snippets(box: SandboxExecutor, local: LocalPythonExecutor) -> Figure:
    ours, theirs = [], []
    for snippet in SNIPPETS:
        theirs.append(_milliseconds(partial(local, snippet), 1))
        ours.append(_milliseconds(partial(box, snippet), 5))
    faster = sorted(t / o for o, t in zip(ours, theirs, strict=True))
    note = (
        f"each {faster[0]:,.0f} to {faster[-1]:,.0f} times as fast, median {statistics.median(faster):,.0f}"
    )
    aim = "median at least 50 times as fast"
    return Figure("ten CPU-bound snippets together", sum(ours), "ms", sum(theirs), aim, note)


def _milliseconds(action: Callable[[], object], repeat: int) -> float:
    """The median of `repeat` runs."""
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        action()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def _echo(value: object) -> object:
    return value


def _executor(pool: BoxPool) -> SandboxExecutor:
    executor = SandboxExecutor(Limits(tool_calls=100_000), pool=pool)
    executor.send_tools({"echo": _echo})
    return executor


def _start(pool: BoxPool) -> None:
    executor = _executor(pool)
    executor("1")
    executor.cleanup()


def _warm_start(pool: BoxPool) -> float:
    time.sleep(1.5)  # the pool's box loads meanwhile, as it would between visitors
    return _milliseconds(lambda: _start(pool), 1)


def _resident_mb(executor: SandboxExecutor) -> float:
    """Of the box's processes together; what they share with others is counted in full."""
    assert executor._box is not None
    kilobytes = 0
    for pid in processes(executor._box.pid):
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        kilobytes += next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
    return kilobytes / 1000
