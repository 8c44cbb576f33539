"""Keys that a sender has chosen so that they hash alike would make a table of them take minutes to fill."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .frames import BadFrame

_ALIKE = 100


def spread(keys: Sequence[Any]) -> Sequence[Any]:
    """The keys themselves; BadFrame when more than a hundred different ones share one hash."""
    crowded = {code: list[Any]() for code, n in Counter(map(hash, keys)).items() if n > _ALIKE}
    for key in keys if crowded else ():
        different = crowded.get(hash(key))
        if different is not None and key not in different:
            different.append(key)
            if len(different) > _ALIKE:
                raise BadFrame("keys that all hash alike")
    return keys
