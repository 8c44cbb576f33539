"""One Chromium without a network: where it is, how it is started, and how it surely ends."""

import asyncio
import contextlib
import logging
import os
import shlex
import shutil
import signal
import sys
import tempfile
from functools import partial
from pathlib import Path

from playwright._impl import transport
from playwright.async_api import Browser, Error, Playwright, async_playwright

log = logging.getLogger(__name__)

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_LOCKED = Path(__file__).with_name("locked.py")
_PREFIX = "rendering-"
_CLOSE_SECONDS = 3.0
_WATCH_SECONDS = 0.25
# The kernel refuses every connection (locked.py). These keep Chromium from trying, and hold where a page
# finds a way around its route: names do not resolve, numbers go to a proxy that has no address.
_ARGUMENTS = (
    "--proxy-server=http://closed.invalid:1", "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--dns-prefetch-disable", "--no-pings", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-gpu", "--renderer-process-limit=4",
)  # fmt: skip


def chromium_here() -> Path | None:
    """Chromium's executable; None where there is none, or no Linux to lock it."""
    found = (shutil.which(name) for name in _NAMES)
    return next((Path(each) for each in found if each), None) if sys.platform == "linux" else None


def _driver_env(folder: Path) -> dict[str, str]:
    """Playwright hands on the app's environment, with its secrets; its driver and Chromium need none of it."""
    return {"PATH": os.defpath, "PW_LANG_NAME": "python", "TMPDIR": str(folder)}


class Chromium:
    """A running one. Its processes are one process group, so that none outlives `close` or `kill`."""

    def __init__(self, driver: Playwright, browser: Browser, folder: Path, *, sandboxed: bool) -> None:
        """`sandboxed`: by Chromium's own sandbox, besides the lock that it always has."""
        self.browser = browser
        self.sandboxed = sandboxed
        self._driver = driver
        self._folder = folder
        self.memory_was_over = False
        self._pid, self._driver_pid = (int(each) for each in (folder / "pid").read_text().split())

    @classmethod
    async def start(cls, executable: Path, memory_bytes: int) -> "Chromium":
        """Raises playwright's Error when it does not start. `memory_bytes`: what one of its processes may use."""
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        folder.chmod(0o711)  # started by root, it runs as nobody
        command = [sys.executable, "-I", _LOCKED, folder / "pid", memory_bytes, executable]
        starter = folder / "chromium"
        starter.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, command))} "$@"\n', encoding="utf-8")
        starter.chmod(0o700)
        inherited = transport.__dict__["get_driver_env"]
        transport.__dict__["get_driver_env"] = partial(_driver_env, folder)
        try:
            driver = await async_playwright().start()
        finally:
            transport.__dict__["get_driver_env"] = inherited
        try:
            try:
                return cls(driver, await _launched(driver, starter, sandbox=True), folder, sandboxed=True)
            except Error as error:
                if "sandbox" not in error.message.lower():
                    raise
            log.warning("Chromium has no sandbox of its own here: this machine allows it no user namespaces.")
            return cls(driver, await _launched(driver, starter, sandbox=False), folder, sandboxed=False)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            await driver.stop()
            raise

    @property
    def alive(self) -> bool:
        return self.browser.is_connected()

    def memory(self) -> int:
        """Bytes in use by all processes of the group, what they share counted in each."""
        return sum(map(_memory_of, self._processes()))

    async def watch_memory(self, most: int) -> None:
        """Ends it once it uses more than `most` bytes; to be cancelled when nobody needs it."""
        while self.alive:
            if self.memory() > most:
                self.memory_was_over = True
                self.kill()
            await asyncio.sleep(_WATCH_SECONDS)

    def kill(self) -> None:
        """End every process of it now."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)

    async def close(self) -> None:
        """End it and its driver, whatever state they are in."""
        with contextlib.suppress(Error, TimeoutError):
            await asyncio.wait_for(self.browser.close(), _CLOSE_SECONDS)
        self.kill()
        try:
            await asyncio.wait_for(self._driver.stop(), _CLOSE_SECONDS)
        except (Error, TimeoutError):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._driver_pid, signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _processes(self) -> list[Path]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                after_name = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(after_name[2]) == self._pid:
                    found.append(folder)
        return found


def _sweep() -> None:
    """Remove the folders of an app that was killed: their driver is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, ValueError):
            driver = int((folder / "pid").read_text().split()[1])
            if not Path(f"/proc/{driver}").exists():
                shutil.rmtree(folder, ignore_errors=True)


async def _launched(driver: Playwright, starter: Path, *, sandbox: bool) -> Browser:
    return await driver.chromium.launch(
        executable_path=starter, args=_ARGUMENTS, env={"PATH": os.defpath}, chromium_sandbox=sandbox
    )


def _memory_of(process: Path) -> int:
    """Bytes of memory that a process fills itself or shares; the files that it maps do not count."""
    with contextlib.suppress(OSError):
        lines = (process / "status").read_text().splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(("RssAnon", "RssShmem")))
    return 0
