"""The libraries that the code may import, and what some of them need where nothing can be written.

Not a wall: the lock is that. A library that is not for the code is simply not
found, so that its import fails at once and says what there is.
"""

import importlib.util
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

OFFERED = (
    *("numpy", "pandas", "scipy", "sympy", "networkx", "matplotlib", "PIL", "openpyxl", "dateutil"),
    *("bs4", "lxml"),
)
# What those import themselves.
_BELOW = (
    *("mpmath", "mpl_toolkits", "contourpy", "cycler", "kiwisolver", "pyparsing", "packaging", "fontTools"),
    *("et_xmlfile", "soupsieve", "typing_extensions", "six", "pytz", "tzdata", "pylab"),
    "pydantic_monty",  # for a box of level 3 itself; its code sees no module of this interpreter
)
_FINDABLE = frozenset((*OFFERED, *_BELOW))
# A library's own BLAS, loaded inside the lock, would start threads, and ends the step when it cannot.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

AfterImport = Callable[[ModuleType], None]


class Libraries(PathFinder):
    """Takes the place of the finder of files: finds the standard library and the libraries on offer."""

    def __init__(self, after: dict[str, AfterImport]) -> None:
        """`after`: what to do with a module, by its name, once it is imported."""
        self._after = {"matplotlib": _without_config, **after}

    def find_spec(  # type: ignore[override]  # the base's is a class method
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None and not _may_be_found(name):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and (name in self._after or name == "openpyxl"):
            self._prepare(name, spec)
        return spec

    def _prepare(self, name: str, spec: ModuleSpec) -> None:
        """Let the module be run in an environment of its own, and be finished by its `after`."""
        loader: Any = spec.loader
        run, environment = loader.exec_module, _environment(name, str(spec.origin))

        def finished(module: ModuleType) -> None:
            os.environ.update(environment)
            try:
                run(module)
            finally:
                for variable in environment:
                    os.environ.pop(variable, None)
            if name in self._after:
                self._after[name](module)

        loader.exec_module = finished


def install(after: dict[str, AfterImport]) -> None:
    """Find modules by `Libraries` from now on."""
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, Libraries(after)]


def hide_environment() -> None:
    """Empty the environment, but for what keeps the libraries to one thread, which only C code sees."""
    os.environ.clear()
    for variable in _ONE_THREAD:
        os.putenv(variable, "1")  # not through os.environ, where the code would find it


def offered() -> list[str]:
    """The libraries that can be imported here."""
    return [name for name in OFFERED if name in sys.modules or importlib.util.find_spec(name)]


def _may_be_found(name: str) -> bool:
    top = name.partition(".")[0]
    return top in _FINDABLE or top in sys.stdlib_module_names or top.startswith("_sysconfigdata")


def _environment(name: str, origin: str) -> dict[str, str]:
    if name == "openpyxl":
        return {"OPENPYXL_LXML": "False"}  # lxml would write sheets past `open`
    if name == "matplotlib":
        folder = os.path.dirname(origin)  # noqa: PTH120 - a leaf of the box, without pathlib
        return {"MPLBACKEND": "Agg", "MATPLOTLIBRC": f"{folder}/mpl-data/matplotlibrc"}
    return {}


def _without_config(matplotlib: ModuleType) -> None:
    """matplotlib without a folder of its own: it lists its fonts anew in each session, in about 0.2 s."""
    nowhere = tempfile.gettempprefix()  # a relative name that is not there
    matplotlib._get_config_or_cache_dir = lambda base: nowhere  # type: ignore[attr-defined]
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
