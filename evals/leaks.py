"""Pages that carry GAIA's questions or answers: closed to its runs, and noticed where one slips through.

Known places are closed by their address, also inside of an address (an archive's
copy, a mirror, a proxy). For all other pages it is looked afterwards whether what
was read or listed holds the question word for word, or its id.
"""

import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from agent.store import Store

# Where data sets, code and traces are published. A proxy writes huggingface-co for huggingface.co.
_STORES = re.compile(
    r"\b(huggingface|hf|hf-mirror|github|githubusercontent|gitlab|gitee|jsdelivr|kaggle|modelscope|zenodo)"
    r"[.-](co|com|cn|net|org|space)\b"
)
# There the bare name is enough; elsewhere it is a goddess, a city, a satellite and much else.
_NAMED = re.compile(
    r"(?<![a-z0-9])gaia(?![a-z])"
    r"|agents_(small|medium|large)_benchmark|smolagents/benchmark"  # hold its questions under other names
    r"|agents-course|final[-_ ]assignment"  # a course whose exam is 20 of them
)
_ANYWHERE = re.compile(
    r"gaia[-_ +]?bench"
    r"|gaia[-_ +](validation|leaderboard|traces?|answers?|level[-_ ]?[123])"
    r"|2023_(all|level[123])\b"
    r"|2023/(validation|test)/(metadata|[0-9a-f]{8}-)"
    r"|\b2311\.12983"
    r"|hal\.cs\.princeton\.edu/gaia"
)
_SHORTEST, _SHORTEST_ID = 60, 30
_NO_WORDS = re.compile(r"\W+")

# The model reads this too, and should not learn that it is being measured.
WHY = "it is closed to this run"


def carries_benchmark(url: str) -> str:
    """Why the address is closed; empty when it is not known to carry a benchmark."""
    place = _plain(url)
    return WHY if _ANYWHERE.search(place) or (_STORES.search(place) and _NAMED.search(place)) else ""


def leaks(store: Store, run_id: str, asked: str, name: str) -> tuple[str, ...]:
    """What a run met: "refused …" was kept from it, "read …" and "listed …" hold its question word for word.

    `asked`: what the agent was asked, the form of the answer in a last paragraph of its own. `name`: the question's id.
    """
    return tuple(dict.fromkeys(_met(store, run_id, asked, name)))


def _met(store: Store, run_id: str, asked: str, name: str) -> Iterator[str]:
    yield from (f"refused {a.final_url or a.url}" for a in store.attempts(run_id) if WHY in a.error)
    parts = asked.split("\n\n")
    wanted = [words for part in parts[:-1] or parts if len(words := _words(part)) >= _SHORTEST]
    wanted += [_words(name)] if len(name) >= _SHORTEST_ID else []
    for page in store.snapshots(run_id):
        if "://" in page.url and _holds(page.text, wanted):  # an attached file is the question's own
            yield f"read {page.url}"
    for each in store.listed(run_id):
        if _holds(f"{each.title} {each.snippet}", wanted):
            yield f"listed {each.url}"


def _holds(text: str, wanted: list[str]) -> bool:
    said = _words(text) if wanted else ""
    return any(words in said for words in wanted)


def _words(text: str) -> str:
    return _NO_WORDS.sub(" ", text.casefold()).strip()


def _plain(url: str) -> str:
    """The address in one form, however often and whatever of it is written as %xx or in full width."""
    for _ in range(5):
        if (once := unquote(url)) == url:
            break
        url = once
    return unicodedata.normalize("NFKC", url).replace("\\", "/").lower()
