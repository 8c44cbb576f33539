"""The files of a world that are no pages: PDFs, spreadsheets, CSV, charts."""

import csv
import datetime
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fpdf import FPDF
from openpyxl import Workbook
from PIL import Image, ImageDraw

from evals.world.facts import CONTINENTS, NOW, City, Country, Facts, slug_of
from evals.world.layout import bullets, link, page

_MADE = datetime.datetime(NOW, 2, 1, tzinfo=datetime.UTC)


def sheet_path(continent: str) -> str:
    return f"files/{slug_of(CONTINENTS[continent])}.xlsx"


def csv_path(country: Country) -> str:
    return f"files/{country.slug}-cities.csv"


def pdf_path(country: Country) -> str:
    return f"files/{country.slug}-communications.pdf"


def files(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """(path, content) of every file, and the page that lists them."""
    listed = []
    for continent in CONTINENTS:
        listed.append(sheet_path(continent))
        yield sheet_path(continent), spreadsheet(*_continent(facts, continent))
    for country in facts.countries.values():
        listed.append(pdf_path(country))
        yield pdf_path(country), _communications(country)
        if cities := facts.of_country(country.code):
            listed.append(csv_path(country))
            yield csv_path(country), _cities(cities)
            yield f"files/{country.slug}.png", _chart(cities[:8])
    links = (link(f"/{path}", path.removeprefix("files/")) for path in listed)
    yield "files/index.html", page("Files", bullets(links), [("/index.html", "Home")])


def spreadsheet(columns: Sequence[str], rows: Iterable[Sequence[Any]], name: str) -> bytes:
    """An Excel file with one sheet."""
    book = Workbook()
    book.properties.created = book.properties.modified = _MADE.replace(tzinfo=None)
    sheet = book.worksheets[0]
    sheet.title = name
    for row in (columns, *rows):
        sheet.append(list(row))
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def _continent(facts: Facts, code: str) -> tuple[Sequence[str], list[Sequence[Any]], str]:
    rows: list[Sequence[Any]] = [(c.name, c.capital, c.area, c.people) for c in facts.of_continent(code)]
    return ("country", "capital", "area (km²)", f"population ({NOW})"), rows, CONTINENTS[code]


def _cities(cities: Iterable[City]) -> bytes:
    held = io.StringIO()
    rows = csv.writer(held)
    rows.writerow(("city", "population", "latitude", "longitude", "time_zone"))
    for city in cities:
        rows.writerow((city.name, city.people, city.latitude, city.longitude, city.zone))
    return held.getvalue().encode()


def _communications(country: Country) -> bytes:
    document = FPDF()
    document.set_creation_date(_MADE)
    document.add_page()
    document.set_font("Helvetica", size=16)
    document.cell(text=f"Communications sheet: {_latin(country.name)}", new_x="LMARGIN", new_y="NEXT")
    document.set_font("Helvetica", size=11)
    rows = (
        ("Internet domain", country.domain),
        ("Calling code", country.calling),
        ("Country code", country.code),
    )
    for row in (("What", "Value"), *rows):
        for text in row:
            document.cell(95, 8, text, border=1)
        document.ln()
    document.cell(text=f"As of {_MADE:%Y-%m-%d}.")
    return bytes(document.output())


def _chart(cities: Sequence[City]) -> bytes:
    """Horizontal bars; a bar is as long as its city is large."""
    image = Image.new("RGB", (640, 40 + 30 * len(cities)), "white")
    draw = ImageDraw.Draw(image)
    draw.text((10, 8), f"Population ({NOW})", fill="black")
    for place, city in enumerate(cities):
        top = 34 + 30 * place
        draw.text((10, top + 4), _latin(city.name)[:24], fill="black")
        draw.rectangle(
            (180, top, 180 + round(360 * city.people / cities[0].people), top + 20), fill="#4472c4"
        )
        draw.text((550, top + 4), f"{city.people:,}", fill="black")
    held = io.BytesIO()
    image.save(held, "PNG")
    return held.getvalue()


def _latin(name: str) -> str:
    """The built-in fonts have no other letters."""
    return name.encode("latin-1", "replace").decode("latin-1")
