"""Each search engine over loopback, in the shapes that its own documentation records."""

import json
import time
from collections.abc import Callable
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from ddgs.engines.duckduckgo import Duckduckgo
from ddgs.engines.mojeek import Mojeek

from tests.local_web import Answer, LocalWeb, Request
from tools.errors import SearchError
from tools.fetch import Fetcher, FetchLimits
from tools.search.arxiv import ArxivSearch, is_about_papers
from tools.search.brave import BraveSearch
from tools.search.chain import SearchChain
from tools.search.engines import Engines
from tools.search.results import Filters, SearchProvider
from tools.search.searxng import SearxngSearch
from tools.search.serpapi import SerpApiSearch
from tools.search.serper import SerperSearch
from tools.search.tavily import TavilySearch
from tools.search.web import WebSearch
from tools.search.wikipedia import WikipediaSearch, is_for_wikipedia

KEY = "key-that-is-secret"
LATE = Filters("nasa.gov", date(2024, 1, 2), date(2024, 3, 4), "de")

SERPER = {
    "searchParameters": {"q": "apple inc", "type": "search", "engine": "google"},
    "answerBox": {"title": "Apple Inc.", "answer": "Cupertino", "link": "https://www.apple.com/contact/"},
    "knowledgeGraph": {"title": "Apple", "type": "Technology company", "attributes": {"CEO": "Tim Cook"}},
    "organic": [
        {"title": "Apple", "link": "https://www.apple.com/", "snippet": "Discover\n the innovative world.", "position": 1, "sitelinks": []},
        {"title": "Apple Inc. - Wikipedia", "link": "https://en.wikipedia.org/wiki/Apple_Inc.", "snippet": "An American company.", "date": "Jun 2, 2024", "position": 2},
        {"title": "odd", "link": "javascript:alert(1)", "snippet": "x", "position": 3},
    ],
    "peopleAlsoAsk": [], "relatedSearches": [], "credits": 1,
}  # fmt: skip
BRAVE = {
    "type": "search", "query": {"original": "apple inc", "more_results_available": True},
    "mixed": {"type": "mixed", "main": []},
    "web": {"type": "search", "family_friendly": True, "results": [
        {"title": "Apple", "url": "https://www.apple.com/", "description": "Discover the world.", "page_age": "2024-06-02T10:11:12", "age": "June 2, 2024",
         "language": "en", "extra_snippets": ["One more."], "profile": {"name": "Apple"}, "meta_url": {"hostname": "www.apple.com"}},
        {"title": "No address"},
    ]},
}  # fmt: skip
TAVILY = {
    "query": "apple inc", "follow_up_questions": None, "answer": None, "images": [],
    "results": [{"url": "https://www.apple.com/", "title": "Apple", "content": "A longer passage.", "score": 0.93, "raw_content": None}],
    "response_time": 1.09, "request_id": "123e4567",
}  # fmt: skip
SERPAPI = {
    "search_metadata": {"id": "1", "status": "Success", "total_time_taken": 0.87}, "search_parameters": {"engine": "google", "q": "apple inc"},
    "search_information": {"total_results": 2, "organic_results_state": "Results for exact spelling"},
    "organic_results": [{"position": 1, "title": "Apple", "link": "https://www.apple.com/", "displayed_link": "https://www.apple.com", "snippet": "Discover.", "date": "Jun 2, 2024"}],
}  # fmt: skip
SERPAPI_NOTHING = {
    "search_metadata": {"status": "Success"}, "search_information": {"organic_results_state": "Fully empty", "total_results": 0},
    "error": "Google hasn't returned any results for this query.",
}  # fmt: skip
SEARXNG = {
    "query": "apple inc", "number_of_results": 0, "answers": [], "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [["google", "CAPTCHA"]],
    "results": [{"url": "https://www.apple.com/", "title": "Apple", "content": "Discover.", "engine": "brave", "parsed_url": ["https", "www.apple.com", "/"],
                 "engines": ["brave"], "positions": [1], "score": 1.0, "category": "general", "publishedDate": "2024-06-02T00:00:00"}],
}  # fmt: skip
ARXIV = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom">
  <title>ArXiv Query</title><id>http://arxiv.org/api/x</id><opensearch:totalResults>1</opensearch:totalResults>
  <entry><id>http://arxiv.org/abs/1706.03762v7</id><published>2017-06-12T17:57:34Z</published><title>Attention Is All
  You Need</title><summary>  The dominant sequence transduction models.
</summary><author><name>Ashish Vaswani</name></author><author><name>Noam Shazeer</name></author>
  <link href="http://arxiv.org/abs/1706.03762v7" rel="alternate" type="text/html"/><arxiv:primary_category term="cs.CL"/></entry>
</feed>"""
ARXIV_ERROR = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#incorrect_id_format</id>
<title>Error</title><summary>incorrect id format for 1234.12345</summary></entry></feed>"""

ENGINES: dict[str, Callable[[Fetcher, str], SearchProvider]] = {
    "serper": lambda fetcher, home: SerperSearch(fetcher, KEY, home=home),
    "brave": lambda fetcher, home: BraveSearch(fetcher, KEY, home=home),
    "tavily": lambda fetcher, home: TavilySearch(fetcher, KEY, home=home),
    "serpapi": lambda fetcher, home: SerpApiSearch(fetcher, KEY, home=home),
    "searxng": lambda fetcher, home: SearxngSearch(fetcher, home),
    "arxiv": lambda fetcher, home: ArxivSearch(fetcher, home=home),
}
ANSWERS = {
    "serper": SERPER,
    "brave": BRAVE,
    "tavily": TAVILY,
    "serpapi": SERPAPI,
    "searxng": SEARXNG,
    "arxiv": ARXIV,
}
PATHS = {
    "serper": "/search", "brave": "/res/v1/web/search", "tavily": "/search", "serpapi": "/search.json", "searxng": "/search", "arxiv": "/api/query",
}  # fmt: skip


def answer_of(data: object, status: int = 200, **headers: str) -> Answer:
    body = data if isinstance(data, str) else json.dumps(data)
    return Answer(status, {"Content-Type": "application/json", **headers}, body)


def engine(name: str, web: LocalWeb) -> SearchProvider:
    limits = FetchLimits(connect_seconds=1, silence_seconds=0.4, total_seconds=1)
    return ENGINES[name](Fetcher(allow_local=True, limits=limits), web.url())


def body_of(request: Request) -> dict[str, object]:
    return dict(json.loads(request.body))


def query_of(request: Request) -> dict[str, str]:
    return {key: values[0] for key, values in parse_qs(urlsplit(request.path).query).items()}


@pytest.mark.parametrize(
    ("name", "first"),
    [("serper", ("Apple Inc.", "https://www.apple.com/contact/", "Cupertino", "")), ("brave", ("Apple", "https://www.apple.com/", "Discover the world. … One more.", "2024-06-02")),
     ("tavily", ("Apple", "https://www.apple.com/", "A longer passage.", "")), ("serpapi", ("Apple", "https://www.apple.com/", "Discover.", "Jun 2, 2024")),
     ("searxng", ("Apple", "https://www.apple.com/", "Discover.", "2024-06-02")),
     ("arxiv", ("Attention Is All You Need", "https://arxiv.org/abs/1706.03762v7", "Ashish Vaswani, Noam Shazeer. The dominant sequence transduction models.", "2017-06-12"))],
)  # fmt: skip
def test_an_engine_gives_its_results(name: str, first: tuple[str, str, str, str]) -> None:
    with LocalWeb({PATHS[name]: answer_of(ANSWERS[name])}) as web:
        found = engine(name, web).search("apple inc", 5)
    assert (found[0].title, found[0].url, found[0].snippet, found[0].date) == first
    assert {result.provider for result in found} == {name}
    assert len(found) == (3 if name == "serper" else 1)


def test_each_engine_is_asked_in_its_own_words_and_the_key_is_where_it_belongs() -> None:
    asked: dict[str, Request] = {}
    for name in ENGINES:
        with LocalWeb({PATHS[name]: answer_of(ANSWERS[name])}) as web:
            engine(name, web).search("Mars moons", 5, LATE)
            asked[name] = web.requests[0]
    assert body_of(asked["serper"]) == {
        "q": "Mars moons site:nasa.gov", "num": 10, "hl": "de", "tbs": "cdr:1,cd_min:01/02/2024,cd_max:03/04/2024,lr:lang_1de",
    }  # fmt: skip
    assert asked["serper"].headers["x-api-key"] == KEY
    brave = query_of(asked["brave"])
    assert (brave["q"], brave["freshness"], brave["search_lang"]) == ("Mars moons site:nasa.gov", "2024-01-02to2024-03-04", "de")  # fmt: skip
    assert asked["brave"].headers["x-subscription-token"] == KEY
    assert body_of(asked["tavily"]) == {
        "query": "Mars moons", "max_results": 5, "include_domains": ["nasa.gov"], "start_date": "2024-01-02", "end_date": "2024-03-04",
    }  # fmt: skip
    assert asked["tavily"].headers["authorization"] == f"Bearer {KEY}"
    serpapi = query_of(asked["serpapi"])
    assert (serpapi["engine"], serpapi["api_key"], serpapi["tbs"][:5]) == ("google", KEY, "cdr:1")
    searxng = query_of(asked["searxng"])
    assert (searxng["format"], searxng["language"], "time_range" in searxng) == ("json", "de", False)
    arxiv = query_of(asked["arxiv"])
    assert (
        arxiv["search_query"] == 'all:"mars" AND all:"moons" AND submittedDate:[202401020000 TO 202403042359]'
    )


def test_searxng_is_asked_for_the_narrowest_of_its_ranges() -> None:
    with LocalWeb({"/search": answer_of(SEARXNG)}) as web:
        for days in (0, 20, 300, 4000):
            engine("searxng", web).search("x", 5, Filters(after=date.today() - timedelta(days=days)))
        ranges = [query_of(request).get("time_range", "") for request in web.requests]
    assert ranges == ["day", "month", "year", ""]


@pytest.mark.parametrize(
    ("name", "answer"),
    [("serper", {"searchParameters": {}, "organic": []}), ("brave", {"type": "search", "query": {}}), ("tavily", {"results": []}), ("serpapi", SERPAPI_NOTHING),
     ("searxng", {"results": [], "unresponsive_engines": []}), ("arxiv", '<feed xmlns="http://www.w3.org/2005/Atom"/>')],
)  # fmt: skip
def test_nothing_found_is_no_failure(name: str, answer: object) -> None:
    with LocalWeb({PATHS[name]: answer_of(answer)}) as web:
        assert engine(name, web).search("qwxyz", 5) == []


@pytest.mark.parametrize(
    ("name", "answer", "says", "rest"),
    [
        ("serper", answer_of({"message": "Unauthorized.", "statusCode": 403}, 403), r"does not accept the key \(Unauthorized\)", 3600),
        ("serper", answer_of({"message": "Not enough credits", "statusCode": 400}, 400), "quota is used up", 3600),
        ("serper", answer_of({"message": "Query missing"}, 400), r"did not take the request \(400\)", 0),
        ("brave", answer_of({"type": "ErrorResponse", "error": {"id": "x", "status": 422, "code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The provided subscription token is invalid."}}, 422), "does not accept the key", 3600),
        ("brave", answer_of({"type": "ErrorResponse", "error": {"status": 429, "code": "RATE_LIMITED", "detail": "Request rate limit exceeded for plan."}}, 429, **{"X-RateLimit-Reset": "2, 1419704"}), "too many requests", 2),
        ("brave", answer_of({"error": {"code": "QUOTA_LIMITED", "detail": "Quota exceeded"}}, 402), "quota is used up", 3600),
        ("tavily", answer_of({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401), "does not accept the key", 3600),
        ("tavily", answer_of({"detail": {"error": "Your request has been blocked due to excessive requests. Please reduce rate of requests."}}, 429, **{"Retry-After": "30"}), "too many requests", 30),
        ("tavily", answer_of({"detail": {"error": "This request exceeds your plan's set usage limit."}}, 432), "quota is used up", 3600),
        ("serpapi", answer_of({"error": "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"}, 401), "does not accept the key", 3600),
        ("serpapi", answer_of({"error": "Your account has run out of searches."}, 429), "quota is used up", 3600),
        ("serpapi", answer_of({"search_metadata": {"status": "Error"}, "error": "We couldn't get valid results"}, 503), "answered 503", None),
        ("serpapi", answer_of({"search_metadata": {"status": "Error"}, "error": "We couldn't get valid results"}), "could not search", None),
        ("searxng", Answer(403, body="<html>Forbidden"), "does not give JSON", 3600),
        ("searxng", answer_of({"results": [], "unresponsive_engines": [["google", "CAPTCHA"], ["brave", "timeout"]]}), r"none of its engines answered \(google, brave\)", 60),
        ("searxng", Answer(429), "too many requests", 60),
        ("arxiv", Answer(503, {"Retry-After": "5"}), "answered 503", None),
        ("arxiv", answer_of(ARXIV_ERROR), "did not take the request", 0),
        ("arxiv", Answer(body="Rate exceeded."), "not its API's XML", None),
    ],
)  # fmt: skip
def test_an_engine_out_of_order_says_what_to_do(
    name: str, answer: Answer, says: str, rest: float | None
) -> None:
    with LocalWeb({PATHS[name]: answer}) as web, pytest.raises(SearchError, match=says) as caught:
        engine(name, web).search("x", 5)
    assert caught.value.rest == rest
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", list(ENGINES))
@pytest.mark.parametrize(
    "answer",
    [Answer(body="<html>sorry"), Answer(body="[]"), Answer(body="null"), Answer(body='{"organic": 1, "web": [], "results": {}, "organic_results": "x"}'), Answer(302, {"Location": "/stolen"}),
     Answer(seconds=2), Answer(500), Answer(body='{"organic": [{}, 1, null], "web": {"results": [{}]}, "results": [{}], "organic_results": [null]}')],
)  # fmt: skip
def test_no_answer_makes_an_engine_fail_in_another_way_or_show_its_key(name: str, answer: Answer) -> None:
    with LocalWeb({PATHS[name]: answer}) as web:
        try:
            assert engine(name, web).search("x", 5) == []
        except SearchError as error:
            assert KEY not in str(error) + repr(error) + str(error.__cause__)
        assert [urlsplit(request.path).path for request in web.requests] == [PATHS[name]]


def test_an_engine_that_cannot_be_reached_does_not_show_its_key() -> None:
    with pytest.raises(SearchError) as caught:
        SerpApiSearch(Fetcher(allow_local=True), KEY, home="http://127.0.0.1:1/").search("x", 5)
    assert KEY not in str(caught.value) + str(caught.value.__cause__)


def test_the_first_engine_that_finds_something_is_taken_and_one_without_quota_rests() -> None:
    routes = {"/1/search": answer_of({"message": "Not enough credits"}, 400), "/2/search": answer_of(TAVILY)}
    with LocalWeb(routes) as web:
        get = Fetcher(allow_local=True)
        web_engines = Engines(
            [SerperSearch(get, KEY, home=web.url("/1/")), TavilySearch(get, KEY, home=web.url("/2/"))]
        )
        for _ in range(3):
            assert [r.provider for r in web_engines.search("x", 5)] == ["tavily"]
        assert [request.path for request in web.requests] == [
            "/1/search",
            "/2/search",
            "/2/search",
            "/2/search",
        ]
    assert web_engines.filters == {"site", "dates"}


def test_an_engine_that_finds_nothing_hands_over_and_nothing_at_all_is_said_honestly() -> None:
    routes = {
        "/1/search": answer_of({"organic": []}),
        "/2/search": Answer(500),
        "/3/search": answer_of({"results": []}),
    }
    with LocalWeb(routes) as web:
        get = Fetcher(allow_local=True)
        nothing = Engines(
            [SerperSearch(get, KEY, home=web.url("/1/")), TavilySearch(get, KEY, home=web.url("/2/"))]
        )
        assert str(SearchChain([nothing]).search("x")).startswith("Nothing was found")
        failing = Engines([TavilySearch(get, KEY, home=web.url("/2/"))])
        with pytest.raises(SearchError, match="web: tavily: it answered 500"):
            SearchChain([failing]).search("x")


def test_a_short_rest_is_over_when_the_engine_said_so() -> None:
    answers = iter(
        [
            answer_of(
                {"error": {"code": "RATE_LIMITED", "detail": "rate"}}, 429, **{"X-RateLimit-Reset": "3, 9"}
            )
        ]
    )
    with LocalWeb(lambda request: next(answers, answer_of(BRAVE))) as web:
        brave = Engines([BraveSearch(Fetcher(allow_local=True), KEY, home=web.url())])
        chain = SearchChain([brave])
        with pytest.raises(SearchError, match="too many requests"):
            chain.search("x")
        with pytest.raises(SearchError):
            chain.search("x")
        assert len(web.requests) == 1
        time.sleep(3.1)
        assert chain.search("x")[0].title == "Apple"


def test_filters_are_kept_even_by_engines_that_do_not_know_them() -> None:
    mixed = {"results": [{"title": t, "url": u, "content": "c"} for t, u in (("in", "https://science.nasa.gov/x"), ("out", "https://nasa.gov.evil.example/"))]}  # fmt: skip
    with LocalWeb({"/search": answer_of(mixed)}) as web:
        chain = SearchChain([engine("tavily", web)])
        results = chain.search("moons", 5, LATE)
    assert [result.title for result in results] == ["in"]
    assert results.remark == "tavily cannot filter by language"
    assert str(results).endswith("\n(tavily cannot filter by language)")


def test_wikipedia_and_arxiv_are_asked_on_their_occasions() -> None:
    assert is_for_wikipedia("x", Filters())
    assert is_for_wikipedia("x", Filters("en.wikipedia.org"))
    assert not is_for_wikipedia("x", Filters("nasa.gov"))
    assert is_about_papers("attention paper arXiv", Filters())
    assert is_about_papers("attention", Filters("arxiv.org"))
    assert not is_about_papers("height of a tower", Filters())
    with LocalWeb({"/api/query": ARXIV, "/w/api.php": '{"batchcomplete": true}'}) as web:
        chain = SearchChain(
            [WikipediaSearch(Fetcher(allow_local=True), home=web.url()), engine("arxiv", web)],
            occasions={"wikipedia": is_for_wikipedia, "arxiv": is_about_papers},
        )
        assert chain.search("height of a tower") == []
        assert [r.provider for r in chain.search("attention paper")] == ["arxiv"]
        web.routes = {"/api/query": ARXIV}
        results = chain.search("another paper")
        assert ([r.provider for r in results], results.note) == (["arxiv"], "wikipedia did not answer")
        assert chain.web_is_down
        paths = [urlsplit(request.path).path for request in web.requests[:3]]
        assert sorted(paths) == ["/api/query", "/w/api.php", "/w/api.php"]


@pytest.mark.parametrize(
    ("one", "two"),
    [("https://www.example.org/a/?utm_source=x&b=1", "http://example.org/a?b=1#top"), ("https://en.m.wikipedia.org/wiki/Mars", "https://en.wikipedia.org/wiki/Mars"),
     ("https://example.org/index.html", "https://example.org/"), ("https://m.example.org/a?fbclid=1", "https://example.org/a"),
     ("https://arxiv.org/abs/1706.03762v7", "https://export.arxiv.org/pdf/1706.03762.pdf"), ("https://example.org/caf%C3%A9", "https://example.org/café"),
     ("https://example.org:443/a?x=1&y=2", "http://example.org/a?y=2&x=1")],
)  # fmt: skip
def test_one_page_under_two_addresses_is_listed_once(one: str, two: str) -> None:
    rows = {"results": [{"title": "T", "url": one, "content": ""}, {"title": "U", "url": two, "content": ""}]}
    with LocalWeb({"/search": answer_of(rows)}) as web:
        assert [r.title for r in SearchChain([engine("tavily", web)]).search("x")] == ["T"]


DUCKDUCKGO = """<html><body><div class="results"><div class="result results_links"><div class="links_main links_deep result__body">
<h2 class="result__title"><a rel="nofollow" class="result__a" href="https://www.apple.com/">Apple</a></h2>
<a class="result__snippet" href="https://www.apple.com/">Discover the <b>innovative</b> world.</a></div></div>
<div class="result result--ad"><div class="result__body"><h2><a href="https://duckduckgo.com/y.js?ad=1">Ad</a></h2>
<a href="https://duckduckgo.com/y.js?ad=1">Buy</a></div></div></div></body></html>"""
MOJEEK = """<html><body><ul class="results-standard"><li class="r1"><a class="ob" href="https://www.apple.com/newsroom/"></a>
<h2><a class="title" href="https://www.apple.com/newsroom/">Newsroom</a></h2><p class="s">Apple news.</p></li></ul></body></html>"""


@pytest.fixture
def keyless(monkeypatch: pytest.MonkeyPatch) -> Callable[[LocalWeb], WebSearch]:
    """The keyless search, whose engines stand on loopback."""

    def at(web: LocalWeb) -> WebSearch:
        monkeypatch.setattr(Duckduckgo, "search_url", web.url("/html/"))
        monkeypatch.setattr(Mojeek, "search_url", web.url("/search"))
        return WebSearch(backend="duckduckgo,mojeek")

    return at


def test_the_keyless_search_gives_what_its_engines_find(keyless: Callable[[LocalWeb], WebSearch]) -> None:
    with LocalWeb({"/html/": DUCKDUCKGO, "/search": MOJEEK}) as web:
        found = keyless(web).search("apple inc", 5, Filters("apple.com", date.today(), None, "de"))
        asked = next(request for request in web.requests if request.path == "/html/")
    assert {(r.title, r.url, r.snippet, r.provider) for r in found} == {
        ("Apple", "https://www.apple.com/", "Discover the innovative world.", "web"), ("Newsroom", "https://www.apple.com/newsroom/", "Apple news.", "web"),
    }  # fmt: skip
    assert parse_qs(asked.body.decode()) == {"q": ["apple inc site:apple.com"], "l": ["de-de"], "df": ["d"]}


@pytest.mark.parametrize("status", [202, 403, 429, 503])
def test_keyless_engines_that_let_nobody_search_have_not_found_nothing(
    status: int, keyless: Callable[[LocalWeb], WebSearch]
) -> None:
    wall = Answer(status, body="<html>Are you a robot?")
    with LocalWeb({"/html/": wall, "/search": wall}) as web:
        with pytest.raises(SearchError, match=f"(duckduckgo|mojeek) answered {status}"):
            keyless(web).search("apple inc", 5)
        chain = SearchChain([keyless(web)])
        for _ in range(2):
            with pytest.raises(SearchError, match=f"answered {status}"):
                chain.search("apple inc")
        assert len(web.requests) == 4  # it rests after the second search
        assert chain.status() == "the web does not answer"


def test_keyless_engines_that_answer_without_results_have_found_nothing(
    keyless: Callable[[LocalWeb], WebSearch],
) -> None:
    with LocalWeb({"/html/": "<html><body>No results.</body></html>", "/search": Answer(403)}) as web:
        assert keyless(web).search("qwxyz", 5) == []


def test_results_from_another_time_are_left_out_where_they_tell_theirs() -> None:
    found = [
        {"title": title, "url": f"https://nasa.gov/{title}", "content": "c", "publishedDate": day}
        for title, day in (("early", "2023-12-31T10:00:00"), ("in", "2024-02-01T00:00:00"), ("late", "2024-03-05"), ("unknown", None))
    ]  # fmt: skip
    with LocalWeb({"/search": answer_of({"results": found})}) as web:
        results = SearchChain([engine("searxng", web)]).search("moons", 5, LATE)
    assert [result.title for result in results] == ["in", "unknown"]
    assert results.remark == "searxng cannot filter by dates"
