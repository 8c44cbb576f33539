"""A command that runs what follows it in an E2B sandbox, with stdin and stdout passed through.

    python -I e2b_command.py TEMPLATE python3 ...

It imports nothing of ours: `command.py` starts it as it would start docker. E2B's
client gives stdout as text, so what runs there is wrapped in a few lines that
send it as base64, a line for each piece. The sandbox has no internet access and
is killed when stdin closes; should this process be killed first, it ends by
itself when its lease is not renewed.
"""

import base64
import os
import shlex
import sys
import threading
import time
from collections.abc import Callable

try:
    from e2b import AuthenticationException, CommandExitException, Sandbox, SandboxException
except ImportError:
    sys.exit("the e2b package is not installed: run `pip install -r requirements-e2b.txt`")

LEASE_SECONDS = 120
PIECE = 1 << 16
LONGEST_LINE = 1 << 20

ENCODER = """
import base64, os, subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, bufsize=0)
while data := child.stdout.read(1 << 15):
    sys.stdout.buffer.write(base64.b64encode(data) + b"\\n")
    sys.stdout.buffer.flush()
code = child.wait()
os._exit(code if code >= 0 else 128 - code)
"""


class Lines:
    """Takes text in any pieces, and hands on the bytes of each line that is whole."""

    def __init__(self, hand_on: Callable[[bytes], object]) -> None:
        self._hand_on = hand_on
        self._rest = ""

    def feed(self, text: str) -> None:
        """ValueError when what came is no base64, or a line without end."""
        *lines, self._rest = (self._rest + text).split("\n")
        if len(self._rest) > LONGEST_LINE:
            raise ValueError("a line without end")
        for line in lines:
            self._hand_on(base64.b64decode(line, validate=True))


def main(template: str, arguments: list[str]) -> int:
    """Runs until what was started there ends, or stdin closes; the exit code."""
    line = shlex.join(["python3", "-I", "-c", ENCODER, *arguments])
    sandbox = Sandbox.create(template or None, timeout=LEASE_SECONDS, allow_internet_access=False)
    try:
        started = sandbox.commands.run(line, background=True, stdin=True, timeout=0, retain_output=False)

        def hand_in() -> None:
            while data := os.read(0, PIECE):
                started.send_stdin(data)
            sandbox.kill()
            os._exit(0)

        def renew() -> None:
            while True:
                time.sleep(LEASE_SECONDS / 3)
                sandbox.set_timeout(LEASE_SECONDS)

        for action in (hand_in, renew):
            threading.Thread(target=action, daemon=True).start()
        started.wait(on_stdout=Lines(_write).feed, on_stderr=_complain)
        return 0
    except CommandExitException as ended:
        return int(ended.exit_code)
    finally:
        sandbox.kill()


def _complain(text: str) -> None:
    sys.stderr.write(text)


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1], sys.argv[2:]))
    except (SandboxException, AuthenticationException, ValueError) as error:
        sys.exit(f"E2B did not serve: {error}")
