"""What the code may import: told by the host, found by the box."""

import sys

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

# What the small Python of level 3 has.
OF_MONTY = (
    *("re", "json", "math", "datetime", "collections", "itertools", "functools", "random", "decimal", "csv"),
    *("hashlib", "base64", "copy", "dataclasses", "typing", "unicodedata", "time", "os", "pathlib"),
    "asyncio",
)


def may_be_found(name: str) -> bool:
    """Whether the module is of the standard library, of a library on offer, or of one below those."""
    top = name.partition(".")[0]
    return top in _FINDABLE or top in sys.stdlib_module_names or top.startswith("_sysconfigdata")
