"""Files and answers of every kind: read for what they are, refused in one sentence when nobody can."""

import io
import tempfile
from pathlib import Path

import openpyxl
import pytest
from fpdf import FPDF
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tools.documents import read_bytes, read_file
from tools.errors import DocumentError
from tools.formats import apart


def pdf(*pages: str, title: str = "") -> bytes:
    made = FPDF()
    made.set_font("helvetica", size=12)
    made.set_title(title)
    for words in pages:
        made.add_page()
        made.multi_cell(0, text=words)
    return bytes(made.output())


def workbook() -> bytes:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.title = "Rivers"
    for row in [
        ("River", "Length km", "Since"),
        ("Nile", 6650, None),
        ("Amazon", 6400.5, None),
        (None, None, None),
    ]:
        first.append(row)
    hidden = book.create_sheet("Notes")
    hidden.append(["a|b", "c"])
    hidden.sheet_state = "hidden"
    kept = io.BytesIO()
    book.save(kept)
    return kept.getvalue()


def refusal(content: bytes, **hints: str) -> str:
    with pytest.raises(DocumentError) as caught:
        read_bytes(content, **hints)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_pdf_comes_page_by_page_with_its_title(tmp_path: Path) -> None:
    (tmp_path / "voyager.pdf").write_bytes(
        pdf("Voyager 1 was launched in 1977.", "It left the heliosphere.", title="Voyager")
    )
    document = read_file(tmp_path / "voyager.pdf")
    assert document.title == "Voyager"
    assert (
        document.markdown == "[page 1]\nVoyager 1 was launched in 1977.\n\n[page 2]\nIt left the heliosphere."
    )


def test_a_pdf_sent_as_html_or_without_any_type_is_still_a_pdf() -> None:
    for content_type in ("text/html", "", "application/octet-stream"):
        assert "[page 1]\nhello" in read_bytes(b"\n" + pdf("hello"), content_type=content_type).markdown


@pytest.mark.parametrize("content", [b"hello, I am text", b"\0\1\2" * 50, b"<html><p>Not found"])
def test_a_pdf_that_is_none_is_said_to_be_none(content: bytes) -> None:
    assert "report.pdf is not a PDF" in refusal(content, name="report.pdf")


def test_a_damaged_a_locked_and_a_scanned_pdf_are_told_apart() -> None:
    assert "damaged" in refusal(b"%PDF-1.7\n garbage")
    locked = FPDF()
    locked.set_encryption(owner_password="owner", user_password="user")
    locked.add_page()
    assert "password" in refusal(bytes(locked.output()))
    empty = FPDF()
    empty.add_page()
    assert "scan" in read_bytes(bytes(empty.output())).note


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b"  \n\t"])
def test_a_file_of_nothing_is_said_to_be_empty(content: bytes) -> None:
    assert "data.csv is empty" in refusal(content, name="data.csv")


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "picture"), (b"\x7fELF\x02\x01\x01" + b"\0" * 9, "program"),
     (bytes(range(32)) * 100, "binary"), (b"PK\x03\x04 something", "ZIP"), (b"\xd0\xcf\x11\xe0" + b"\0" * 20, "Office")],
)  # fmt: skip
def test_a_binary_file_is_named_for_what_it_is(content: bytes, says: str) -> None:
    assert says in refusal(content, name="thing")


def test_a_workbook_becomes_tables_and_data_frames(tmp_path: Path) -> None:
    (tmp_path / "data.xlsx").write_bytes(workbook())
    document = read_file(tmp_path / "data.xlsx")
    assert (
        "## Rivers\n\n| River | Length km | Since |\n| --- | --- | --- |\n| Nile | 6650 |  |"
        in document.markdown
    )
    assert "## Notes (hidden)\n\n| a\\|b | c |" in document.markdown
    assert document.tables[0]["Length km"].sum() == 13050.5


@pytest.mark.parametrize("content", [b"not a workbook", workbook()[:2000], b"PK\x03\x04 xl/ broken"])
def test_a_workbook_that_is_none_is_said_to_be_none(content: bytes) -> None:
    assert "data.xlsx is" in refusal(content, name="data.xlsx")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_csv_of_any_delimiter_becomes_a_table(mark: str) -> None:
    lines = [["Name", "Note", "Height"], ["Elbrus", '"high, cold"', '"5,642"'], ["Kibo", "", "5895"]]
    document = read_bytes("\r\n".join(mark.join(line) for line in lines).encode("utf-8-sig"), name="m.csv")
    assert document.markdown.split("\n")[2] == "| Elbrus | high, cold | 5,642 |"
    assert document.tables[0]["Height"].max() == 5895


def test_tables_of_a_markdown_file_are_data_frames_too() -> None:
    document = read_bytes(
        b"---\nx: 1\n---\n# Moons\n\n| Moon | km |\n|---|---:|\n| Phobos | 22.5 |\n\n[next](b.md)",
        name="m.md",
        url="library://a/m.md",
    )
    assert (document.title, document.links[0].url) == ("Moons", "library://a/b.md")
    assert document.tables[0].to_dict("list") == {"Moon": ["Phobos"], "km": [22.5]}


@pytest.mark.parametrize(
    ("content", "header", "expected"),
    [
        ("Füße".encode(), "", "Füße"),
        ("Füße".encode("latin-1"), "", "Füße"),
        ("Füße €".encode("cp1252"), "iso-8859-1", "Füße €"),
        ("日本語のページ".encode("shift_jis"), "shift_jis", "日本語のページ"),
        (b'<html><meta charset="windows-1251"><p>' + "Привет".encode("cp1251"), "", "Привет"),
        (b'<html><meta http-equiv="Content-Type" content="text/html; charset=euc-kr"><p>' + "한국어".encode("euc-kr"), "", "한국어"),
        (b'<html><!-- <meta charset="koi8-r"> --><meta charset=gb2312><p>' + "汉字".encode("gb2312"), "", "汉字"),
        ("<html><p>Füße".encode("utf-16"), "", "Füße"),
        (b"\xef\xbb\xbf<html><p>" + "Füße".encode(), "iso-8859-1", "Füße"),
        (("Привет, это обычный русский текст о планетах и звёздах. " * 5).encode("cp1251"), "utf-8", "русский текст"),
        (b"<html><p>one bad byte \xff in " + "UTF-8 text über alles ".encode() * 20, "utf-8", "über alles"),
        (b"<html><p>caf\xe9</p>", "no-such-charset", "café"),
        (b'<?xml version="1.0" encoding="iso-8859-2"?><html><p>' + "żółw".encode("iso-8859-2"), "", "żółw"),
    ],
)  # fmt: skip
def test_text_is_decoded_in_the_order_that_browsers_use(content: bytes, header: str, expected: str) -> None:
    assert expected in read_bytes(content, content_type=f"text/html; charset={header}").markdown


def test_json_and_plain_text_are_shown_as_they_are() -> None:
    assert (
        read_bytes(b'{"a":[1,2]}', content_type="application/json").markdown == '{\n "a": [\n  1,\n  2\n ]\n}'
    )
    assert read_bytes(b"[" * 50_000, name="deep.json").markdown.startswith("[[")
    assert read_bytes(b"a < b\r\nc", name="x.txt").markdown == "a < b\nc"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    content=st.one_of(
        st.binary(max_size=400),
        st.text(max_size=200).map(str.encode) | st.just(b"\xff\xfe"),
        st.tuples(
            st.sampled_from([b"%PDF-1.4\n", b"PK\x03\x04 xl/", b"<html>", b"{\\rtf1 ", b"<?xml version='1.0'?><rss><item>", b"From: a\nTo: b\nSubject: c\n", b"\x1f\x8b\x08\0", b"[{", b"II*\0", b"\xff\xfe", b"<table><tr>", b"a,b\n", b"# x\n|a|\n|-|\n|"]),
            st.binary(max_size=300),
        ).map(b"".join),
        st.lists(
            st.sampled_from(
                ["<table>", "<tr>", "<td rowspan=9>", "<th colspan=3>", "</table>", "<p>", "<ul>", "<li>", "<pre>", "x", "</pre>",
                 "<a href='[('>", "<b>", "</b>", "<img alt=']' src='('>", "<math>", "<!--", "-->", "<dl><dt>", "<dd>", "&#0;",
                 "<frameset>", "<svg>", "<caption>", "<thead>", "\n", " ", "<base href='http://['>", "<br>", "<h1>", "\U000e0041"]
            ),
            max_size=40,
        ).map(lambda parts: "".join(parts).encode()),
    ),
    name=st.sampled_from(["", "a.html", "a.pdf", "a.xlsx", "a.csv", "a.md", "a.json", "a.txt", "a.eml", "a.xml", "a.rtf", "a.doc"]),
    content_type=st.sampled_from(["", "text/html", "text/csv; charset=utf-7", "application/json", "text/plain; charset=idna"]),
)  # fmt: skip
def test_no_bytes_make_a_reader_fail_in_any_other_way(content: bytes, name: str, content_type: str) -> None:
    with pytest.MonkeyPatch.context() as here:
        here.setattr(apart, "inside", True)  # in a process of its own, any failure would be a damaged file
        try:
            document = read_bytes(content, url="https://example.org/", name=name, content_type=content_type)
            assert len(document.links) >= 0
            assert len(document.tables) >= 0
        except DocumentError as error:
            assert "\n" not in str(error)


def test_a_folder_or_a_missing_file_is_said_in_one_sentence() -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.raises(DocumentError):
        read_file(folder)
    with pytest.raises(DocumentError, match="No such file"):
        read_file("no-such-file.txt")


def test_xml_in_an_encoding_that_its_parser_does_not_know_is_read() -> None:
    feed = '<?xml version="1.0" encoding="IBM855"?><rss><channel><item><title>Новая глава</title></item></channel></rss>'
    assert "Новая глава" in read_bytes(feed.encode("cp855"), name="a.xml").markdown


def test_bytes_of_which_none_is_good_utf_8_are_not_taken_for_it() -> None:
    text = "The café on the corner is open all day, every day of the week, and is closed on none of them at all. "
    assert read_bytes(text.encode("cp1252"), name="a.txt").markdown == text.strip()
    assert (
        "caf\ufffd" in read_bytes(text.encode("cp1252") + "Straße und Brücke".encode(), name="a.txt").markdown
    )
