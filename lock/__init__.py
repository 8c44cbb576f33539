"""What locks a process for good: `process.py`, by `landlock.py` and `seccomp.py`.

It knows nothing of ours, so that the box of the model's code and the readers of
strangers' files may both be locked by it.
"""
