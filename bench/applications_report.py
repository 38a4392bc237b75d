# SPDX-License-Identifier: MIT
"""Tables and plots of the suite "applications". A time is the median of the processes that had the cores to
themselves; if there are none, of the one that others disturbed least, and it is marked by ~."""

import report
import svg
from applications_suite import BUFFERS, CHARM_LEANMD, PAPER_LEANMD, PAPER_XSBENCH, QUIET, TECHNIQUES, WORKERS

COLOURS = {"weft": "#c0392b", "weft-abt": "#d98b1f", "argobots": "#2c6fbb", "serial": "#3a8f4d"}


def _rows(data, case):
    """(peer, form) -> the row of a case that has a figure."""
    return {(row["peer"], row["form"]): row for row in data["results"]
            if row["case"] == case and "process_medians" in row}


def _time(row, scale=1.0):
    """In the row's unit, divided by `scale`; text."""
    value, disturbed = report.quiet_median(row, QUIET)
    return f"{value / scale:.2f}{'~' if disturbed else ''}"


def _extra(row, name, digits=2):
    return f"{row['extras'][name]:.{digits}f}" if row and name in row["extras"] else "-"


def _xsbench(data, size):
    lines = [["peer", "form", *(f"{what}, {workers}" for workers in WORKERS
                                for what in ("us a lookup", "x loop", "x loop, CPU"))]]
    cases = [_rows(data, f"xsbench-{size}-{workers}") for workers in WORKERS]
    for key in dict.fromkeys(key for case in cases for key in case):
        line = [key[0], key[1].removesuffix(f".{size}")]
        for case in cases:
            row = case.get(key)
            line += [_time(row, 1000) if row else "-", _extra(row, "x_serial"), _extra(row, "cpu_x_serial")]
        lines.append(line)
    if len(lines) == 1:
        return None
    if size == "large":
        for name, seconds in PAPER_XSBENCH.items():
            ratio = seconds / PAPER_XSBENCH["loop"]
            lines.append(["the paper", name, f"{seconds / 15:.2f}", f"{ratio:.2f}", *["-"] * 4])
    return report.layout(f"Fig. 13a, XSBench, {size}, 1 and 2 workers; over a plain loop of the same process",
                         lines, (0, 1))


def _leanmd(data):
    cases = [_rows(data, f"leanmd-{workers}") for workers in WORKERS]
    keys = list(dict.fromkeys(key for case in cases for key in case))
    if not keys:
        return None
    lines = [["peer", "form", *(f"ms a step, {workers}" for workers in WORKERS), "speed-up", "energy drift"]]
    for key in keys:
        rows = [case.get(key) for case in cases]
        medians = [report.quiet_median(row, QUIET)[0] if row else None for row in rows]
        lines.append([*key, *(_time(row) if row else "-" for row in rows),
                      f"{medians[0] / medians[1]:.2f}" if all(medians) else "-",
                      f"{max(row['extras']['energy_drift'] for row in rows if row):.1e}"])
    states = report.end_states(row for case in cases for row in case.values()).values()
    same = "the same bits at the end of all runs" if all(len(found) == 1 for found in states) else \
        "THE RUNS END IN DIFFERENT STATES"
    return report.layout(f"Fig. 13b, LeanMD: {same}", lines, (0, 1))


def _ratio(a, b):
    """Of two rows' times, and whether others disturbed one of them; None where a row is missing."""
    if not a or not b:
        return None
    (of_a, disturbed_a), (of_b, disturbed_b) = report.quiet_median(a, QUIET), report.quiet_median(b, QUIET)
    return of_a / of_b, disturbed_a or disturbed_b


def _reached(what, peer, found, most):
    """A line of the table of what is asked. `found`: (figure, whether others disturbed it), or None."""
    if found is None:
        return None
    figure, disturbed = found
    return [what, peer, f"{figure:.2f}{'~' if disturbed else ''}", f"{most:.2f}", "yes" if figure <= most else "NO"]


def _asked(data):
    """What the papers say, as bars for this machine. Figures to look at: a busy machine misses them."""
    one, two = (_rows(data, f"xsbench-large-{workers}") for workers in WORKERS)
    cells = {workers: _rows(data, f"leanmd-{workers}") for workers in WORKERS}
    found = []
    for peer in ("weft", "weft-abt"):
        own = one.get((peer, "sorted.large"))
        if own and "x_serial" in own["extras"]:
            found.append(_reached("XSBench, large, 1 worker, x the plain loop", peer,
                                  (own["extras"]["x_serial"], report.quiet_median(own, QUIET)[1]), 0.95))
        found.append(_reached("XSBench, large, 1 worker, x Argobots", peer,
                              _ratio(own, one.get(("argobots", "sorted.large"))), 1))
        found.append(_reached("XSBench, large, 2 workers, x 1 worker", peer,
                              _ratio(two.get((peer, "sorted.large")), own), 1 / 1.9))
        for workers, rows in cells.items():
            found.append(_reached(f"LeanMD, workers: {workers}, x Argobots", peer,
                                  _ratio(rows.get((peer, "cells.7")), rows.get(("argobots", "cells.7"))), 0.95))
        own = cells[WORKERS[-1]].get((peer, "cells.7"))
        if own and (own["sizes"]["n"], own["sizes"]["rounds"]) == (300, 20):
            ms, disturbed = report.quiet_median(own, QUIET)
            found.append(_reached(f"LeanMD, workers: {WORKERS[-1]}, x Charm++ ({CHARM_LEANMD} s)", peer,
                                  (ms * 20 / 1000 / CHARM_LEANMD, disturbed), PAPER_LEANMD))
    lines = [line for line in found if line]
    head = ["", "peer", "found", "at most", "reached"]
    return report.layout("what is asked; ~: others disturbed it", [head, *lines], (0, 1)) if lines else None


def _mteps(data, workers, peer, form):
    row = _rows(data, f"graph500-{workers}").get((peer, form))
    return row["extras"]["mteps"] if row else None


def _series(workers):
    """(name, peer, technique) of the lines of Fig. 27."""
    ours = [(name, "weft", name) for name in TECHNIQUES]
    return [*ours, ("Weft's libabt", "weft-abt", "ult"), ("Argobots", "argobots", "ult"),
            *([("a call", "serial", "call")] if workers == 1 else [])]


def _graph500(data, workers):
    lines = [["technique", *(f"B={b}" for b in BUFFERS), *(f"x Full, {b}" for b in BUFFERS),
              *(f"promoted, {b}" for b in BUFFERS)]]
    rows = _rows(data, f"graph500-{workers}")
    for name, peer, technique in _series(workers):
        found = [rows.get((peer, f"{technique}.{b}")) for b in BUFFERS]
        if not any(found):
            continue
        line = [name]
        line += [_extra(row, "mteps") for row in found]
        for b, row in zip(BUFFERS, found):
            full = _mteps(data, workers, "weft", f"Full.{b}")
            line.append(f"{row['extras']['mteps'] / full:.2f}" if row and full else "-")
        line += [f"{100 * row['extras']['promoted']:.2f} %" if row else "-" for row in found]
        lines.append(line)
    if len(lines) == 1:
        return None
    return report.layout(f"Fig. 27, Graph500 in one process, {workers} workers: millions of edges a second",
                         lines, (0,))


def tables(data):
    for text in (_asked(data), *(_xsbench(data, size) for size in ("small", "large")), _leanmd(data),
                 *(_graph500(data, workers) for workers in WORKERS)):
        if text:
            print(text + "\n")


def plots(data, stem):
    panels = []
    for workers in WORKERS:
        lines = []
        for at, (name, peer, technique) in enumerate(_series(workers)):
            points = [(b, value) for b in BUFFERS
                      if (value := _mteps(data, workers, peer, f"{technique}.{b}")) is not None]
            if points and technique != "call":
                lines.append(svg.Line(name, points, COLOURS[peer], ("", "7 3", "2 3", "9 3 2 3")[at % 4]))
        if lines:
            panels.append((f"millions of edges a second, {workers} workers", "B", lines))
    files = [svg.write_lines(f"{stem}-fig27.svg", "Fig. 27: Graph500 in one process", panels)] if panels else []
    files += [report.bars(data, case, f"{stem}-{case}.svg") for case in report.cases_of(data)
              if not case.startswith("graph500")]
    return [path for path in files if path]
