"""The process that is fuzzed: libFuzzer's options are its arguments, REPORT names the file it keeps up to date."""

import json
import os
import resource
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["agent.sandbox"]):
    from agent.sandbox.wire.frames import BadFrame
    from tests.fuzz import target

EVERY = 2000
report = Path(os.environ["REPORT"])
counted = {"runs": 0, "frames": 0, "refused": 0}


def run(data: bytes) -> None:
    counted["runs"] += 1
    try:
        counted["frames"] += target.take_input(data)
    except BadFrame:
        counted["refused"] += 1
    if counted["runs"] % EVERY == 0:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        report.write_text(json.dumps({**counted, "peak": peak}))


for seed in target.seeds():  # what they load is not the time of the first input
    run(seed)
atheris.Setup(sys.argv, run)
atheris.Fuzz()
