"""The situations in which the battery is run: as who, and inside what."""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

_NOBODY = 65534


@dataclass(frozen=True)
class Situation:
    """title: for the table; options: of the command that runs the battery; process: as whom it is started."""

    title: str
    options: tuple[str, ...] = ()
    process: dict[str, Any] = field(default_factory=dict)

    def run(self, *more: str) -> int:
        """Run the battery in this situation; its exit code."""
        line = [sys.executable, "-m", "tests.attacks", "--here", self.title, *self.options, *more]
        return subprocess.run(line, **self.process).returncode


def situations() -> list[Situation]:
    """Those that this machine offers: as the user who started this, inside a filter, and as an ordinary user."""
    me = "root" if os.geteuid() == 0 else f"an ordinary user ({os.geteuid()})"
    found = [
        Situation(f"started by {me}"),
        Situation(f"started by {me} inside a filter like Docker's", ("--outer",)),
    ]
    if os.geteuid() == 0:
        process = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        found.append(Situation("started by an ordinary user (nobody)", (), process))
    return found


def problem(situation: Situation) -> str:
    """Why the situation is not to be had here; empty when it is."""
    try:
        tried = subprocess.run(
            [sys.executable, "-c", "import tests.attacks.battery"],
            capture_output=True,
            text=True,
            **situation.process,
        )
    except OSError as error:
        return f"{sys.executable} may not be run by that user ({error.strerror})"
    return (tried.stderr.strip().splitlines() or ["it ended without a word"])[-1] if tried.returncode else ""
