"""Seconds and tokens of all results, as inline SVG: no script, nothing from elsewhere, and words for those who cannot see it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_HEIGHT = 260


@dataclass(frozen=True)
class Dot:
    """One result: what it cost, and whether it is right."""

    seconds: float
    tokens: int
    right: bool
    name: str


def plot(dots: Sequence[Dot]) -> str:
    """A dot a result, filled where it is right. Widths are in percent, so that words keep their size on a phone."""
    across = ticks(max((dot.seconds for dot in dots), default=0))
    upwards = ticks(max((dot.tokens for dot in dots), default=0))
    parts = []
    for value in upwards:
        y = _HEIGHT * (1 - value / upwards[-1])
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text x="-8" y="{y + 4:.1f}" text-anchor="end">{value:,.12g}</text>')
    for value in across:
        parts.append(
            f'<text x="{100 * value / across[-1]:.2f}%" y="{_HEIGHT + 20}" text-anchor="middle">{value:,.12g}</text>'
        )
    parts.append(f'<text x="50%" y="{_HEIGHT + 40}" text-anchor="middle">seconds</text>')
    parts.append('<text x="-8" y="-10" text-anchor="end">tokens</text>')
    for dot in dots:
        x, y = 100 * dot.seconds / across[-1], _HEIGHT * (1 - dot.tokens / upwards[-1])
        parts.append(
            f'<circle class="{"right" if dot.right else "other"}" cx="{x:.2f}%" cy="{y:.1f}" r="6">'
            f"<title>{escape(dot.name)}: {dot.seconds:.1f} s, {dot.tokens:,} tokens</title></circle>"
        )
    words = f"Seconds and tokens of {len(dots)} results, {sum(dot.right for dot in dots)} of them right"
    return f'<svg class="plot" role="img" aria-label="{words}">{"".join(parts)}</svg>'


def ticks(most: float) -> list[float]:
    """Round numbers from 0 to the first that is not below `most`, three to six of them."""
    if most <= 0:
        return [0.0, 1.0]
    rough = most / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough)
    return [step * number for number in range(math.ceil(most / step - 1e-9) + 1)]
