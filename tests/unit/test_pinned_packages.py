"""What is pinned must be installable where the README says that the app runs."""

import re
from importlib.metadata import PackageNotFoundError, metadata

from packaging.specifiers import SpecifierSet

from agent.settings import PROJECT

DEBIANS_PYTHON = "3.11.2"


def test_every_pinned_package_installs_on_debians_own_python() -> None:
    pinned = re.findall(r"^([\w.-]+)==", (PROJECT / "constraints.txt").read_text(), re.MULTILINE)
    wanted = {}
    for name in pinned:
        try:
            wanted[name] = metadata(name).get("Requires-Python") or ""
        except PackageNotFoundError:
            continue  # of an extra that is not installed here
    assert len(wanted) > 100
    assert {n: w for n, w in wanted.items() if DEBIANS_PYTHON not in SpecifierSet(w)} == {}
