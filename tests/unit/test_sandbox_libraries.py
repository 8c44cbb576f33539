"""The libraries that the code may use do real work inside the lock, and what is not there is said."""

import sys
from pathlib import Path

import pytest

from agent.errors import CodeError, SandboxError
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.limits import Limits
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's locks are Linux's")


def locked(level):
    try:
        pool = BoxPool(choose_level(level), size=0)
    except SandboxError as error:
        pytest.skip(str(error))
    return SandboxExecutor(Limits(), pool=pool)


@pytest.fixture(scope="module")
def box():
    executor = locked(1)
    yield executor
    executor.cleanup()


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("from scipy import stats; round(float(stats.ttest_ind([1, 2, 3], [4, 5, 6]).statistic), 3)", "-3.674"),
        ("from scipy import optimize; round(optimize.brentq(lambda x: x * x - 2, 0, 2), 6)", "1.414214"),
        ("from scipy import optimize; round(float(optimize.minimize(lambda v: (v[0] - 3) ** 2, [0]).x[0]), 3)", "3.0"),
        ("from scipy import integrate; round(integrate.quad(lambda x: x ** 2, 0, 3)[0], 6)", "9.0"),
        ("import numpy as np, scipy.linalg; round(float(scipy.linalg.det(np.eye(200) * 2)) / 2**200, 6)", "1.0"),
        ("import numpy as np; bool(((np.ones((300, 300)) @ np.ones((300, 300))) == 300).all())", "True"),
        ("import sympy\nx = sympy.symbols('x')\nsympy.solve(x**2 - 2, x)", "[-sqrt(2), sqrt(2)]"),
        ("import sympy\nx = sympy.symbols('x')\nsympy.integrate(sympy.sin(x), x), sympy.latex(x / 2)", "(-cos(x), '\\\\frac{x}{2}')"),
        ("import networkx as nx\nnx.shortest_path(nx.Graph([(1, 2), (2, 3), (1, 4), (4, 3), (3, 5)]), 1, 5)", "[1, 2, 3, 5]"),
        ("import dateutil.parser\ndateutil.parser.parse('3 March 2021 5pm').isoformat()", "2021-03-03T17:00:00"),
        ("from dateutil.relativedelta import relativedelta\nimport datetime\nstr(datetime.date(2024, 1, 31) + relativedelta(months=1))", "2024-02-29"),
        ("from PIL import Image, ImageDraw\nim = Image.new('L', (40, 20))\nImageDraw.Draw(im).text((2, 2), 'hi', fill=255)\nim.getbbox() is not None", "True"),
        ("import bs4\nbs4.BeautifulSoup('<p>a<b>c</b></p>', 'lxml').b.text", "c"),
    ],
)  # fmt: skip
def test_the_library_works(box, code, output):
    assert box(code).output == output


@pytest.mark.parametrize("name", ["requests", "torch", "gradio", "no_such_module"])
def test_an_import_of_what_is_not_there_says_what_is(box, name):
    with pytest.raises(CodeError, match=r"importable are the standard library, numpy, pandas, scipy, sympy"):
        box(f"import {name}")


def test_a_library_loaded_later_starts_no_thread_and_reads_no_environment(box):
    box("import scipy.linalg, os")
    assert box("dict(os.environ)").output == "{}"
    assert len(list(Path(f"/proc/{box._box.pid}/task").iterdir())) == 1
