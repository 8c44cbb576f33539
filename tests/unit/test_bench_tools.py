"""The bench of the file readers: a folder of files is measured as its truths say, by whatever converter."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.tools import behaviours, made
from bench.tools.__main__ import main
from bench.tools.corpus import Case, cases
from bench.tools.driven import Outcome, convert
from bench.tools.ooxml import recalls
from bench.tools.scores import scores
from bench.tools.sections import SECTIONS, Section
from bench.tools.table import Row, save
from tests.office_files import WORD, para, word


def outcome(kind: str, came: str, suite: str = "suite", **truth: object) -> Outcome:
    return Outcome(Case(f"{suite}/file", Path("file"), {"kind": kind, **truth}), "", 0.1, 0.1, 0, 10, came)


def corpus(folder: Path, section: str, files: dict[str, tuple[bytes, dict[str, object] | None]]) -> Path:
    lines = ["path\ttruth"]
    for number, (name, (content, truth)) in enumerate(files.items()):
        place = folder / section / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        if truth:
            (folder / f"{section}-{number}.json").write_text(json.dumps(truth))
        lines.append(f"{name}\t{f'{section}-{number}.json' if truth else ''}")
    (folder / section / "MANIFEST.tsv").write_text("\n".join(lines))
    return folder


def test_scores_count_words_snippets_cells_and_rows() -> None:
    found = scores(
        [
            outcome("article", "# One\n\ntwo [three](https://x.example/four)", text="one two three four"),
            outcome("snippets", "wanted words, a menu", "other", **{"with": ["Wanted words", "not there"], "without": ["menu"]}),
            outcome("table", "| a | b |\n| c | x |\n| d |", "rows", rows=[["a", "b"], ["c", "d"]], rowspan=True),
            outcome("decode", "straße über alles in der welt", "text", text="Straße über alles in der Welt"),
            outcome("prescan", "windows-1252", "html5lib", encoding="iso-8859-1"),
        ]
    )  # fmt: skip
    assert found["suite", "recall"] == 0.75
    assert found["suite", "F1"] == pytest.approx(6 / 7)
    assert (found["other", "wanted"], found["other", "boilerplate kept"]) == (0.5, 1)
    assert (found["rows", "cells (rowspan)"], found["rows", "rows (rowspan)"]) == (1, 0.5)
    assert found["text", "decoded"] == found["html5lib", "right"] == 1


def test_a_files_own_words_are_looked_for_part_by_part(tmp_path: Path) -> None:
    file = tmp_path / "a.docx"
    header = f"<w:hdr {WORD}>{para('one two three four')}</w:hdr>"
    file.write_bytes(word(para("five six seven eight"), {"word/header1.xml": header}))
    read = Outcome(Case("s/a.docx", file, {}), "", 0, 0, 0, 1, "five six seven eight one two")
    assert recalls([read]) == {("docx", "body"): 1, ("docx", "headers"): 0.5}


def test_one_file_in_n_of_each_suite_is_taken(tmp_path: Path) -> None:
    files: dict[str, tuple[bytes, dict[str, object] | None]] = {
        f"{suite}/{n}.txt": (b"x", None) for suite in ("a", "b") for n in range(5)
    }
    found = cases(corpus(tmp_path, "misc", files), "misc", every=3)
    assert [case.path for case in found] == ["a/0.txt", "a/3.txt", "b/0.txt", "b/3.txt"]


@pytest.mark.slow
def test_a_converter_that_fails_hangs_or_crashes_costs_only_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its answer is the error, "timeout" or "crash", and the next file is read by a new process."""
    program = tmp_path / "converters.py"
    program.write_text(
        "import json, os, sys, time\nfrom pathlib import Path\nprint('{}', flush=True)\n"
        "for line in sys.stdin:\n    asked = json.loads(line)\n    what = Path(asked['path']).read_text()\n"
        "    if what == 'hang': time.sleep(60)\n    if what == 'crash': os._exit(3)\n"
        "    print('a warning', file=sys.stderr)\n    Path(asked['out']).write_text(what.upper())\n"
        "    print(json.dumps({'error': 'ValueError' if what == 'fail' else ''}), flush=True)\n"
    )
    monkeypatch.setattr("bench.tools.driven._PROGRAM", program)
    monkeypatch.setattr("bench.tools.driven.LIMIT_SECONDS", 1.0)
    asked = []
    for what in ("hang", "crash", "fail", "fine"):
        (tmp_path / what).write_text(what)
        asked.append(Case(what, tmp_path / what, {}))
    outcomes, said = convert("any", sys.executable, asked, tmp_path)
    assert [each.error for each in outcomes] == ["timeout", "crash", "ValueError", ""]
    assert (outcomes[-1].text, said) == ("FINE", 2)


@pytest.mark.slow
def test_a_folder_is_measured_and_the_figures_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (
        b"<meta charset=utf-8><title>Orme</title><article><p>The Orme is a river in the hills.</p></article>"
    )
    text = "The Orme is a river in the hills."
    folder = corpus(tmp_path, "html", {"zyte/a.html": (page, {"kind": "article", "text": text})})
    monkeypatch.setenv("CORPUS_DIR", str(folder))
    monkeypatch.setattr("bench.tools.__main__.RESULTS", tmp_path / "tools.json")
    monkeypatch.setitem(SECTIONS, "html", _only(SECTIONS["html"]))
    assert main(["html"]) == 0
    rows = {row["name"]: row for row in json.loads((tmp_path / "tools.json").read_text())["html"]["rows"]}
    assert rows["zyte F1"]["ours"] == rows["zyte recall"]["ours"] == 1
    assert rows["zyte F1"]["best peer"] == "markdownify"
    assert rows["files that fail"]["ours"] == rows["lines printed"]["ours"] == 0
    assert "Web pages" in capsys.readouterr().out
    assert "| zyte F1 | .95 | 1 | 0.941 (markdownify) |" in (tmp_path / "tools.md").read_text()


def test_a_section_without_its_files_is_said_and_nothing_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("CORPUS_DIR", raising=False)
    with pytest.raises(SystemExit):
        main(["pdf"])
    assert "needs CORPUS_DIR" in capsys.readouterr().err


def test_the_best_peer_is_the_one_that_errs_least_or_finds_most(tmp_path: Path) -> None:
    fails = Row("fails", "0", 2, {"a": 4, "b": 8})
    found = Row("found", ".9", 0.9, {"a": 0.6, "b": 0.5}, more=True)
    assert (fails.best, fails.ratio) == (("a", 4), 0.5)
    assert (found.best, found.ratio) == (("a", 0.6), pytest.approx(1.5))
    save("one", [fails], path=tmp_path / "t.json")
    save("two", [found], every=5, path=tmp_path / "t.json")
    kept = json.loads((tmp_path / "t.json").read_text())
    assert kept["one"]["rows"][0]["best peer"] == "a"
    assert kept["two"]["only one file in"] == 5


@pytest.mark.slow
def test_deep_and_long_pages_and_the_live_webs_behaviours_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(made, "_MB", 20_000)
    assert [row.ours > 0 for row in made.measure()] == [True] * 3
    monkeypatch.setattr(behaviours, "_NASTY", "tests/unit/test_nasty_types.py")
    right, notations, tricks = behaviours.measure()
    assert right.ours >= 4 and notations.ours >= 40 and tricks.ours >= 10


def _only(section: Section) -> Section:
    return replace(section, ours=("ours", "ours, whole page"), peers=("markdownify",))
