"""The offline world is one web for one seed, and every fact that a question needs can be read in it as the agent reads."""

import json
import random
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from evals.__main__ import main
from evals.closed_web import FolderWeb
from evals.leaderboard import matches
from evals.questions import Question
from evals.world.asker import Asker
from evals.world.build import build_world
from evals.world.facts import Facts
from evals.world.kinds import density_of_seat
from evals.world.pages import city_path, pages
from evals.world.place import world_questions, world_version
from evals.world.questions import LEVELS, posed
from tests.scripted_endpoint import Answer, ScriptedEndpoint, reply
from tools.browser import TextBrowser
from tools.documents import read_file
from tools.errors import FetchError
from tools.fetch import Fetcher

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worlds")
    broken_off = folder / f".world-7-{world_version(7)}.part"
    broken_off.mkdir()
    (broken_off / "half").touch()
    return build_world(folder, 7)


@pytest.fixture(scope="module")
def web(place: Path) -> Iterator[FolderWeb]:
    # Of all pages only a few: the index of the whole takes seconds, and its search has tests of its own.
    with FolderWeb(
        place / "site" / "elements", None, json.loads((place / "redirects.json").read_text())
    ) as web:
        yield web


def test_a_world_has_about_two_thousand_pages_and_files_of_every_kind(place: Path) -> None:
    site = place / "site"
    kinds = Counter(path.suffix for path in site.rglob("*") if path.is_file())
    assert 1800 < kinds[".html"] < 2500
    assert all(
        kinds[kind] >= least for kind, least in ((".pdf", 100), (".csv", 100), (".xlsx", 6), (".png", 100))
    )
    listed = {
        node.text for node in ElementTree.parse(site / "sitemap.xml").iter() if node.tag.endswith("loc")
    }
    assert len(listed) == sum(kinds.values()) - 1
    assert len(list((site / "archive").rglob("*.html"))) > 200


def test_one_seed_is_one_world_and_another_is_another(place: Path) -> None:
    again, other = Facts(7), Facts(8)
    assert all((place / "site" / path).read_bytes() == content for path, content in pages(again))
    rows = [json.loads(line) for line in (place / "questions.jsonl").read_text().splitlines()]
    assert [(row["question"], row["answer"]) for row in rows] == [
        (p.question, p.answer) for p in posed(again, 60)
    ]
    assert len({p.question for p in posed(other, 60)} & {row["question"] for row in rows}) < 6
    assert len(set(other.cities) & set(again.cities)) < 500


def test_a_world_that_is_built_is_not_built_again_and_a_broken_off_one_is(place: Path) -> None:
    before = place.stat().st_mtime_ns
    assert build_world(place.parent, 7) == place and place.stat().st_mtime_ns == before
    found = [path for path in place.parent.iterdir() if path.suffix != ".lock"]
    assert not (place / "half").exists() and found == [place]


def test_the_levels_have_their_shares_in_any_first_ten(place: Path) -> None:
    questions = world_questions(place)
    assert len({question.id for question in questions}) == len(questions) == 60
    for count in (10, 30, 60):
        levels = Counter(question.level for question in questions[:count])
        assert levels == {1: count * 2 // 5, 2: count * 2 // 5, 3: count // 5}
    assert sum(bool(question.files) for question in questions) >= 4
    assert len({question.kind for question in questions}) >= 12


def test_every_fact_that_a_question_needs_is_read_from_its_page_or_file(place: Path) -> None:
    @cache
    def words(path: str) -> str:
        document = read_file(place / "site" / path)
        return " ".join(re.sub(r"[|*\\_\[\]]", " ", document.markdown).split())

    for line in (place / "questions.jsonl").read_text().splitlines():
        row = json.loads(line)
        assert row["evidence"]
        for path, fact in row["evidence"]:
            assert " ".join(re.sub(r"[|*\\_\[\]]", " ", fact).split()) in words(path), (
                row["question"],
                path,
                fact,
            )


def test_the_true_answers_are_in_a_form_that_the_scorer_takes() -> None:
    for each in posed(Facts(3), 200):
        assert matches(each.answer, each.answer), each
        assert each.answer.strip() == each.answer
        if each.kind in ("ordering", "attachment") and not each.answer.isdigit():
            assert each.answer.count(",") >= 1


def test_a_capital_of_two_countries_is_no_way_to_name_one() -> None:
    """Serbia, and Serbia and Montenegro, both have Belgrade."""
    facts = Facts(7)
    capitals = Counter(country.capital for country in facts.countries.values())
    ask, seen = Asker(facts, random.Random(1)), set()
    for _ in range(2000):
        each = density_of_seat(ask)
        (city,) = re.findall(r"whose capital is (.+), in 2025\?", each.question)
        assert bool(each.answer) is (capitals[city] == 1)
        seen.add(city)
    assert "Belgrade" in seen


def test_older_pages_and_notices_contradict_the_newer_ones(place: Path) -> None:
    facts = Facts(7)
    city = next(city for city in facts.cities.values() if city.before is not None)
    assert f"{city.people:,}" in (place / "site" / city_path(city)).read_text()
    old = (place / "site" / "archive" / "2015" / city_path(city)).read_text()
    assert f"{city.people:,}" not in old and f"{city.before:,}" in old
    counted = [city for city in facts.cities.values() if city.counts]
    assert counted and all(
        first[0] < last[0] and first[1] != last[1] for first, last in (c.counts for c in counted)
    )


def test_the_world_is_served_with_redirects_dead_links_and_its_own_search(
    place: Path, web: FolderWeb
) -> None:
    fetcher = Fetcher(allow_local=True)
    found = web.search("atomic mass of iron", 5)
    assert found[0].url == web.address + "iron.html"
    page = TextBrowser(fetcher, None).open(web.address + "search?q=atomic+mass+of+iron")
    assert "iron.html" in [link.url.rsplit("/")[-1] for link in page.links]
    web.redirects = {**web.redirects, "/reports/iron.html": "/iron.html"}
    assert (
        "Iron is a chemical element"
        in TextBrowser(fetcher, None).open(web.address + "reports/iron.html").markdown
    )
    with pytest.raises(FetchError, match="404"):
        fetcher.get(web.address + "trade/norway.html")
    assert 'href="/trade/norway.html"' in (place / "site" / "countries" / "norway.html").read_text()


def test_each_kind_of_question_is_in_use() -> None:
    makers = [maker for level in LEVELS.values() for maker in level]
    assert len(makers) == len(set(makers)) == 20
    assert {1, 2, 3} == set(LEVELS)


def test_the_world_is_asked_by_one_command(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    questions: list[Question] = world_questions(place)

    def knows(body: dict[str, Any]) -> Answer:
        talk = str(body["messages"])
        said = next((q.answer for q in questions if q.question[:60] in talk), "Ready.")
        return reply(f"I know.\n```python\nfinal_answer({said!r})\n```\n")

    (tmp_path / "worlds").mkdir()
    (tmp_path / "worlds" / place.name).symlink_to(place)
    with ScriptedEndpoint(knows) as endpoint:
        monkeypatch.setenv("TGI_URL", endpoint.url)
        monkeypatch.setenv("CACHE_DIR", str(tmp_path))
        assert main(["world", "run", "--seed", "7", "--first", "5", "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "100.0%" in shown and "level 3" in shown
    assert (place / "index.sqlite").stat().st_size > 1_000_000
