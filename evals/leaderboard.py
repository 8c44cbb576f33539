"""Whether an answer is right by the rules that the GAIA leaderboard publishes.

The form of the true answer decides. A number is compared as a number, and the
answer may carry "$", "%" and thousands separators. What holds "," or ";" is a
list, compared element by element in its order. All else is a text, compared
without case, spaces and ASCII punctuation; inside a list punctuation counts.
Source: https://huggingface.co/spaces/gaia-benchmark/leaderboard (scorer.py).
"""

import math
import re
import string

_SEPARATORS = re.compile("[,;]")
_SPACES = re.compile(r"\s")
_UNITS = str.maketrans("", "", "$%,")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def matches(answer: str, truth: str) -> bool:
    """Whether the leaderboard takes `answer` for `truth`."""
    if _number(truth) is not None:
        return _same_number(answer, truth)
    if _SEPARATORS.search(truth):
        given, wanted = elements(answer), elements(truth)
        return len(given) == len(wanted) and all(map(_same_element, given, wanted))
    return plain(answer) == plain(truth)


def elements(text: str) -> list[str]:
    """The parts of a list, as they stand."""
    return _SEPARATORS.split(text)


def plain(text: str) -> str:
    """A text as it is compared: lower case, without spaces and punctuation."""
    return _spaceless(text).translate(_PUNCTUATION)


def counted_as(answer: str) -> str:
    """What answers that say the same have in common: "1,200" and "$1200.0", "sea gull" and "Sea-gull", not 1.0 and 10."""
    if (number := number_of(answer)) is not None:
        return repr(number)
    parts = elements(answer)
    return ";".join(map(counted_as, parts)) if len(parts) > 1 else plain(answer)


def number_of(text: str) -> float | None:
    """The number that an answer says, None when it is none: "$1,200" is 1200."""
    return _number(text.translate(_UNITS))


def _same_element(given: str, wanted: str) -> bool:
    if _number(wanted) is not None:
        return _same_number(given, wanted)
    return _spaceless(given) == _spaceless(wanted)


def _same_number(answer: str, truth: str) -> bool:
    said = number_of(answer)
    # The leaderboard reads what is no number as infinite.
    return (math.inf if said is None else said) == float(truth)


def _spaceless(text: str) -> str:
    return _SPACES.sub("", text).lower()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
