"""Finding in a page what supports an answer: a quote, the answer's own words, or what they were computed from."""

import ast
import re
from collections.abc import Sequence
from functools import lru_cache

from tools.find import FoldedText

_SHORT_PAGE = 3_000
_SENTENCE_CHARS = 300
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n")
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_EMPTY_WORDS = frozenset("yes no none true false the a an of in".split())
_RESTATED_WORDS, _RESTATED_SHARE = 3, 0.7


def literals(code: str) -> list[str]:
    """Numbers and short texts written into the code: what a computed answer was computed from."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    values = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    found = [
        str(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool) and len(str(v)) > 2
    ]
    return found + [v for v in values if isinstance(v, str) and 2 < len(v) < 80 and "://" not in v]


def supporting_sentence(text: str, wanted: Sequence[str], question: str) -> tuple[str, int]:
    """The sentence that holds one of the `wanted` words and most of the question's, and how many; ("", 0) if none."""
    asked = {word for word in _words(question) if len(word) > 2}
    best, best_score = "", 0
    for start, end in _places(text, wanted):
        sentence = _sentence(text, start, end)
        score = 1 + len(asked & set(_words(sentence)))
        if score > best_score:
            best, best_score = sentence, score
    return best, best_score


def _places(text: str, wanted: Sequence[str]) -> list[tuple[int, int]]:
    folded = _folded(text)
    for words in wanted:
        if words.casefold() in _EMPTY_WORDS:
            continue
        whole = [(a, b) for a, b in folded.find_all(words.replace("*", " ")) if _stands_alone(text, a, b)]
        if whole:
            return whole
    return []


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (before.isalnum() or after.isalnum())


def _sentence(text: str, start: int, end: int) -> str:
    """The sentence around a place, at most half of `_SENTENCE_CHARS` to each side."""
    first, last = max(0, start - _SENTENCE_CHARS // 2), min(len(text), end + _SENTENCE_CHARS // 2)
    first = max((m.end() for m in _SENTENCE_END.finditer(text, first, start)), default=first)
    after = _SENTENCE_END.search(text, end, last)
    return text[first : after.start() if after else last].strip()


def place_of(text: str, quote: str) -> str:
    """Where the quote stands: the heading above it, or how far down; empty when it does not stand there."""
    found = _folded(text).find_all(quote.replace("*", " "))
    if not found:
        return ""
    start = found[0][0]
    headings = [m[1].strip() for m in _HEADING.finditer(text, 0, start)]
    if len(headings) > 1:
        return f"under “{headings[-1][:80]}”"
    return "in the page" if len(text) < _SHORT_PAGE else f"{round(100 * start / len(text))} % down the page"


def restated_sentence(text: str, statement: str) -> tuple[str, int]:
    """The sentence that has most of a statement's words, and how many, if it is clearly the same; ("", 0) if none."""
    said = {word for word in _words(statement) if len(word) > 3}
    sentences = _SENTENCE_END.split(text)
    best = max(sentences, key=lambda sentence: len(said & set(_words(sentence))), default="")
    shared = len(said & set(_words(best)))
    if shared < max(_RESTATED_WORDS, _RESTATED_SHARE * len(said)):
        return "", 0
    return best.strip()[:_SENTENCE_CHARS], shared


@lru_cache(maxsize=1)
def _folded(text: str) -> FoldedText:
    """Made ready once for all that is looked for in one text after the other."""
    return FoldedText(text)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
