"""The other kinds of files: old Office, OpenDocument, books, messages, data, archives and pictures."""

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import struct
import tarfile
import zipfile
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path

import pandas as pd
import py7zr
import pytest
from fastparquet import write
from PIL import Image

from tests.compound_files import doc, msg, ppt, xls
from tests.office_files import relations, zipped
from tools.documents import read_bytes, read_file
from tools.errors import DocumentError
from tools.formats import apart

ODF = 'xmlns:office="o" xmlns:text="t" xmlns:table="tb" xmlns:dc="d" xmlns:xlink="x"'


def shown(content: bytes, name: str = "", **hints: str) -> str:
    return read_bytes(content, name=name, **hints).markdown  # type: ignore[arg-type]


def odf(kind: str, body: str) -> bytes:
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"<office:document-content {ODF}><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        },
        zipfile.ZIP_STORED,
    )


def test_an_old_word_file_gives_its_text_tables_and_notes() -> None:
    text = "Title\rsee \x13 HYPERLINK x \x14here\x15\rName\x07Age\x07\x07Ada\x0736\x07\x07after\r"
    assert shown(doc(text, "a note\r"), "a.doc") == (
        "Title\n\nsee here\n\n| Name | Age |\n| --- | --- |\n| Ada | 36 |\n\nafter\n\n## Footnotes\n\na note"
    )
    with pytest.raises(DocumentError, match="password"):
        read_bytes(doc("x", locked=True))


def test_an_old_presentation_gives_slides_boxes_and_notes() -> None:
    assert (
        shown(ppt("Moons", "Io\rEuropa", "say it"), "a.ppt")
        == "## Slide 1\n\nMoons\n\nIo\nEuropa\n\nNotes: say it"
    )


def test_an_old_workbook_is_read_in_a_process_of_its_own() -> None:
    document = read_bytes(xls([("City", "People"), ("Oslo", 700000.0)], hidden=True), name="a.xls")
    assert document.markdown == "## Old (hidden)\n\n| City | People |\n| --- | --- |\n| Oslo | 700000 |"
    assert document.tables[0]["People"].sum() == 700000


def test_a_binary_workbook_gives_its_cells_and_dates() -> None:
    def record(kind: int, body: bytes) -> bytes:
        head = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
        return head + bytes([len(body)]) + body

    def said(text: str) -> bytes:
        return struct.pack("<I", len(text)) + text.encode("utf-16-le")

    def cell(kind: int, column: int, body: bytes, style: int = 0) -> bytes:
        return record(kind, struct.pack("<II", column, style) + body)

    styles = (
        record(617, b"")
        + record(47, struct.pack("<HH", 0, 0))
        + record(47, struct.pack("<HH", 0, 14))
        + record(618, b"")
    )
    sheet = record(0, struct.pack("<I", 0)) + cell(7, 0, struct.pack("<I", 0)) + cell(6, 1, said("When"))
    sheet += (
        record(0, struct.pack("<I", 1))
        + cell(2, 0, struct.pack("<I", 7 << 2 | 2))
        + cell(5, 1, struct.pack("<d", 45418.0), style=1)
    )
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations(officeDocument="xl/workbook.bin"),
        "xl/_rels/workbook.bin.rels": relations(worksheet1="worksheets/sheet1.bin"),
        "xl/workbook.bin": record(156, struct.pack("<II", 1, 1) + said("worksheet1") + said("Data")),
        "xl/sharedStrings.bin": record(19, b"\0" + said("Count")),
        "xl/styles.bin": styles,
        "xl/worksheets/sheet1.bin": sheet,
    }
    assert (
        shown(zipped(parts), "a.xlsb")
        == "## Data (hidden)\n\n| Count | When |\n| --- | --- |\n| 7 | 2024-05-06 |"
    )


def test_an_article_in_xml_reads_like_an_article() -> None:
    content = (
        b"<?xml version='1.0'?><!DOCTYPE article SYSTEM 'x.dtd'><article><front><article-meta><title-group><article-title>On Moons</article-title></title-group>"
        b"<contrib-group><contrib><name><surname>Doe</surname><given-names>Ada</given-names></name></contrib></contrib-group></article-meta></front><body><sec>"
        b"<title>Orbits</title><p>As <italic>known</italic>, <inline-formula><tex-math>$a^2$</tex-math></inline-formula> holds.</p><table><tr><th>Moon</th><th>km</th></tr><tr><td>Io</td><td>3643</td></tr></table>"
        b"</sec></body><back><ref-list><ref><label>1</label><mixed-citation><name><surname>Roe</surname><given-names>B</given-names></name></mixed-citation></ref></ref-list></back></article>"
    )
    document = read_bytes(content, name="a.nxml")
    assert document.title == "On Moons"
    for wanted in (
        "by Ada Doe",
        "# On Moons",
        "Orbits\n",
        "As *known*, $a^2$ holds.",
        "| Io | 3643 |",
        "1 Roe B",
    ):
        assert wanted in document.markdown


def test_an_outlook_message_gives_its_text_and_its_attachments(tmp_path: Path) -> None:
    (tmp_path / "a.msg").write_bytes(msg("Hello", "Dear all", ("data.csv", b"a,b\n1,2\n".ljust(4096, b"\n"))))
    document = read_file(tmp_path / "a.msg")
    assert document.title == "Hello"
    assert "**From:** Ada" in document.markdown
    assert "Dear all" in document.markdown
    assert "| 1 | 2 |" in read_file(tmp_path / "a.msg" / "data.csv").markdown


def test_an_open_document_text_has_headings_lists_tables_notes_and_comments() -> None:
    body = (
        "<text:h text:outline-level='2'>Aims</text:h><text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p>"
        "</text:list-item></text:list></text:list-item></text:list><text:p>Mars<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>the planet</text:p></text:note-body></text:note> <text:a xlink:href='https://example.org/'>link</text:a>"
        "<office:annotation><dc:creator>Ada</dc:creator><dc:date>2024-05-06T</dc:date><text:p>really?</text:p></office:annotation></text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert shown(odf("text", body)) == (
        "## Aims\n\n- one\n  - deep\n\nMars[^1] [link](https://example.org/)\n\n| a | b |\n| --- | --- |\n\n"
        "## Footnotes\n\n[^1]: the planet\n\n## Comments\n\n- Ada, 2024-05-06: really?"
    )


def test_an_open_document_sheet_that_repeats_a_row_a_million_times_is_read_at_once() -> None:
    cell = (
        "<table:table-cell office:value-type='float' office:value='{}'><text:p>x</text:p></table:table-cell>"
    )
    body = (
        f"<table:table table:name='Data'><table:table-row>{cell.format(2)}{cell.format(3)}</table:table-row>"
        "<table:table-row table:number-rows-repeated='1048000'><table:table-cell table:number-columns-repeated='16000'/></table:table-row></table:table>"
    )
    assert shown(odf("spreadsheet", body), "a.ods") == "## Data\n\n| 2 | 3 |\n| --- | --- |"


def test_rich_text_and_books_are_read() -> None:
    assert shown(rb"{\rtf1\ansi\ansicpg1252 Caf\'e9\par second}", "a.rtf") == "Café\n\nsecond"
    book = zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": "<container><rootfiles><rootfile full-path='O/book.opf'/></rootfiles></container>",
            "O/book.opf": "<package><metadata><title>Moons</title><creator>Ada</creator></metadata><manifest><item id='b' href='two%20b.xhtml' media-type='application/xhtml+xml'/>"
            "<item id='a' href='one.xhtml' media-type='application/xhtml+xml'/></manifest><spine><itemref idref='a'/><itemref idref='b'/></spine></package>",
            "O/one.xhtml": "<html><body><h1>First</h1><p>Io</p></body></html>",
            "O/two b.xhtml": "<html><body><p>Europa</p></body></html>",
        }
    )
    document = read_bytes(book)
    assert document.title == "Moons"
    assert document.markdown == "# Moons\n\nby Ada\n\n# First\n\nIo\n\nEuropa"


def test_a_message_gives_its_best_text_and_names_its_attachments(tmp_path: Path) -> None:
    letter = EmailMessage()
    letter["Subject"], letter["From"], letter["To"] = "Grüße", "Ada <ada@example.org>", "all@example.org"
    letter.set_content("plain")
    letter.add_alternative("<p>rich <b>text</b></p>", subtype="html")
    letter.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="data.csv")
    (tmp_path / "a.eml").write_bytes(bytes(letter))
    document = read_file(tmp_path / "a.eml")
    assert document.title == "Grüße"
    assert "rich **text**" in document.markdown
    assert "plain" not in document.markdown
    assert "- data.csv (8 bytes)" in document.markdown
    assert "| 1 | 2 |" in read_file(tmp_path / "a.eml" / "data.csv").markdown
    with pytest.raises(DocumentError, match=r"has no file 'x.csv' in it: it holds data.csv"):
        read_file(tmp_path / "a.eml" / "x.csv")


def test_notebooks_feeds_records_and_maps_read_as_what_they_are() -> None:
    notebook = {
        "nbformat": 4,
        "metadata": {},
        "cells": [
            {"cell_type": "markdown", "source": ["# Study\n", "why"]},
            {"cell_type": "code", "source": "1+1", "outputs": [{"data": {"text/plain": ["2"]}}]},
        ],
    }
    assert (
        shown(json.dumps(notebook).encode(), "a.ipynb")
        == "# Study\nwhy\n\n```python\n1+1\n```\n\nOutput:\n\n```\n2\n```"
    )
    feed = b"<?xml version='1.0'?><rss><channel><title>News</title><item><title>One</title><link>https://e.org/1</link><pubDate>May</pubDate><description>&lt;p&gt;text&lt;/p&gt;</description></item></channel></rss>"
    assert shown(feed, content_type="text/xml") == "# News\n\n## [One](https://e.org/1)\n\nMay\n\ntext"
    lines = read_bytes(b'{"a": 1, "b": null}\n{"a": 2, "c": "x"}\n', name="a.jsonl")
    assert lines.markdown == "| a | b | c |\n| --- | --- | --- |\n| 1 |  |  |\n| 2 |  | x |"
    assert lines.tables[0]["a"].sum() == 3
    places = {
        "type": "FeatureCollection",
        "features": [
            {"properties": {"name": "Oslo"}, "geometry": {"type": "Point", "coordinates": [10.7, 59.9]}}
        ],
    }
    assert "| Oslo | Point | 10.7, 59.9 |" in shown(json.dumps(places).encode(), "a.geojson")


def test_json_nested_to_be_shown_as_a_mountain_of_blanks_is_shown_as_it_stands() -> None:
    hostile = b"[" * 900 + b",".join([b"1"] * 50_000) + b"]" * 900
    assert shown(hostile, "a.json") == hostile.decode()
    assert shown(b"[[[[1]]]]", "a.json").count("\n") == 8


def test_a_text_that_begins_with_many_comments_does_not_stop_the_app() -> None:
    comments = b"<!-- a -->\n" * 300  # which were tried in 2^300 ways
    assert shown(comments + b"words", "file").endswith("words")
    assert shown(comments + b"<p>One</p>", "file") == "One"


def test_rows_and_columns_past_any_reader_are_left_out_and_told() -> None:
    wide = read_bytes(b"a," * 20_000 + b"\n1,2\n", name="a.csv")
    assert "first 16,384 columns" in wide.note
    assert wide.markdown.startswith("| a | a |")
    # Rows are shown as wide as the widest: few bytes would make gigabytes.
    ragged = read_bytes(b"," * 1_000 + b"x\n" + b"a\n" * 3_000, name="a.csv")
    assert "first 1,998 rows" in ragged.note
    late = read_bytes(b"a\n" * 3_000 + b"," * 1_000 + b"x\n", name="a.csv")
    assert "first 3,000 rows" in late.note
    records = read_bytes(b'{"a":1}\n' * 100_001, name="a.jsonl")
    assert "first 100,000 of 100,001 records" in records.note
    keys = read_bytes(b"\n".join(b'{"k%d":1}' % n for n in range(3_000)), name="a.jsonl")
    assert keys.markdown.startswith('{\n "k0": 1\n}')


def test_a_database_shows_its_tables_and_runs_nothing_of_its_own() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute('CREATE TABLE "odd ""name" (id INTEGER, note TEXT, raw BLOB)')
        database.executemany(
            'INSERT INTO "odd ""name" VALUES (?, ?, ?)', [(n, f"note {n}", b"12") for n in range(60)]
        )
        database.execute(
            "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c"
        )
        content = bytearray(database.serialize())
    content[18:20] = b"\x02\x02"  # as a database in WAL mode
    document = read_bytes(bytes(content), name="a.db")
    assert '## odd "name (60 rows, the first 50)' in document.markdown
    assert "| 0 | note 0 | (2 bytes) |" in document.markdown
    assert "## endless (view)" in document.markdown
    assert len(document.tables[0]) == 50


def test_a_parquet_file_shows_its_columns_and_first_rows(tmp_path: Path) -> None:
    write(
        str(tmp_path / "a.parquet"), pd.DataFrame({"city": ["Oslo", "Bergen"], "people": [1.5, float("nan")]})
    )
    document = read_file(tmp_path / "a.parquet")
    assert document.markdown.startswith("2 rows. Columns: city: ")
    assert "| Oslo | 1.5 |\n| Bergen |  |" in document.markdown


def archives(folder: Path) -> list[Path]:
    made = [folder / "a.zip", folder / "a.tar.gz", folder / "a.7z"]
    files = {
        "read me.txt": b"hello",
        "in/data.csv": b"x,y\n1,2\n",
        "in/deep.zip": zipped({"core.txt": "the core"}),
    }
    made[0].write_bytes(zipped(dict(files)))
    with tarfile.open(made[1], "w:gz") as tar:
        for name, content in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(content)
            tar.addfile(about, io.BytesIO(content))
        link = tarfile.TarInfo("in/link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with py7zr.SevenZipFile(made[2], "w") as seven:
        for name, content in files.items():
            seven.writestr(content, name)
    return made


def test_files_in_archives_are_listed_and_read_by_their_path(tmp_path: Path) -> None:
    for place in archives(tmp_path):
        listed = read_file(place).markdown
        assert "| in/data.csv | 8 |" in listed
        assert "## read me.txt\n\nhello" in listed
        assert "passwd" not in listed
        assert read_file(place / "in/data.csv").tables[0]["y"][0] == 2
        assert read_file(place / "in/deep.zip/core.txt").markdown == "the core"
    with pytest.raises(DocumentError, match="has no file"):
        read_file(tmp_path / "a.zip" / "../../etc/passwd")


def test_a_squeezed_file_is_the_file_in_it_and_a_bomb_stops_at_its_cap() -> None:
    for squeeze in (gzip.compress, bz2.compress, lzma.compress):
        assert "| 1 | 2 |" in shown(squeeze(b"a,b\n1,2\n"), "t.csv.gz")
    assert shown(gzip.compress(b"one ") + gzip.compress(b"two"), "t.txt.gz") == "one two"
    assert shown(gzip.compress(b"kept text " * 50)[:-9], "t.txt.gz").startswith("kept text")
    layered = b"x"
    for _ in range(6):
        layered = gzip.compress(layered)
    with pytest.raises(DocumentError, match="compressed more than"):
        read_bytes(layered, name="t.gz")


def test_archives_in_archives_end_somewhere() -> None:
    inner = zipped({"x.txt": "x"})
    for _ in range(8):
        inner = zipped({"a.zip": inner})
    assert shown(inner, "a.zip").count("a.zip") < 10
    with pytest.raises(DocumentError, match="lies in more than"):
        read_bytes(inner, name="a.zip", member="a.zip/" * 7 + "x.txt")


def test_a_picture_tells_its_size_and_what_the_camera_wrote() -> None:
    picture = Image.new("RGB", (40, 30))
    exif = Image.Exif()
    exif[0x010F] = "Acme"
    exif[0x8825] = {1: "N", 2: (59.0, 30.0, 0.0), 3: "W", 4: (10.0, 0.0, 36.0)}
    kept = io.BytesIO()
    picture.save(kept, "JPEG", exif=exif)
    document = read_bytes(kept.getvalue(), name="a.jpg")
    assert document.markdown == "JPEG picture, 40 × 30 pixels\n- Make: Acme\n- Place: 59.500000, -10.010000"
    assert "takes a look" in document.note


@pytest.mark.parametrize(
    "content",
    [doc("some words\r"), ppt("a", "b", "c"), msg("s", "b"), odf("text", "<text:p>x</text:p>"), zipped({"a.txt": "x" * 500}), gzip.compress(b"x" * 500),
     b"SQLite format 3\0" + b"\0" * 90, b"\x89PNG\r\n\x1a\n" + b"\0" * 30, b"{\\rtf1 x}", b"II*\0" + b"\xff" * 20],
    ids=["doc", "ppt", "msg", "odt", "zip", "gzip", "sqlite", "png", "rtf", "tiff"],
)  # fmt: skip
def test_damage_of_any_kind_is_said_in_one_sentence(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "inside", True)  # in a process of its own, any failure would be a damaged file
    for place in range(0, len(content), max(1, len(content) // 25)):
        for broken in (content[:place], content[:place] + b"\xff\x00\x80" + content[place + 3 :]):
            try:
                read_bytes(broken, name="file")
            except DocumentError as error:
                assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("content", "kind", "instead"),
    [
        (b"Rar!\x1a\x07\x01\x00" + b"\0" * 40, "a RAR archive", "as ZIP or 7z"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "a HEIC picture", "as JPEG or PNG"),
        (b"\0\0\0\x18ftypheim\0\0\0\0mif1heic", "a HEIC picture", "as JPEG or PNG"),
    ],
)
def test_a_file_that_no_free_library_opens_is_said_to_be_what_it_is_and_what_to_do(
    content: bytes, kind: str, instead: str
) -> None:
    with pytest.raises(DocumentError, match=f"is {kind}, which cannot be read as text here: .*{instead}"):
        read_bytes(content, name="file")
