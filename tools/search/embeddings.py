"""Texts as vectors, from a server that speaks the OpenAI embeddings API: TEI, vLLM, llama.cpp, Ollama, OpenAI …"""

import re
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tools.errors import SearchError
from tools.exchange import FetchLimits
from tools.fetch import Fetcher
from tools.search.api import ask

Vectors = npt.NDArray[np.float32]
"""A row of length 1 for each text."""

# A question is waited for, a document is not.
_QUESTION_LIMITS = FetchLimits(connect_seconds=2, silence_seconds=4, total_seconds=5)
_PASSAGE_LIMITS = FetchLimits(connect_seconds=5, silence_seconds=60, total_seconds=90)
# What models were trained to see before a question and before a passage.
_PREFIXES = (
    (re.compile(r"(?i)(^|[/_-])e5-(?!.*instruct)"), "query: ", "passage: "),
    (re.compile(r"(?i)nomic-embed-text"), "search_query: ", "search_document: "),
    (re.compile(r"(?i)(bge-(small|base|large)-en|mxbai-embed|arctic-embed)"), "Represent this sentence for searching relevant passages: ", ""),
    (re.compile(r"(?i)qwen3-embedding"), "Instruct: Given a question, retrieve passages that answer it\nQuery: ", ""),
)  # fmt: skip


class Embedder(Protocol):
    """A model of embeddings. `name`: vectors of one name can be compared; `batch`: texts that it takes at once."""

    name: str
    batch: int

    def embed(self, texts: Sequence[str], *, question: bool = False) -> Vectors:
        """A vector for each text, of a question or of passages. Raises SearchError."""
        ...

    def close(self) -> None: ...


class EmbeddingsEndpoint:
    """Thread-safe."""

    batch = 8

    def __init__(self, url: str, model: str = "", token: str = "") -> None:
        """`url`: of the server, with or without /v1; it may stand in the operator's own network.

        `model`: "{kind}" in it becomes query or passage, for servers that tell them apart by the name.
        """
        root = url.rstrip("/").removesuffix("/embeddings")
        self._url = f"{root}/embeddings" if root.endswith("/v1") else f"{root}/v1/embeddings"
        self._model = model
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._question = Fetcher(limits=_QUESTION_LIMITS, allow_local=True)
        self._passages = Fetcher(limits=_PASSAGE_LIMITS, allow_local=True)
        shown = "" if "{kind}" in model else model
        self._prefixes = next((pair for known, *pair in _PREFIXES if known.search(shown)), ["", ""])
        self.name = f"{self._url} {model}"

    def embed(self, texts: Sequence[str], *, question: bool = False) -> Vectors:
        """A vector for each text. Raises SearchError; its `rest` is 0 when only these texts are refused."""
        prefix = self._prefixes[0 if question else 1]
        body: dict[str, Any] = {"input": [prefix + text for text in texts]}
        if self._model:
            body["model"] = self._model.replace("{kind}", "query" if question else "passage")
        fetcher = self._question if question else self._passages
        return vectors_of(ask(fetcher, self._url, headers=self._headers, body=body), len(texts))

    def close(self) -> None:
        self._question.cancel.set()
        self._passages.cancel.set()


def vectors_of(answer: Any, count: int) -> Vectors:
    """The vectors in an answer of the API, in the order of the texts. Raises SearchError."""
    try:
        rows = sorted(answer["data"], key=lambda row: int(row.get("index", 0)))
        found = np.array([row["embedding"] for row in rows], dtype=np.float32)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SearchError("it answered in a form that is not the embeddings API's.") from error
    return unit_vectors(found, count)


def unit_vectors(found: Vectors, count: int) -> Vectors:
    """The same at length 1, checked to be `count` rows of numbers. Raises SearchError."""
    if found.ndim != 2 or len(found) != count or not found.shape[1] or not np.isfinite(found).all():
        raise SearchError("it did not answer with one vector of numbers for each text.")
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    return np.asarray(found / np.maximum(lengths, 1e-12), dtype=np.float32)
