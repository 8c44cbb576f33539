"""Pages that carry a benchmark's questions or answers: closed to its runs, and noticed where one slips through.

Known places are closed by their address, also inside of an address (an archive's
copy, a mirror, a proxy). For all other pages it is looked afterwards whether what
was read or listed holds the question word for word.
"""

import re
from urllib.parse import unquote

from agent.store import Store

# Data sets, leaderboards, traces and copies of them; "gaia" alone is a goddess, a satellite and much else.
_PLACES = re.compile(
    r"(huggingface\.co|hf\.co|hf-mirror\.com)/(api/)?(datasets|spaces)/[^?#]*gaia"
    r"|gaia-benchmark"
    r"|gaia[-_/](validation|test|level|traces?|answers?|results?|2023)"
    r"|2023[-_/](all|level[123])[-_/](validation|test)"
    r"|2023/(validation|test)/metadata"
    r"|arxiv\.org/(abs|pdf|html)/2311\.12983",
    re.IGNORECASE,
)
_SHORTEST = 60
_NO_WORDS = re.compile(r"\W+")

WHY = "it may carry the questions or answers of the benchmark that is being run"


def carries_benchmark(url: str) -> str:
    """Why the address is closed; empty when it is not known to carry a benchmark."""
    return WHY if _PLACES.search(unquote(unquote(url))) else ""


def leaks(store: Store, run_id: str, question: str) -> tuple[str, ...]:
    """What a run met: "refused …" was kept from it, "read …" and "listed …" hold its question word for word."""
    refused = (f"refused {a.url}" for a in store.attempts(run_id) if WHY in a.error)
    wanted = _words(question.split("\n\n")[0])
    if len(wanted) < _SHORTEST:
        return tuple(refused)
    read = (f"read {page.url}" for page in store.snapshots(run_id) if wanted in _words(page.text))
    listed = (f"listed {each.url}" for each in store.listed(run_id) if wanted in _words(each.snippet))
    return (*refused, *read, *listed)


def _words(text: str) -> str:
    return _NO_WORDS.sub(" ", text.casefold()).strip()
