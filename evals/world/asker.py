"""What a question about a world is, and who poses it."""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from evals.world.facts import City, Country, Facts
from evals.world.pages import city_path, country_path

Evidence = tuple[str, str]
"""Words that have to be found, and where (path, words): a test reads each of them as the agent does."""


@dataclass(frozen=True)
class Posed:
    """A question of a world. `attached`: (name, content) of a file.

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


def people_of(city: City) -> Evidence:
    """The city's people, on its page."""
    return city_path(city), f"{city.people:,}"


def figures_of(country: Country) -> tuple[Evidence, Evidence]:
    """The country's people and its area, on its page."""
    path = country_path(country)
    return (path, f"{country.people:,}"), (path, f"{country.area:,}")


def listable(name: str) -> bool:
    """In a list the scorer counts punctuation."""
    return name.replace(" ", "").isalpha()


def all_differ(values: Iterable[float]) -> bool:
    """Whether the values have only one order."""
    given = list(values)
    return len(set(given)) == len(given)


def clear(value: float, digits: int) -> bool:
    """Not so near to the half that a way to compute it decides how it is rounded."""
    scale: float = 10.0**digits
    return abs(value * scale % 1 - 0.5) > 0.05
