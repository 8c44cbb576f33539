"""What a box that can open no file may still read of Python and its libraries: found here, used there.

Modules of the standard library and of the libraries on offer are handed out as
the code that this very interpreter made of them, and a few kinds of data.
Nothing of them runs here, and no other file can be asked for.
"""

import marshal
import re
import sysconfig
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any
from zoneinfo import TZPATH

from .wire.codec import Encoder
from .wire.importable import may_be_found
from .wire.limits import Limits

_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*){0,9}", re.ASCII)
_DATA = re.compile(
    r".*/(matplotlib/mpl-data|zoneinfo)/([A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,99}(?:/[A-Za-z0-9_+-][A-Za-z0-9_.+-]{0,99}){0,2})",
    re.ASCII,
)
_NAME_CHARS = 200  # a longer one the file system refuses to look up, as an error


def module(name: object, limits: Limits) -> tuple[dict[str, Any], list[bytes]]:
    """The reply that carries the module of that name; without code when there is none for the box.

    origin: its file; folder: where its own modules are, "" when it is no package.
    """
    encoder = Encoder(limits)
    if isinstance(name, str) and len(name) < _NAME_CHARS and _MODULE.fullmatch(name) and may_be_found(name):
        for place in ("stdlib", "purelib", "platlib"):
            path = Path(sysconfig.get_path(place), *name.split("."))
            for file, folder in ((path / "__init__.py", str(path)), (path.with_suffix(".py"), "")):
                if file.is_file():
                    try:
                        code = marshal.dumps(SourceFileLoader(name, str(file)).get_code(name))
                    except (SyntaxError, ValueError):  # the standard library has some for its own tests
                        return {"code": None}, []
                    return {"origin": str(file), "folder": folder, "code": encoder.value(code)}, encoder.blobs
            if name == "mpl_toolkits" and path.is_dir():  # a package without a module of its own
                code = marshal.dumps(compile("", str(path), "exec"))
                return {"origin": str(path), "folder": str(path), "code": encoder.value(code)}, encoder.blobs
    return {"code": None}, []


def data(path: object, limits: Limits) -> tuple[dict[str, Any], list[bytes]]:
    """The reply that carries a font or style of matplotlib, or a time zone; without content for any other path."""
    encoder = Encoder(limits)
    found = _DATA.fullmatch(path) if isinstance(path, str) else None
    if found is not None:
        kind, rest = found.groups()
        folders = TZPATH if kind == "zoneinfo" else [f"{sysconfig.get_path('platlib')}/{kind}"]
        for folder in folders:
            file = Path(folder, rest)
            if file.is_file():
                return {"content": encoder.value(file.read_bytes())}, encoder.blobs
    return {"content": None}, []
