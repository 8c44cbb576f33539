"""What a child is started with: its environment, the code that receives its modules, the modules."""

import base64
import json
import marshal
from collections.abc import Sequence
from functools import cache
from pathlib import Path

# In the order of what they import of each other, which is from below and their own room only.
_HERE = Path(__file__).parent
_MODULES = {
    f"{room}.{name}": folder / f"{name}.py"
    for room, folder, names in (
        ("box.wire", _HERE / "wire", "limits frames hashing records arrays times codec importable"),
        ("lock", _HERE.parents[1] / "lock", "landlock seccomp process"),
        ("box.inside", _HERE / "inside", "channel printed figures libraries traces scratch folder files "
         "tool_function monty_values monty_errors monty_worker worker forkserver"),
    )
    for name in names.split()
}  # fmt: skip
ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
}
BOOTSTRAP = """
import base64, gc, json, marshal, os, sys, types
gc.disable()
def take(size):
    data = b""
    while len(data) < size:
        piece = os.read(0, size - len(data))
        if not piece: os._exit(0)
        data += piece
    return data
def made(name, **attributes):
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__.update(attributes)
    above, _, own = name.rpartition(".")
    if above: setattr(sys.modules[above], own, module)
    return module
for room in ("box", "box.wire", "box.inside", "lock"):
    made(room, __path__=[])
start = json.loads(take(int(take(10))))
os.environ.update(start["environment"])
for name, code in start["modules"].items():
    module = made(name, __package__=name.rpartition(".")[0])
    code = marshal.loads(base64.b64decode(code)) if start["compiled"] else compile(code, "<" + name + ">", "exec")
    exec(code, module.__dict__)
sys.modules["box.inside." + start["main"]].main(start["preload"])
"""


def start(preload: Sequence[str], *, compiled: bool, forks: bool = False) -> bytes:
    """What a child reads first. compiled: it runs this very interpreter, so it is sent code and needs no compiler.

    forks: it becomes a server that forks boxes of itself, instead of a box.
    """
    told = {
        "modules": _modules(compiled),
        "compiled": compiled,
        "preload": preload,
        "main": "forkserver" if forks else "worker",
        "environment": ENVIRONMENT,
    }
    text = json.dumps(told).encode()
    return b"%010d" % len(text) + text


@cache
def _modules(compiled: bool) -> dict[str, str]:
    sources = {name: file.read_text("utf-8") for name, file in _MODULES.items()}
    if not compiled:
        return sources
    codes = {name: compile(source, f"<{name}>", "exec") for name, source in sources.items()}
    return {name: base64.b64encode(marshal.dumps(code)).decode() for name, code in codes.items()}
