"""PDF pages as a reader sees them: ruled tables as tables, the words around them in their order."""

import io
from collections.abc import Callable

import pypdfium2
import pytest
from fpdf import FPDF
from PIL import Image

from tools.documents import read_bytes
from tools.errors import Damaged
from tools.formats.pdfmended import mended_pdf_document
from tools.formats.source import Source
from tools.page import Document

ROWS = [
    ("City", "Country", "People in thousands"),
    ("Oslo", "Norway", "709"),
    ("Reykjavik and its many suburbs", "Iceland", "140"),
]


def drawn(draw: Callable[[FPDF], None]) -> bytes:
    made = FPDF()
    made.set_font("helvetica", size=11)
    made.add_page()
    draw(made)
    return bytes(made.output())


def table(made: FPDF, **options: object) -> None:
    made.multi_cell(0, text="Words before the table.\nMore of them.", new_x="LMARGIN", new_y="NEXT")
    with made.table(ROWS, width=100, **options) as _:
        pass
    made.multi_cell(0, text="Words after the table.", new_x="LMARGIN", new_y="NEXT")


def read(content: bytes) -> Document:
    return read_bytes(content, name="a.pdf")


def test_a_ruled_table_is_a_table_even_when_its_cells_take_several_lines() -> None:
    document = read(drawn(table))
    assert (
        "| City | Country | People in thousands |\n| --- | --- | --- |\n| Oslo | Norway | 709 |\n| Reykjavik and its many suburbs | Iceland | 140 |"
        in document.markdown
    )
    before, _, after = document.markdown.partition("| City")
    assert "Words before" in before
    assert "Words after" in after
    assert document.tables[0]["People in thousands"].sum() == 849


def test_a_table_on_a_page_that_is_shown_turned_is_still_a_table() -> None:
    def draw(made: FPDF) -> None:
        with made.rotation(90, x=100, y=100):
            table(made)

    pdf = pypdfium2.PdfDocument(drawn(draw))
    pdf[0].set_rotation(90)
    kept = io.BytesIO()
    pdf.save(kept)
    assert "| Oslo | Norway | 709 |" in read(kept.getvalue()).markdown


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_table_without_a_line_at_its_side_keeps_its_outer_column(side: str) -> None:
    def draw(made: FPDF) -> None:
        xs = [40, 80, 120] if side == "left" else [20, 60, 100]
        for row, cells in enumerate(
            [("Year", "North", "South"), ("2023", "11", "12"), ("2024", "21", "22"), ("2025", "31", "32")]
        ):
            for column, text in enumerate(cells):
                made.text(22 + 40 * column, 26 + 10 * row, text)
            made.line(20, 20 + 10 * row, 130, 20 + 10 * row)
        made.line(20, 60, 130, 60)
        for x in xs:
            made.line(x, 20, x, 60)

    assert "| 2024 | 21 | 22 |" in read(drawn(draw)).markdown


def test_words_in_a_box_are_no_table() -> None:
    def draw(made: FPDF) -> None:
        made.multi_cell(0, text="We look after the flagship of the initiative. " * 12)
        for at in range(4):
            made.rect(60 + at, 10 + 5 * at, 25, 5)

    assert "|" not in read(drawn(draw)).markdown


def test_two_columns_are_read_one_after_the_other() -> None:
    def draw(made: FPDF) -> None:
        with made.text_columns(ncols=2, gutter=10) as columns:
            for number in range(40):
                columns.write(text=f"Sentence {number} of a story that goes on. ")

    words = read(drawn(draw)).markdown.replace("\n", " ")
    places = [words.index(f"Sentence {number} ") for number in range(40)]
    assert places == sorted(places)


def test_a_broken_pdf_of_pictures_is_said_to_be_a_scan_and_one_that_lost_its_pages_to_have_none() -> None:
    scan = drawn(lambda made: made.image(Image.new("RGB", (30, 30), "red"), 10, 10))
    broken = read(scan.replace(b"/Pages", b"/Lost_"))
    assert "only pictures on its 1 page" in broken.markdown
    assert "damaged" in broken.note
    lost = read(b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF")
    assert "no pages" in lost.markdown
    assert "damaged" in lost.note
    with pytest.raises(Damaged):
        read(b"%PDF-1.4\nnothing of it came")


def test_a_pdf_that_only_the_second_reader_opens_is_still_read() -> None:
    document = mended_pdf_document(Source(drawn(lambda made: made.text(20, 20, "Voyager"))))
    assert document.markdown == "[page 1]\nVoyager"
