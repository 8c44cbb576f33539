"""The libraries that the code may import, and what some of them need where nothing can be written.

Not a wall: the lock is that. A library that is not for the code is simply not
found, so that its import fails at once and says what there is.
"""

import importlib.util
import logging
import marshal
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from ..wire.importable import OFFERED, may_be_found

_NEEDS_FILES = ("scipy",)  # half of it is no Python
# A library's own BLAS, loaded inside the lock, would start threads, and ends the step when it cannot.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")

AfterImport = Callable[[ModuleType], None]
# From a module's name: its file, its folder when it is a package, its code; None when there is none.
Ask = Callable[[str], tuple[str, str, bytes] | None]


class SentLoader:
    """Runs a module whose code the host has sent."""

    def __init__(self, code: bytes) -> None:
        self._code = code

    def create_module(self, spec: ModuleSpec) -> None:
        """An ordinary module will do."""

    def exec_module(self, module: ModuleType) -> None:
        exec(marshal.loads(self._code), module.__dict__)  # noqa: S102, S302 - the host sent it


class Libraries(PathFinder):
    """Takes the place of the finder of files: finds the standard library and the libraries on offer."""

    def __init__(self, after: dict[str, AfterImport]) -> None:
        """`after`: what to do with a module, by its name, once it is imported."""
        self._after = {
            "matplotlib": _without_config,
            "matplotlib._afm": _without_metrics,
            "matplotlib.font_manager": _with_metrics,
            "mimetypes": _without_system_types,
            **after,
        }
        self.ask: Ask | None = None
        """Gives a module where no file can be opened; None: modules are read from their files."""

    def find_spec(  # type: ignore[override]  # the base's is a class method
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if path is None and not may_be_found(name):
            return None
        if self.ask is None:
            spec = PathFinder.find_spec(name, path, target)
        else:
            spec = None if name in _NEEDS_FILES else _sent(name, self.ask(name))
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


def install(after: dict[str, AfterImport]) -> Libraries:
    """Find modules by a `Libraries` from now on."""
    libraries = Libraries(after)
    for name in after.keys() & sys.modules.keys():
        after[name](sys.modules[name])
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, libraries]
    return libraries


def hide_environment() -> None:
    """Empty the environment, but for what keeps the libraries to one thread, which only C code sees."""
    os.environ.clear()
    for variable in _ONE_THREAD:
        os.putenv(variable, "1")  # not through os.environ, where the code would find it


def offered() -> list[str]:
    """The libraries that can be imported here."""
    return [name for name in OFFERED if name in sys.modules or importlib.util.find_spec(name)]


def _sent(name: str, book: tuple[str, str, bytes] | None) -> ModuleSpec | None:
    if book is None:
        return None
    origin, folder, code = book
    loader: Any = SentLoader(code)
    spec = ModuleSpec(name, loader, origin=origin, is_package=bool(folder))
    if folder:
        spec.submodule_search_locations = [folder]
    spec.has_location = True
    return spec


def _environment(name: str, origin: str) -> dict[str, str]:
    if name == "openpyxl":
        return {"OPENPYXL_LXML": "False"}  # lxml would write sheets past `open`
    if name == "matplotlib.font_manager":
        return {"PATH": "/nowhere"}  # where it would look for a program that lists the system's fonts
    if name == "matplotlib":
        folder = os.path.dirname(origin)  # noqa: PTH120 - a leaf of the box, without pathlib
        return {"MPLBACKEND": "Agg", "MATPLOTLIBRC": f"{folder}/mpl-data/matplotlibrc"}
    return {}


def _without_config(matplotlib: ModuleType) -> None:
    """matplotlib without a folder of its own: it lists its fonts anew in each session."""
    matplotlib._get_config_or_cache_dir = lambda base: "/nowhere"  # type: ignore[attr-defined]
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)


def _without_metrics(afm: Any) -> None:
    """matplotlib lists its fonts in 0.02 s without those of PostScript, which take 0.2 s and draw no PNG."""
    afm.metrics, afm.AFM = afm.AFM, _unread


def _with_metrics(font_manager: Any) -> None:
    font_manager._afm.AFM = font_manager._afm.metrics


def _unread(file: object) -> None:
    raise OSError("not read")


def _without_system_types(mimetypes: Any) -> None:
    """mimetypes with its own table: the system's may not be readable."""
    mimetypes.knownfiles = []
