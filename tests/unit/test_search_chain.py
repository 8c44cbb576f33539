"""Searching: the web and the library as one, honest about what answered."""

import json
import threading
import time

import pytest

from tests.local_web import Answer, LocalWeb, Request
from tools.errors import SearchError
from tools.fetch import Fetcher, FetchLimits
from tools.search.chain import SearchChain
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult, SearchResults
from tools.search.wikipedia import WikipediaSearch


class Place:
    """A place to search that answers as it is told."""

    def __init__(
        self, name: str, *answers: object, local: bool = False, silent: threading.Event | None = None
    ) -> None:
        self.name, self.local, self.home = name, local, "" if local else f"https://{name}.example/"
        self.asked: list[str] = []
        self._answers, self._silent = answers, silent
        self.filters: frozenset[Filter] = frozenset()

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        self.asked.append(query)
        if self._silent is not None:
            self._silent.wait(60)
        answer = self._answers[min(len(self.asked), len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        assert isinstance(answer, list)
        return answer[:limit]


def hits(name: str, count: int = 3, match: float = 1.0) -> list[SearchResult]:
    return [
        SearchResult(f"{name} {n}", f"https://{name}.example/{n}", "words", name, match)
        for n in range(1, count + 1)
    ]


def titles(results: SearchResults) -> list[str]:
    return [result.title for result in results]


def test_good_library_matches_come_first_and_weak_ones_last() -> None:
    library = Place("library", [*hits("good", 1), *hits("weak", 2, match=0.4)], local=True)
    chain = SearchChain([library, Place("a", hits("a")), Place("b", hits("b"))])
    assert titles(chain.search("x", 6)) == ["good 1", "a 1", "b 1", "a 2", "b 2", "a 3"]
    assert titles(chain.search("x", 9))[-2:] == ["weak 1", "weak 2"]
    assert chain.status() == "web + library"


def test_one_page_found_by_two_providers_is_listed_once() -> None:
    one = [SearchResult("T", "https://www.example.org/page/", "s", "a")]
    two = [
        SearchResult("T", "https://example.org/page#top", "s", "b"),
        SearchResult("U", "https://example.org/page?x=1", "s", "b"),
    ]
    assert titles(SearchChain([Place("a", one), Place("b", two)]).search("x")) == ["T", "U"]


def test_a_result_with_a_broken_address_does_not_break_the_search() -> None:
    assert titles(SearchChain([Place("a", [SearchResult("T", "http://[", "s", "a")])]).search("x")) == ["T"]


def test_nothing_found_is_not_a_failure_and_says_what_to_try() -> None:
    results = SearchChain([Place("a", []), Place("library", [], local=True)]).search("  so   rare ")
    assert results == []
    assert str(results) == "Nothing was found for 'so rare'. Try fewer words, or other ones."


def test_when_no_place_can_search_the_failure_names_them() -> None:
    chain = SearchChain(
        [Place("a", SearchError("over quota")), Place("b", ValueError("odd page"))], mode="web"
    )
    with pytest.raises(SearchError, match=r"a: over quota; b: ValueError \(odd page\)"):
        chain.search("x")
    assert chain.status() == "the web does not answer"


def test_a_dead_web_costs_one_short_wait_and_then_none() -> None:
    over = threading.Event()
    web = Place("web", hits("web"), silent=over)
    chain = SearchChain([web, Place("library", hits("library", 1), local=True)], patience=0.3)
    results = chain.search("x")
    assert titles(results) == ["library 1"]
    assert results.note == "the web did not answer, only the library was searched"
    assert chain.status() == "library only: the web does not answer"
    chain.search("y")
    assert web.asked == ["x"]
    over.set()


def test_a_provider_is_asked_again_after_its_cooldown() -> None:
    web = Place("web", SearchError("429 too many requests"), hits("web", 1))
    chain = SearchChain([web], mode="web", cooldown=2)
    with pytest.raises(SearchError):
        chain.search("x")
    with pytest.raises(SearchError, match="429"):
        chain.search("x")
    time.sleep(2.1)
    assert titles(chain.search("x")) == ["web 1"]
    assert len(web.asked) == 2


def test_one_failing_provider_does_not_take_the_others_along() -> None:
    chain = SearchChain([Place("a", SearchError("down")), Place("b", hits("b", 1))])
    assert titles(chain.search("x")) == ["b 1"]
    assert chain.status() == "web"


def test_a_library_that_fails_beside_a_web_that_answers_is_said() -> None:
    library = Place("library", SearchError("its index cannot be used"), local=True)
    assert str(SearchChain([library, Place("web", [])]).search("x")).startswith(
        "Nothing was found for 'x' (the library did not answer)"
    )
    results = SearchChain([library, Place("web", hits("web", 1))]).search("x")
    assert str(results).endswith("\n(the library did not answer)")


def test_the_library_is_not_said_to_be_filtered_by_dates() -> None:
    library = Place("library", hits("library", 1), local=True)
    results = SearchChain([library]).search("x", filters=Filters(language="de"))
    assert results.remark == "library cannot filter by language"


def test_the_mode_decides_where_is_searched() -> None:
    web, library = Place("web", hits("web", 1)), Place("library", hits("library", 1), local=True)
    assert titles(SearchChain([web, library], mode="library").search("x")) == ["library 1"]
    assert titles(SearchChain([web, library], mode="web").search("x")) == ["web 1"]
    assert SearchChain([web, library], mode="library").status() == "library only"


def test_the_probe_returns_at_once_and_spares_the_first_search_a_dead_web() -> None:
    asked, told = threading.Event(), threading.Event()

    def unreachable(home: str) -> bool:
        asked.set()
        assert told.wait(60)
        return False

    web = Place("web", hits("web"))
    chain = SearchChain([web, Place("library", hits("library", 1), local=True)], reachable=unreachable)
    chain.probe()
    assert "checking" in chain.status()
    assert asked.wait(30)
    told.set()
    assert titles(chain.search("x")) == ["library 1"]
    assert web.asked == []


def test_results_read_as_a_short_numbered_list() -> None:
    assert str(SearchResults(hits("a", 2), "x")) == (
        "1. a 1 — https://a.example/1\n   words\n2. a 2 — https://a.example/2\n   words"
    )


WIKIPEDIA = {
    "query": {
        "search": [
            {"title": "Mars", "snippet": 'the <span class="searchmatch">moons</span> are Phobos &amp; Deimos'},
            {"title": "Moons of Mars", "snippet": "The two moons"},
        ],
        "pages": [
            {"title": "Moons of Mars", "index": 2, "fullurl": "https://w.example/wiki/Moons_of_Mars", "extract": "The two moons of Mars."},
            {"title": "Mars", "index": 1, "fullurl": "https://w.example/wiki/Mars", "extract": "Mars is the fourth planet."},
        ],
    }
}  # fmt: skip


def wikipedia(web: LocalWeb) -> WikipediaSearch:
    limits = FetchLimits(connect_seconds=1, silence_seconds=0.3, total_seconds=1)
    return WikipediaSearch(Fetcher(allow_local=True, limits=limits), home=web.url())


def test_wikipedia_gives_the_beginning_and_the_matching_passage_in_its_order() -> None:
    def answer(request: Request) -> Answer:
        assert "srsearch=moons+of+Mars+%26+%3Cb%3E" in request.path
        return Answer(headers={"Content-Type": "application/json"}, body=json.dumps(WIKIPEDIA))

    with LocalWeb(answer) as web:
        found = wikipedia(web).search("moons of Mars & <b>", 5)
    assert [(r.title, r.snippet) for r in found] == [
        ("Mars", "Mars is the fourth planet. … the moons are Phobos & Deimos"),
        ("Moons of Mars", "The two moons of Mars."),
    ]


def test_wikipedia_without_a_match_finds_nothing() -> None:
    with LocalWeb({"/w/api.php": json.dumps({"batchcomplete": True})}) as web:
        assert wikipedia(web).search("qwxyz", 5) == []


@pytest.mark.parametrize(
    "answer",
    [Answer(429, {"Retry-After": "60"}), Answer(503), Answer(body="<html>sorry"), Answer(body="[]"), Answer(seconds=2),
     Answer(body='{"error": {"code": "ratelimited"}}'), Answer(body='{"query": {"pages": [{}], "search": [1]}}')],
)  # fmt: skip
def test_wikipedia_out_of_order_is_a_failed_search(answer: Answer) -> None:
    with LocalWeb({"/w/api.php": answer}) as web, pytest.raises(SearchError):
        wikipedia(web).search("x", 5)
