"""What a snippet prints, shows and fails with is the same in the box and in plain CPython, step by step."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import CodeError
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.wire.limits import Limits

pytestmark = pytest.mark.slow

SNIPPETS = [
    snippet.split("\n# next step\n")
    for snippet in Path(__file__).with_name("snippets.txt").read_text("utf-8").split("\n---\n")
]

# Each snippet runs as a program of its own, but in one process, which would else start hundreds of times.
PLAIN = """
import ast, builtins, contextlib, io, json, sys, traceback, types
def run(code, space, name):
    tree = ast.parse(code, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), space)
    value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), space) if last else None
    return value if value is None or isinstance(value, str) else repr(value)
def one(code, space, name):
    out, shown, failed, line = io.StringIO(), None, "", 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            shown = run(code, space, name)
        except BaseException as error:
            syntax = isinstance(error, SyntaxError)
            failed = type(error).__name__ + ": " + (error.msg if syntax else str(error))
            own = [n for f, n in traceback.walk_tb(error.__traceback__) if f.f_code.co_filename[:5] == "<step"]
            line = error.lineno if syntax and error.filename == name else own[-1]
    return [out.getvalue(), shown, failed, line]
results = []
for steps in json.load(sys.stdin):
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    module.__builtins__ = builtins
    results.append([one(code, module.__dict__, f"<step {i}>") for i, code in enumerate(steps)])
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
    """What was printed, the last expression, the error's last line, and the number of the line that is marked."""
    try:
        shown, told = executor(code).output, ""
    except CodeError as error:
        shown, told = None, str(error)
    marked = re.findall(r"^>> +(\d+) \| ", told, re.MULTILINE)
    assert len(marked) == bool(told), told
    return executor.state["_print_outputs"], shown, told, int(marked[0]) if marked else 0


def without_addresses(text):
    return re.sub(r"0x[0-9a-f]+", "0x…", text) if text else text


def test_there_are_more_than_two_hundred_snippets():
    assert len(SNIPPETS) == len(set(map(str, SNIPPETS))) > 200


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_a_snippet_does_what_it_does_in_plain_python(box, plain, number):
    for code, (expected_print, expected_value, expected_error, line) in zip(
        SNIPPETS[number], plain[number], strict=True
    ):
        printed, shown, told, marked = in_box(box, code)
        assert printed == expected_print
        assert without_addresses(shown) == without_addresses(expected_value)
        if expected_error:
            assert without_addresses(expected_error.strip(": ")) in without_addresses(told)
            assert marked == line, told
        else:
            assert told == ""
