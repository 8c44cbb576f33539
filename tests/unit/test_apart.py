"""A file that captures, crashes or exhausts its reader harms nothing but its own reading."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lock import landlock, seccomp
from tools.documents import read_bytes
from tools.errors import DocumentError
from tools.formats import apart

pytestmark = pytest.mark.slow

_ROOT = Path(__file__).resolve().parents[2]
# A fork server whose reader of RTF does what the file says, as a captured one would.
_CAPTURED = """
import time
from dataclasses import replace
from tools import documents
from tools.formats import apart, forkserver
def captured(source):
    found = dict()
    exec(source.content.decode().partition(" ")[2], found)
    return source.document(str(found["found"]))
documents.BINARY["rtf"] = replace(documents.BINARY["rtf"], reader=captured)
apart.CPU_SECONDS = 1
{more}
forkserver.main()
"""
needs_lock = pytest.mark.skipif(
    not (landlock.version() and seccomp.filters_here()), reason="this kernel gives no full lock"
)


def server(more: str = "") -> apart.ForkServer:
    """`more` is run in it before it begins."""
    return apart.ForkServer(_CAPTURED.format(more=more))


@pytest.fixture(scope="module")
def shared() -> apart.ForkServer:
    return server()


@pytest.fixture
def captured(shared: apart.ForkServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Reads a file that runs Python in its reader."""
    monkeypatch.setattr(apart, "_SERVER", shared)
    return read


def read(code: str) -> str:
    return read_bytes(b"{\\rtf " + code.encode(), name="letter.rtf").markdown


@needs_lock
@pytest.mark.parametrize(
    "attack",
    [
        "open('/etc/passwd').read()",
        "open({secret!r}).read()",
        "open({root!r} + '/app.py').read()",
        "open('/proc/%d/environ' % os.getppid()).read()",
        "os.listdir({root!r})",
        "open({folder!r} + '/new.txt', 'w').write('x')",
        "os.unlink({secret!r})",
        "socket.create_connection(('127.0.0.1', {port}), 2)",
        "socket.socket(socket.AF_UNIX)",
        "os.fork()",
        "os.execv('/bin/sh', ['sh'])",
        "os.kill(os.getppid(), 0)",
        "os.kill({host}, 0)",
        "ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) and 1 / 0",
    ],
)
def test_a_captured_reader_reaches_nothing(
    captured: Callable[[str], str], tmp_path: Path, attack: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        known = {
            "secret": str(secret),
            "root": str(_ROOT),
            "folder": str(tmp_path),
            "port": server.getsockname()[1],
        }
        tried = attack.format(**known, host=os.getpid())
        code = f"import os, socket, ctypes\ntry: found = 'GOT THROUGH', {tried}\nexcept (OSError, ValueError, ZeroDivisionError) as e: found = 'refused', e"  # fmt: skip
        assert "refused" in captured(code)
    assert secret.read_text() == "secret"


def test_a_captured_reader_sees_no_environment_and_no_open_file(
    captured: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TGI_TOKEN", "hf_secret")
    code = "import os, stat\nfound = dict(os.environ), [n for n in range(3, 64) if os.path.exists(f'/dev/fd/{n}')]"
    said = captured(code)
    assert "hf_secret" not in said and "TOKEN" not in said
    code = "import os\nfound = []\nfor n in range(3, 64):\n    try: os.fstat(n); found.append(n)\n    except OSError: pass"
    assert captured(code) == "[]"


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "found = bytearray(3_000_000_000)",
        "import ctypes; ctypes.string_at(0)",
        "import os; os._exit(0)",
        "import os; os.write(0, b'x' * 100); os._exit(0)",
    ],
)
def test_a_reader_that_hangs_grows_crashes_or_babbles_ends_in_one_sentence(
    captured: Callable[[str], str], code: str
) -> None:
    with pytest.raises(DocumentError, match=r"^letter.rtf is an RTF text that cannot be read within 10 s"):
        captured(code)
    assert captured("found = 'the next file'") == "the next file"


def test_a_reader_that_sleeps_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_SERVER", server("apart.WALL_SECONDS = 1"))
    with pytest.raises(DocumentError, match="cannot be read within"):
        read("import time; time.sleep(60)")


def test_a_library_that_fails_in_its_own_way_has_found_a_damaged_file(captured: Callable[[str], str]) -> None:
    with pytest.raises(DocumentError, match="damaged or cut short"):
        captured("raise KeyError('x')")


def test_a_fork_server_that_has_died_is_replaced(captured: Callable[[str], str]) -> None:
    assert captured("found = 1") == "1"
    process = apart._SERVER._process
    assert process is not None
    process.kill()
    process.wait()
    assert captured("found = 2") == "2"


def test_the_fork_server_ends_with_its_program() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(_ROOT)!r})\nfrom tools.documents import read_bytes\nfrom tools.formats import apart\n"
        "read_bytes(b'{\\\\rtf hello}'); print(apart._SERVER._process.pid, flush=True); import os; os.kill(os.getpid(), 9)"
    )
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    server = Path("/proc", ran.stdout.strip())
    assert ran.stdout.strip().isdecimal(), ran.stderr
    deadline = time.monotonic() + 30
    while server.exists() and " Z " not in (server / "stat").read_text() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not server.exists() or " Z " in (server / "stat").read_text()


@pytest.mark.parametrize("level", [2, 0])
def test_files_are_read_where_the_kernel_gives_less(monkeypatch: pytest.MonkeyPatch, level: int) -> None:
    """At level 2 no file can be opened any more, so an encoding that is needed late must be there already."""
    if level == 2 and not seccomp.filters_here():
        pytest.skip("this kernel takes no filters")
    monkeypatch.setattr(
        apart, "_SERVER", server(f"forkserver.strongest_lock = lambda: forkserver.Lock({level})")
    )
    assert read("found = b'\\x82\\xa0'.decode('cp932'), b'\\xa4'.decode('iso8859-15')") == "('あ', '€')"


def test_what_crosses_is_whole(captured: Callable[[str], str]) -> None:
    assert captured("found = 'é' * 500_000 + chr(0xD800) + '.'") == "é" * 500_000 + chr(0xD800) + "."


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.csv", b"a,b\n1,2\n"), ("a.json", b"[1]"), ("a.jsonl", b'{"a":1}\n{"a":2}\n'), ("a.xml", b"<a/>")],
)
def test_tables_and_data_of_strangers_are_not_taken_apart_in_the_app(
    monkeypatch: pytest.MonkeyPatch, name: str, content: bytes
) -> None:
    monkeypatch.setattr(apart, "_SERVER", apart.ForkServer("raise SystemExit"))
    with pytest.raises(DocumentError, match="cannot be read within"):
        read_bytes(content, name=name)
