"""The files to measure on, and what is known about them. The layout is in the package's docstring."""

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SECTIONS = ("html", "pdf", "office", "encodings", "misc")


@dataclass(frozen=True)
class Case:
    """One file. `truth` is empty where nothing is known."""

    path: str
    file: Path
    truth: dict[str, Any]

    @property
    def suite(self) -> str:
        return self.path.partition("/")[0]

    @property
    def kind(self) -> str:
        return str(self.truth.get("kind", ""))

    @property
    def url(self) -> str | None:
        return self.truth.get("url") or None


def cases(folder: Path, section: str, every: int = 1) -> list[Case]:
    """The files of a section; of each suite only one in `every`."""
    with (folder / section / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        suite = row["path"].partition("/")[0]
        seen[suite] = seen.get(suite, -1) + 1
        if seen[suite] % every == 0:
            truth = json.loads((folder / row["truth"]).read_text(encoding="utf-8")) if row["truth"] else {}
            found.append(Case(row["path"], folder / section / row["path"], truth))
    return found


def prescan_cases(folder: Path, made: Path) -> list[Case]:
    """html5lib's tests of the prescan, each written as a file into `made`."""
    found = []
    for data in sorted((folder / "encodings" / "html5lib").glob("*.dat")):
        for test in re.split(rb"(?m)^#data\n", data.read_bytes())[1:]:
            content, _, encoding = test.partition(b"\n#encoding\n")
            file = made / f"prescan-{len(found)}.html"
            file.write_bytes(content)
            label = encoding.split(b"\n")[0].decode("ascii").strip()
            found.append(Case(f"html5lib/{len(found)}", file, {"kind": "prescan", "encoding": label}))
    return found
