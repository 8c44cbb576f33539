"""The charts of a report, as inline SVG: no script, nothing from elsewhere, and each with words for those who cannot see it."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from evals.statistics import wilson
from evals.verdict import Verdict

_LEFT, _WIDTH, _ROW = 170, 640, 30
_SPAN = _WIDTH - _LEFT - 90


@dataclass(frozen=True)
class Bar:
    """`low` and `high` are the ends of its interval; all are shares, 0 to 1."""

    name: str
    value: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Dot:
    """One result: what it cost, and whether it is right."""

    seconds: float
    tokens: int
    right: bool
    name: str


def shares(bars: Sequence[Bar]) -> str:
    """Bars from 0 to 100 %, with their intervals."""
    parts = []
    for place, bar in enumerate(bars):
        top = 6 + place * _ROW
        middle, end = top + 9, _LEFT + _SPAN * bar.value
        low, high = _LEFT + _SPAN * bar.low, _LEFT + _SPAN * bar.high
        parts.append(
            f'<text x="{_LEFT - 10}" y="{middle + 4}" text-anchor="end">{escape(bar.name)} ({bar.count})</text>'
            f'<rect class="track" x="{_LEFT}" y="{top}" width="{_SPAN}" height="18" rx="3"/>'
            f'<rect class="right" x="{_LEFT}" y="{top}" width="{end - _LEFT:.1f}" height="18" rx="3"/>'
            f'<path class="whisker" d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8"/>'
            f'<text x="{_LEFT + _SPAN + 10}" y="{middle + 4}">{bar.value:.1%}</text>'
        )
    words = "; ".join(f"{bar.name} {bar.value:.0%}" for bar in bars)
    return _svg(f"Share of right answers: {words}", 12 + _ROW * len(bars), parts)


def verdicts(counts: Counter[Verdict]) -> str:
    """What became of all results, as one bar and its legend."""
    total, left = sum(counts.values()), 0.0
    parts: list[str] = []
    legend: list[str] = []
    for verdict in Verdict:
        if not counts[verdict]:
            continue
        width = _WIDTH * counts[verdict] / total
        kind = verdict.value.replace(" ", "-")
        parts.append(
            f'<rect class="{kind}" x="{left:.1f}" y="4" width="{max(width - 2, 1):.1f}" height="26" rx="3">'
            f"<title>{verdict}: {counts[verdict]}</title></rect>"
        )
        place = len(legend)
        x, y = 160 * (place % 4), 52 + 22 * (place // 4)
        legend.append(
            f'<rect class="{kind}" x="{x}" y="{y - 11}" width="12" height="12" rx="2"/>'
            f'<text x="{x + 18}" y="{y}">{counts[verdict]} {verdict}</text>'
        )
        left += width
    words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    return _svg(f"What became of the results: {words}", 46 + 22 * math.ceil(len(legend) / 4), parts + legend)


def costs(dots: Sequence[Dot]) -> str:
    """Seconds to the right, tokens upwards, a dot a result."""
    height, bottom = 240, 210
    most_seconds = max((dot.seconds for dot in dots), default=1) or 1
    most_tokens = max((dot.tokens for dot in dots), default=1) or 1
    parts = [
        f'<path class="axis" d="M60 10V{bottom}H{_WIDTH - 10}"/>',
        f'<text x="54" y="20" text-anchor="end">{most_tokens:,}</text>',
        f'<text x="54" y="{bottom}" text-anchor="end">0</text>',
        f'<text x="{_WIDTH - 10}" y="{bottom + 18}" text-anchor="end">{most_seconds:,.0f} seconds</text>',
        '<text x="66" y="20">tokens</text>',
    ]
    for dot in dots:
        x = 60 + (_WIDTH - 80) * dot.seconds / most_seconds
        y = bottom - (bottom - 20) * dot.tokens / most_tokens
        kind = "right" if dot.right else "wrong"
        parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"><title>{escape(dot.name)}:'
            f" {dot.seconds:.1f} s, {dot.tokens:,} tokens</title></circle>"
        )
    return _svg(f"Seconds and tokens of {len(dots)} results", height, parts)


def bar(name: str, value: float, count: int) -> Bar:
    """With the interval of that many questions."""
    return Bar(name, value, *wilson(value, count), count)


def _svg(words: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(words)}">'
        + "".join(parts)
        + "</svg>"
    )
