"""Questions about a world, each with the one answer that follows from its facts.

Level 1 wants one or two facts, level 2 several pages and a computation, level 3
many pages or files and an ordering. `evidence` says which words have to be found
where, so that a test can read each of them as the agent does. Each question says
itself in which form it wants its answer: a small model searches for the whole of it.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from evals.questions import Question
from evals.world.facts import BEFORE, CONTINENTS, NOW, WINTER, City, Country, Facts, offset
from evals.world.files import csv_path, pdf_path, sheet_path, spreadsheet
from evals.world.pages import city_path, clock, country_path, element_path, notice_path, old_path, zone_path

_TRIES = 2000

Evidence = tuple[str, str]


@dataclass(frozen=True)
class Posed:
    """A question of a world. `evidence`: (path, words that stand there). `attached`: (name, content) of a file.

    Without an `answer` it is none: the facts leave two answers open.
    """

    question: str
    answer: str
    kind: str
    evidence: tuple[Evidence, ...]
    level: int = 0
    attached: tuple[str, bytes] | None = None


@dataclass
class Asker:
    """Poses questions about some facts, in an order that a seed decides."""

    facts: Facts
    chance: random.Random
    used: set[str] = field(default_factory=set)

    @property
    def countries(self) -> list[Country]:
        return list(self.facts.countries.values())

    @property
    def cities(self) -> list[City]:
        return list(self.facts.cities.values())

    def one(self, choices: Sequence[City]) -> City:
        return self.chance.choice(choices)

    def country(self, suits: Callable[[Country], bool] = lambda country: True) -> Country:
        return self.chance.choice([country for country in self.countries if suits(country)])

    def seats(self) -> list[tuple[Country, City]]:
        """Countries whose capital has a page of its own."""
        found = ((country, self.facts.capital(country)) for country in self.countries)
        return [(country, city) for country, city in found if city is not None]


def _people(city: City) -> Evidence:
    return city_path(city), f"{city.people:,}"


def _nation(country: Country) -> tuple[Evidence, Evidence]:
    path = country_path(country)
    return (path, f"{country.people:,}"), (path, f"{country.area:,}")


def city_people(ask: Asker) -> Posed:
    city = ask.one([city for city in ask.cities if city.before is not None])
    name = ask.facts.countries[city.country].name
    return Posed(
        f"What is the population of {city.name} in {name} in {NOW}?",
        str(city.people),
        "fact",
        (_people(city),),
    )


def old_people(ask: Asker) -> Posed:
    city = ask.one([city for city in ask.cities if city.before is not None])
    evidence = ((old_path(city_path(city)), f"{city.before:,}"),)
    return Posed(
        f"What was the population of {city.name} in {BEFORE}?", str(city.before), "older figure", evidence
    )


def country_area(ask: Asker) -> Posed:
    country = ask.country()
    evidence = _nation(country)[1:]
    return Posed(
        f"What is the area of {country.name} in square kilometres?", str(country.area), "fact", evidence
    )


def element_mass(ask: Asker) -> Posed:
    element = ask.chance.choice(ask.facts.elements)
    evidence = ((element_path(element), f"{element.mass:g}"),)
    question = f"What is the atomic mass of {element.name} in u, as its page gives it?"
    return Posed(question, f"{element.mass:g}", "fact", evidence)


def currency_of(ask: Asker) -> Posed:
    country = ask.country()
    evidence = ((country_path(country), country.currency),)
    question = f"What is the three-letter code of the currency of {country.name}?"
    return Posed(question, country.currency, "fact", evidence)


def calling_code(ask: Asker) -> Posed:
    country = ask.country(lambda country: country.calling[1:].isdigit())
    evidence = ((pdf_path(country), country.calling),)
    question = (
        f"Which calling code does the communications sheet (PDF) of {country.name} give, without the plus?"
    )
    return Posed(question, country.calling[1:], "pdf", evidence)


def capital_zone(ask: Asker) -> Posed:
    country, city = ask.chance.choice(ask.seats())
    evidence = ((country_path(country), country.capital), (city_path(city), city.zone))
    return Posed(
        f"In which time zone (as Area/City) is the capital of {country.name}?",
        city.zone,
        "two facts",
        evidence,
    )


def newest_count(ask: Asker) -> Posed:
    city = ask.one([city for city in ask.cities if city.counts])
    date, count = city.counts[-1]
    evidence = ((notice_path(city, date), f"{count:,}"),)
    question = f"How many inhabitants did the most recent count find that a notice on {city.name} tells of?"
    return Posed(question, str(count), "contradiction", evidence)


def density_of_seat(ask: Asker) -> Posed:
    country, city = ask.chance.choice(
        [(c, s) for c, s in ask.seats() if c.density >= 1 and _clear(c.density, 1)]
    )
    evidence = (*_nation(country), (city_path(city), country.name))
    alone = [each for each in ask.countries if each.capital == city.name] == [country]
    question = (
        f"How many people per square kilometre live in the country whose capital is {city.name}, in {NOW}?"
        " Round to one decimal."
    )
    return Posed(question, f"{country.density:.1f}" if alone else "", "two hops", evidence)


def difference(ask: Asker) -> Posed:
    first, second = ask.chance.sample(ask.cities, 2)
    larger, smaller = sorted((first, second), key=lambda city: -city.people)
    question = f"How many more people live in {larger.name} than in {smaller.name}, by the figures of {NOW}?"
    return Posed(
        question, str(larger.people - smaller.people), "difference", (_people(larger), _people(smaller))
    )


def growth(ask: Asker) -> Posed:
    city = ask.one([city for city in ask.cities if city.before is not None])
    assert city.before is not None
    evidence = (_people(city), (old_path(city_path(city)), f"{city.before:,}"))
    question = f"By how many people did {city.name} grow from {BEFORE} to {NOW}?"
    return Posed(question, str(city.people - city.before), "older figure", evidence)


def neighbours_area(ask: Asker) -> Posed:
    country = ask.country(lambda country: 2 <= len(country.neighbours) <= 5)
    near = [ask.facts.countries[code] for code in country.neighbours]
    evidence = tuple(_nation(each)[1] for each in near)
    evidence += tuple((country_path(country), each.name) for each in near)
    question = f"What is the sum of the areas of all neighbours of {country.name}, in square kilometres?"
    return Posed(question, str(sum(each.area for each in near)), "sum", evidence)


def csv_count(ask: Asker) -> Posed:
    country = ask.country(lambda country: len(ask.facts.of_country(country.code)) >= 8)
    cities = ask.facts.of_country(country.code)
    least = round(ask.chance.choice(cities[2:-2]).people, -4)
    count = sum(city.people > least for city in cities)
    evidence = tuple((csv_path(country), str(city.people)) for city in cities)
    question = (
        f"How many cities in the CSV file of the cities of {country.name} have more than {least} inhabitants?"
    )
    return Posed(question, str(count), "csv", evidence)


def clock_of(ask: Asker) -> Posed:
    (here, first), (there, second) = ask.chance.sample(ask.seats(), 2)
    ahead = offset(second.zone, WINTER) - offset(first.zone, WINTER)
    evidence = tuple((zone_path(city.zone), clock(offset(city.zone, WINTER))) for city in (first, second))
    evidence += ((city_path(first), first.zone), (city_path(second), second.zone))
    question = (
        f"When it is 12:00 on {WINTER:%Y-%m-%d} in the capital of {here.name}, what time is it in the capital"
        f" of {there.name}? Answer as HH:MM."
    )
    return Posed(question, f"{WINTER + ahead:%H:%M}", "time", evidence)


def third_area(ask: Asker) -> Posed:
    continent = ask.chance.choice(list(CONTINENTS))
    place, word = ask.chance.choice(((1, "second"), (2, "third"), (3, "fourth")))
    ordered = sorted(ask.facts.of_continent(continent), key=lambda country: -country.area)
    evidence = tuple((sheet_path(continent), country.name) for country in ordered[:5])
    question = f"Which country has the {word} largest area in the spreadsheet of {CONTINENTS[continent]}?"
    clear = _all_differ(country.area for country in ordered[:5])
    return Posed(question, ordered[place].name if clear else "", "spreadsheet", evidence)


def order_of_cities(ask: Asker) -> Posed:
    cities = ask.chance.sample([city for city in ask.cities if _listable(city.name)], 5)
    ordered = sorted(cities, key=lambda city: -city.people)
    names = ", ".join(city.name for city in cities)
    question = f"Put these cities in order of their population in {NOW}, the largest first, separated by commas: {names}."
    listed = ", ".join(city.name for city in ordered) if _all_differ(city.people for city in cities) else ""
    return Posed(question, listed, "ordering", tuple(map(_people, cities)))


def dense_neighbours(ask: Asker) -> Posed:
    country = ask.country(lambda c: len(c.neighbours) >= 4 and all(map(_listable, _names(ask, c))))
    near = [ask.facts.countries[code] for code in country.neighbours]
    least = round(sorted(each.density for each in near)[len(near) // 2] * 0.9) or 1
    dense = sorted(each.name for each in near if each.density > least)
    evidence = tuple(fact for each in near for fact in _nation(each))
    question = (
        f"Which neighbours of {country.name} have more than {least} people per square kilometre, by the"
        f" figures of {NOW}? List them in alphabetical order, separated by commas."
    )
    return Posed(question, ", ".join(dense), "filter and order", evidence)


def seats_of_largest(ask: Asker) -> Posed:
    continent = ask.chance.choice(list(CONTINENTS))
    largest = sorted(ask.facts.of_continent(continent), key=lambda country: -country.area)[:5]
    seats = [seat for country in largest if (seat := ask.facts.capital(country))][:3]
    if len(seats) < 3 or any(not ask.facts.capital(country) for country in largest[:3]):
        return order_of_cities(ask)
    evidence = tuple((sheet_path(continent), country.name) for country in largest[:3])
    evidence += tuple(map(_people, seats))
    question = (
        f"Take the three countries with the largest areas in the spreadsheet of {CONTINENTS[continent]}: how many"
        f" people live in their three capitals together, by the figures of {NOW}?"
    )
    return Posed(question, str(sum(city.people for city in seats)), "sheet and pages", evidence)


def attached_sum(ask: Asker) -> Posed:
    cities = ask.chance.sample(ask.cities, 6)
    least = sorted(city.people for city in cities)[2]
    total = sum(city.people for city in cities if city.people > least)
    content = spreadsheet(("no", "city"), list(enumerate((city.name for city in cities), 1)), "Tour")
    question = (
        f"The attached spreadsheet lists six cities: add up the populations ({NOW}) of those that have more than"
        f" {least} inhabitants. What is the sum?"
    )
    return Posed(
        question, str(total), "attachment", tuple(map(_people, cities)), attached=("tour.xlsx", content)
    )


def attached_distance(ask: Asker) -> Posed:
    cities = [city for city in ask.chance.sample(ask.cities, 5) if _listable(city.name)]
    content = ("\n".join(["city", *(city.name for city in cities)]) + "\n").encode()
    north = sorted(cities, key=lambda city: -city.latitude)
    evidence = tuple((city_path(city), f"{city.latitude:.2f}") for city in cities)
    question = (
        "List the cities of the attached CSV file from north to south, by the latitudes on their pages,"
        " separated by commas."
    )
    listed = ", ".join(city.name for city in north) if _all_differ(city.latitude for city in cities) else ""
    return Posed(question, listed, "attachment", evidence, attached=("cities.csv", content))


LEVELS: dict[int, tuple[Callable[[Asker], Posed], ...]] = {
    1: (
        city_people,
        currency_of,
        calling_code,
        old_people,
        country_area,
        capital_zone,
        element_mass,
        newest_count,
    ),
    2: (density_of_seat, difference, csv_count, growth, clock_of, third_area, neighbours_area),
    3: (order_of_cities, attached_sum, dense_neighbours, seats_of_largest, attached_distance),
}
# The shares of the levels are about those of GAIA.
_ROUND = (1, 2, 1, 2, 3)


def posed(facts: Facts, count: int) -> list[Posed]:
    """`count` different questions; of any first ones, the levels have about their shares."""
    ask = Asker(facts, random.Random(f"questions {facts.seed}"))  # noqa: S311 - no secret
    rounds = -(-count // len(_ROUND))
    queues = {level: iter(_different(ask, level, rounds * _ROUND.count(level))) for level in LEVELS}
    return [next(queues[level]) for _ in range(rounds) for level in _ROUND][:count]


def _different(ask: Asker, level: int, count: int) -> list[Posed]:
    makers, found = LEVELS[level], []
    for number in range(_TRIES):
        question = replace(makers[number % len(makers)](ask), level=level)
        if question.question not in ask.used and question.answer:
            ask.used.add(question.question)
            found.append(question)
        if len(found) == count:
            return found
    raise AssertionError(f"the facts do not give {count} questions of level {level}")


def as_question(number: int, each: Posed, seed: int) -> Question:
    """Without its attachment, which `evals.world.build` puts beside it."""
    return Question(f"world-{seed}-{number:03}", each.question, each.answer, kind=each.kind, level=each.level)


def _names(ask: Asker, country: Country) -> list[str]:
    return [ask.facts.countries[code].name for code in country.neighbours]


def _listable(name: str) -> bool:
    """In a list the scorer counts punctuation."""
    return name.replace(" ", "").isalpha()


def _all_differ(values: Iterable[float]) -> bool:
    given = list(values)
    return len(set(given)) == len(given)


def _clear(value: float, digits: int) -> bool:
    """Not so near to the half that a way to compute it decides how it is rounded."""
    scale: float = 10.0**digits
    return abs(value * scale % 1 - 0.5) > 0.05
