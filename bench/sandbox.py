"""The sandbox's own figures, and its speed against smolagents' interpreter in the same call.

`python bench/sandbox.py` prints them; `measure()` gives them to the bench.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from smolagents.local_python_executor import LocalPythonExecutor

from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.limits import Limits
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level

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


def _milliseconds(action: Callable[[], object], repeat: int) -> float:
    """The median of `repeat` runs."""
    taken = []
    for _ in range(repeat):
        began = time.perf_counter()
        action()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


def _executor(pool: BoxPool) -> SandboxExecutor:
    executor = SandboxExecutor(Limits(tool_calls=100_000), pool=pool)
    executor.send_tools({"echo": lambda value: value})
    return executor


def measure() -> dict[str, float]:
    """Milliseconds, MB and ratios, named as they are printed."""
    level = choose_level()
    figures: dict[str, float] = {"probe and choice of level, ms": _milliseconds(choose_level, 3)}
    cold_pool = BoxPool(level, size=0)

    def start(pool: BoxPool) -> None:
        executor = _executor(pool)
        executor("1")
        executor.cleanup()

    figures["box start cold, with pandas, ms"] = _milliseconds(lambda: start(cold_pool), 5)
    warm_pool = BoxPool(level, size=1)

    def warm() -> float:
        time.sleep(1.5)  # the pool's box loads meanwhile, as it would between visitors
        return _milliseconds(lambda: start(warm_pool), 1)

    figures["box start from the warm pool, ms"] = statistics.median(warm() for _ in range(5))
    executor = _executor(warm_pool)
    executor("import pandas")
    warm_pool.close()
    figures["step overhead, ms"] = _milliseconds(lambda: executor("1"), 300)
    code = "import time\nt = time.perf_counter()\nfor _ in range(500): echo(1)\n(time.perf_counter() - t) * 2"
    figures["tool round trip, ms"] = float(executor(code).output)
    figures["memory of a box (RSS), MB"] = _resident_mb(executor)
    local = LocalPythonExecutor(additional_authorized_imports=[])
    local.send_tools({})
    ratios = []
    for snippet in SNIPPETS:
        theirs = _milliseconds(lambda code=snippet: local(code), 1)
        ours = _milliseconds(lambda code=snippet: executor(code), 5)
        ratios.append(theirs / ours)
    figures["times faster than LocalPythonExecutor (median of ten)"] = statistics.median(ratios)
    executor.cleanup()
    return figures


def _resident_mb(executor: SandboxExecutor) -> float:
    assert executor._box is not None
    lines = Path(f"/proc/{executor._box.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:<55} {value:>9.2f}")
