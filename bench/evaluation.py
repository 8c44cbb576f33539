"""What the evaluation's runner costs by itself: many questions at an imitation endpoint that replies after 50 ms."""

import itertools
import multiprocessing
import os
import re
import tempfile
import threading
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console

from agent.settings import Settings
from evals.closed_web import ClosedWeb
from evals.figures import Figure
from evals.questions import Question, QuestionSet
from evals.results import Result, ResultsFile
from evals.runner import Runner
from evals.sides import SIDES
from evals.stage import offline_services
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply

QUESTIONS, STEPS, CONCURRENCY = 165, 8, 32
_REPLY_SECONDS = 0.05


def measure(questions: int = QUESTIONS, concurrency: int = CONCURRENCY) -> list[Figure]:
    """CPU of this process only: the boxes and the endpoint have processes of their own.

    The runner's is that of its threads, in which sessions are made, runs are
    watched and results are put together; each agent works in a thread of its own.
    """
    ours, theirs = multiprocessing.Pipe()
    endpoint = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    endpoint.start()
    settings = Settings(_env_file=None, tgi_url=ours.recv(), prompt_profile="compact", max_steps=STEPS)
    asked = QuestionSet("bench", tuple(Question(f"q{n}", f"What is word{n}?", "1") for n in range(questions)))
    try:
        with tempfile.TemporaryDirectory() as folder:
            pages = Path(folder) / "pages.jsonl"
            pages.write_text('{"title": "Words", "text": "Words are words."}')
            with (
                ClosedWeb(pages) as web,
                offline_services(settings, Console(quiet=True), web, Path(folder)) as services,
                _Memory() as memory,
            ):
                spent: list[float] = []

                def ask(*given: Any, **options: Any) -> Result:
                    began = time.thread_time()
                    result = SIDES["research"].ask(*given, **options)
                    spent.append(time.thread_time() - began)
                    return result

                side = replace(SIDES["research"], ask=ask, warm=lambda services: None)
                stored = ResultsFile(Path(folder) / "results.jsonl")
                runner = Runner(services, side, asked, stored, concurrency=concurrency)
                wall, cpu = time.monotonic(), time.process_time()
                results = runner.run()
                wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    finally:
        endpoint.terminate()
        endpoint.join()
    steps = sum(result.steps for result in results)
    return [
        Figure("questions", questions),
        Figure("steps a question", steps / questions),
        Figure("CPU of the runner a step", 1000 * sum(spent) / steps, "ms", aim="at most 5 ms"),
        Figure("CPU of the runner and the agents a step", 1000 * cpu / steps, "ms"),
        Figure("seconds in all", wall, "s"),
        Figure("memory at most, all processes", memory.peak / 1e6, "MB", aim="below 2,000 MB"),
    ]


def _serve(told: Connection) -> None:
    numbers = itertools.count()

    def answer(body: dict[str, Any]) -> Answer:
        seen = re.findall(rf"step (\d+) of {STEPS}", " ".join(str(m["content"]) for m in body["messages"]))
        step = max(map(int, seen), default=0) + 1
        code = "final_answer(1)" if step == STEPS else f"print('step {step} of {STEPS}', {next(numbers)})"
        return reply(f"On it.\n```python\n{code}\n```\n", silent=_REPLY_SECONDS, usage=(500, 30))

    with ScriptedEndpoint(answer) as endpoint:
        told.send(endpoint.url)
        threading.Event().wait()


class _Memory:
    """The most memory that this process and its children had together, each shared page counted once, in bytes."""

    def __init__(self) -> None:
        self.peak = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "_Memory":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(3):
            self.peak = max(self.peak, sum(map(_proportional, _family(os.getpid()))))


def _family(root: int) -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    found = [root]
    for pid in found:  # which grows meanwhile
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def _proportional(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
