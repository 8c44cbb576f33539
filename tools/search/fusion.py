"""One ranking of two: by words and by meaning."""

from collections.abc import Sequence

from tools.search.meaning import Near
from tools.search.ranking import Ranked

# Reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009) and its customary constant.
_K = 60
# What a document without the question's words is worth beside results of the web.
_MEANT = 0.5


def fused(words: Sequence[Ranked], near: Sequence[Near]) -> list[Ranked]:
    """Both rankings as one, best first; of each document the passage that stood higher in its ranking."""
    score: dict[int, float] = {}
    shown: dict[int, tuple[int, Ranked]] = {}
    matches = {each.number: each.match for each in words}
    for ranking in ([(each.number, each.row) for each in words], [(each.number, each.row) for each in near]):
        for rank, (number, row) in enumerate(ranking):
            score[number] = score.get(number, 0.0) + 1 / (_K + rank)
            if number not in shown or rank < shown[number][0]:
                shown[number] = rank, Ranked(number, row, matches.get(number, _MEANT))
    return [shown[number][1] for number in sorted(score, key=lambda number: -score[number])]
