"""Processes by a name that no later one is given."""

from pathlib import Path


def lives(process: str) -> bool:
    """Whether the process of that name is still there."""
    return process_named(int(process.split()[0])) == process


def process_named(number: int) -> str:
    """A process and when it began: its number alone is given to another one after it."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return f"{number}"
    return f"{number} {stat.rpartition(')')[2].split()[19]}"
