"""The HTML pages of a world, by path."""

import datetime
from collections.abc import Iterator

from evals.world.facts import (
    BEFORE,
    CONTINENTS,
    NOW,
    SUMMER,
    WINTER,
    City,
    Country,
    Element,
    Facts,
    currency_name,
    offset,
    slug_of,
)
from evals.world.layout import bullets, facts_table, link, page, paragraph, table, text

_HOME = ("/index.html", "Home")
_COUNTRIES = ("/countries/index.html", "Countries")
_TODAY = f"{NOW}-02-01"
_THEN = f"{BEFORE}-02-01"


def country_path(country: Country) -> str:
    return f"countries/{country.slug}.html"


def city_path(city: City) -> str:
    return f"cities/{city.slug}.html"


def element_path(element: Element) -> str:
    return f"elements/{element.name.lower()}.html"


def zone_path(zone: str) -> str:
    return f"zones/{slug_of(zone)}.html"


def language_path(language: str) -> str:
    return f"languages/{slug_of(language)}.html"


def old_path(path: str) -> str:
    """Where the page of ten years ago is."""
    return f"archive/{BEFORE}/{path}"


def notice_path(city: City, date: datetime.date) -> str:
    return f"notices/{city.slug}-{date:%Y-%m-%d}.html"


def clock(ahead: datetime.timedelta) -> str:
    """An offset as it is written: UTC+05:30."""
    minutes = round(ahead.total_seconds() / 60)
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def redirects(facts: Facts) -> dict[str, str]:
    """Addresses that lead to other ones; those of trade reports, which pages link too, lead nowhere."""
    found = {
        f"/reports/{country.slug}.html": f"/{country_path(country)}" for country in facts.countries.values()
    }
    found |= {f"/code/{code}": f"/{country_path(country)}" for code, country in facts.countries.items()}
    return found | {"/almanac": "/index.html"}


def pages(facts: Facts) -> Iterator[tuple[str, bytes]]:
    """(path, content) of every page."""
    yield "index.html", _home(facts)
    yield from _indexes(facts)
    for country in facts.countries.values():
        yield country_path(country), _country(facts, country)
        if facts.of_country(country.code):
            yield old_path(country_path(country)), _country_before(facts, country)
    for city in facts.cities.values():
        yield city_path(city), _city(facts, city)
        if city.before is not None:
            yield old_path(city_path(city)), _city_before(facts, city)
        for date, count in city.counts:
            yield notice_path(city, date), _notice(facts, city, date, count)
    for element in facts.elements:
        yield element_path(element), _element(facts, element)
    for code, countries in facts.currencies.items():
        yield f"currencies/{code.lower()}.html", _currency(code, countries)
    for language, spoken in facts.languages.items():
        yield language_path(language), _language(language, spoken)
    for zone, cities in facts.zones.items():
        yield zone_path(zone), _zone(facts, zone, cities)


def _to(country: Country) -> str:
    return link(f"/{country_path(country)}", country.name)


def _city_link(city: City) -> str:
    return link(f"/{city_path(city)}", city.name)


def _home(facts: Facts) -> bytes:
    body = paragraph("An almanac of countries, cities, elements, currencies, languages and time zones.")
    body += bullets(link(f"/continents/{slug_of(name)}.html", name) for name in CONTINENTS.values())
    body += paragraph(f"It has {len(facts.countries)} countries and {len(facts.cities)} cities.")
    return page("The Almanac", body, date=_TODAY)


def _indexes(facts: Facts) -> Iterator[tuple[str, bytes]]:
    every = sorted(facts.countries.values(), key=lambda country: country.name)
    yield "countries/index.html", page("Countries", bullets(map(_to, every)), [_HOME])
    for code, name in CONTINENTS.items():
        found = facts.of_continent(code)
        body = paragraph(f"{name} has {len(found)} countries in this almanac.") + bullets(map(_to, found))
        body += paragraph(link(f"/files/{slug_of(name)}.xlsx", f"Spreadsheet of {name}: areas and people"))
        yield f"continents/{slug_of(name)}.html", page(name, body, [_HOME, _COUNTRIES])
    elements = [(str(e.number), e.symbol, link(f"/{element_path(e)}", e.name)) for e in facts.elements]
    yield "elements/index.html", page("Elements", table(("number", "symbol", "name"), elements), [_HOME])
    currencies = (
        link(f"/currencies/{code.lower()}.html", f"{currency_name(code)} ({code})")
        for code in facts.currencies
    )
    yield "currencies/index.html", page("Currencies", bullets(currencies), [_HOME])
    languages = (link(f"/{language_path(name)}", name) for name in facts.languages)
    yield "languages/index.html", page("Languages", bullets(languages), [_HOME])
    zones = (link(f"/{zone_path(name)}", name) for name in facts.zones)
    yield "zones/index.html", page("Time zones", bullets(zones), [_HOME])


def _country(facts: Facts, country: Country) -> bytes:
    capital = facts.capital(country)
    rows = [
        ("Capital", _city_link(capital) if capital else text(country.capital)),
        (
            "Continent",
            link(f"/continents/{slug_of(CONTINENTS[country.continent])}.html", CONTINENTS[country.continent]),
        ),
        (f"Population ({NOW})", f"{country.people:,}"),
        ("Area", f"{country.area:,} km²"),
        ("Currency", link(f"/currencies/{country.currency.lower()}.html", country.currency)),
    ]
    body = facts_table(rows)
    near = [facts.countries[code] for code in country.neighbours]
    body += "<h2>Neighbours</h2>\n" + (bullets(map(_to, near)) if near else paragraph("None by land."))
    cities = facts.of_country(country.code)
    if cities:
        body += "<h2>Cities</h2>\n"
        body += table(
            ("city", f"population ({NOW})"), [(_city_link(c), f"{c.people:,}") for c in cities[:10]]
        )
        body += paragraph(link(f"/files/{country.slug}-cities.csv", f"All cities of {country.name} (CSV)"))
        body += paragraph(link(f"/{old_path(country_path(country))}", f"This page as of {BEFORE}"))
        body += f'<p><img src="/files/{country.slug}.png" alt="Chart of the largest cities of {text(country.name)}"></p>\n'
    body += paragraph(
        link(f"/files/{country.slug}-communications.pdf", f"Communications sheet of {country.name} (PDF)"),
        link(f"/reports/{country.slug}.html", "Full report"),
        link(f"/trade/{country.slug}.html", "Trade report"),
    )
    return page(country.name, body, [_HOME, _COUNTRIES], _TODAY)


def _country_before(facts: Facts, country: Country) -> bytes:
    rows = [
        ("Capital", text(country.capital)),
        (f"Population ({BEFORE})", f"{country.before:,}"),
        ("Area", f"{country.area:,} km²"),
    ]
    body = paragraph(f"This is the page of {BEFORE}; its figures are out of date.") + facts_table(rows)
    return page(f"{country.name} ({BEFORE})", body, [_HOME, _COUNTRIES], _THEN)


def _city(facts: Facts, city: City) -> bytes:
    country = facts.countries[city.country]
    rows = [
        ("Country", _to(country)),
        (f"Population ({NOW})", f"{city.people:,}"),
        ("Latitude", f"{city.latitude:.2f}"),
        ("Longitude", f"{city.longitude:.2f}"),
        ("Time zone", link(f"/{zone_path(city.zone)}", city.zone)),
    ]
    is_capital = city.name == country.capital
    what = f"the capital of {_to(country)}" if is_capital else f"a city in {_to(country)}"
    body = paragraph(f"{text(city.name)} is {what}.") + facts_table(rows)
    notes = [
        (date, link(f"/{notice_path(city, date)}", f"Notice of {date:%Y-%m-%d}")) for date, _ in city.counts
    ]
    if notes:
        body += "<h2>Notices</h2>\n" + bullets(note for _, note in notes)
    if city.before is not None:
        body += paragraph(link(f"/{old_path(city_path(city))}", f"This page as of {BEFORE}"))
    return page(city.name, body, [_HOME, _COUNTRIES, (f"/{country_path(country)}", country.name)], _TODAY)


def _city_before(facts: Facts, city: City) -> bytes:
    country = facts.countries[city.country]
    rows = [("Country", text(country.name)), (f"Population ({BEFORE})", f"{city.before:,}")]
    body = paragraph(f"{text(city.name)} is a city in {text(country.name)}.") + facts_table(rows)
    return page(f"{city.name} ({BEFORE})", body, [_HOME], _THEN)


def _notice(facts: Facts, city: City, date: datetime.date, count: int) -> bytes:
    newest = date == city.counts[-1][0]
    body = paragraph(
        f"A count that ended on {date:%Y-%m-%d} found {count:,} inhabitants in {text(city.name)}."
    )
    body += paragraph("It replaces all earlier counts." if newest else "It is the most exact count so far.")
    return page(
        f"Notice on {city.name}, {date:%Y-%m-%d}",
        body,
        [_HOME, (f"/{city_path(city)}", city.name)],
        f"{date:%Y-%m-%d}",
    )


def _element(facts: Facts, element: Element) -> bytes:
    rows = [
        ("Atomic number", str(element.number)),
        ("Symbol", element.symbol),
        ("Atomic mass", f"{element.mass:g} u"),
        ("Density", f"{element.density:g} g/cm³" if element.density else "not known"),
    ]
    near = [e for e in facts.elements if abs(e.number - element.number) == 1]
    body = paragraph(f"{element.name} is a chemical element.") + facts_table(rows)
    body += "<h2>Beside it in the table</h2>\n" + bullets(link(f"/{element_path(e)}", e.name) for e in near)
    return page(element.name, body, [_HOME, ("/elements/index.html", "Elements")], _TODAY)


def _currency(code: str, countries: list[Country]) -> bytes:
    body = facts_table([("Code", code), ("Countries", str(len(countries)))])
    return page(f"{currency_name(code)} ({code})", body + bullets(map(_to, countries)), [_HOME], _TODAY)


def _language(language: str, spoken: list[tuple[Country, float]]) -> bytes:
    rows = [(_to(country), f"{share:g} %") for country, share in spoken]
    body = table(("country", "share of the people"), rows, f"Where {language} is spoken")
    return page(language, body, [_HOME, ("/languages/index.html", "Languages")], _TODAY)


def _zone(facts: Facts, zone: str, cities: list[City]) -> bytes:
    rows = [
        (f"On {WINTER:%Y-%m-%d}", clock(offset(zone, WINTER))),
        (f"On {SUMMER:%Y-%m-%d}", clock(offset(zone, SUMMER))),
    ]
    body = facts_table(rows) + "<h2>Cities</h2>\n" + bullets(_city_link(c) for c in cities[:40])
    return page(zone, body, [_HOME, ("/zones/index.html", "Time zones")], _TODAY)
