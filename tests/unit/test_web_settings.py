"""What the variables about the web do: which engines are asked, and how pages are fetched."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from agent.checkup import not_set_up, searched
from agent.settings import Settings
from agent.web import ENGINES, build_search, manners_of
from tests.local_web import Answer, LocalWeb
from tools.errors import SearchError
from tools.proxy import Proxy
from tools.search.chain import SearchChain
from tools.search.library import Library
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

KEYS = {name: SecretStr(f"{name}-secret") for name in ENGINES.values() if name.endswith("key")}


def chain(folder: Path, **changes: object) -> SearchChain:
    settings = Settings(_env_file=None, **changes)  # type: ignore[arg-type]
    return build_search(settings, Library(folder, None), manners_of(settings))


def names(search: SearchChain) -> list[str]:
    return [place.name for place in search.places]


def test_the_engines_with_a_key_are_asked_in_order_and_the_keyless_one_last(tmp_path: Path) -> None:
    assert names(chain(tmp_path)) == ["library", "web", "wikipedia", "arxiv"]
    some = chain(tmp_path, tavily_api_key=SecretStr("k"), serper_api_key=SecretStr("k"))
    assert names(some) == ["library", "serper", "tavily", "web", "wikipedia", "arxiv"]
    every = chain(tmp_path, searxng_url="http://127.0.0.1:8888", **KEYS)
    assert names(every) == ["library", *ENGINES, "web", "wikipedia", "arxiv"]
    assert names(chain(tmp_path, search="library", **KEYS)) == ["library"]
    assert "library" not in names(chain(tmp_path, search="web"))


def test_a_searxng_in_the_own_network_is_asked_although_pages_there_are_not_opened(tmp_path: Path) -> None:
    found = '{"results": [{"title": "Mars", "url": "https://mars.example/", "content": "The red planet."}]}'
    with LocalWeb({"/sub/search": Answer(headers={"Content-Type": "application/json"}, body=found)}) as web:
        searxng = chain(tmp_path, searxng_url=web.url("/sub")).places[1]
        assert searxng.search("Mars", 3)[0].url == "https://mars.example/"
        answers, told = searched(searxng)
        assert (answers, told[:10]) == (True, "answers in")


def test_the_manners_of_fetching_are_those_of_the_variables() -> None:
    plain = manners_of(Settings(_env_file=None))
    assert (plain.ports, plain.proxy, plain.robots.mode, plain.archive) == (frozenset(), None, "warn", False)
    set_up = manners_of(
        Settings(_env_file=None, web_ports="8443", web_proxy=SecretStr("http://u:p@proxy.example:3128"), robots="obey", archive_retry=True)  # type: ignore[arg-type]
    )  # fmt: skip
    assert (set_up.ports, set_up.robots.mode, set_up.archive) == (frozenset({8443}), "obey", True)
    assert set_up.proxy == Proxy("proxy.example", 3128, "Basic dTpw")


class Broken:
    """A place to search that fails as it is told."""

    name, local, home = "broken", False, ""
    filters: frozenset[Filter] = frozenset()

    def __init__(self, error: Exception | None) -> None:
        self._error = error

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        if self._error is not None:
            raise self._error
        return []


@pytest.mark.parametrize(
    ("error", "says"),
    [(SearchError("its quota is used up: wait or raise it."), "does not answer: its quota is used up"), (KeyError("x"), "does not answer: KeyError"), (None, "but found nothing")],
)  # fmt: skip
def test_the_doctor_tells_a_place_that_fails_from_one_that_finds_nothing(
    error: Exception | None, says: str
) -> None:
    answers, told = searched(Broken(error))
    assert (answers, says in told) == (error is None, True)


def test_the_doctor_names_the_engines_that_lack_their_variable() -> None:
    settings = Settings(_env_file=None, tavily_api_key=SecretStr("k"), searxng_url="http://127.0.0.1:1")  # type: ignore[arg-type]
    assert not_set_up(settings) == [
        "serper (SERPER_API_KEY)", "brave (BRAVE_API_KEY)", "serpapi (SERPAPI_API_KEY)",
    ]  # fmt: skip
