"""A box behind a command, such as `docker run -i …`: what is started there, and what it is told.

Only stdin and stdout need to reach the other side. A keeper runs there beside
the box: it hands on what the host sends, interrupts the box when the host says
so, and ends it as soon as stdin closes, so that no box outlives its host even
where the command's own death would not end it.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PIECE = 1 << 16
INTERRUPT = bytes(4)

# Everything the host sends comes in pieces with their length before them; a piece of length 0 interrupts the box.
KEEPER = """
import os, select, signal, subprocess, sys
child = subprocess.Popen([sys.executable, *sys.argv[1:]], stdin=subprocess.PIPE, bufsize=0)
to = child.stdin.fileno()
os.set_blocking(to, False)
signal.signal(signal.SIGINT, signal.SIG_IGN)
came, waiting, poll = bytearray(), bytearray(), select.poll()
def keep():
    while True:
        poll.register(0, select.POLLIN if len(waiting) < 1 << 25 else 0)
        poll.register(to, select.POLLOUT if waiting else 0)
        for descriptor, event in poll.poll():
            if descriptor == to:
                if event & (select.POLLERR | select.POLLHUP): return
                del waiting[:os.write(to, waiting)]
                continue
            piece = os.read(0, 1 << 16)
            if not piece: return
            came.extend(piece)
            while len(came) >= 4:
                size = int.from_bytes(came[:4], "big")
                if len(came) < 4 + size: break
                waiting.extend(came[4:4 + size])
                del came[:4 + size]
                if size == 0: child.send_signal(signal.SIGINT)
try: keep()
except BrokenPipeError: pass
try: child.wait(0.2)
except subprocess.TimeoutExpired: child.kill()
code = child.wait()
os._exit(code if code >= 0 else 128 - code)
"""

# What a command such as docker, podman or kubectl wants to know; never the app's own secrets.
_PASSED_ON = (
    *("PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"),
    *("KUBECONFIG", "SSH_AUTH_SOCK", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
_PASSED_ON_PREFIXES = ("DOCKER_", "CONTAINER_", "PODMAN_")


@dataclass(frozen=True)
class Command:
    """words: what to put before `python3 …`; variables: what it needs besides the usual ones."""

    words: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)

    def line(self, arguments: Sequence[str]) -> list[str]:
        """The command line that runs the interpreter with `arguments` under a keeper."""
        return [*self.words, "python3", "-I", "-B", "-c", KEEPER, *arguments]

    def environment(self) -> dict[str, str]:
        """What the command itself sees; the box behind it sees none of it."""
        kept = {k: v for k, v in os.environ.items() if k in _PASSED_ON or k.startswith(_PASSED_ON_PREFIXES)}
        return {**kept, **self.variables}


def through_e2b(api_key: str, template: str) -> Command:
    """A sandbox of E2B for each box; an empty template is E2B's own choice."""
    bridge = Path(__file__).with_name("e2b_command.py")
    variables = {name: value for name, value in os.environ.items() if name.startswith("E2B_")}
    return Command([sys.executable, "-I", str(bridge), template], {**variables, "E2B_API_KEY": api_key})


def in_pieces(data: bytes) -> bytes:
    """`data` as the keeper takes it."""
    cut = (data[at : at + PIECE] for at in range(0, len(data), PIECE))
    return b"".join(len(piece).to_bytes(4, "big") + piece for piece in cut)
