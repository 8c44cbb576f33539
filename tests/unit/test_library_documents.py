"""The sample library is what the offline default searches, and its questions are what the page shows off."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pypdfium2
import pytest
from bs4 import BeautifulSoup
from openpyxl import load_workbook

PROJECT = Path(__file__).parents[2]
LIBRARY = PROJECT / "library"
DOCUMENTS = sorted(path for path in LIBRARY.rglob("*") if path.is_file())
QUESTIONS = [json.loads(line) for line in (PROJECT / "evals/library_questions.jsonl").open(encoding="utf-8")]


def name(document: Path) -> str:
    return document.relative_to(LIBRARY).as_posix()


def sheets(document: Path) -> dict[str, list[tuple[object, ...]]]:
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in load_workbook(document)}


def text(document: Path) -> str:
    match document.suffix:
        case ".pdf":
            pages = pypdfium2.PdfDocument(document)
            return " ".join(" ".join(page.get_textpage().get_text_range() for page in pages).split())
        case ".xlsx":
            return "\n".join(str(row) for rows in sheets(document).values() for row in rows)
        case ".html":
            return BeautifulSoup(document.read_text("utf-8"), "lxml").main.get_text(" ")
        case ".csv":
            return document.read_text("utf-8").replace(",", " | ")
        case _:
            return document.read_text("utf-8")


def title(document: Path) -> str:
    match document.suffix:
        case ".pdf":
            return pypdfium2.PdfDocument(document).get_metadata_value("Title")
        case ".xlsx":
            return load_workbook(document).properties.title or ""
        case ".html":
            page = BeautifulSoup(document.read_text("utf-8"), "lxml")
            assert page.title.string == page.main.h1.string
            return page.main.h1.string
        case ".md":
            return document.read_text("utf-8").splitlines()[0].removeprefix("# ")
        case _:
            return document.stem


def links(document: Path) -> set[str]:
    """The relative links of a Markdown or HTML document."""
    source = document.read_text("utf-8")
    if document.suffix == ".html":
        found = [a["href"] for a in BeautifulSoup(source, "lxml").find_all("a", href=True)]
    else:
        found = re.findall(r"\]\(([^)\s]+)\)", source)
    return {link for link in found if not link.startswith(("https://", "#"))}


def table(document: str, first_column: str) -> dict[str, dict[str, str]]:
    """The rows of the table whose first column has this heading, by their first cell."""
    page = BeautifulSoup((LIBRARY / document).read_text("utf-8"), "lxml")
    for found in page.main.find_all("table"):
        heads, *rows = [
            [cell.get_text() for cell in row.find_all(["th", "td"])] for row in found.find_all("tr")
        ]
        if heads[0] == first_column:
            return {row[0]: dict(zip(heads, row, strict=True)) for row in rows}
    raise AssertionError(f"{document} has no table of {first_column}")


@pytest.mark.parametrize(
    "document", [path for path in DOCUMENTS if path.suffix in {".md", ".html"}], ids=name
)
def test_no_link_leads_out_of_the_library_or_nowhere(document: Path) -> None:
    assert len(links(document)) >= 2
    for link in links(document):
        assert (document.parent / link).resolve() in DOCUMENTS, f"{name(document)} links to {link}"


def test_the_index_lists_every_document() -> None:
    listed = {(LIBRARY / link).resolve() for link in links(LIBRARY / "index.md")}
    assert listed == set(DOCUMENTS) - {LIBRARY / "index.md"}


def test_each_document_has_a_title_of_its_own() -> None:
    titles = [title(document) for document in DOCUMENTS]
    assert all(titles)
    assert len(set(titles)) == len(titles) >= 40


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_no_document_is_empty_or_long(document: Path) -> None:
    assert 100 <= len(text(document).split()) <= 700


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question["id"])
def test_a_question_names_documents_in_which_its_answer_stands(question: dict) -> None:
    texts = [text(LIBRARY / document) for document in question["documents"]]
    assert len(texts) == (2 if question["kind"] == "two documents" else 1)
    if question["kind"] == "single":
        said = [question["answer"], *question["accept"]]
        assert any(re.search(rf"(?<!\w)(?<!\d,){re.escape(answer)}(?!\w|,\d)", texts[0]) for answer in said)


def test_there_are_twelve_questions_and_four_of_them_are_shown_as_examples() -> None:
    assert len({question["id"] for question in QUESTIONS}) == 12
    examples = [question["kind"] for question in QUESTIONS if question["example"]]
    assert len(examples) == 4
    assert set(examples) == {"single", "two documents", "table"}


def test_the_computed_answers_follow_from_the_tables() -> None:
    answers = {question["id"]: question["answer"] for question in QUESTIONS}
    bridges = table("engineering/bridges.html", "Bridge")
    canals = table("engineering/canals.html", "Canal")
    samples = table("space/apollo.html", "Mission")
    opened = int(bridges["Golden Gate Bridge"]["Opened"]) - int(bridges["Brooklyn Bridge"]["Opened"])
    kilograms = sum(float(samples[f"Apollo {n}"]["Samples brought back (kg)"]) for n in (15, 16, 17))
    assert int(canals["Suez Canal"]["Opened"]) < int(bridges["Brooklyn Bridge"]["Opened"])
    assert answers["suez-or-brooklyn"] == "Suez Canal"
    assert answers["golden-gate-after-brooklyn"] == str(opened)
    assert answers["apollo-samples"] == f"{kilograms:.1f}"


def test_a_planet_has_the_same_diameter_on_its_page_and_in_the_overview() -> None:
    pages = {
        "Uranus": "space/uranus-and-neptune.md",
        "Neptune": "space/uranus-and-neptune.md",
        **{
            planet: f"space/{planet.lower()}.md"
            for planet in ("Mercury", "Venus", "Mars", "Jupiter", "Saturn")
        },
    }
    overview = table("space/solar-system.html", "Planet")
    for planet, page in pages.items():
        diameter = overview[planet]["Diameter (km)"]
        assert f"{planet} has a diameter of {diameter} km" in text(LIBRARY / page)


def test_the_pdfs_and_spreadsheets_are_made_from_their_sources(tmp_path: Path) -> None:
    for folder in ("once", "again"):
        made = [sys.executable, PROJECT / "scripts/make_library.py", tmp_path / folder]
        subprocess.run(made, check=True, timeout=30)
    binaries = [document for document in DOCUMENTS if document.suffix in {".pdf", ".xlsx"}]
    assert len(binaries) == 4
    for document in binaries:
        once, again = (tmp_path / folder / name(document) for folder in ("once", "again"))
        assert once.read_bytes() == again.read_bytes()
        assert text(once) == text(document)


def test_the_pdfs_have_a_second_page_and_one_spreadsheet_a_second_sheet() -> None:
    for document in DOCUMENTS:
        if document.suffix == ".pdf":
            assert len(pypdfium2.PdfDocument(document)) >= 2
    assert list(sheets(LIBRARY / "earth/capitals.xlsx")) == ["Capitals", "Moved capitals"]
    assert list(sheets(LIBRARY / "science/elements.xlsx")) == ["Elements"]
