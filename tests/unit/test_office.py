"""Word, Excel and PowerPoint files: everything that a question could ask for comes out, in its place."""

import io
import zipfile
from datetime import date, datetime

import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.styles import PatternFill

from tests.office_files import SHEET, WORD, para, relations, shape, slides, word, zipped
from tools.documents import read_bytes
from tools.errors import DocumentError
from tools.page import Document

CHART = (
    "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:chart><c:title><a:p><a:r><a:t>Rain</a:t></a:r></a:p></c:title><c:ser>"
    "<c:tx><c:v>mm</c:v></c:tx><c:cat><c:pt idx='0'><c:v>May</c:v></c:pt><c:pt idx='1'><c:v>June</c:v></c:pt></c:cat>"
    "<c:val><c:pt idx='0'><c:v>12</c:v></c:pt><c:pt idx='1'><c:v>7</c:v></c:pt></c:val></c:ser></c:chart></c:chartSpace>"
)
DIAGRAM = "<dgm:x xmlns:dgm='d' xmlns:a='a'><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:x>"


def docx(body: str, parts: dict[str, str | bytes] | None = None, **targets: str) -> Document:
    return read_bytes(word(body, parts, **targets), name="a.docx")


def saved(book: openpyxl.Workbook) -> bytes:
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def test_headings_and_lists_of_word_keep_their_labels() -> None:
    styles = f"<w:styles {WORD}><w:style w:styleId='H'><w:name w:val='heading 2'/></w:style><w:style w:styleId='Mine'><w:basedOn w:val='H'/></w:style></w:styles>"
    numbers = (
        f"<w:numbering {WORD}><w:abstractNum w:abstractNumId='0'><w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.'/></w:lvl>"
        "<w:lvl w:ilvl='1'><w:numFmt w:val='lowerRoman'/><w:lvlText w:val='%1.%2)'/></w:lvl></w:abstractNum><w:num w:numId='7'><w:abstractNumId w:val='0'/></w:num></w:numbering>"
    )

    def item(text: str, level: int = 0) -> str:
        return para(text, f"<w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='7'/></w:numPr>")

    body = (
        para("Aims", "<w:pStyle w:val='Mine'/>")
        + item("one")
        + item("deep", 1)
        + item("deeper", 1)
        + item("two")
    )
    shown = docx(body, {"word/styles.xml": styles, "word/numbering.xml": numbers}).markdown
    assert shown.startswith("## Aims\n\n1. one\n")
    assert "1.ii) deeper" in shown
    assert shown.endswith("2. two")


def test_headers_of_word_say_on_which_pages_they_stand() -> None:
    body = para("Text") + "".join(
        f"<w:headerReference w:type='{kind}' r:id='h{number}'/>"
        for number, kind in enumerate(("default", "first", "even"), 1)
    )
    parts: dict[str, str | bytes] = {
        f"word/header{number}.xml": f"<w:hdr {WORD}>{para(text)}</w:hdr>"
        for number, text in enumerate(("Acme", "Acme, draft", "Acme"), 1)
    }
    shown = docx(body, parts, **{f"h{number}": f"header{number}.xml" for number in (1, 2, 3)}).markdown
    assert shown.endswith(
        "## Page header\n\nAcme\n\n## Page header, even pages\n\nAcme\n\n## Page header, first page\n\nAcme, draft"
    )


def test_a_word_table_repeats_what_spans_rows_and_columns() -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{para(text)}</w:tc>"

    head = cell("Year", "<w:vMerge w:val='restart'/>") + cell("Sales", "<w:gridSpan w:val='2'/>")
    rows = [
        head,
        cell("", "<w:vMerge/>") + cell("north") + cell("south"),
        cell("2024") + cell("1") + cell("2"),
    ]
    table = "<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"
    assert docx(table).markdown.split("\n") == [
        "| Year | Sales | Sales |",
        "| --- | --- | --- |",
        "| Year | north | south |",
        "| 2024 | 1 | 2 |",
    ]


def test_notes_comments_headers_boxes_and_links_of_word_are_read() -> None:
    body = (
        "<w:p><w:r><w:t>Mars</w:t><w:footnoteReference w:id='2'/></w:r><w:commentRangeStart w:id='0'/><w:r><w:t> is red</w:t></w:r>"
        "<w:commentRangeEnd w:id='0'/><w:hyperlink r:id='link1'><w:r><w:t> see</w:t></w:r></w:hyperlink>"
        "<w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></wps:txbx></mc:Choice>"
        "<mc:Fallback><v:textbox><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></v:textbox></mc:Fallback></mc:AlternateContent></w:r>"
        "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    parts: dict[str, str | bytes] = {
        "word/footnotes.xml": f"<w:footnotes {WORD}><w:footnote w:id='1' w:type='separator'/><w:footnote w:id='2'>{para('the planet')}</w:footnote></w:footnotes>",
        "word/comments.xml": f"<w:comments {WORD}><w:comment w:id='0' w:author='Ada' w:date='2024-05-06T00:00:00Z'>{para('really?')}</w:comment></w:comments>",
        "word/header1.xml": f"<w:hdr {WORD}>{para('Draft 3')}</w:hdr>",
        "word/footer2.xml": f"<w:ftr {WORD}>{para('Confidential')}</w:ftr>",
    }
    shown = docx(body, parts, link1="https://example.org/mars").markdown
    for wanted in (
        "Mars[^2] is red[ see](https://example.org/mars)", "[^2]: the planet", "- Ada (2024-05-06) on “is red”: really?",
        "Draft 3", "Confidential",
    ):  # fmt: skip
        assert wanted in shown
    assert shown.count("boxed") == 1
    assert "gone" not in shown


def test_formulas_charts_and_diagrams_of_word_are_words() -> None:
    body = (
        "<w:p><m:oMath><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath></w:p>"
        "<w:p><w:r><w:drawing><c:chart r:id='chart1'/></w:drawing></w:r></w:p>"
    )
    shown = docx(
        body,
        {"word/charts/chart1.xml": CHART, "word/diagrams/data1.xml": DIAGRAM},
        chart1="charts/chart1.xml",
    ).markdown
    assert "(a+b)/2" in shown
    assert "Chart: Rain\n\n|  | mm |\n| --- | --- |\n| May | 12 |\n| June | 7 |" in shown
    assert "- Plan" in shown


def test_bold_words_are_marked_but_no_word_is_cut() -> None:
    def run(text: str, bold: bool = False) -> str:
        return f"<w:r><w:rPr>{'<w:b/>' if bold else ''}</w:rPr><w:t>{text}</w:t></w:r>"

    assert docx(f"<w:p>{run('a ')}{run('big', True)}{run(' win')}</w:p>").markdown == "a **big** win"
    assert docx(f"<w:p>{run('big', True)}{run('gest')}</w:p>").markdown == "biggest"


def test_office_files_are_known_by_their_bytes_and_in_any_namespace() -> None:
    assert (
        read_bytes(word(para("strict")), name="whatever.bin", content_type="text/html").markdown == "strict"
    )


def test_a_workbook_shows_formulas_comments_colours_links_and_hidden_parts() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in [
        ("Item", "Price", "When"),
        ("Pen", 2, date(2024, 5, 6)),
        ("Ink", 3.5, datetime(2024, 5, 6, 7, 30)),
        ("All", "=SUM(B2:B3)", None),
    ]:
        sheet.append(row)
    sheet["B2"].comment = Comment("cheap", "Ada")
    for place in ("A2", "B2", "A3", "B3"):
        sheet[place].fill = PatternFill("solid", fgColor="FF00FF00")
    sheet["A3"].hyperlink = "https://example.org/ink"
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    sheet.oddHeader.center.text = "Stock list"
    shown = read_bytes(saved(book), name="a.xlsx").markdown
    for wanted in ("| Pen | 2 | 2024-05-06 |", "| Ink | 3.5 | 2024-05-06 07:30:00 |", "- B4 = SUM(B2:B3)", "- B2 (Ada): cheap", "- green 00FF00: A2:B3",
                   "- A3: https://example.org/ink", "Hidden rows: 3", "Hidden columns: C", "Page header: Stock list"):  # fmt: skip
        assert wanted in shown
    assert "NaN" not in shown
    assert "Unnamed" not in shown


def test_a_coloured_map_without_any_text_is_still_a_map() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for place in ("A1", "B1", "B2"):
        sheet[place].fill = PatternFill("solid", fgColor="FFFF0000")
    assert "- red FF0000: A1:B1, B2" in read_bytes(saved(book), name="a.xlsx").markdown


def test_titles_gaps_and_merged_cells_do_not_spoil_the_tables_of_a_sheet() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in [
        ("Report",),
        (),
        ("City", "2023", None),
        (None, "a", "b"),
        ("Oslo", 1, 2),
        (),
        ("Lake", "Depth"),
        ("Como", 410),
    ]:
        sheet.append(row)
    sheet.merge_cells("B3:C3")
    sheet.merge_cells("A3:A4")
    document = read_bytes(saved(book), name="a.xlsx")
    assert "Report\n\n| City | 2023 | 2023 |\n| --- | --- | --- |\n| City | a | b |" in document.markdown
    assert document.tables[1].to_dict("list") == {"Lake": ["Como"], "Depth": [410]}


def test_two_cells_at_the_far_ends_of_a_sheet_do_not_fill_the_memory() -> None:
    rows = "".join(
        f"<row r='{n * 100}'><c r='A{n * 100}' t='str'><v>x</v></c><c r='XFD{n * 100}' t='str'><v>y</v></c></row>"
        for n in range(1, 5000)
    )
    content = zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(officeDocument="xl/workbook.xml"),
            "xl/workbook.xml": f"<workbook {SHEET}><sheets><sheet name='Far' r:id='sheet1'/></sheets></workbook>",
            "xl/_rels/workbook.xml.rels": relations(sheet1="worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": f"<worksheet {SHEET}><sheetData>{rows}</sheetData></worksheet>",
        }
    )
    assert len(read_bytes(content, name="far.xlsx").markdown) < 100_000


def test_slides_show_titles_lists_tables_notes_comments_and_groups() -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<a:tc {more}><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    rows = [cell("Both", "gridSpan='2'") + cell("", "hMerge='1'"), cell("l") + cell("r")]
    table = (
        "<p:graphicFrame><a:tbl>"
        + "".join(f"<a:tr>{row}</a:tr>" for row in rows)
        + "</a:tbl></p:graphicFrame>"
    )
    first = (
        shape("Moons", place="title")
        + shape("Io", "Europa", place="body")
        + table
        + f"<p:grpSp>{shape('inner')}</p:grpSp>"
        + "<p:pic><p:nvPicPr><p:cNvPr descr='Jupiter'/></p:nvPicPr></p:pic><p:graphicFrame><c:chart r:id='chart1'/></p:graphicFrame>"
    )
    parts: dict[str, str | bytes] = {
        "ppt/notesSlides/notesSlide1.xml": f"<p:notes xmlns:p='p' xmlns:a='a'>{shape('say hello', place='body')}{shape('1', place='sldNum')}</p:notes>",
        "ppt/comments/comment1.xml": "<p:cmLst xmlns:p='p'><p:cm authorId='0' dt='2024-05-06T00'><p:text>nice</p:text></p:cm></p:cmLst>",
        "ppt/commentAuthors.xml": "<p:x xmlns:p='p'><p:cmAuthor id='0' name='Ada'/></p:x>",
        "ppt/charts/chart1.xml": CHART,
        "ppt/diagrams/data1.xml": DIAGRAM,
    }
    document = read_bytes(
        slides(first, shape("Second"), parts=parts, notesSlide1="../notesSlides/notesSlide1.xml", comments1="../comments/comment1.xml", chart1="../charts/chart1.xml"),
        name="a.pptx",
    )  # fmt: skip
    assert document.title == "Moons"
    assert document.markdown.startswith(
        "## Slide 1: Moons\n\n- Io\n- Europa\n\n| Both | Both |\n| --- | --- |\n| l | r |\n\ninner\n\n[picture: Jupiter]\n\nChart: Rain"
    )
    for wanted in ("Notes: say hello", "- Ada (2024-05-06): nice", "## Slide 2\n\nSecond", "- Plan"):
        assert wanted in document.markdown


def test_an_office_file_whose_end_is_cut_off_is_read_as_far_as_it_goes() -> None:
    whole = word(para("kept words"))
    assert read_bytes(whole[: whole.index(b"PK\x01\x02")], name="x.docx").markdown == "kept words"
    for content in (whole, slides(shape("kept words")), saved(openpyxl.Workbook())):
        for share in (0.95, 0.6, 0.3, 0.1):
            try:
                read_bytes(content[: int(len(content) * share)], name="x")
            except DocumentError as error:
                assert "damaged" in str(error)


def test_xml_that_would_grow_without_bound_is_not_expanded() -> None:
    laughs = (
        "<!DOCTYPE x [<!ENTITY a 'ha'>"
        + "".join(f"<!ENTITY {chr(98 + n)} '{('&' + chr(97 + n) + ';') * 10}'>" for n in range(9))
        + "]>"
    )
    secret = "<!DOCTYPE x [<!ENTITY s SYSTEM 'file:///etc/passwd'>]>"
    for start, entity in ((laughs, "&j;"), (secret, "&s;")):
        content = word(
            "",
            {
                "word/document.xml": f"{start}<w:document {WORD}><w:body>{para('before ' + entity)}</w:body></w:document>"
            },
        )
        shown = read_bytes(content, name="x.docx").markdown
        assert len(shown) < 1000
        assert "root:" not in shown


def test_a_zip_bomb_dressed_as_an_office_file_is_refused() -> None:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("_rels/.rels", relations(officeDocument="word/document.xml"))
        with archive.open("word/document.xml", "w") as part:
            for _ in range(160):
                part.write(b" " * 1_000_000)
    with pytest.raises(DocumentError, match="unpacks to more than 150 MB"):
        read_bytes(kept.getvalue(), name="bomb.docx")


def test_tables_nested_without_end_are_read_without_a_crash() -> None:
    deep = "<w:tbl><w:tr><w:tc>" * 300 + para("core") + "</w:tc></w:tr></w:tbl>" * 300
    assert "core" in docx(deep).markdown
