"""The bars of an ablation, as inline SVG: no script, nothing from elsewhere, and each with words for those who cannot see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from evals.statistics import wilson

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


def bar(name: str, value: float, count: int) -> Bar:
    """With the interval of that many questions."""
    return Bar(name, value, *wilson(value, count), count)


def _svg(words: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(words)}">'
        + "".join(parts)
        + "</svg>"
    )
