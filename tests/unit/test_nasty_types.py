"""The live web's nasty behaviours, one test for each: 30 to 34, types and names."""

import gzip
import io
import json
import zipfile

import pytest

from tests.local_web import Answer, LocalWeb
from tools.browser import TextBrowser
from tools.errors import FetchError, ToolError
from tools.fetch import Fetcher
from tools.page import Page


def visit(answer: Answer, path: str = "/") -> Page:
    with LocalWeb({path: answer}) as web:
        return TextBrowser(Fetcher(allow_local=True)).visit(web.url(path))


def pdf() -> bytes:
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length 44>>stream\nBT /F 18 Tf 20 50 Td (Hello from a PDF) Tj ET\nendstream", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]  # fmt: skip
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj%s endobj\n" % (n, o) for n, o in enumerate(objects, 1))
    return body + b"trailer<</Root 1 0 R/Size 6>>\n%%EOF"


def test_30_a_wrong_type_or_none() -> None:
    assert "Hello from a PDF" in visit(Answer(headers={"Content-Type": "text/html"}, body=pdf())).text
    html = "<!doctype html><html><body><p>a page</p></body></html>"
    assert visit(Answer(headers={"Content-Type": "application/octet-stream"}, body=html)).text == "a page"
    assert visit(Answer(headers={"Content-Type": ""}, body=html)).text == "a page"


def test_31_a_name_in_content_disposition_or_none() -> None:
    table = "a,b\n1,2\n"
    named = {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment; filename*=UTF-8''t%C3%A4ble.csv"}  # fmt: skip
    page = visit(Answer(headers=named, body=table), "/get")
    assert page.tables[0]["b"].sum() == 2
    for disposition, name in (
        ('attachment; filename="../../etc/passwd"', "passwd"),
        ("attachment; filename*=UTF-8''..%2F..%2Fx.csv", "x.csv"),
        ("attachment; filename=C:\\dir\\y.csv", "y.csv"),
        ("attachment", "get"),
    ):
        with LocalWeb({"/get": Answer(headers={"Content-Disposition": disposition}, body="x")}) as web:
            assert Fetcher(allow_local=True).get(web.url("/get")).filename == name


@pytest.mark.slow
def test_32_an_archive_is_never_unpacked_over_its_caps_or_out_of_its_folder() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../slip.txt", "slipped")
        archive.writestr("bomb.txt", b"0" * 20_000_000)
    for body in (packed.getvalue(), gzip.compress(b"0" * 20_000_000)):
        try:
            page = visit(Answer(headers={"Content-Type": "application/zip"}, body=body))
        except ToolError as error:
            assert "\n" not in str(error)
        else:
            assert len(page.text) <= 8000


LAUGHS = """<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">""" + "".join(
    f'<!ENTITY {name} "{f"&{before};" * 10}">' for before, name in zip("abcdefgh", "bcdefghi", strict=True)
) + ']><lolz>&i;<x>text</x></lolz>'  # fmt: skip
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r>&e;<x>text</x></r>'


@pytest.mark.parametrize("body", [LAUGHS, OUTSIDE])
def test_33_xml_with_entities_is_not_expanded(body: str) -> None:
    page = visit(Answer(headers={"Content-Type": "application/xml"}, body=body))
    assert "text" in page.text
    assert "root:" not in page.text
    assert page.text.count("ha") < 200


@pytest.mark.parametrize(
    ("kind", "body", "words"),
    [("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'><text>a label</text></svg>", "a label"),
     ("application/rss+xml", "<rss><channel><item><title>an item</title></item></channel></rss>", "an item"),
     ("application/json", json.dumps({"key": "ein Wört"}), "ein Wört"), ("application/x-ndjson", '{"a": 1}\n{"a": 2}', "| 2 |"),
     ("text/csv", "a,b\n1,2", "| 1 | 2 |")],
)  # fmt: skip
def test_33_svg_feeds_json_lines_and_csv_are_readable_text(kind: str, body: str, words: str) -> None:
    assert words in visit(Answer(headers={"Content-Type": kind}, body=body)).text


def test_34_a_film_is_left_at_its_headers() -> None:
    for kind, length in (
        ("video/mp4", 3_000_000_000),
        ("application/octet-stream", 3_000_000_000),
        ("video/mp4", None),
    ):
        answer = Answer(headers={"Content-Type": kind}, body=[b"x" * 1000] * 100, pause=0.01, length=length)
        with LocalWeb({"/": answer}) as web, pytest.raises(FetchError, match=r"more than the 20 MB"):
            Fetcher(allow_local=True).get(web.url())
