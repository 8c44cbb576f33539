"""The sandbox: the only place where the model's code runs.

    here      the host: it starts, follows and ends a box, and runs the tools
    inside/   the box: runs the code; nothing here imports it, it is sent there by `start.py`
    wire/     what both sides know: limits, frames, the values that may cross

What locks the box is the top room `lock/`, which is sent there too.

Here, `executor.py` runs a step in a `box.py` taken from `pool.py`, whose
process is a `child.py`: forked of a `forkserver.py` that has the libraries
loaded, or started behind a `command.py` (`e2b_command.py` is one);
`incoming.py` takes apart what it sends; `step.py` is what is known of the step,
`calls.py` and `host_tool.py` run the tools that the code calls; `shelf.py`
lends modules to a box that opens no file; `probe.py` finds which `level.py`
holds on this machine.
"""
