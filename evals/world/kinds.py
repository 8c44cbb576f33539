"""The kinds of questions about a world. Each says itself in which form it wants its answer: a small model searches for the whole of it."""

from evals.world.asker import Asker, Posed, all_differ, clear, figures_of, listable, people_of
from evals.world.facts import BEFORE, CONTINENTS, NOW, WINTER, Country, offset
from evals.world.files import csv_path, pdf_path, sheet_path, spreadsheet
from evals.world.pages import city_path, clock, country_path, element_path, notice_path, old_path, zone_path


def city_people(ask: Asker) -> Posed:
    city = ask.one([city for city in ask.cities if city.before is not None])
    name = ask.facts.countries[city.country].name
    return Posed(
        f"What is the population of {city.name} in {name} in {NOW}?",
        str(city.people),
        "fact",
        (people_of(city),),
    )


def old_people(ask: Asker) -> Posed:
    city = ask.one([city for city in ask.cities if city.before is not None])
    evidence = ((old_path(city_path(city)), f"{city.before:,}"),)
    return Posed(
        f"What was the population of {city.name} in {BEFORE}?", str(city.before), "older figure", evidence
    )


def country_area(ask: Asker) -> Posed:
    country = ask.country()
    evidence = figures_of(country)[1:]
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
        [(c, s) for c, s in ask.seats() if c.density >= 1 and clear(c.density, 1)]
    )
    evidence = (*figures_of(country), (city_path(city), country.name))
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
        question, str(larger.people - smaller.people), "difference", (people_of(larger), people_of(smaller))
    )


def growth(ask: Asker) -> Posed:
    city = ask.one([city for city in ask.cities if city.before is not None])
    assert city.before is not None
    evidence = (people_of(city), (old_path(city_path(city)), f"{city.before:,}"))
    question = f"By how many people did {city.name} grow from {BEFORE} to {NOW}?"
    return Posed(question, str(city.people - city.before), "older figure", evidence)


def neighbours_area(ask: Asker) -> Posed:
    country = ask.country(lambda country: 2 <= len(country.neighbours) <= 5)
    near = [ask.facts.countries[code] for code in country.neighbours]
    evidence = tuple(figures_of(each)[1] for each in near)
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
    clear = all_differ(country.area for country in ordered[:5])
    return Posed(question, ordered[place].name if clear else "", "spreadsheet", evidence)


def order_of_cities(ask: Asker) -> Posed:
    cities = ask.chance.sample([city for city in ask.cities if listable(city.name)], 5)
    ordered = sorted(cities, key=lambda city: -city.people)
    names = ", ".join(city.name for city in cities)
    question = f"Put these cities in order of their population in {NOW}, the largest first, separated by commas: {names}."
    listed = ", ".join(city.name for city in ordered) if all_differ(city.people for city in cities) else ""
    return Posed(question, listed, "ordering", tuple(map(people_of, cities)))


def dense_neighbours(ask: Asker) -> Posed:
    country = ask.country(lambda c: len(c.neighbours) >= 4 and all(map(listable, _names(ask, c))))
    near = [ask.facts.countries[code] for code in country.neighbours]
    least = round(sorted(each.density for each in near)[len(near) // 2] * 0.9) or 1
    dense = sorted(each.name for each in near if each.density > least)
    evidence = tuple(fact for each in near for fact in figures_of(each))
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
    evidence += tuple(map(people_of, seats))
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
        question, str(total), "attachment", tuple(map(people_of, cities)), attached=("tour.xlsx", content)
    )


def attached_distance(ask: Asker) -> Posed:
    cities = [city for city in ask.chance.sample(ask.cities, 5) if listable(city.name)]
    content = ("\n".join(["city", *(city.name for city in cities)]) + "\n").encode()
    north = sorted(cities, key=lambda city: -city.latitude)
    evidence = tuple((city_path(city), f"{city.latitude:.2f}") for city in cities)
    question = (
        "List the cities of the attached CSV file from north to south, by the latitudes on their pages,"
        " separated by commas."
    )
    listed = ", ".join(city.name for city in north) if all_differ(city.latitude for city in cities) else ""
    return Posed(question, listed, "attachment", evidence, attached=("cities.csv", content))


def _names(ask: Asker, country: Country) -> list[str]:
    return [ask.facts.countries[code].name for code in country.neighbours]
