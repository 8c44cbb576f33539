"""Whether an answer is right.

`exact_match` and `f1` are HotpotQA's own measures (Yang et al. 2018): words
compared without case, punctuation and articles. `accepts` is for questions
with a list of accepted answers, of which one must stand in what was said.
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Iterable

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_CLOSED = frozenset({"yes", "no", "noanswer"})
_THOUSANDS = re.compile(r"(?<=\d)[,\u00a0\u202f](?=\d{3}(?!\d))")
_WHOLE = re.compile(r"(?<=\d)\.0+(?![\d.])")


def normalized(text: str) -> str:
    """The text as HotpotQA compares it: lower case, no punctuation, no articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, expected: str) -> bool:
    """Whether both are the same words."""
    return normalized(answer) == normalized(expected)


def f1(answer: str, expected: str) -> float:
    """Overlap of the words of both, 0 to 1; a yes or no counts only as a whole."""
    given, wanted = normalized(answer), normalized(expected)
    if given != wanted and (given in _CLOSED or wanted in _CLOSED):
        return 0.0
    ours, theirs = given.split(), wanted.split()
    common = sum((Counter(ours) & Counter(theirs)).values())
    if not common:
        return 0.0
    precision, recall = common / len(ours), common / len(theirs)
    return 2 * precision * recall / (precision + recall)


def accepts(answer: str, accepted: str | Iterable[str]) -> bool:
    """Whether one of the accepted answers stands in `answer` as whole words or as a whole number.

    Case, accents and thousands separators do not matter. "54" stands in "54
    years" and in "54.", but not in "1954", "54.5", "-54" or "5,454".
    """
    choices = [accepted] if isinstance(accepted, str) else accepted
    said = _folded(answer)
    return any(_stands_in(said, wanted) for choice in choices if (wanted := _folded(choice)))


def _stands_in(said: str, wanted: str) -> bool:
    before = r"(?<!\w)(?<!\d[.,])(?<![-\u2212])(?<!\.)" if wanted[0].isdigit() else r"(?<!\w)"
    after = r"(?!\w)(?![.,]\d)" if wanted[-1].isdigit() else r"(?!\w)"
    return re.search(before + re.escape(wanted) + after, said) is not None


def _folded(text: str) -> str:
    numbers = _WHOLE.sub("", _THOUSANDS.sub("", text.casefold()))
    letters = unicodedata.normalize("NFKD", numbers)
    return " ".join("".join(each for each in letters if not unicodedata.combining(each)).split())
