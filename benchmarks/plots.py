"""Curves on two logarithmic axes, as SVG, with nothing but text."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import Final, NamedTuple

__all__ = ["Curve", "log_log"]

WIDTH: Final = 640
HEIGHT: Final = 400
MARGIN: Final = 60
FONT: Final = 'font-family="sans-serif" font-size="12"'
COLOURS: Final = ("#8a8a8a", "#d08020", "#2060c0", "#208050")


class Curve(NamedTuple):
    """One line of a plot; all numbers are above 0."""

    name: str
    across: Sequence[float]
    up: Sequence[float]


def log_log(curves: Sequence[Curve], across: str, up: str) -> str:
    """Return a plot with a line for each curve, its name at its end."""
    first, last = _decades([value for curve in curves for value in curve.across])
    low, high = _decades([value for curve in curves for value in curve.up])

    def place(x: float, y: float) -> tuple[float, float]:
        right = (log10(x) - first) / (last - first) * (WIDTH - 3 * MARGIN)
        height = (log10(y) - low) / (high - low) * (HEIGHT - 2 * MARGIN)
        return MARGIN + right, HEIGHT - MARGIN - height

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for decade in range(first, last + 1):
        x, y = place(10**decade, 10**low)
        parts += [_line(x, y, x, MARGIN), _text(x, y + 18, f"{10**decade:,}", "middle")]
    for decade in range(low, high + 1):
        x, y = place(10**first, 10**decade)
        parts += [_line(x, y, WIDTH - 2 * MARGIN, y), _text(x - 6, y + 4, f"{10.0**decade:g}")]
    for curve, colour in zip(curves, COLOURS, strict=False):
        points = [place(x, y) for x, y in zip(curve.across, curve.up, strict=True)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        x, y = points[-1]
        parts.append(_text(x + 8, y + 4, curve.name, "start", colour))
    parts.append(_text(WIDTH / 2 - MARGIN, HEIGHT - 18, across, "middle"))
    parts.append(_text(MARGIN - 30, MARGIN - 20, up, "start"))
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten that ``values`` lie between."""
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _line(x: float, y: float, to_x: float, to_y: float) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="#dddddd"/>'


def _text(x: float, y: float, text: str, anchor: str = "end", colour: str = "#333333") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{text}</text>'
