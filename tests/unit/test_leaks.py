"""A run cannot look its questions up, and where it could, the report says so."""

from pathlib import Path

import pytest

from evals.closed_web import FolderWeb
from evals.leaks import WHY, carries_benchmark
from evals.questions import Question
from evals.sides import SIDES
from tests.agent_world import MakeWorld, answer, step
from tools.errors import Refused
from tools.fetch import Fetcher
from tools.manners import Manners
from tools.search.chain import SearchChain
from tools.search.results import NO_FILTERS, Filter, Filters, SearchResult

QUESTION = (
    "In the year in which the Quill Bridge was opened, how many boats passed below it on a working day?"
)


@pytest.mark.parametrize(
    "url",
    [
        "https://huggingface.co/datasets/gaia-benchmark/GAIA",
        "https://huggingface.co/datasets/someone/my_GAIA_copy/viewer",
        "https://HuggingFace.co/spaces/x/GAIA-answers/blob/main/a.json",
        "https://hf-mirror.com/datasets/abc/gaia",
        "https://web.archive.org/web/2024/https://huggingface.co/datasets/gaia-benchmark/GAIA",
        "https://proxy.example/?u=https%3A%2F%2Fhuggingface.co%2Fdatasets%2Fgaia-benchmark%2FGAIA",
        "https://raw.githubusercontent.com/a/b/main/gaia_validation.jsonl",
        "https://github.com/a/b/blob/main/data/2023/validation/metadata.jsonl",
        "https://github.com/a/b/tree/main/gaia-traces",
        "https://arxiv.org/pdf/2311.12983v1",
    ],
)
def test_a_place_that_carries_the_benchmark_is_closed(url: str) -> None:
    assert carries_benchmark(url) == WHY
    with pytest.raises(Refused, match="it may carry the questions or answers"):
        Fetcher(manners=Manners(closed=carries_benchmark)).get(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://en.wikipedia.org/wiki/Gaia",
        "https://www.cosmos.esa.int/web/gaia/dr3",
        "https://huggingface.co/datasets/squad",
        "https://arxiv.org/abs/2311.12345",
        "https://gaia.example.org/gaiatest",
        "http://127.0.0.1:8000/cities/gaia.html",
    ],
)
def test_other_pages_of_that_name_stay_open(url: str) -> None:
    assert carries_benchmark(url) == ""


class _Web:
    name, local, home = "web", False, ""
    filters: frozenset[Filter] = frozenset()

    def search(self, query: str, limit: int, filters: Filters = NO_FILTERS) -> list[SearchResult]:
        urls = ("https://huggingface.co/datasets/gaia-benchmark/GAIA", "https://example.org/bridge")
        return [SearchResult("Quill", url, "words", self.name) for url in urls]


def test_a_search_does_not_show_what_is_closed() -> None:
    found = SearchChain([_Web()], mode="web", closed=carries_benchmark).search("quill")
    assert [each.url for each in found] == ["https://example.org/bridge"]


def test_a_redirect_does_not_lead_into_a_closed_place(tmp_path: Path) -> None:
    (tmp_path / "second.html").write_text("<p>41</p>")
    with FolderWeb(tmp_path, redirects={"/first": "/second.html"}) as web:
        manners = Manners(closed=lambda url: "no" if "second" in url else "")
        assert Fetcher(allow_local=True).get(web.address + "first").status == 200
        with pytest.raises(Refused, match="second"):
            Fetcher(allow_local=True, manners=manners).get(web.address + "first")


def test_a_run_that_meets_its_own_question_is_marked(world: MakeWorld) -> None:
    app = world(
        step("I look.", "for place in ('https://huggingface.co/datasets/gaia-benchmark/GAIA', 'library://copy.md'):\n    try:\n        print(visit_page(place))\n    except Exception as error:\n        print(error)"),
        answer("41"),
    )  # fmt: skip
    (app.services.settings.library_dir / "copy.md").write_text(
        f"# Copy\n\n1. {QUESTION.upper()} Answer: 41\n"
    )
    app.services.manners = Manners(closed=carries_benchmark)
    side = SIDES["research"]
    key = side.key(app.services, Question("q", QUESTION, "41"), "web")
    result = side.ask(app.services, f"{QUESTION}\n\nAnswer with a number.", key)
    assert result.leaks == (
        "refused https://huggingface.co/datasets/gaia-benchmark/GAIA",
        "read library://copy.md",
    )
