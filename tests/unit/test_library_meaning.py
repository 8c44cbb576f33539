"""A library searched by meaning too: what is found, and what a model of embeddings that fails does not spoil."""

import json
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from agent.checkup import embedded
from tests.local_web import Answer, LocalWeb, Request, Route
from tools.errors import SearchError
from tools.search.chain import SearchChain
from tools.search.embeddings import EmbeddingsEndpoint
from tools.search.library import Library

KEY = "key-that-is-secret"
# One number of the vector for each group of words that mean the same.
MEANINGS = [("car", "automobile", "motor"), ("doctor", "physician"), ("sea", "ocean", "harbour"), ("bread", "loaf", "bakery")]  # fmt: skip


def vector_of(text: str) -> list[float]:
    words = text.lower().replace(".", " ").replace("?", " ").split()
    return [float(sum(words.count(word) for word in group)) for group in MEANINGS] + [0.2]


def body_of(request: Request) -> dict[str, object]:
    return dict(json.loads(request.body))


def answer(request: Request) -> Answer:
    """As TEI and llama.cpp answer; the order of the rows is nobody's promise."""
    texts = body_of(request)["input"]
    assert isinstance(texts, list)
    rows = [{"object": "embedding", "index": n, "embedding": vector_of(text)} for n, text in enumerate(texts)]
    return Answer(headers={"Content-Type": "application/json"}, body=json.dumps({"object": "list", "data": rows[::-1], "model": "imitation"}))  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    for name, text in {
        "garage.md": "# Garage\n\nThe automobile was repaired on Tuesday.",
        "clinic.md": "# Clinic\n\nThe physician is Ms. Orme.",
        "port.md": "# Port\n\nShips leave for the ocean at noon.",
    }.items():
        (root / name).write_text(text)
    for number in range(40):
        (root / f"other{number}.md").write_text(
            f"# Other {number}\n\nMinutes of meeting {number}, nothing decided."
        )
    return root


@pytest.fixture
def served() -> Iterator[Callable[[Route], LocalWeb]]:
    webs: list[LocalWeb] = []

    def serve(route: Route) -> LocalWeb:
        webs.append(LocalWeb({"/v1/embeddings": route}))
        return webs[-1]

    yield serve
    for web in webs:
        web.__exit__(None, None, None)


def library(folder: Path, url: str, index: Path | None = None, model: str = "") -> Library:
    return Library(folder, index, scan_seconds=0, embedder=EmbeddingsEndpoint(url, model, KEY))


def urls(books: Library, question: str) -> list[str]:
    return [result.url.removeprefix("library://") for result in books.search(question)]


def test_what_means_the_same_is_found_without_a_common_word(
    folder: Path, served: Callable[[Route], LocalWeb]
) -> None:
    plain = Library(folder, None)
    assert plain.search("Who mended the car?") == []
    books = library(folder, served(answer).url())
    found = books.search("Who mended the car?")
    assert (found[0].url, found[0].snippet) == (
        "library://garage.md",
        "The automobile was repaired on Tuesday.",
    )
    assert found[0].match == 0.5  # before the web's results go documents that have the words
    assert urls(books, "Which doctor works here?")[0] == "clinic.md"
    assert urls(books, "nothing of that kind whatsoever, xyzzy") == []


def test_in_the_background_words_are_found_first_and_meaning_follows(
    folder: Path, tmp_path: Path, served: Callable[[Route], LocalWeb]
) -> None:
    books = library(folder, served(answer).url(), tmp_path / "index.sqlite")
    books.start()
    deadline = time.monotonic() + 30
    while urls(books, "car") != ["garage.md"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert urls(books, "car") == ["garage.md"] and urls(books, "automobile")[0] == "garage.md"
    books.close()


def test_words_and_meaning_are_ranked_together(folder: Path, served: Callable[[Route], LocalWeb]) -> None:
    (folder / "car.md").write_text("# Car park\n\nThe car park is closed on Sunday.")
    books = library(folder, served(answer).url())
    assert urls(books, "car")[:2] == ["car.md", "garage.md"]


def test_each_model_is_shown_texts_in_its_own_way_and_the_key_is_where_it_belongs(
    folder: Path, served: Callable[[Route], LocalWeb]
) -> None:
    web = served(answer)
    for url in (web.url(), web.url("/v1"), web.url("/v1/embeddings")):
        EmbeddingsEndpoint(url, "intfloat/multilingual-e5-small", KEY).embed(["a car"], question=True)
    EmbeddingsEndpoint(web.url(), "intfloat/multilingual-e5-small").embed(["a car"])
    EmbeddingsEndpoint(web.url()).embed(["a car"], question=True)
    for question in (True, False):
        EmbeddingsEndpoint(web.url(), "e5-{kind}").embed(["a car"], question=question)
    *bodies, query, passage = [body_of(request) for request in web.requests]
    assert [(each["model"], each["input"]) for each in (query, passage)] == [("e5-query", ["a car"]), ("e5-passage", ["a car"])]  # fmt: skip
    assert [body["input"] for body in bodies] == [["query: a car"]] * 3 + [["passage: a car"], ["a car"]]
    assert bodies[0]["model"] == "intfloat/multilingual-e5-small" and "model" not in bodies[-1]
    assert web.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in web.requests[3].headers


@pytest.mark.parametrize(
    ("wrong", "says"),
    [(Answer(500), "500"), (Answer(401, body='{"error": "bad token"}'), "key"), (Answer(429), "too many"), (Answer(body="<html>"), "not JSON"), (Answer(body="{}"), "not the embeddings API's"),
     (Answer(body='{"data": [{"embedding": [1, "x"]}]}'), "not the embeddings API's"), (Answer(body='{"data": []}'), "one vector"), (Answer(body='{"data": [{"embedding": [NaN]}]}'), "one vector"),
     (Answer(body='{"data": [{"embedding": []}]}'), "one vector"), (Answer(body='[1]'), "not the embeddings API's")],
)  # fmt: skip
def test_an_endpoint_out_of_order_is_said_without_the_key(
    wrong: Answer, says: str, served: Callable[[Route], LocalWeb]
) -> None:
    with pytest.raises(SearchError, match=says) as failed:
        EmbeddingsEndpoint(served(wrong).url(), "", KEY).embed(["a car"])
    assert KEY not in str(failed.value)


def test_when_the_endpoint_fails_the_search_goes_on_by_words_and_says_so(
    folder: Path, served: Callable[[Route], LocalWeb], caplog: pytest.LogCaptureFixture
) -> None:
    works = [True]
    web = served(lambda request: answer(request) if works[0] else Answer(500))
    books = library(folder, web.url())
    assert urls(books, "car") == ["garage.md"]
    works[0] = False
    with caplog.at_level(logging.WARNING):
        chain = SearchChain([books])
        assert str(chain.search("automobile")).endswith(
            "(library: by words only, the model of embeddings fails)"
        )
        asked = len(web.requests)
        assert urls(books, "car") == []
        assert len(web.requests) == asked  # it is not asked again at once
    assert [m for m in caplog.messages if "by words only" in m and KEY not in m] == caplog.messages[:1]
    assert "by words only" in chain.status()


def test_vectors_are_kept_and_only_what_changed_is_asked_for_again(
    folder: Path, tmp_path: Path, served: Callable[[Route], LocalWeb]
) -> None:
    web, index = served(answer), tmp_path / "index.sqlite"
    books = library(folder, web.url(), index)
    books.refresh()
    asked = len(web.requests)
    assert asked >= 3
    (folder / "clinic.md").write_text("# Clinic\n\nThe loaf is fresh.")
    (folder / "port.md").unlink()
    books.refresh()
    assert [body_of(request)["input"] for request in web.requests[asked:]] == [["Clinic\nThe loaf is fresh."]]
    assert urls(books, "bread") == ["clinic.md"] and urls(books, "sea") == []
    books.close()
    asked = len(web.requests)
    again = library(folder, web.url(), index)
    assert urls(again, "car") == ["garage.md"]
    assert len(web.requests) == asked + 1  # the question alone
    again.close()
    other = library(folder, web.url(), index, "another-model")
    other.refresh()
    assert len(web.requests) >= asked + 4  # vectors of two models cannot be compared


def test_when_the_endpoint_fails_in_the_middle_only_the_rest_is_asked_for_later(
    folder: Path, tmp_path: Path, served: Callable[[Route], LocalWeb]
) -> None:
    answers = [0]

    def tiring(request: Request) -> Answer:
        answers[0] += 1
        return Answer(503) if answers[0] == 4 else answer(request)

    web, index = served(tiring), tmp_path / "index.sqlite"
    for _ in range(2):  # the second is the next start
        books = library(folder, web.url(), index)
        books.refresh()
        books.close()
    texts = [text for request in web.requests for text in body_of(request)["input"]]  # type: ignore[attr-defined]
    assert (
        len(texts) == 43 + 8 and len(set(texts)) == 43
    )  # of 43 documents the batch that failed is asked for twice


def test_vectors_of_deleted_documents_find_nothing(
    folder: Path, tmp_path: Path, served: Callable[[Route], LocalWeb]
) -> None:
    books = library(folder, served(answer).url())
    assert urls(books, "car") == ["garage.md"]
    for file in folder.iterdir():
        file.unlink()
    assert urls(books, "car") == [] and urls(books, "car") == []
    (folder / "again.md").write_text("The automobile is back.")
    for number in range(20):
        (folder / f"more{number}.md").write_text(f"Minutes {number}.")
    assert urls(books, "car") == ["again.md"]


def test_texts_too_long_for_the_model_are_shown_to_it_shorter(
    folder: Path, served: Callable[[Route], LocalWeb]
) -> None:
    def strict(request: Request) -> Answer:
        texts = body_of(request)["input"]
        assert isinstance(texts, list)
        return Answer(413) if any(len(text) > 400 for text in texts) else answer(request)

    (folder / "long.md").write_text("The loaf. " * 90)
    assert "long.md" in urls(library(folder, served(strict).url()), "bread")


def test_an_answer_of_another_length_is_no_vector_of_this_model(
    folder: Path, served: Callable[[Route], LocalWeb]
) -> None:
    longer = [0]

    def changing(request: Request) -> Answer:
        if not longer[0]:
            return answer(request)
        return Answer(body=json.dumps({"data": [{"index": 0, "embedding": [1.0] * 9}]}))

    books = library(folder, served(changing).url())
    assert urls(books, "car") == ["garage.md"]
    longer[0] = 1
    assert urls(books, "car") == []


def test_the_doctor_says_whether_the_embeddings_answer(served: Callable[[Route], LocalWeb]) -> None:
    assert embedded(EmbeddingsEndpoint(served(answer).url()))[1].endswith("with 5 numbers for a text")
    answers, told = embedded(EmbeddingsEndpoint(served(Answer(500)).url()))
    assert not answers and "by words only" in told


def test_a_thousand_vectors_of_a_real_length_are_compared_exactly(tmp_path: Path) -> None:
    class Spread:
        """A model that places each text where its number says."""

        name, batch = "spread", 64

        def embed(self, texts: Sequence[str], *, question: bool = False) -> np.ndarray:
            rows = []
            for text in texts:
                chance = np.random.default_rng(int("".join(filter(str.isdigit, text)) or 0))
                rows.append(chance.standard_normal(384))
            found = np.array(rows, np.float32)
            return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

        def close(self) -> None: ...

    for number in range(1000):
        (tmp_path / f"n{number}.txt").write_text(f"Note {number}.")
    books = Library(tmp_path, None, embedder=Spread())
    for number in (0, 17, 999):
        assert books.search(f"zzz{number}")[0].url == f"library://n{number}.txt"
    books.close()
