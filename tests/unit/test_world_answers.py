"""The true answers of a world, found once more by a reader who has nothing but its files."""

import csv
import html
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import openpyxl
import pypdfium2
import pytest

from evals.questions import Question
from evals.world.build import build_world
from evals.world.place import world_questions

pytestmark = pytest.mark.slow

_ROW = re.compile(r"<tr>\s*<t[hd][^>]*>(.*?)</t[hd]>\s*<td[^>]*>(.*?)</td>\s*</tr>", re.DOTALL)


def shown(markup: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", markup)).strip()


def number(text: str) -> int:
    return int(re.sub(r"[^\d]", "", text.removesuffix("km²")))


class Reader:
    """Reads the files of a site as a visitor would. Each method named for a kind takes the words of a question."""

    def __init__(self, site: Path) -> None:
        self._site = site
        self.page = cache(self._page)

    @cache  # noqa: B019 - one reader a test
    def titles(self, folder: str) -> dict[str, Path]:
        paths = (path for path in (self._site / folder).glob("*.html") if path.name != "index.html")
        return {shown(re.findall(r"<h1[^>]*>(.*?)</h1>", path.read_text("utf-8"))[0]): path for path in paths}

    def _page(self, folder: str, title: str) -> str:
        return self.titles(folder)[title].read_text("utf-8")

    def fact(self, folder: str, title: str, name: str) -> str:
        return {shown(key): shown(value) for key, value in _ROW.findall(self.page(folder, title))}[name]

    def people(self, city: str) -> int:
        return number(self.fact("cities", city, "Population (2025)"))

    def before(self, city: str) -> int:
        return number(self.fact("archive/2015/cities", f"{city} (2015)", "Population (2015)"))

    def area(self, country: str) -> int:
        return number(self.fact("countries", country, "Area"))

    def density(self, country: str) -> float:
        return number(self.fact("countries", country, "Population (2025)")) / self.area(country)

    def zone_of_capital(self, country: str) -> str:
        return self.fact("cities", self.fact("countries", country, "Capital"), "Time zone")

    def minutes(self, zone: str) -> int:
        sign, hours, minutes = re.findall(r"UTC(.)(\d\d):(\d\d)", self.fact("zones", zone, "On 2025-01-15"))[
            0
        ]
        return int(f"{sign}{int(hours) * 60 + int(minutes)}")

    def neighbours(self, country: str) -> list[str]:
        part = self.page("countries", country).partition("<h2>Neighbours</h2>")[2].partition("</ul>")[0]
        return [shown(item) for item in re.findall(r"<li>(.*?)</li>", part)]

    def file(self, country: str, ending: str) -> Path:
        return self._site / "files" / f"{self.titles('countries')[country].stem}-{ending}"

    def by_area(self, continent: str) -> list[str]:
        path = self._site / "files" / f"{continent.lower().replace(' ', '-')}.xlsx"
        _, *rows = openpyxl.load_workbook(path).worksheets[0].values
        return [str(row[0]) for row in sorted(rows, key=lambda row: -int(str(row[2])))]

    def calling_code(self, country: str) -> str:
        document = pypdfium2.PdfDocument(self.file(country, "communications.pdf"))
        return re.findall(r"Calling code\s*\+(\d+)", document[0].get_textpage().get_text_bounded())[0]

    def newest_count(self, city: str) -> str:
        pages = (
            path.read_text("utf-8")
            for name, path in self.titles("notices").items()
            if f" on {city}, " in name
        )
        counts = (re.findall(r"ended on (\S+) found (\S+) inhabitants", page)[0] for page in pages)
        return str(number(max(counts)[1]))

    def country_of_capital(self, city: str) -> str:
        (country,) = (
            name for name in self.titles("countries") if self.fact("countries", name, "Capital") == city
        )
        return country

    def larger_in_csv(self, country: str, least: str) -> int:
        with self.file(country, "cities.csv").open(encoding="utf-8", newline="") as file:
            return sum(int(row["population"]) > int(least) for row in csv.DictReader(file))

    def clock(self, here: str, there: str) -> str:
        now = 12 * 60 + self.minutes(self.zone_of_capital(there)) - self.minutes(self.zone_of_capital(here))
        return f"{now // 60 % 24:02}:{now % 60:02}"

    def dense(self, country: str, least: str) -> str:
        return ", ".join(sorted(name for name in self.neighbours(country) if self.density(name) > int(least)))

    def largest_capitals(self, continent: str) -> int:
        return sum(
            self.people(self.fact("countries", name, "Capital")) for name in self.by_area(continent)[:3]
        )


def answers(read: Reader, files: tuple[Path, ...]) -> dict[str, Callable[..., object]]:
    """How each question is answered, by its words."""

    def tour(least: str) -> int:
        _, *rows = openpyxl.load_workbook(files[0]).worksheets[0].values
        return sum(people for row in rows if (people := read.people(str(row[1]))) > int(least))

    def northward() -> str:
        _, *cities = files[0].read_text("utf-8").splitlines()
        return ", ".join(sorted(cities, key=lambda city: -float(read.fact("cities", city, "Latitude"))))

    return {
        r"What is the population of (.+) in .+ in 2025\?": read.people,
        r"What was the population of (.+) in 2015\?": read.before,
        r"What is the area of (.+) in square kilometres\?": read.area,
        r"What is the atomic mass of (.+) in u,.*": lambda name: read.fact("elements", name, "Atomic mass")[
            :-2
        ],
        r"What is the three-letter code of the currency of (.+)\?": lambda name: read.fact(
            "countries", name, "Currency"
        ),
        r"Which calling code .* \(PDF\) of (.+) give, .*": read.calling_code,
        r"In which time zone .* capital of (.+)\?": read.zone_of_capital,
        r"How many inhabitants did .* notice on (.+) tells of\?": read.newest_count,
        r"How many people per .* whose capital is (.+), in 2025\?.*": lambda city: format(
            read.density(read.country_of_capital(city)), ".1f"
        ),
        r"How many more people live in (.+) than in (.+), by .*": lambda one, two: (
            read.people(one) - read.people(two)
        ),
        r"By how many people did (.+) grow .*": lambda city: read.people(city) - read.before(city),
        r"What is the sum of the areas of all neighbours of (.+), in .*": lambda name: sum(
            map(read.area, read.neighbours(name))
        ),
        r"How many cities in the CSV file of the cities of (.+) have more than (\d+) .*": read.larger_in_csv,
        r"When it is 12:00 .* capital of (.+), what time is it in the capital of (.+)\? .*": read.clock,
        r"Which country has the (\w+) largest area in the spreadsheet of (.+)\?": lambda word, continent: (
            read.by_area(continent)[("first", "second", "third", "fourth").index(word)]
        ),
        r"Put these cities in order .* commas: (.+)\.": lambda names: ", ".join(
            sorted(names.split(", "), key=lambda city: -read.people(city))
        ),
        r"Which neighbours of (.+) have more than (\d+) people .*": read.dense,
        r"Take the three countries .* spreadsheet of (.+): .*": read.largest_capitals,
        r"The attached spreadsheet .* more than (\d+) inhabitants.*": tour,
        r"List the cities of the attached CSV .*": northward,
    }


def found(read: Reader, question: Question) -> str:
    (answer,) = {
        str(ask(*match.groups()))
        for words, ask in answers(read, question.files).items()
        if (match := re.fullmatch(words, question.question))
    }
    return answer


def test_a_reader_of_the_files_alone_finds_each_true_answer(tmp_path: Path) -> None:
    place = build_world(tmp_path, 7)
    read, questions = Reader(place / "site"), world_questions(place)
    assert {question.id: found(read, question) for question in questions} == {
        question.id: question.answer for question in questions
    }
    assert len({question.kind for question in questions}) == 15
