"""What locks a process for good: `process.py`, by `landlock.py` and `seccomp.py`."""
