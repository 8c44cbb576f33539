"""The libraries that the code may use do real work inside the lock, and what is not there is said."""

import sys
from pathlib import Path

import pytest

from agent.errors import BoxLost, CodeError, SandboxError
from agent.sandbox.executor import SandboxExecutor
from agent.sandbox.pool import BoxPool
from agent.sandbox.probe import choose_level
from agent.sandbox.wire.limits import Limits

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="the kernel's locks are Linux's"),
    pytest.mark.slow,
]


def locked(level):
    try:
        pool = BoxPool(choose_level(level), size=0)
    except SandboxError as error:
        pytest.skip(str(error))
    return SandboxExecutor(Limits(), pool=pool)


@pytest.fixture(scope="module", params=[1, 2])
def level(request):
    return request.param


@pytest.fixture(scope="module")
def box(level):
    executor = locked(level)
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
        ("import openpyxl, io\nbook = openpyxl.Workbook()\nbook.active.append(['Orme', 41])\nbook.save(out := io.BytesIO())\n[[c.value for c in row] for row in openpyxl.load_workbook(out).active]", "[['Orme', 41]]"),
        ("from zoneinfo import ZoneInfo\nimport datetime\nstr(datetime.datetime(2024, 7, 1, tzinfo=ZoneInfo('Europe/Berlin')).utcoffset())", "2:00:00"),
        ("import sqlite3, lzma, bz2, zlib, decimal, statistics\nlzma.decompress(lzma.compress(b'x')) + bz2.decompress(bz2.compress(b'y'))", "b'xy'"),
        ("'漢'.encode('shift_jis'), '\xe9'.encode('cp437')", "(b'\\x8a\\xbf', b'\\x82')"),
        ("import pandas as pd\nframe = pd.DataFrame({'a': ['x', 'y', 'x'], 'n': [1, 2, 3]})\nframe.groupby('a').n.agg(['mean', 'sum']).to_string()", "   mean  sum\na           \nx   2.0    4\ny   2.0    2"),
        ("import pandas as pd\npd.DataFrame({'a': [1, 2]}).describe().loc['mean', 'a'].item(), pd.date_range('2024-01-31', periods=2, freq='ME').strftime('%d %b').tolist()", "(1.5, ['31 Jan', '29 Feb'])"),
        ("import bs4\nbs4.BeautifulSoup('<p>a<b>c</b></p>', 'lxml').b.text", "c"),
    ],
)  # fmt: skip
def test_the_library_works(box, level, code, output):
    if level == 2 and "scipy" in code:
        with pytest.raises(
            CodeError, match=r"No module named 'scipy.*importable are the standard library, numpy"
        ):
            box(code)
    else:
        assert box(code).output == output


@pytest.mark.parametrize("name", ["requests", "torch", "gradio", "no_such_module"])
def test_an_import_of_what_is_not_there_says_what_is(box, name):
    with pytest.raises(
        CodeError,
        match=r"importable are the standard library, numpy, pandas, (scipy, )?sympy, networkx, matplotlib",
    ):
        box(f"import {name}")


def test_a_library_loaded_later_starts_no_thread_and_reads_no_environment(box, level):
    box(f"import os, {'scipy' if level == 1 else 'numpy'}.linalg")
    assert box("dict(os.environ)").output == "{}"
    assert len(list(Path(f"/proc/{box._box.pid}/task").iterdir())) == 1


def test_a_box_that_opens_no_file_is_sent_modules_and_nothing_else():
    box = locked(2)
    lend = "import sys\nworker = sys.modules['box.inside.worker']\nask = sys.meta_path[-1].ask\n"
    assert box(lend + "ask('networkx.classes')[0].endswith('networkx/classes/__init__.py')").output == "True"
    for name in (
        "gradio",
        "agent.settings",
        "numpy.../../../agent",
        "/etc/passwd",
        "os/../../x",
        "numpy." * 50,
    ):
        assert box(f"ask({name!r})").output is None
    data = "open.__self__.elsewhere"
    for path in (
        "/x/mpl-data/../../../../etc/passwd",
        "/etc/passwd",
        "/x/zoneinfo/../../etc/passwd",
        "x/matplotlib/mpl-data/a/..",
    ):
        assert box(f"{data}({path!r})").output is None
    box.cleanup()


def test_a_box_that_asks_for_modules_without_end_is_ended():
    box = locked(2)
    with pytest.raises(BoxLost, match="asked for more than 5,000 modules"):
        box("import sys\nask = sys.meta_path[-1].ask\nwhile True: ask('no_such')")
    box.cleanup()


def test_a_figure_waits_for_the_fonts_that_can_draw_it_only(box):
    code = "import matplotlib.font_manager as fonts\nfonts.findfont('DejaVu Sans')[-14:], len(fonts.fontManager.afmlist), fonts._afm.AFM.__name__"
    assert box(code).output == "('DejaVuSans.ttf', 0, 'AFM')"
