"""The box: what runs in the locked process, together with `lock` and `wire`, and nothing else of ours.

`forkserver.py` loads the libraries once and forks the boxes. In each,
`worker.py` serves the host over a `channel.py` and runs the code, with
`tool_function.py` in the place of the tools, `printed.py`, `figures.py` and
`traces.py` for what is shown, `libraries.py` for what is imported, `files.py`
(`folder.py`, `scratch.py`) for what is read and written. At level 3
`monty_worker.py` with `monty_values.py` and `monty_errors.py` takes its place.
"""
