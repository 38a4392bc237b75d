# SPDX-License-Identifier: MIT
"""Tables and plots of the suite "priorities". A time is the median of the processes that had the cores to
themselves; if there are none, of the one that others disturbed least, and it is marked by ~. An overhead is
that of a step with analysis over one of the same peer without."""

import report
import svg
from priorities_suite import HOW, INTERVALS, QUIET, SIZES

COLOURS = {"weft": "#c0392b", "pthreads": "#555555"}
DASHES = ("2 3", "9 3 2 3", "7 3", "5 2", "")


def _rows(data, what="insitu"):
    return [row for row in data["results"] if row["case"].startswith(f"{what}-") and "process_medians" in row]


def _times(data, what="insitu"):
    """(atoms, peer, form) -> (ms a step, disturbed)."""
    return {(row["sizes"]["n"], row["peer"], row["form"]): report.quiet_median(row, QUIET) for row in _rows(data, what)}


def _overhead(times, atoms, peer, form):
    """In percent, and whether others disturbed either; None without both figures."""
    with_it, without = times.get((atoms, peer, form)), times.get((atoms, peer, "none"))
    if not with_it or not without:
        return None
    return 100 * (with_it[0] / without[0] - 1), with_it[1] or without[1]


# What an analysis is, and what its forms are called.
ANALYSES = {"insitu": ("waves and velocities", ""), "radial": ("radial distribution", ".radial")}


def _overheads(data, interval, what):
    times = _times(data, what)
    if not times:
        return None
    name, middle = ANALYSES[what]
    lines = [["peer", "analysis", *(f"{atoms} atoms" for atoms in SIZES)]]
    for peer, forms in HOW.items():
        alone = [times.get((atoms, peer, "none")) for atoms in SIZES]
        lines.append([peer, "none, ms", *(f"{t[0]:.2f}{'~' if t[1] else ''}" if t else "-" for t in alone)])
        for how in forms:
            found = [_overhead(times, atoms, peer, f"{how}{middle}.{interval}") for atoms in SIZES]
            lines.append([peer, how, *(f"{f[0]:.0f} %{'~' if f[1] else ''}" if f else "-" for f in found)])
    every = "every step" if interval == 1 else "every second step"
    return report.layout(f"Fig. 9: overhead of an analysis, {name}, at {every}", lines, (0, 1))


def _same_atoms(data):
    """Whether all runs of so many atoms and steps went the same way, with and without an analysis."""
    states = report.end_states((*_rows(data, "insitu"), *_rows(data, "radial")))
    lines = [[f"{atoms} atoms, {steps} steps", "the same bits" if len(found) == 1 else "DIFFERENT STATES"]
             for (_, atoms, steps), found in states.items()]
    return report.layout("where the atoms are at the end, whatever runs beside", lines, (0, 1)) if lines else None


def tables(data):
    for case in report.cases_of(data):
        print(report.table(data, case) + "\n")
    for what in ANALYSES:
        for interval in INTERVALS:
            if text := _overheads(data, interval, what):
                print(text + "\n")
    if text := _same_atoms(data):
        print(text + "\n")


def plots(data, stem):
    times = _times(data)
    files = [report.bars(data, "start", f"{stem}-start.svg")]
    for interval in INTERVALS:
        lines = []
        for peer, forms in HOW.items():
            for at, how in enumerate(forms):
                points = [(atoms, found[0]) for atoms in SIZES
                          if (found := _overhead(times, atoms, peer, f"{how}.{interval}")) and found[0] > 0]
                if points:
                    lines.append(svg.Line(f"{peer} {how}", points, COLOURS[peer], DASHES[at]))
        title = f"Fig. 9{'ab'[interval - 1]}: overhead of an analysis at every {('', 'second ')[interval - 1]}step"
        if lines:
            files.append(svg.write_lines(f"{stem}-fig9{'ab'[interval - 1]}.svg", title,
                                         [("percent", "atoms", lines)]))
    return [path for path in files if path]
