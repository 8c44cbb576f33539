"""Level 3: the model's code in Monty keeps its variables, calls tools, is stopped, and is told what it lacks."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from agent.errors import CodeError, Stopped
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.level import SMALL
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import attack, choose_level
from agent.sandbox.wire.limits import Limits
from tests.agent_world import until

pytestmark = pytest.mark.slow

LIMITS = Limits(step_seconds=5, cpu_seconds=5, memory_bytes=128 << 20)

SHORT = Limits(step_seconds=0.3, grace_seconds=5, memory_bytes=512 << 20)


@dataclass
class Result:
    title: str
    url: str

    def __str__(self) -> str:
        return f"{self.title} | {self.url}"


class Results(list[Result]):
    def __str__(self) -> str:
        return "\n".join(f"{i}. {result}" for i, result in enumerate(self, 1))


@dataclass
class Page:
    text: str
    tables: list[Any]


def web_search(query: str, limit: int = 2) -> Results:
    return Results([Result("Mars", "http://mars"), Result(query, "http://other")][:limit])


def visit_page(url: str) -> Page:
    if url != "http://mars":
        raise ValueError(f"there is no page {url}")
    return Page("two moons", [pd.DataFrame({"moon": ["Phobos", None], "km": [22, 12]})])


def final_answer(answer: Any, sources: Any = ()) -> tuple[Any, Any]:
    return answer, sources


TOOLS: dict[str, Callable[..., Any]] = {
    tool.__name__: tool for tool in (web_search, visit_page, final_answer)
}


@pytest.fixture(scope="module")
def pool() -> Iterator[BoxPool]:
    pool = BoxPool(SMALL, size=1)
    yield pool
    pool.close()


@pytest.fixture
def new_box(pool: BoxPool, tmp_path: Path) -> Iterator[Callable[..., SandboxExecutor]]:
    made: list[SandboxExecutor] = []

    def make(limits: Limits = LIMITS) -> SandboxExecutor:
        executor = SandboxExecutor(limits, pool=pool, files_dir=tmp_path)
        executor.send_tools(TOOLS)
        made.append(executor)
        return executor

    yield make
    for executor in made:
        executor.cleanup()


@pytest.fixture(scope="module")
def box(pool: BoxPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SandboxExecutor]:
    folder = tmp_path_factory.mktemp("attached")
    (folder / "rows.csv").write_text("a,b\n1,é\n", encoding="utf-8")
    executor = SandboxExecutor(LIMITS, pool=pool, files_dir=folder)
    executor.send_tools(TOOLS)
    yield executor
    executor.cleanup()


def test_ten_attacks_fail_in_it() -> None:
    trial = attack(3)
    assert trial.problem == ""
    assert len(trial.outcomes) == 10
    assert all(trial.outcomes.values())
    assert choose_level(3) == SMALL


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("1 + 1", "2"),
        ("'text'", "text"),
        ("x = 1", None),
        ("'''a\nb''' + 'é'  # a comment", "a\nbé"),
        ("(1,\n 2) if True else (\n  3)", "(1, 2)"),
        ("def f(a, *b, c=3, **d):\n    return a, b, c, d\nf(1, 2, e=4)", "(1, (2,), 3, {'e': 4})"),
        ("class A:\n    def __init__(self, n):\n        self.n = n\n    def twice(self):\n        return self.n * 2\nA(4).twice()", "8"),
        ("import re, json, datetime\nre.findall(r'\\d', 'a1b2'), json.loads('[1]'), str(datetime.date(2024, 2, 29))", "(['1', '2'], [1], '2024-02-29')"),
        ("open('rows.csv', encoding='utf-8').read()", "a,b\n1,é\n"),
        ("import os\nos.listdir()", "['rows.csv']"),
        ("given[0]['a'][1]", "2"),
        ("len(web_search('Venus')), [r.title for r in web_search('Venus')]", "(2, ['Mars', 'Venus'])"),
        ("web_search('Venus')", "1. Mars | http://mars\n2. Venus | http://other"),
        ("web_search('Venus')[0]", "Mars | http://mars"),
        ("web_search('Venus')[0]['url'] + '!'", "http://mars!"),
        ("visit_page(web_search('x')[0].url).tables[0]", "[{'moon': 'Phobos', 'km': 22}, {'moon': None, 'km': 12}]"),
        ("try:\n    visit_page('x')\nexcept ToolError as error:\n    said = str(error)\nsaid", "ValueError: there is no page x"),
    ],
)  # fmt: skip
def test_ordinary_code_and_tools_work(box: SandboxExecutor, code: str, output: str | None) -> None:
    box.send_variables({"given": [{"a": (1, 2)}]})
    assert box(code).output == output


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import re\nimport numpy", "line 2:\n.*\n>>   2 . import numpy\nModuleNotFoundError.*importable are re, json"),
        ("def f():\n    yield 1", "this small Python has no yield"),
        ("def half(n):\n    return n / 0\n\nhalf(1)", "line 4: half\\(1\\)\nline 2, in half:\n.*\n>>   2 .     return n / 0\nZeroDivisionError"),
        ("def f(:", "line 1:\n>>   1 . def f\\(:\nSyntaxError"),
        ("open('/etc/passwd')", "PermissionError: .*only the attached files can be read, by their names .rows.csv.\\)?"),
        ("open('new', 'w')", "none can be written"),
        ("visit_page('x')", "ToolError: ValueError: there is no page x"),
        ("visit_page()", "ToolError: visit_page\\(url.*missing a required argument: 'url'"),
        ("exit()", "call final_answer"),
    ],
)  # fmt: skip
def test_an_error_shows_the_line_and_what_to_do_instead(box: SandboxExecutor, code: str, said: str) -> None:
    with pytest.raises(CodeError, match=said):
        box(code)


def test_variables_and_printed_text_last_and_a_tools_name_comes_back(
    new_box: Callable[..., SandboxExecutor],
) -> None:
    box = new_box()
    box("web_search = 5\nkept = [1]\ndef last():\n    return kept[-1]")
    box("kept.append(2)\nprint('said')")
    assert box.state["_print_outputs"] == "said\n"
    assert box("last(), web_search('x', 1)[0].title").output == "(2, 'Mars')"


@pytest.mark.parametrize(
    ("code", "limits", "said"),
    [
        ("lost = 1\nwhile True: pass", SHORT, "longer than 0.3 s"),
        ("10 ** 10 ** 8", SHORT, "longer than 0.3 s"),  # one operation, which Monty itself does not interrupt
        ("while True: print('x' * 1000)", SHORT, "longer than 0.3 s"),
        (
            "lost = []\nwhile True: lost.append('x' * 1000000)",
            Limits(memory_bytes=20 << 20),
            "memory of this session is used up",
        ),
        ("lost = 1\nwhile True: pass", Limits(cpu_seconds=0.3), "more than 0.3 s of CPU time"),
    ],
)
def test_a_step_that_must_be_ended_is_undone_and_earlier_variables_are_kept(
    new_box: Callable[..., SandboxExecutor], code: str, limits: Limits, said: str
) -> None:
    box = new_box(limits)
    box("kept = 'kept'")
    with pytest.raises(CodeError, match=said) as raised:
        box(code)
    assert "is undone" in str(raised.value)
    assert len(box.state["_print_outputs"]) < 50_000
    assert box("kept").output == "kept"
    with pytest.raises(CodeError, match="NameError"):
        box("lost")


def test_time_in_tools_does_not_count(new_box: Callable[..., SandboxExecutor]) -> None:
    box = new_box(Limits(step_seconds=2))
    box.send_tools({"wait": lambda: time.sleep(2.5)})
    assert box("wait()\n'done'").output == "done"


@pytest.mark.parametrize("code", ["while True: pass", "wait()\nwait()", "while True: print(1)"])
def test_stop_ends_whatever_it_does_and_leaves_no_process(
    new_box: Callable[..., SandboxExecutor], code: str
) -> None:
    box = new_box()
    box.send_tools({"wait": lambda: time.sleep(1)})
    box("None")
    assert box._box is not None
    group = box._box.pid
    threading.Timer(0.2, box.interrupt).start()
    with pytest.raises(Stopped):
        box(code)
    box.cleanup()
    until(lambda: group not in {_group(stat) for stat in Path("/proc").glob("[0-9]*/stat")})


def test_the_final_answer_ends_the_step(new_box: Callable[..., SandboxExecutor]) -> None:
    output = new_box()("final_answer(3, sources=[('u', 'q')])\nprint('after')")
    assert output.is_final_answer
    assert output.output == (3, [("u", "q")])
    assert "after" not in output.logs


def _group(stat: Path) -> int:
    try:
        fields = stat.read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[2]) if fields[0] != "Z" else 0
