"""What each section of the corpus is converted with, and the rows that come of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.tools.corpus import Case, cases, prescan_cases
from bench.tools.driven import Outcome
from bench.tools.ooxml import recalls
from bench.tools.scores import Scores, scores
from bench.tools.table import Row

OURS, WHOLE = "ours", "ours, whole page"
LIBRARIES = "any library"
OVER_SECONDS = 10.0


@dataclass(frozen=True)
class Converted:
    """What one converter made of a section."""

    outcomes: Sequence[Outcome]
    said: int

    @property
    def failed(self) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.error]

    @property
    def cpu_a_megabyte(self) -> float:
        return sum(each.cpu for each in self.outcomes) / (sum(each.size for each in self.outcomes) / 1e6)

    @property
    def slowest(self) -> float:
        return max(each.seconds for each in self.outcomes)

    @property
    def largest(self) -> float:
        """The most memory seen in one process, MB."""
        return max(each.memory for each in self.outcomes) / 1e6


Made = dict[str, Converted]


@dataclass(frozen=True)
class Section:
    """`ours` and `peers` are names of converters."""

    title: str
    ours: Sequence[str]
    peers: Sequence[str]
    rows: Callable[[Made], list[Row]]
    cases: Callable[[Path, Path, int], list[Case]]


def _of(name: str) -> Callable[[Path, Path, int], list[Case]]:
    return lambda folder, made, every: cases(folder, name, every)


def _peers(made: Made) -> dict[str, Converted]:
    return {name: each for name, each in made.items() if not name.startswith("ours") and name != LIBRARIES}


def _common(made: Made, asked_fails: str, asked_cpu: str) -> list[Row]:
    peers, ours = _peers(made), made[OURS]
    return [
        Row("files that fail", asked_fails, len(ours.failed), {n: len(p.failed) for n, p in peers.items()},
            note=f"of {len(ours.outcomes)}"),
        Row("CPU a MB", asked_cpu, ours.cpu_a_megabyte, {n: p.cpu_a_megabyte for n, p in peers.items()}, unit="s"),
        Row("the slowest file", "10 s", ours.slowest, {n: p.slowest for n, p in peers.items()}, unit="s"),
        Row("most memory", "1,000 MB", ours.largest, {n: p.largest for n, p in peers.items()}, unit="MB"),
    ]  # fmt: skip


def _scored(
    made: Made, wanted: Sequence[tuple[str, str, str]], of: Callable[[Sequence[Outcome]], Scores], ours: str
) -> list[Row]:
    """A row for each (suite, measure, what is asked) that was measured."""
    found = {name: of(each.outcomes) for name, each in _peers(made).items()}
    own = of(made[ours].outcomes)
    return [
        Row(
            f"{suite} {measure}",
            asked,
            own[suite, measure],
            {name: each[suite, measure] for name, each in found.items() if (suite, measure) in each},
            more=measure != "boilerplate kept",
        )
        for suite, measure, asked in wanted
        if (suite, measure) in own
    ]


def html_rows(made: Made) -> list[Row]:
    main = [("zyte", "F1", ".95"), ("zyte", "recall", ".985"), ("readability", "F1", ".93"), ("readability", "recall", ".98"),
            ("trafilatura", "wanted", ".97"), ("trafilatura", "boilerplate kept", ".20"), ("newspaper", "F1", ""), ("docling", "recall", ""),
            ("wikitables", "rows (plain)", ".98"), ("wikitables", "rows (rowspan)", ".95")]  # fmt: skip
    whole = [("trafilatura", "wanted", ".995"), ("wikitables", "rows (plain)", ".98"), ("wikitables", "rows (rowspan)", ".95")]  # fmt: skip
    said = Row("lines printed", "0", made[OURS].said + made[WHOLE].said)
    whole_cpu = made[WHOLE].cpu_a_megabyte
    compared = {name: each.cpu_a_megabyte for name, each in _peers(made).items() if name in ("markdownify", "markitdown")}  # fmt: skip
    return [
        *_common(made, "0", ".08"),
        said,
        *_scored(made, main, scores, OURS),
        Row("whole page: CPU a MB", ".20", whole_cpu, compared, unit="s"),
        *(Row(f"whole page: {row.name}", row.aim, row.ours, row.peers, more=True) for row in _scored(made, whole, scores, WHOLE)),
    ]  # fmt: skip


def pdf_rows(made: Made) -> list[Row]:
    wanted = [("icdar2013", "cells", ".99"), ("icdar2013", "rows", ".85"), ("tabula", "cells", ""), ("tabula", "rows", ".85"),
              ("docling", "F1", ""), ("markitdown", "F1", "")]  # fmt: skip
    nobody = set.intersection(
        *({each.case.path for each in converted.failed} for converted in _peers(made).values())
    )
    asked = f"≤ {len(nobody)}, those no peer opens"
    return [*_common(made, asked, ".08"), *_scored(made, wanted, scores, OURS)]  # fmt: skip


def office_rows(made: Made) -> list[Row]:
    opened = {each.case.path for each in made[LIBRARIES].outcomes if not each.error}
    opened |= {each.case.path for peer in _peers(made).values() for each in peer.outcomes if not each.error}
    missed = [each for each in made[OURS].failed if each.case.path in opened]
    peers = {
        name: sum(each.case.path in opened for each in peer.failed) for name, peer in _peers(made).items()
    }
    wanted = [("docx", "body", ".98"), ("docx", "headers", ".95"), ("docx", "comments", ".95"), ("docx", "notes", ""), ("docx", "diagrams", ""),
              ("xlsx", "body", ".98"), ("xlsx", "comments", ".95"), ("xlsx", "drawings", ""), ("pptx", "body", ".97"), ("pptx", "notes", ""),
              ("pptx", "comments", ".95"), ("pptx", "diagrams", "")]  # fmt: skip
    rows = _common(made, "", "")
    rows.insert(
        1, Row("… of those that some library opens", "0", len(missed), peers, note=f"of {len(opened)}")
    )
    return [
        *rows,
        *_scored(made, wanted, recalls, OURS),
        *_scored(made, [("docling", "F1", "")], scores, OURS),
    ]


def encoding_rows(made: Made) -> list[Row]:
    return _scored(made, [("chardet", "decoded", ".97")], scores, "ours, decoding")


def prescan_rows(made: Made) -> list[Row]:
    return _scored(made, [("html5lib", "right", "all of 40")], scores, "ours, prescan")


def misc_rows(made: Made) -> list[Row]:
    return [*_common(made, "", ""), *_scored(made, [("docling", "F1", "")], scores, OURS)]


SECTIONS = {
    "html": Section(
        "Web pages", (OURS, WHOLE),
        ("resiliparse", "trafilatura", "readability-lxml", "html-to-markdown", "html2text", "markdownify", "markitdown"),
        html_rows, _of("html"),
    ),
    "pdf": Section("PDF", (OURS,), ("pypdfium2", "pdfminer.six", "pypdf", "pdfplumber", "markitdown"), pdf_rows, _of("pdf")),
    "office": Section("Office files", (OURS,), ("markitdown", LIBRARIES), office_rows, _of("office")),
    "encodings": Section(
        "Legacy charsets", ("ours, decoding",), ("charset-normalizer", "chardet", "UnicodeDammit"),
        encoding_rows, _of("encodings"),
    ),
    "prescan": Section(
        "The prescan for a charset", ("ours, prescan",), ("html5lib",), prescan_rows,
        lambda folder, made, every: prescan_cases(folder, made),
    ),
    "misc": Section("Other files", (OURS,), ("markitdown",), misc_rows, _of("misc")),
}  # fmt: skip
