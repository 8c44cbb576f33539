"""A run cannot look its questions up, and where it could, the report says so."""

from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from agent.events import Outcome
from agent.settings import Settings
from agent.web import manners_of
from evals.closed_web import FolderWeb
from evals.folder import About, Folder
from evals.leaks import WHY, carries_benchmark, leaks
from evals.questions import Question, QuestionSet
from evals.report.page import report_page
from evals.report.table import notes, write_csv
from evals.results import Key, Result
from evals.sides import SIDES
from evals.stage import library_services, open_web_services
from evals.summary import Summary
from tests.agent_world import MakeWorld
from tests.scripted_endpoint import Item, ScriptedEndpoint, reply
from tools.errors import Refused
from tools.fetch import Fetcher
from tools.ledger import CachedPage
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
        "https://huggingface.co:443//datasets/someone/gaia2023",
        "https://huggingface.co./datasets/someone/%67aia",
        "https://huggingface.co/api/datasets/someone/gaia/parquet",
        "https://huggingface.co/datasets/smolagents/benchmark-v1",
        "https://huggingface.co/datasets/m-ric/agents_medium_benchmark_2",
        "https://agents-course-unit4-scoring.hf.space/questions",
        "https://someone-gaia-leaderboard.hf.space/",
        "https://datasets-server.huggingface.co/rows?dataset=someone%2FGAIA&split=validation",
        "https://hf-mirror.com/datasets/abc/gaia",
        "https://hf.co/datasets/abc/gaia",
        "https://huggingface-co.translate.goog/datasets/abc/GAIA?_x_tr_sl=en",
        "https://r.jina.ai/https://huggingface.co/datasets/abc/gaia",
        "https://web.archive.org/web/2024/https://huggingface.co/datasets/gaia-benchmark/GAIA",
        "https://archive.ph/2024/http://huggingface.co/datasets/abc/gaia",
        "https://proxy.example/?u=https%3A%2F%2Fhuggingface.co%2Fdatasets%2Fgaia-benchmark%2FGAIA",
        "https://proxy.example/?u=https%25253A%25252F%25252Fhuggingface.co%25252Fdatasets%25252Fabc%25252Fgaia",
        "https://huggingface.co/datasets/abc/ｇａｉａ",
        "https://raw.githubusercontent.com/a/b/main/gaia_validation.jsonl",
        "https://raw.githubusercontent.com/a/gaia/main/data.jsonl",
        "https://cdn.jsdelivr.net/gh/a/GAIA@main/data.jsonl",
        "https://www.kaggle.com/datasets/a/gaia",
        "https://github.com/a/b/blob/main/data/2023/validation/metadata.jsonl",
        "https://github.com/a/b/tree/main/gaia-traces",
        "https://example.org/gaia_benchmark/answers.html",
        "https://hal.cs.princeton.edu/gaia",
        "https://arxiv.org/pdf/2311.12983v1",
        "https://www.alphaxiv.org/overview/2311.12983",
    ],
)
def test_a_place_that_carries_the_benchmark_is_closed(url: str) -> None:
    assert carries_benchmark(url) == WHY
    with pytest.raises(Refused, match="it is closed to this run; use another source"):
        Fetcher(manners=Manners(closed=carries_benchmark)).get(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://en.wikipedia.org/wiki/Gaia",
        "https://www.cosmos.esa.int/web/gaia/dr3",
        "https://www.esa.int/gaia/results",
        "https://www.cm-gaia.pt/pt/cidade/",
        "https://huggingface.co/datasets/squad",
        "https://github.com/agabrown/PyGaia",
        "https://github.com/numpy/numpy/issues/2023",
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


CLOSED = "https://huggingface.co/datasets/gaia-benchmark/GAIA"


def test_a_search_does_not_show_what_is_closed() -> None:
    found = SearchChain([_Web()], mode="web", closed=carries_benchmark).search("quill")
    assert [each.url for each in found] == ["https://example.org/bridge"]
    assert found.closed == {CLOSED: WHY}
    assert "huggingface" not in str(found)


def test_a_search_for_the_benchmark_does_not_put_an_engine_to_rest(tmp_path: Path) -> None:
    with FolderWeb(tmp_path) as web:
        api = Fetcher(allow_local=True, manners=Manners(closed=carries_benchmark))
        assert api.call(f"{web.address}search?q=gaia-benchmark").status == 200


def test_a_redirect_does_not_lead_into_a_closed_place(tmp_path: Path) -> None:
    (tmp_path / "gaia_validation.html").write_text("<p>41</p>")
    (tmp_path / "quiet.html").write_text('<meta http-equiv="refresh" content="0;url=gaia_validation.html">')
    redirects = {"/first": "/second", "/second": "/gaia_validation.html"}
    with FolderWeb(tmp_path, redirects=redirects) as web:
        assert Fetcher(allow_local=True).get(web.address + "first").status == 200
        shut = Fetcher(allow_local=True, manners=Manners(closed=carries_benchmark))
        for door in ("first", "quiet.html"):
            with pytest.raises(Refused, match="gaia_validation") as refused:
                shut.get(web.address + door)
            assert refused.value.url == web.address + "gaia_validation.html"


class _Kept:
    """A cache in which an open address leads to a closed place, and which holds the closed place itself."""

    def get(self, url: str) -> CachedPage | None:
        return CachedPage(CLOSED, "text/html", "", b"<p>41</p>")

    def put(self, url: str, page: CachedPage) -> None:
        raise AssertionError("nothing was fetched")


@pytest.mark.parametrize("url", [CLOSED, "https://example.org/short-link"])
def test_a_closed_page_is_not_read_from_the_cache(url: str) -> None:
    with pytest.raises(Refused, match="huggingface"):
        Fetcher(cache=_Kept(), manners=Manners(closed=carries_benchmark)).get(url)


def test_no_copy_of_a_closed_page_is_looked_for_in_the_archive(world: MakeWorld) -> None:
    ledger = world().services.store.ledger("run")
    fetcher = Fetcher(ledger=ledger, manners=Manners(closed=carries_benchmark))
    with pytest.raises(Refused, match="is closed to this run"):
        fetcher.find_copy(CLOSED, "20240101")


def test_the_app_itself_closes_nothing(world: MakeWorld) -> None:
    settings = world().services.settings
    assert manners_of(settings).closed(CLOSED) == ""
    found = SearchChain([_Web()], mode="web").search("quill")
    assert len(found) == 2 and found.closed == {}


SIDES_THAT_READ = ("research", "stock")


def looks(opening: str, closing: str) -> list[Item]:
    """A model that searches, tries the data set, its archive copy and a copy in the library, and answers."""
    tries = (
        "print(web_search('quill'))\n"
        f"for place in ({CLOSED!r}, 'library://copy.md'):\n"
        "    try:\n        print(visit_page(place).text)\n    except Exception as error:\n        print(error)"
    )
    written = (tries, "final_answer('41')")
    return [reply(f"Thought: I look.\n{opening}\n{code}\n{closing}\n") for code in written]


@pytest.mark.parametrize("name", SIDES_THAT_READ)
def test_a_run_that_meets_its_own_question_is_marked(world: MakeWorld, name: str) -> None:
    stock = name == "stock"
    app = world(*(looks("<code>", "") if stock else looks("```python", "```")))
    copy = app.services.settings.library_dir / "copy.md"
    copy.write_text(f"# Copy\n\n1. {QUESTION.upper()} Answer: 41\n")
    app.services.manners = Manners(closed=carries_benchmark)
    app.services.search = SearchChain([_Web()], mode="web", closed=carries_benchmark)
    side = SIDES[name]
    key = side.key(app.services, Question("q", QUESTION, "41"), "web")
    result = side.ask(app.services, f"{QUESTION}\n\nAnswer with a number.", key)
    assert result.answer == "41"
    assert result.leaks == (f"refused {CLOSED}", "read library://copy.md")


def test_a_page_with_the_id_of_the_question_or_any_paragraph_of_it_is_noticed(world: MakeWorld) -> None:
    store, name = world().services.store, "c61d22de-5f6c-4958-a7f6-5e9707bd3466"
    ledger = store.ledger("run")
    ledger.snapshot("https://a.example/ids", "", f"task {name.upper()}: 41")
    ledger.snapshot("https://a.example/part", "", f"… {QUESTION} …")
    ledger.snapshot("https://a.example/other", "", "The Quill Bridge was opened in 1741.")
    ledger.snapshot("notes.txt", "", QUESTION)  # attached to the question
    ledger.listed("https://a.example/found", "Answers", QUESTION.replace(" ", "  "))
    asked = (
        f"Here is a riddle.\n\n{QUESTION}\n\nAnswer with a number and nothing else, without a unit or a word."
    )
    assert leaks(store, "run", asked, name) == (
        "read https://a.example/ids",
        "read https://a.example/part",
        "listed https://a.example/found",
    )


def test_the_report_says_how_many_results_met_the_benchmark(tmp_path: Path) -> None:
    folder = Folder.write(
        tmp_path,
        About("words", "web", "model", "research", 6, "code"),
        QuestionSet("words", (Question("q1", "?", "41"), Question("q2", "?", "41"))),
    )
    key = Key("research", "q1", "web", "model", 6, "code")
    kept = Result(key, "41", Outcome.ANSWERED, "", 9, 1, False, 1.0, 2, leaks=(f"refused {CLOSED}",))
    folder.results_file().add(kept)
    assert Folder.read(tmp_path).results() == [kept]
    note = "1 results met pages that carry the benchmark: none was shown one."
    assert note in notes(Summary(folder))
    read = replace(kept, key=replace(key, question="q2"), leaks=("read library://copy.md",))
    folder.results_file().add(read)
    page = report_page(Summary(folder))
    assert "2 results met pages that carry the benchmark: 1 were shown their question there" in page
    assert f"refused {CLOSED}" in page and "read library://copy.md" in page
    write_csv(Summary(folder), tmp_path / "results.csv")
    assert "read library://copy.md" in (tmp_path / "results.csv").read_text()


@pytest.mark.slow
def test_an_evaluation_on_the_open_web_is_closed_and_one_in_a_closed_web_needs_not(
    tmp_path: Path,
) -> None:
    with ScriptedEndpoint([]) as endpoint:
        settings = Settings(_env_file=None, tgi_url=endpoint.url, search="library", data_dir=tmp_path)
        with open_web_services(settings, Console(quiet=True), tmp_path) as services:
            assert services.manners.closed(CLOSED) == WHY
        with library_services(settings, Console(quiet=True)) as services:
            assert services.manners.closed(CLOSED) == ""
