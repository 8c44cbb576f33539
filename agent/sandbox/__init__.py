"""The sandbox: the only place where the model's code runs.

Host side: `executor.py` runs a step in a `box.py` taken from `pool.py`, whose
process is a `child.py`, here or behind a `command.py` (`e2b_command.py` is
one); `incoming.py` takes apart what it sends; `step.py` is what it knows of the
step, `calls.py` and `host_tool.py` run the tools that the code calls; `shelf.py`
lends modules to a box that opens no file; `probe.py` finds which `level.py`
holds here.

Sent to the child by `start.py` and run there: `worker.py` with `channel.py`,
`tool_function.py`, `printed.py`, `figures.py`, `traces.py`, `libraries.py`,
`files.py` (`folder.py`, `scratch.py`), and the lock: `lock.py`, `landlock.py`,
`seccomp.py`. At level 3 `monty_worker.py` with `monty_values.py` and
`monty_errors.py` takes the worker's place.

Both sides: `limits.py`, `frames.py`, `codec.py`, `arrays.py`, `times.py`,
`records.py`.
"""
