"""Each limit is a variable, holds in a real box, and is told to the model in words of its own."""

import sys
from dataclasses import fields

import pytest

from agent.box_limits import box_limits
from agent.errors import BoxLost, CodeError
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits
from agent.settings import Settings

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel's locks are Linux's"),
    pytest.mark.slow,
]


def echo(value):
    return value


def texts(count):
    return "x" * count


def zeros(count):
    return bytes(count)


@pytest.fixture(scope="module")
def pool():
    pool = BoxPool(choose_level(), size=1)
    yield pool
    pool.close()


@pytest.fixture
def limited(pool, monkeypatch, tmp_path):
    """Makes a box whose limits are those of the variables given."""
    made = []

    def make(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        executor = SandboxExecutor(box_limits(Settings(_env_file=None)), pool=pool, files_dir=tmp_path)
        executor.send_tools({tool.__name__: tool for tool in (echo, texts, zeros)})
        made.append(executor)
        return executor

    yield make
    for executor in made:
        executor.cleanup()


DEEP = "deep = []\nfor _ in range(9): deep = [deep]\n"
NOISE = "from PIL import Image\nImage.effect_noise((400, 400), 200)"
FIGURE = "import matplotlib.pyplot as plt\nplt.figure(figsize=(3, 3))\nplt.plot([1, 2])\n"


@pytest.mark.parametrize(
    ("variable", "value", "code", "told"),
    [
        ("STEP_SECONDS", "1", "while True: pass", "ran longer than 1 s (the time in tools not counted) and was interrupted; the variables are kept"),
        ("STEP_CPU_SECONDS", "1", "while True: pass", "used more than 1 s of CPU time and was interrupted; the variables are kept"),
        ("BOX_MEMORY_MB", "256", "big = bytearray(1 << 29)", "MemoryError (the memory of this session is used up"),
        ("STEP_TOOL_CALLS", "3", "for i in range(9): echo(i)", "This step has used its 3 tool calls; go on in the next step."),
        ("VALUE_KB", "64", "echo('x' * 100_000)", "the arguments of echo cannot be sent: it is larger than 64 KiB"),
        ("VALUE_KB", "64", "texts(100_000)", "texts did its work, but its result cannot be sent: it is larger than 64 KiB"),
        ("VALUE_MB", "1", "echo(bytes(2 << 20))", "the arguments of echo cannot be sent: it is larger than 1 MiB"),
        ("VALUE_MB", "1", "zeros(2 << 20)", "zeros did its work, but its result cannot be sent: it is larger than 1 MiB"),
        ("VALUE_NESTING", "6", DEEP + "echo(deep)", "it is nested deeper than 6 levels"),
        ("IMAGE_MEGAPIXELS", "0.1", "from PIL import Image\necho(Image.new('L', (400, 400)))", "the image has more than 100,000 pixels"),
        ("SCRATCH_MB", "1", "open('a', 'wb').write(bytes(2 << 20))", "at most 1 MB may be written here"),
        ("SCRATCH_MB", "0", "with open('a', 'w') as f: f.write('x')", "the quota is used up"),
        ("BOX_OPEN_FILES", "40", "import os\npipes = []\nwhile True: pipes.append(os.pipe())", "at most 40 files and pipes may be open here at once; close those that are read"),
        ("SCRATCH_FILES", "2", "for i in range(9): open(str(i), 'w').close()", "at most 2 files may be written here; remove some"),
    ],
)  # fmt: skip
def test_the_limit_is_an_error_that_says_it_and_the_variables_are_kept(limited, variable, value, code, told):
    box = limited(**{variable: value})
    box("kept = 'kept'")
    with pytest.raises(CodeError) as caught:
        box(code)
    assert told in str(caught.value)
    assert box("kept").output == "kept"


@pytest.mark.parametrize(
    ("variable", "value", "code", "told"),
    [
        ("STEP_OUTPUT_CHARS", "1000", "print('x' * 5000)", "characters left out"),
        ("STEP_FIGURES", "1", FIGURE + FIGURE, "[more figures are not shown: a step may show 1]"),
        ("FIGURE_KB", "16", NOISE + ".resize((900, 900))", "[a figure cannot be shown: it has more than 16,384 bytes]"),
        ("IMAGE_MEGAPIXELS", "0.1", NOISE, "[a figure cannot be shown: the image has more than 100,000 pixels]"),
    ],
)  # fmt: skip
def test_the_limit_leaves_something_out_and_says_it(limited, variable, value, code, told):
    assert told in limited(**{variable: value})(code).logs


def test_code_that_does_not_unwind_in_its_grace_loses_its_box_and_the_next_step_is_told(limited):
    box = limited(STEP_SECONDS="1", STEP_GRACE_SECONDS="0.2")
    box("kept = 1")
    with pytest.raises(
        BoxLost, match="longer than 1 s and did not let itself be interrupted; all variables are lost"
    ):
        box("import itertools\nany(itertools.repeat(0))")
    after = box("'kept' in globals()")
    assert after.output == "False"
    assert after.logs == "[This step runs in a new box: variables of earlier steps are gone.]\n"


def test_the_time_and_the_calls_of_one_step_are_not_the_next_ones(limited):
    box = limited(STEP_TOOL_CALLS="2", STEP_SECONDS="1")
    for _ in range(3):
        assert box("echo(1), echo(2), __import__('time').sleep(0.4)").output == "(1, 2, None)"


def test_every_limit_is_a_variable():
    assert box_limits(Settings(_env_file=None)) == Limits()
    least = {
        name: bound.ge
        for name, field in Settings.model_fields.items()
        for bound in field.metadata
        if hasattr(bound, "ge")
    }
    low = box_limits(Settings(_env_file=None, **least))
    same = [
        field.name for field in fields(Limits) if getattr(low, field.name) == getattr(Limits(), field.name)
    ]
    assert same == []
