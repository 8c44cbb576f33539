"""Which passages of the library answer a question best."""

import math
from collections.abc import Collection
from dataclasses import dataclass

from tools.search.snapshot import Snapshot, Spread, document_of, place_in
from tools.search.words import Term

_CANDIDATES = 80
# The common words of a question are left out where the rare ones alone have so many passages.
_MOST_RANKED = 4_000
# So many rows are sooner read at once than looked up one by one.
_RARE = 500


@dataclass(frozen=True)
class Ranked:
    """A document, its best passage, and the share of the question's words, weighed by rarity, that it has."""

    number: int
    row: int
    match: float


def ranked(index: Snapshot, terms: list[Term]) -> list[Ranked]:
    """By the share of the question's words in the passage and in its document; then by bm25."""
    spreads = [index.spread(term) for term in terms]
    candidates = _candidates(index, terms, spreads)
    if not candidates:
        return []
    total = index.count()
    # A word that no document has says little about which one is meant.
    rarity = [
        math.log(1 + total / (0.5 + each.documents)) * (1 if each.documents else 0.5) for each in spreads
    ]
    rows = [row for row, _, _ in candidates]
    numbers = {document_of(row) for row in rows}
    having = [_having(index, term, spread, rows) for term, spread in zip(terms, spreads, strict=True)]
    passages, documents = [each[0] for each in having], [each[1] for each in having]

    def share(number: int, having: list[set[int]]) -> float:
        return sum(w for w, each in zip(rarity, having, strict=True) if number in each) / sum(rarity)

    sharpest = min(rank for _, rank, _ in candidates) or -1.0
    matches = {number: share(number, documents) for number in numbers}
    best: dict[int, tuple[float, int]] = {}
    for row, rank, weight in candidates:
        number, place = document_of(row), place_in(row)
        early = 0.03 if place == 0 else -0.0005 * min(place, 40)
        score = weight * (share(row, passages) + 0.35 * matches[number] + 0.4 * rank / sharpest + early)
        best[number] = max(best.get(number, (-1.0, 0)), (score, row))
    in_order = sorted(best.items(), key=lambda item: -item[1][0])
    return [Ranked(number, row, matches[number]) for number, (_, row) in in_order]


def _candidates(
    index: Snapshot, terms: Collection[Term], spreads: list[Spread]
) -> list[tuple[int, float, float]]:
    """The passages that are compared: (row, bm25 with the best one lowest, weight)."""
    by_rarity = sorted(zip(terms, spreads, strict=True), key=lambda each: each[1].passages)
    chosen: list[Term] = []
    passages = 0
    for term, spread in by_rarity:
        if spread.is_everywhere or (chosen and passages + spread.passages > _MOST_RANKED):
            break
        chosen.append(term)
        passages += spread.passages
    if passages:
        in_order = [term for term in terms if term in chosen]
        return index.candidates(in_order, _CANDIDATES)
    # Nothing but common words: passages with all of them, or else with all but the commonest.
    for count in range(len(by_rarity), 0, -1):
        if found := index.with_all([term for term, _ in by_rarity[:count]], _CANDIDATES):
            return found
    return []


def _having(index: Snapshot, term: Term, spread: Spread, rows: list[int]) -> tuple[set[int], set[int]]:
    """Which of these passages, and which of their documents, have a term; of a rare one all that have it."""
    if not spread.passages:
        return set(), set()
    if spread.passages <= _RARE:
        all_rows = index.rows_with(term)
        return all_rows, {document_of(row) for row in all_rows}
    found = index.having(term, rows)
    known = {document_of(row) for row in found}
    return found, known | index.documents_having(term, {document_of(row) for row in rows} - known)
