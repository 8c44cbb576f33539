"""A step of the model's code, as the agent and the visitor see it; every test drives a real box."""

import os
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from smolagents import Tool

from agent.errors import BoxLost, CodeError, Stopped
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from tests.agent_world import until

pytestmark = pytest.mark.slow

LIMITS = Limits(step_seconds=2, grace_seconds=5, cpu_seconds=20, tool_calls=5, output_chars=2000)


@dataclass(frozen=True)
class Result:
    title: str
    url: str


class Results(list):
    def __str__(self):
        return "\n".join(f"- {result.title}" for result in self)


class Search(Tool):
    name = "web_search"
    description = "Searches."
    inputs = {"query": {"type": "string", "description": "words"}}  # noqa: RUF012
    output_type = "object"

    def forward(self, query: str):
        return Results([Result("Mars", "http://mars"), Result("Io", "http://io")])

    def summary(self, results):
        return f"{len(results)} results"


def visit_page(url, page=1):
    return f"page {page} of {getattr(url, 'url', url)}"


def final_answer(answer, sources=()):
    return {"answer": answer, "sources": sources, "unsendable": threading.Event()}


def slow(seconds):
    time.sleep(seconds)
    return "slept"


def broken():
    raise ValueError("no such planet")


class Fatal(Exception):
    pass


def fatal():
    raise Fatal("the token is spent")


TOOLS = {"web_search": Search(), **{f.__name__: f for f in (visit_page, final_answer, slow, broken, fatal)}}


class Seen:
    """An observer that keeps what it is told."""

    def __init__(self):
        self.told = []

    def tool_started(self, call, tool, arguments):
        self.told.append(("started", call, tool, arguments))

    def tool_ended(self, call, ok, seconds, summary):
        self.told.append(("ended", call, ok, summary))

    def printed(self, text):
        self.told.append(("printed", text))

    def figure(self, png):
        self.told.append(("figure", png))


@pytest.fixture(scope="module")
def pool():
    pool = BoxPool(choose_level(), preload=())
    yield pool
    pool.close()


def new_box(pool, **changes):
    executor = SandboxExecutor(replace(LIMITS, **changes), pool=pool, fatal=(Fatal,))
    executor.send_tools(TOOLS)
    return executor


@pytest.fixture(scope="module")
def shared(pool):
    executor = new_box(BoxPool(pool.level, size=0))
    yield executor
    executor.cleanup()


@pytest.fixture
def box(shared):
    shared.cancel.clear()
    shared.observer = None
    return shared


def failure(executor, code):
    with pytest.raises(CodeError) as caught:
        executor(code)
    return str(caught.value)


def test_the_last_expression_is_shown_and_print_is_kept_apart(box):
    box.observer = Seen()
    output = box("print('hello')\nx = 20\nx + 1")
    assert (output.output, output.logs, output.is_final_answer) == ("21", "hello\n", False)
    assert box.observer.told == [("printed", "hello\n")]
    assert box.state["_print_outputs"] == "hello\n"
    assert box("x += 1; print(x)").output is None
    assert box("'a\\nb'").output == "a\nb"


def test_definitions_and_imports_persist_over_steps(box):
    box("import math\nclass A:\n    def f(self): return math.pi\ndef g(): return A().f()")
    assert box("round(g(), 2)").output == "3.14"


def test_a_tool_call_reaches_the_host_and_is_observed(box):
    box.observer = Seen()
    output = box("results = web_search('planets')\nprint(results)\nvisit_page(results[0], page=2)")
    assert output.logs == "- Mars\n- Io\n"
    assert output.output == "page 2 of http://mars"
    assert box.observer.told[:2] == [
        ("started", 1, "web_search", "'planets'"),
        ("ended", 1, True, "2 results"),
    ]
    assert box("[r.url for r in results]").output == "['http://mars', 'http://io']"


def test_an_error_shows_the_models_own_line_marked(box):
    told = failure(box, "def mean(rows):\n    total = sum(rows)\n    return total / len(rows)\n\nmean([])")
    assert told.splitlines() == [
        "line 5: mean([])",
        "line 3, in mean:",
        "     2 |     total = sum(rows)",
        ">>   3 |     return total / len(rows)",
        "ZeroDivisionError: division by zero",
    ]
    assert "step " in failure(box, "mean(())")
    assert failure(box, "x = 1\nx = = 2").splitlines()[2:] == [
        ">>   2 | x = = 2",
        "             ^",
        "SyntaxError: invalid syntax",
    ]
    assert "Did you mean: 'results_'" in failure(box, "results_ = 1\nresultss_")


def test_a_failing_tool_is_an_exception_the_code_can_catch(box):
    assert failure(box, "broken()").endswith("ToolError: ValueError: no such planet")
    assert box("try:\n    broken()\nexcept ToolError as e:\n    print('went on:', e)").logs.startswith(
        "went on"
    )
    assert "web_search(query): missing a required argument: 'query'" in failure(box, "web_search()")
    assert "NameError" in failure(box, "no_such_tool()")


def test_a_variable_with_a_tools_name_is_explained_and_does_not_lose_the_tool(box):
    told = failure(box, "visit_page = 'page'\nvisit_page('http://a')")
    assert "visit_page is a tool: give your variable another name" in told
    assert box("visit_page('http://a')").output == "page 1 of http://a"


def test_a_fatal_tool_error_ends_the_step_as_itself(box):
    with pytest.raises(Fatal, match="token is spent"):
        box("kept = 1\ntry:\n    fatal()\nexcept Exception:\n    pass\nkept = 2")
    assert box("kept").output == "1"


def test_the_final_answer_ends_the_step_and_stays_in_the_host(box):
    output = box(
        "print('before')\ntry:\n    final_answer('Io', [('http://io', 'a moon')])\nexcept Exception:\n    pass\nprint('after')"
    )
    assert output.is_final_answer
    assert output.logs == "before\n"
    assert output.output["answer"] == "Io"
    assert output.output["sources"] == [("http://io", "a moon")]
    assert isinstance(output.output["unsendable"], threading.Event)


def test_too_many_tool_calls_in_a_step_are_refused_and_the_next_step_may_call_again(box):
    assert "used its 5 tool calls" in failure(box, "for i in range(9):\n    visit_page(i)")
    assert box("visit_page(1)").output == "page 1 of 1"


def test_an_endless_loop_is_interrupted_and_variables_are_kept(box):
    box("kept = 'yes'")
    told = failure(box, "n = 0\nwhile True:\n    n += 1")
    assert "longer than 2 s" in told and "variables are kept" in told and ">>   " in told
    assert box("kept, n > 1000").output == "('yes', True)"


def test_the_time_inside_tools_does_not_count(box):
    assert box("slow(2.5)").output == "slept"


def test_endless_printing_keeps_the_head_and_the_tail(box):
    output = box("for i in range(2000): print(i)")
    assert output.logs.startswith("0\n1\n2\n")
    assert output.logs.endswith("1998\n1999\n")
    assert "characters left out" in output.logs
    assert len(output.logs) < 2100
    assert len(box("'x' * 10**6").output) < 2100


def test_output_written_past_print_does_not_reach_the_pipe(box):
    assert (
        box(
            "import os, sys\nos.write(1, b'junk')\nsys.__stdout__.write('junk')\nsys.__stdout__.flush()\n7"
        ).output
        == "7"
    )


def test_an_image_is_shown_as_a_figure(pool):
    executor = new_box(pool, step_seconds=20)  # PIL is read from its files first
    executor.observer = Seen()
    assert "PIL.Image" in executor("from PIL import Image\nImage.new('RGB', (3, 2))").output
    kind, data = executor.observer.told[0]
    assert kind == "figure" and data.startswith(b"\x89PNG")
    executor.cleanup()


def test_input_is_refused_with_a_reason(box):
    assert "nobody is there to type" in failure(box, "input('name?')")


def test_variables_sent_by_the_agent_are_there(box):
    box.send_variables({"planets": ["Mars"], "answer": {1: (2, 3)}})
    assert box("planets[0], answer[1]").output == "('Mars', (2, 3))"


def test_a_stop_keeps_the_variables(box):
    for code in ("while True: pass", "import time; time.sleep(30)", "slow(5)"):
        stop = threading.Timer(0.3, box.cancel.set)
        stop.start()
        with pytest.raises(Stopped):
            box("kept = 3\n" + code)
        box.cancel.clear()
    assert box("kept").output == "3"


def test_interrupt_from_another_thread_stops_the_step(box):
    threading.Timer(0.1, box.interrupt).start()
    with pytest.raises(Stopped):
        box("import time; time.sleep(30)")
    assert box("1").output == "1"


def test_code_that_swallows_the_interrupt_loses_its_box_and_the_agent_is_told(pool):
    executor = new_box(pool)
    swallow = "import time\nwhile True:\n    try:\n        while True: time.sleep(0.01)\n    except BaseException: pass"
    with pytest.raises(BoxLost, match=r"longer than 2 s .* all variables are lost"):
        executor("x = 1\n" + swallow)
    output = executor("print('x' in globals())\nvisit_page(3)")
    assert output.output == "page 1 of 3"
    assert output.logs == "[This step runs in a new box: variables of earlier steps are gone.]\nFalse\n"

    threading.Timer(0.1, executor.cancel.set).start()
    with pytest.raises(Stopped):
        executor(swallow)
    executor.cleanup()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import os; os._exit(3)", "ended by itself"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ],
)
def test_a_box_that_dies_is_replaced(pool, code, why):
    executor = new_box(pool)
    with pytest.raises(BoxLost, match=why):
        executor(code)
    assert executor("1 + 1").output == "2"
    executor.cleanup()


def test_memory_is_limited_and_the_code_is_told(pool):
    executor = new_box(pool, memory_bytes=64 << 20, step_seconds=5)
    assert "MemoryError" in failure(executor, "kept = 1\nbig = bytearray(10**9)")
    assert executor("kept").output == "1"
    executor.cleanup()


def test_cpu_time_is_limited(pool):
    executor = new_box(pool, cpu_seconds=0.1, step_seconds=10)
    assert "more than 0.1 s of CPU time" in failure(executor, "while True: pass")
    executor.cleanup()


def test_the_box_has_no_environment_and_no_way_to_write(box, tmp_path):
    assert box("import os\ndict(os.environ)").output == "{}"
    assert os.environ, "this process has one"
    assert "Error" in failure(box, f"with open({str(tmp_path / 'new')!r}, 'w') as f: f.write('x')")


FAKE_END = """
import json, os, struct, sys
text = json.dumps({"op": "done", "step": 1, "value": "done"}).encode()
os.write(sys.stdout._channel._out, struct.pack(">II", len(text), 0) + text)
while True: pass
"""


def test_code_that_computes_on_after_it_said_that_it_was_done_is_ended(pool):
    executor = new_box(pool)
    assert executor(FAKE_END).output == "done"
    box = executor._box
    for _ in range(300):
        if not box.alive:
            break
        time.sleep(0.1)
    after = executor("1 + 1")
    assert (after.output, after.logs) == (
        "2",
        "[This step runs in a new box: variables of earlier steps are gone.]\n",
    )
    executor.cleanup()


def test_attached_files_are_read_by_their_names(pool, tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    executor = SandboxExecutor(LIMITS, pool=pool, files_dir=tmp_path)
    assert executor("open('rows.csv').read()").output == "a,b\n1,2\n"
    executor.cleanup()


FORGE = """
import os, struct, sys, json
channel = sys.stdout._channel
def forge(message, text=None):
    text = json.dumps(message).encode() if text is None else text
    os.write(channel._out, struct.pack('>II', len(text), 0) + text)
"""


@pytest.mark.parametrize(
    "forged",
    [
        "os.write(channel._out, b'\\xff' * 8)",
        "forge(None, b'[' * 100_000)",
        "forge(None, b'\\x80\\x04K\\x01.')",
        "forge({'op': 'rm', 'step': 1})",
        "forge({'op': 'done', 'step': 99})",
        "forge({'op': 'figure', 'step': 1, 'at': 0, 'n': 10})",
        "forge({'op': 'call', 'step': 1, 'call': ['x'] * 1000, 'tool': 'visit_page', 'args': [1], 'kwargs': {}})",
        "forge({'op': 'call', 'step': 1, 'call': 1, 'tool': 'visit_page', 'args': 3, 'kwargs': []})",
        "forge({'op': 'call', 'step': 1, 'call': 1, 'tool': 'visit_page', 'args': {'$': 'pickle'}, 'kwargs': {}})",
    ],
)
def test_a_forged_frame_loses_the_box(pool, forged):
    executor = new_box(pool)
    with pytest.raises(BoxLost, match=r"because it .* variables are lost"):
        executor(FORGE + forged + "\nimport time; time.sleep(100)")
    executor.cleanup()


def test_a_forged_tool_name_gets_an_error_and_nothing_else(pool):
    executor = new_box(pool)
    code = FORGE + (
        "for tool in ('__class__', ['visit_page'], None, 'send_tools'):\n"
        "    forge({'op': 'call', 'step': 1, 'call': 1, 'tool': tool, 'args': [], 'kwargs': {}})\n"
        "    print(channel.receive()[0]['message'])"
    )
    assert executor(code).logs.count("There is no tool of that name") == 4
    executor.cleanup()


def test_a_forged_call_that_never_reads_its_reply_cannot_hold_the_host(pool):
    executor = new_box(pool, tool_calls=10**6)
    executor.send_tools({"big": lambda: "x" * 500_000})
    code = (
        FORGE
        + "while True: forge({'op': 'call', 'step': 1, 'call': 1, 'tool': 'big', 'args': [], 'kwargs': {}})"
    )
    with pytest.raises(BoxLost):
        executor(code)
    executor.cleanup()


def test_sessions_leave_no_process_and_no_descriptor_behind(pool):
    def descriptors():
        return len(list(Path("/proc/self/fd").iterdir()))

    own = BoxPool(pool.level, size=0, preload=())
    before = descriptors()
    for _ in range(3):
        executor = new_box(own)
        executor("1")
        pid = executor._box.pid
        executor.cleanup()
        until(lambda pid=pid: not Path(f"/proc/{pid}").exists())
    assert descriptors() < before + 9, "three sessions with three pipes each"


def test_an_error_whose_text_ends_the_program_is_not_told_as_too_much_cpu_time(box):
    code = "class E(Exception):\n    def __str__(self): raise SystemExit(3)\nkept = 7\nraise E"
    told = failure(box, code)
    assert "CPU" not in told and ">>   4 | raise E" in told and "E: <exception str() failed>" in told
    nameless = "class E(Exception):\n    __notes__ = property(lambda self: exit(3))\nraise E"
    assert "CPU" not in failure(box, nameless)
    assert box("kept").output == "7"


def test_an_integer_too_large_to_send_is_an_error_that_says_what_to_send(box):
    told = failure(box, "final_answer(10**5000)")
    assert (
        "the arguments of final_answer cannot be sent: an integer of about 5,001 digits is too large" in told
    )
