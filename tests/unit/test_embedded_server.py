"""The embedded model's server: how it starts, lives and ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.errors import ModelError
from agent.model import embedded
from agent.model.embedded import EmbeddedServer
from tests.agent_world import until
from tests.model_sources import one_sentence

pytestmark = pytest.mark.slow


def test_a_file_that_llama_cpp_cannot_load_is_told_and_leaves_no_process(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF but not really")
    server = EmbeddedServer(broken)
    with pytest.raises(ModelError, match="did not start") as caught:
        server.start(30)
    assert one_sentence(caught.value)
    assert not server.alive


@pytest.mark.parametrize(
    ("child", "message"),
    [
        ("import os; os.kill(os.getpid(), 9)", "about 2.5 GB of memory"),
        (
            "raise ImportError('libgomp.so.1: cannot open shared object file')",
            "install the Debian package libgomp1",
        ),
        ("import sys; sys.stdin.read()", "did not load within 1 s"),
        ("pass", "no reason given"),
    ],
)
def test_why_the_server_does_not_start_is_told(tmp_path, monkeypatch, child, message):
    (tmp_path / "child.py").write_text(child)
    monkeypatch.setattr(embedded, "_CHILD", tmp_path / "child.py")
    server = EmbeddedServer(tmp_path / "x.gguf")
    with pytest.raises(ModelError) as caught:
        server.start(1)
    assert message in str(caught.value) and one_sentence(caught.value)
    assert server.pid is None


STAND_IN = "import sys, os\nprint('http://127.0.0.1:1', flush=True)\nprint(sorted(os.environ), file=sys.stderr)\nsys.stdin.read()\n"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server whose child only tells an address: what is tested is how it lives and ends."""
    child = tmp_path / "child.py"
    child.write_text(STAND_IN)
    monkeypatch.setattr(embedded, "_CHILD", child)
    server = EmbeddedServer(tmp_path / "x.gguf")
    yield server
    server.close()


def test_a_crash_of_the_server_is_noticed(server):
    assert not server.alive
    assert server.start(60) == "http://127.0.0.1:1"
    assert server.alive
    os.kill(server.pid, 9)
    until(lambda: not server.alive)


def test_closing_ends_the_child_and_may_be_done_twice(server):
    server.start(60)
    server.close()
    server.close()
    assert not server.alive


def test_no_secret_of_the_host_is_in_the_childs_environment(server, monkeypatch):
    monkeypatch.setenv("TGI_TOKEN", "secret")
    server.start(60)
    environment = Path(f"/proc/{server.pid}/environ").read_bytes()
    assert b"secret" not in environment
    assert b"OMP_WAIT_POLICY=passive" in environment


PARENT = """
import sys, time
from pathlib import Path
from agent.model import embedded
from agent.model.download import SourceUnavailable, from_hub, from_wheels
embedded._CHILD = Path(sys.argv[1])
server = embedded.EmbeddedServer(Path("x.gguf"))
server.start(60)
print(server.pid, flush=True)
time.sleep(60)
"""


def test_the_server_ends_with_the_app_even_when_that_is_killed(tmp_path):
    child = tmp_path / "child.py"
    child.write_text(STAND_IN)
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, str(child)], stdout=subprocess.PIPE, text=True
    ) as parent:
        pid = int(parent.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        parent.kill()
    until(lambda: not Path(f"/proc/{pid}/exe").exists())
