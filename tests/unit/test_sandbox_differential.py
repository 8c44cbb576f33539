"""What a snippet prints and how it fails is the same in the box and in plain CPython."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import CodeError
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.limits import Limits

SNIPPETS = Path(__file__).with_name("snippets.txt").read_text("utf-8").split("\n---\n")

# Each snippet runs as a program of its own, but in one process, which would else start 200 times.
PLAIN = """
import builtins, contextlib, io, json, sys, traceback, types
results = []
for code in json.load(sys.stdin):
    out = io.StringIO()
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__builtins__ = builtins
    failed = ""
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(code, "<snippet>", "exec", dont_inherit=True), module.__dict__)
        except BaseException as error:
            failed = type(error).__name__ + ": " + (error.msg if isinstance(error, SyntaxError) else str(error))
    results.append([out.getvalue(), failed])
json.dump(results, sys.stdout)
"""


@pytest.fixture(scope="module")
def plain():
    flags = ["-I", "-X", "utf8", "-c", PLAIN]
    ran = subprocess.run(
        [sys.executable, *flags],
        input=json.dumps(SNIPPETS),
        capture_output=True,
        text=True,
        env={"TZ": "UTC"},
        cwd="/",
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def box():
    executor = SandboxExecutor(Limits())
    yield executor
    executor.cleanup()


def in_box(executor, code):
    try:
        executor(code + "\nNone")  # so that the value of a last expression is not shown
        return executor.state["_print_outputs"], ""
    except CodeError as error:
        return executor.state["_print_outputs"], str(error)


def test_there_are_two_hundred_snippets():
    assert len(SNIPPETS) >= 200


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_does_what_it_does_in_plain_python(box, plain, number):
    printed, told = in_box(box, SNIPPETS[number])
    expected_print, expected_error = plain[number]
    assert printed == expected_print
    if expected_error:
        assert expected_error.strip(": ") in told
    else:
        assert told == ""
