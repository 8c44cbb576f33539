"""The few statistics of a report, from their definitions."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_Z = 1.959963984540054  # of 95 %


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of `count` independent trials (Wilson 1927); (0, 1) without a trial."""
    if count == 0:
        return 0.0, 1.0
    square = _Z * _Z / count
    middle = (share + square / 2) / (1 + square)
    half = _Z / (1 + square) * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return max(0.0, middle - half), min(1.0, middle + half)


def pass_at_k(right: int, asked: int, k: int) -> float:
    """The chance that one of k of the `asked` repeats is right, without bias (Chen et al. 2021). k <= asked."""
    return 1.0 - math.comb(asked - right, k) / math.comb(asked, k)


def majority(answers: Sequence[str], same: Iterable[str]) -> str:
    """The answer given most often; of equals the first. `same`: what each is counted as. Empty for none."""
    counted = list(same)
    if not counted:
        return ""
    most, _ = Counter(counted).most_common(1)[0]  # which keeps the order of equals
    return answers[counted.index(most)]


@dataclass(frozen=True)
class Paired:
    """Two runs over the same questions: how many each alone got right, and McNemar's exact two-sided p."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def count(self) -> int:
        return self.both + self.only_first + self.only_second + self.neither

    @property
    def p(self) -> float:
        """The chance of so unequal a pair of counts, or a more unequal one, between runs that are equally good."""
        differ, less = self.only_first + self.only_second, min(self.only_first, self.only_second)
        if differ == 0:
            return 1.0
        tail = sum(math.comb(differ, number) for number in range(less + 1)) / float(2**differ)
        return min(1.0, 2 * tail)

    @property
    def p_shown(self) -> str:
        """Three digits of it; "< 0.001" rather than a nought, which it never is."""
        return "< 0.001" if self.p < 0.0005 else f"{self.p:.3f}"


def paired(rights: Iterable[tuple[bool, bool]]) -> Paired:
    """One pair a question: whether the first run, and whether the second, got it right."""
    counts = Counter(rights)
    return Paired(counts[(True, True)], counts[(True, False)], counts[(False, True)], counts[(False, False)])
