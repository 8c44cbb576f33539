"""What a child is started with: its environment, the code that receives its modules, the modules."""

import base64
import json
import marshal
from collections.abc import Sequence
from functools import cache
from pathlib import Path

_MODULES = tuple(
    """
    limits frames records arrays times codec channel printed figures libraries traces
    landlock seccomp lock scratch folder files tool_function
    monty_values monty_errors monty_worker worker
    """.split()
)
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
package = sys.modules["box"] = types.ModuleType("box")
package.__path__ = []
start = json.loads(take(int(take(10))))
os.environ.update(start["environment"])
for name, code in start["modules"].items():
    module = sys.modules["box." + name] = types.ModuleType("box." + name)
    module.__package__ = "box"
    setattr(package, name, module)
    code = marshal.loads(base64.b64decode(code)) if start["compiled"] else compile(code, "<box." + name + ">", "exec")
    exec(code, module.__dict__)
sys.modules["box.worker"].main(start["preload"])
"""


def start(preload: Sequence[str], *, compiled: bool) -> bytes:
    """What a child reads first. compiled: it runs this very interpreter, so it is sent code and needs no compiler."""
    told = {
        "modules": _modules(compiled),
        "compiled": compiled,
        "preload": preload,
        "environment": ENVIRONMENT,
    }
    text = json.dumps(told).encode()
    return b"%010d" % len(text) + text


@cache
def _modules(compiled: bool) -> dict[str, str]:
    folder = Path(__file__).parent
    sources = {name: (folder / f"{name}.py").read_text("utf-8") for name in _MODULES}
    if not compiled:
        return sources
    codes = {name: compile(source, f"<box.{name}>", "exec") for name, source in sources.items()}
    return {name: base64.b64encode(marshal.dumps(code)).decode() for name, code in codes.items()}
