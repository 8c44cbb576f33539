"""The few lines of a document that answer best."""

import math
import re
import unicodedata
from functools import lru_cache

from tools.search.passages import SIZE, Passage, passages_of, sentences
from tools.search.words import Term, terms_of

_ROOM = SIZE + 80
_SMALL_TABLE = 500
_ENDINGS = re.compile(r"(ies|es|s|ing|ed|er|est)$")


def mentions(terms: list[Term], text: str) -> set[int]:
    """Which of the terms, by place in the list, `text` has."""
    words = {_stem(word) for word in _words(text)}
    return {place for place, term in enumerate(terms) if any(_stem(word) in words for word in term)}


def snippet_of(best: int, passages: list[Passage], terms: list[Term], title: str) -> str:
    """What to show of passage `best`, one of the `passages` of a document, in order."""
    if passages[best].header:
        return _row_snippet(best, passages, terms)
    return _text_snippet(best, passages, terms, title)


def _text_snippet(best: int, passages: list[Passage], terms: list[Term], title: str) -> str:
    """Passage `best`, with a sentence of another one for terms that it lacks, or with what follows it."""
    chosen = passages[best]
    snippet = chosen.text
    asked = _own_words(terms)
    lacking = set(range(len(asked))) - mentions(asked, f"{title} {chosen.heading} {snippet}")
    if lacking:
        others = [s for i, p in enumerate(passages) if i != best and not p.header for s in sentences(p.text)]
        extra = max(others, key=lambda s: (len(mentions(asked, s) & lacking), -len(s)), default="")
        found = mentions(asked, extra)
        if found & lacking and len(found) > 1 and len(snippet) + len(extra) < _ROOM:
            return f"{snippet} … {extra}"
    for following in passages[best + 1 :]:
        if following.heading != chosen.heading or following.header or following.weight < 1:
            break
        if len(snippet) + len(following.text) > _ROOM:
            break
        snippet += f"\n{following.text}"
    return snippet


def _row_snippet(best: int, passages: list[Passage], terms: list[Term]) -> str:
    """The table's header and the rows that say most about the terms; the passage's own rows when none does."""
    chosen = passages[best]
    same = [p for p in passages if p.header == chosen.header and p.heading == chosen.heading]
    rows = [row for passage in same for row in passage.text.split("\n")]
    before = sum(passage.text.count("\n") + 1 for passage in same[: same.index(chosen)])
    own = range(before, before + chosen.text.count("\n") + 1)
    # Words of the header ask for a column, not for a row.
    columns = mentions(terms, chosen.header)
    asked = [term for place, term in enumerate(_own_words(terms)) if place not in columns]
    named = [mentions(asked, row) for row in rows]
    counts = [sum(place in each for each in named) for place in range(len(asked))]
    # What stands in every row tells no row from another.
    weights = [math.log(len(rows) / count) if count else 0.0 for count in counts]
    scores = [sum(weights[place] for place in each) for each in named]
    top = max(scores)
    picked: list[int] = []
    if top > 0:
        room = _ROOM - len(chosen.header)
        for place in sorted(range(len(rows)), key=lambda i: (-scores[i], i)):
            if picked and (
                scores[place] < 0.4 * top or sum(len(rows[i]) for i in picked) + len(rows[place]) > room
            ):
                break
            picked.append(place)
    else:
        whole = sum(map(len, rows)) <= _SMALL_TABLE
        picked = list(range(len(rows)) if whole else own)
    lines = [chosen.header, *(rows[place] for place in sorted(picked))]
    if len(picked) < len(rows):
        lines.append(f"({len(picked)} of {len(rows)} rows)")
    return "\n".join(line for line in lines if line)


def best_passages(markdown: str, question: str, limit: int) -> str:
    """The passages of a text that say most about a question, in reading order, `limit` characters at most."""
    terms = terms_of(question)
    passages = passages_of(markdown)
    found = [mentions(terms, f"{p.heading} {p.header} {p.text}") for p in passages]
    counts = [sum(place in each for each in found) for place in range(len(terms))]
    weights = [math.log(1 + len(passages) / count) if count else 0.0 for count in counts]
    scores = [sum(weights[place] for place in each) for each in found]
    chosen: list[int] = []
    room = limit
    for place in sorted(range(len(passages)), key=lambda i: (-scores[i], i)):
        size = len(passages[place].text) + len(passages[place].header) + 5
        if scores[place] < 0.5 * max(scores) or not scores[place]:
            break
        if size <= room:
            chosen.append(place)
            room -= size
    parts = [f"{p.header}\n{p.text}" if p.header else p.text for p in (passages[i] for i in sorted(chosen))]
    return "\n…\n".join(parts)


def _own_words(terms: list[Term]) -> list[Term]:
    """The words of the question itself, without those that mean the same."""
    return [term[:1] for term in terms]


def _words(text: str) -> list[str]:
    if text.isascii():
        return re.findall(r"[^\W_]+", text.lower())
    folded = unicodedata.normalize("NFKD", text.casefold())
    return re.findall(r"[^\W_]+", "".join(letter for letter in folded if not unicodedata.combining(letter)))


@lru_cache(1 << 16)
def _stem(word: str) -> str:
    """Roughly what the index's stemmer makes of a word: enough to compare two forms of it."""
    word = _words(word)[0] if not word.isascii() and _words(word) else word
    return word if len(word) < 4 or word.isdigit() else _ENDINGS.sub("", word)
