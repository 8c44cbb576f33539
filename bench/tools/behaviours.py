"""The live web's behaviours and the ways around the address rules, each a test over loopback: how many hold."""

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from bench.tools.table import Row

_ROOT = Path(__file__).resolve().parents[2]
_NASTY = "tests/unit/test_nasty_*.py"
_ADDRESSES = "tests/unit/test_fetch_addresses.py"
_LINE = re.compile(r"^(PASSED|FAILED|ERROR) (tests/\S+?)::(\w+)(.*)", re.MULTILINE)


def measure() -> list[Row]:
    """Behaviours of which every test holds, and refused notations and tricks."""
    files = [*sorted(map(str, _ROOT.glob(_NASTY))), str(_ROOT / _ADDRESSES)]
    line = [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rA", "-p", "no:xdist", *files]
    ran = subprocess.run(line, cwd=_ROOT, capture_output=True, text=True)
    behaviours: dict[int, bool] = defaultdict(lambda: True)
    held = {"notation": 0, "redirect": 0}
    tried = dict(held)
    for how, file, test, _ in _LINE.findall(ran.stdout):
        if number := re.match(r"test_(\d+)_", test):
            behaviours[int(number[1])] &= how == "PASSED"
        elif file == _ADDRESSES:
            kind = (
                "notation"
                if "notation" in test
                else "redirect"
                if re.search(r"redirect|name_th", test)
                else ""
            )
            if kind:
                tried[kind] += 1
                held[kind] += how == "PASSED"
    right = sum(behaviours.values())
    return [
        Row("nasty behaviours over loopback", "45 of 45", right, note=f"of {len(behaviours)}"),
        Row("private addresses in other notations, refused", "all of 40", held["notation"], note=f"of {tried['notation']}"),
        Row("redirects and rebinding, refused", "all of 10", held["redirect"], note=f"of {tried['redirect']}"),
    ]  # fmt: skip
