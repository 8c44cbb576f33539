"""Files that the code writes: ordinary to the code, never on a disk, and only so many."""

import io
import sys
from contextlib import redirect_stdout

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
LIMITS = Limits(scratch_bytes=1 << 20, scratch_files=5, memory_bytes=256 << 20)


@pytest.fixture(scope="module", params=[1, 2])
def level(request):
    try:
        return choose_level(request.param)
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attached")
    (folder / "rivers.csv").write_text("river,km\nOrme,41\n")
    return folder


@pytest.fixture(scope="module")
def box(level, folder):
    executor = SandboxExecutor(LIMITS, pool=BoxPool(level, size=0), files_dir=folder)
    yield executor
    executor.cleanup()


@pytest.fixture
def clean(box):
    """The box without the files of the test before."""
    box("import os\nfor name in os.listdir():\n    try: os.remove(name)\n    except PermissionError: pass")
    return box


ORDINARY = {
    "text": "with open('a.txt', 'w') as f: f.write('é\\nb\\n')\nwith open('a.txt') as f: print(f.readlines())",
    "append": "open('a.txt', 'w').write('a')\nwith open('a.txt', 'a') as f: f.write('b')\nprint(open('a.txt').read())",
    "update": "open('a.txt', 'wb').write(b'abcdef')\nwith open('a.txt', 'r+b') as f:\n    f.seek(2); f.write(b'XY'); f.seek(-1, 2)\n    print(f.read(), f.tell())\nprint(open('a.txt', 'rb').read())",
    "truncate": "with open('a', 'w+') as f:\n    f.write('abcdef'); f.truncate(3); f.seek(0); print(f.read())",
    "hole": "with open('a', 'wb') as f: f.seek(3); f.write(b'x')\nprint(open('a', 'rb').read())",
    "exclusive": "open('a', 'x').close()\ntry: open('a', 'x')\nexcept FileExistsError as e: print(type(e).__name__, e.errno)",
    "missing": "for mode in ('r', 'r+', 'rb'):\n    try: open('nothing', mode)\n    except FileNotFoundError as e: print(e.errno)",
    "no folder": "try: open('no/such', 'w')\nexcept FileNotFoundError as e: print(e.errno)",
    "lines": "f = open('a', 'w')\nprint(f.name, f.writable(), f.readable(), f.seekable(), f.closed); f.close(); print(f.closed)",
    "newlines": "with open('a', 'w', newline='') as f: f.write('a\\r\\nb')\nprint(repr(open('a').read()), open('a', 'rb').read())",
    "encoding": "open('a', 'w', encoding='latin-1').write('é')\nprint(open('a', 'rb').read())",
    "pathlib": "from pathlib import Path\np = Path('a.txt')\np.write_text('x')\nprint(p.exists(), p.is_file(), p.stat().st_size, p.read_bytes(), [q.name for q in Path().glob('*.txt')])\np.unlink()\nprint(p.exists())",
    "listing": "import os, glob\nopen('b.txt', 'w').close()\nprint(sorted(os.listdir()), glob.glob('*.txt'), os.path.getsize('rivers.csv'), os.path.exists('c'))",
    "scandir": "import os\nopen('b', 'w').write('12')\nwith os.scandir() as found: print(sorted((e.name, e.is_file(), e.stat().st_size) for e in found))",
    "rename": "import os\nopen('a', 'w').write('x')\nos.rename('a', 'b')\nprint(os.path.exists('a'), open('b').read())\nos.remove('b')",
    "folders": "import os, shutil\nos.makedirs('out/deep', exist_ok=True)\nopen('out/deep/a', 'w').write('x')\nprint(os.path.isdir('out'), os.listdir('out'), [(f, n) for _, f, n in os.walk('out')])\ntry: os.rmdir('out')\nexcept OSError as e: print(e.errno)\nshutil.rmtree('out')\nprint(os.path.exists('out'))",
    "copy": "import shutil\nshutil.copy('rivers.csv', 'copy.csv')\nprint(open('copy.csv').read())",
    "json": "import json\nwith open('a.json', 'w') as f: json.dump({'a': [1]}, f)\nprint(json.load(open('a.json')))",
    "csv": "import csv\nwith open('a.csv', 'w', newline='') as f: csv.writer(f).writerows([[1, 'x,y']])\nprint(list(csv.reader(open('a.csv'))))",
    "zip": "import zipfile\nwith zipfile.ZipFile('a.zip', 'w') as z: z.write('rivers.csv'); z.writestr('b', 'bb')\nprint(zipfile.ZipFile('a.zip').read('rivers.csv'), zipfile.ZipFile('a.zip').namelist())",
    "gzip": "import gzip\nwith gzip.open('a.gz', 'wt') as f: f.write('x')\nprint(gzip.open('a.gz', 'rt').read())",
    "pickle": "import pickle\npickle.dump([1], open('a.pkl', 'wb'))\nprint(pickle.load(open('a.pkl', 'rb')))",
    "temporary": "import tempfile, os\nwith tempfile.NamedTemporaryFile('w', suffix='.txt') as f:\n    f.write('x'); f.flush(); print(open(f.name).read(), f.name.endswith('.txt'))\nprint(os.path.exists(f.name))\nwith tempfile.TemporaryFile() as f: f.write(b'y'); f.seek(0); print(f.read())",
    "temporary folder": "import tempfile, os\nwith tempfile.TemporaryDirectory() as d:\n    open(os.path.join(d, 'a'), 'w').write('x'); print(os.listdir(d))\nprint(os.path.exists(d))",
    "numpy": "import numpy as np\nnp.savetxt('a.txt', [[1, 2]])\nnp.save('a.npy', np.arange(3))\nprint(np.loadtxt('a.txt'), np.load('a.npy'))",
    "pandas": "import pandas as pd\npd.read_csv('rivers.csv').to_csv('a.csv', index=False)\nprint(pd.read_csv('a.csv').to_dict('list'))",
    "image": "from PIL import Image\nImage.new('RGB', (4, 3), 'red').save('a.png')\nprint(Image.open('a.png').size)",
    "changed attachment": "with open('rivers.csv', 'a') as f: f.write('Quill,57\\n')\nprint(open('rivers.csv').read())",
}  # fmt: skip


@pytest.mark.parametrize("code", ORDINARY.values(), ids=ORDINARY)
def test_files_behave_as_in_cpython_and_the_disk_stays_as_it_was(clean, folder, tmp_path, monkeypatch, code):
    (tmp_path / "rivers.csv").write_bytes((folder / "rivers.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {"__name__": "__main__"})
    assert clean(code + "\nNone").logs == printed.getvalue()
    assert [path.name for path in folder.iterdir()] == ["rivers.csv"]
    assert (folder / "rivers.csv").read_text() == "river,km\nOrme,41\n"


def test_a_workbook_is_written_and_read(clean):
    code = (
        "import openpyxl\nbook = openpyxl.Workbook()\nbook.active.append(['Orme', 41])\nbook.save('a.xlsx')\n"
        "[[c.value for c in row] for row in openpyxl.load_workbook('a.xlsx').active]"
    )
    assert clean(code).output == "[['Orme', 41]]"
    assert clean("import os; os.listdir()").output == "['a.xlsx', 'rivers.csv']"


def failure(box, code):
    with pytest.raises(CodeError) as caught:
        box(code)
    return str(caught.value).splitlines()[-1]


def test_the_files_may_hold_so_many_bytes_and_no_more(clean):
    told = failure(clean, "with open('big', 'wb') as f:\n    for _ in range(64): f.write(bytes(1 << 16))")
    assert "at most 1 MB may be written here; remove files or write less: 'big'" in told
    assert clean("os.path.getsize('big') <= 1 << 20").output == "True"
    assert "at most 1 MB" in failure(clean, "open('more', 'ab').truncate(1 << 40)")
    assert clean("os.remove('big')\nopen('small', 'wb').write(bytes(900_000))").output == "900000"


def test_so_many_files_may_be_written_and_no_more(clean):
    told = failure(clean, "for i in range(50): open(f'{i}.txt', 'w').close()")
    assert "at most 5 files may be written here; remove some" in told
    assert clean("len(os.listdir())").output == "6"
    assert "at most 5 folders" in failure(clean, "for i in range(50): os.mkdir(f'd{i}')")
    clean("for i in range(5): os.rmdir(f'd{i}')")


def test_code_that_goes_around_the_quota_meets_the_memory_limit_and_no_disk(clean, folder):
    around = "held = open.__self__._scratch\nheld.bytes = held.files = 1 << 60\n"
    assert "MemoryError" in failure(clean, around + "open('big', 'wb').write(bytes(1 << 29))")
    assert "PermissionError" in failure(clean, "os.open('new', os.O_CREAT | os.O_WRONLY)")
    assert "PermissionError" in failure(clean, "open.__self__._open('new', 'w')")
    assert [path.name for path in folder.iterdir()] == ["rivers.csv"]


def test_a_link_beside_the_attached_files_leads_nowhere(level, tmp_path_factory):
    folder, outside = tmp_path_factory.mktemp("linked"), tmp_path_factory.mktemp("outside")
    (outside / "secret").write_text("for the host only")
    (folder / "link").symlink_to(outside / "secret")
    executor = SandboxExecutor(LIMITS, pool=BoxPool(level, size=0), files_dir=folder)
    assert "PermissionError" in failure(executor, "open('link').read()")
    executor.cleanup()


def test_what_was_written_is_gone_with_its_box(level, folder):
    executor = SandboxExecutor(LIMITS, pool=BoxPool(level, size=0), files_dir=folder)
    executor("open('mine', 'w').write('x')")
    with pytest.raises(BoxLost):
        executor("import os; os._exit(1)")
    assert executor("import os; os.listdir()").output == "['rivers.csv']"
    executor.cleanup()
