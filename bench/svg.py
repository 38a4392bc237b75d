# SPDX-License-Identifier: MIT
"""Plots as SVG, by hand so that no plotting library is needed: axes, panels of lines, panels of bars."""

import math
import pathlib
import typing

# A panel of lines, with its axes' names, and the room for the legend beside the last one.
PANEL_WIDTH, LEGEND_WIDTH = 350, 200


class Axis:
    """A logarithmic axis from values to pixels."""

    def __init__(self, values, begin, end):
        self.low, self.high, self.begin, self.end = 0.9 * min(values), 1.1 * max(values), begin, end

    def __call__(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.begin + (self.end - self.begin) * share

    def ticks(self):
        values = [step * 10.0**power for power in range(-2, 9) for step in (1, 2, 5)]
        return [value for value in values if self.low <= value <= self.high]

    def name(self, value):
        power = value.bit_length() - 1
        return f"2^{power}" if value > 16 and value == 1 << power else str(value)


class FromZero:
    """A linear axis that begins at zero."""

    def __init__(self, values, begin, end):
        self.high, self.begin, self.end = 1.05 * max(values) or 1, begin, end

    def __call__(self, value):
        return self.begin + (self.end - self.begin) * value / self.high

    def ticks(self):
        power = 10.0 ** math.floor(math.log10(self.high / 4))
        step = max(power * digit for digit in (1, 2, 2.5, 5) if power * digit <= self.high / 4)
        return [step * at for at in range(math.floor(self.high / step) + 1)]


class Even:
    """An axis on which all values that occur are equally far apart: for those that no scale suits."""

    def __init__(self, values, begin, end):
        self.values, self.begin, self.end = sorted(set(values)), begin, end

    def __call__(self, value):
        return self.begin + (self.end - self.begin) * self.values.index(value) / max(len(self.values) - 1, 1)

    def name(self, value):
        return str(value)


class Line(typing.NamedTuple):
    name: str
    points: list
    colour: str
    dash: str = ""
    width: float = 1.6


def panel(left, title, x_label, lines, x_axis=Axis, y_axis=Axis):
    """One panel of lines, `left` pixels from the margin."""
    points = [point for line in lines for point in line.points]
    x, y = x_axis([p[0] for p in points], left + 60, left + 330), y_axis([p[1] for p in points], 290, 50)
    text = [f'<text x="{left + 60}" y="40">{title}</text>'
            f'<rect x="{left + 52}" y="44" width="286" height="252" fill="none" stroke="#999"/>'
            f'<text x="{left + 195}" y="330" text-anchor="middle">{x_label}</text>']
    for value in sorted({p[0] for p in points}):
        text.append(f'<text x="{x(value):.1f}" y="312" text-anchor="middle">{x.name(value)}</text>')
    for value in y.ticks():
        height = f"{y(value):.1f}"
        text.append(f'<text x="{left + 48}" y="{height}" dy="4" text-anchor="end">{value:g}</text>'
                    f'<line x1="{left + 52}" x2="{left + 338}" y1="{height}" y2="{height}" stroke="#eee"/>')
    for line in lines:
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line.points)
        text.append(f'<polyline points="{path}" fill="none" stroke-width="{line.width}" '
                    f'stroke="{line.colour}" stroke-dasharray="{line.dash}"/>')
        text += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="2.5" fill="{line.colour}"/>'
                 for a, b in line.points]
    return text


def legend(left, lines):
    text = []
    for at, line in enumerate(lines):
        y = 56 + 18 * at
        text.append(f'<line x1="{left + 5}" x2="{left + 35}" y1="{y}" y2="{y}" stroke-width="{line.width}" '
                    f'stroke="{line.colour}" stroke-dasharray="{line.dash}"/>'
                    f'<text x="{left + 42}" y="{y + 4}">{line.name}</text>')
    return text


class Bar(typing.NamedTuple):
    value: float
    colour: str


BAR_LABELS, BAR_LENGTH = 90, 300


def bar_panel(left, title, rows, text_of, stacked=False):
    """Rows of horizontal bars, below each other or, stacked, in one: [(label, [Bar])]; below 60 pixels.
    `text_of` writes a value, or the sum of a stack."""
    sums = [sum(b.value for b in bars) if stacked else max((b.value for b in bars), default=0)
            for _, bars in rows]
    scale = FromZero(sums or [1], 0, BAR_LENGTH)
    height = 20 if stacked else 20 / max((len(bars) for _, bars in rows), default=1)
    text = [f'<text x="{left + BAR_LABELS}" y="48">{title}</text>']
    for at, (label, bars) in enumerate(rows):
        y, x = 60 + 24 * at, left + BAR_LABELS
        text.append(f'<text x="{x - 5}" y="{y + 14}" text-anchor="end">{label}</text>')
        for turn, bar in enumerate(bars):
            width, top = max(scale(bar.value), 0), y if stacked else y + height * turn
            text.append(f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
                        f'fill="{bar.colour}"/>')
            if stacked:
                x += width
            else:
                text.append(f'<text x="{x + width + 4:.1f}" y="{top + height / 2 + 3:.1f}" font-size="9">'
                            f'{text_of(bar.value)}</text>')
        if stacked:
            text.append(f'<text x="{x + 5:.1f}" y="{y + 14}">{text_of(sums[at])}</text>')
    return text


def bar_legend(left, names):
    """What the colours of bars mean: [(name, colour)]."""
    return [f'<rect x="{left}" y="{60 + 18 * at}" width="12" height="12" fill="{colour}"/>'
            f'<text x="{left + 18}" y="{70 + 18 * at}">{name}</text>'
            for at, (name, colour) in enumerate(names)]


def write(path, width, height, title, parts, font_size=11):
    """Writes one page; gives its path."""
    head = ('<svg xmlns="http://www.w3.org/2000/svg" '
            f'font-family="sans-serif" font-size="{font_size}" width="{width}" height="{height}">'
            '<rect width="100%" height="100%" fill="white"/>'
            f'<text x="10" y="20" font-size="14">{title}</text>')
    pathlib.Path(path).write_text("\n".join([head, *parts]) + "\n</svg>\n")
    return path


def write_lines(path, title, panels):
    """Writes a page of panels side by side: [(title, label of x, [Line], axis of x, axis of y)], with one
    legend. None if there is nothing to draw."""
    panels = [shown for shown in panels if shown[2]]
    if not panels:
        return None
    lines = list({line.name: line for shown in panels for line in shown[2]}.values())
    right = PANEL_WIDTH * len(panels)
    parts = [text for at, shown in enumerate(panels) for text in panel(PANEL_WIDTH * at, *shown)]
    return write(path, right + LEGEND_WIDTH, max(345, 60 + 18 * len(lines)), title,
                 parts + legend(right, lines))
