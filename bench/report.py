#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tables and plots from a results file. `bench/report.py FILE.json` prints and draws them again."""

import importlib
import json
import math
import pathlib
import statistics
import sys

import suites
import svg

# Suites whose tables and plots are a module of their own.
OWN_REPORTS = {"applications": "applications_report", "delegation": "delegation_report",
               "openmp": "openmp_report", "patterns": "patterns_report", "preemption": "preemption_report",
               "priorities": "priorities_report", "techniques": "techniques_report"}


def cases_of(data):
    return list(dict.fromkeys(row["case"] for row in data["results"]))


def end_states(rows):
    """(workload, n, rounds) -> {state: who ended in it}, of runs that tell in what state their atoms are at the end.
    Those of one size must end in the same one, whatever library, form and number of workers they had."""
    found = {}
    for row in rows:
        # Files of before 2026-11-28 have no more than the median of a row's runs.
        extras = row.get("extras", {})
        for state in row.get("states", [extras["state"]] if "state" in extras else []):
            size = (row["workload"], row["sizes"]["n"], row["sizes"]["rounds"])
            found.setdefault(size, {}).setdefault(state, []).append(f"{row['peer']} {row['form']}")
    return found


def rows_of(data, case):
    """A case's results, best first; those without a figure last."""
    rows = [row for row in data["results"] if row["case"] == case]
    return sorted(rows, key=lambda row: row.get("median", float("inf")))


def instructions_of(row):
    return row.get("instructions", {}).get("per_op")


def best_peer(rows, row, figure):
    """The least figure(r) among the peers of this row's kind: not Weft itself, not a floor."""
    figures = [figure(other) for other in rows
               if other["peer"] not in suites.OURS and not suites.is_floor(other["workload"], other["peer"])
               and suites.kind_of(other) == suites.kind_of(row)]
    return min((value for value in figures if value is not None), default=None)


def ratio(rows, row, figure):
    own, best = figure(row), best_peer(rows, row, figure)
    return f"{own / best:.2f}" if own is not None and best else "-"


def quiet_median(row, quiet):
    """The median of those processes during which others used at most `quiet` cores; if there are none, of the
    one that others disturbed least. And whether that is so."""
    passes = list(zip(row["others"], row["process_medians"]))
    medians = [median for others, median in passes if others <= quiet]
    return (statistics.median(medians), False) if medians else (min(passes)[1], True)


def number(value):
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.1f}"


def cells(rows, row):
    note = " ".join(f"{name}={number(value) if value >= 10 else f'{value:.2f}'}"
                    for name, value in row.get("extras", {}).items())
    if row.get("error"):
        note = f"FAILED: {row['error']}"
    return [row["peer"], row["form"], str(row["sizes"]["n"]),
            number(row.get("median")), number(row.get("min")),
            ratio(rows, row, lambda r: r.get("median")), ratio(rows, row, lambda r: r.get("min")),
            number(instructions_of(row)), ratio(rows, row, instructions_of), note]


def layout(title, lines, left):
    """Text columns; those numbered in `left` are flush left."""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    text = [f"== {title}"]
    for line in lines:
        columns = [cell.ljust(width) if at in left else cell.rjust(width)
                   for at, (cell, width) in enumerate(zip(line, widths))]
        text.append("  ".join(columns).rstrip())
    return "\n".join(text)


def title_of(data, case):
    return suites.case_of(data["suite"], case).get("title", case)


def table(data, case):
    rows = rows_of(data, case)
    unit = next((row["unit"] for row in rows if "unit" in row), "median")
    head = ["peer", "form", "n", unit, "min", "x best", "x best min", "instr/op", "x best instr", ""]
    return layout(title_of(data, case), [head] + [cells(rows, row) for row in rows], (0, 1, 9))


def speed_up(data):
    """fib with 2 workers over 1, and beside it what two processes that share nothing reach (serial)."""
    one = {(row["peer"], row["form"]): row for row in rows_of(data, "fib-1") if "median" in row}
    pairs = [(one[row["peer"], row["form"]], row) for row in rows_of(data, "fib-2")
             if "median" in row and (row["peer"], row["form"]) in one]
    pairs = [(a, b) for a, b in pairs if a["sizes"]["n"] == b["sizes"]["n"]]
    speeds = {(a["peer"], a["form"]): a["median"] / b["median"] for a, b in pairs}
    independent = next((speed for (peer, _), speed in speeds.items() if peer == "serial"), None)
    if not speeds or independent is None:
        return None
    lines = [["peer", "form", "speed-up", "x two processes"]]
    for (peer, form), speed in sorted(speeds.items(), key=lambda item: -item[1]):
        lines.append([peer, form, f"{speed:.2f}", f"{speed / independent:.2f}"])
    return layout("fib, 2 workers over 1", lines, (0, 1))


def goals(data):
    """Weft's front beside the library it stands in for, form by form, and what is asked of it. Figures to
    look at: a busy machine misses a goal in time."""
    def ratio_of(a, b, key):
        return f"{a[key] / b[key]:.2f}" if a.get(key) and b.get(key) else "-"

    lines = []
    for case in suites.SUITES[data["suite"]]:
        rows = {(row["peer"], row["form"]): row for row in data["results"] if row["case"] == case["name"]}
        for form, goal in case.get("goals", {}).items():
            theirs, ours = [rows.get((peer, form), {}) for peer in case["peers"]]
            if not theirs and not ours:
                continue
            lines.append([case["name"], form, number(ours.get("median")), number(goal.get("ns")),
                          number(theirs.get("median")), ratio_of(ours, theirs, "median"),
                          ratio_of(ours, theirs, "min"), str(goal.get("ratio", "-")),
                          number(instructions_of(ours)), number(goal.get("instructions")),
                          number(instructions_of(theirs))])
    head = ["case", "form", "ours, ns", "asked", "theirs", "ratio", "ratio min", "asked", "ours, instr",
            "asked", "theirs"]
    return layout("goals", [head, *lines], (0, 1)) if lines else None


def own_report(data):
    """The module that reports on this suite; None if this one does."""
    name = OWN_REPORTS.get(data["suite"])
    return importlib.import_module(name) if name else None  # it needs this one


def tables(data):
    where = data["machine"]
    dirty = " (dirty)" if data["dirty"] else ""
    print(f"{where['cpu']}, {where['cores']} cores, Linux {where['kernel']}, load {where['load'][0]:.1f}\n"
          f"{data['compiler']}, {data['flags']}; commit {data['commit'][:10] or '-'}{dirty}; "
          f"{data['passes']} passes, {data['seconds']:.0f} s\n")
    own = own_report(data)
    if own:
        return own.tables(data)
    for case in cases_of(data):
        print(table(data, case) + "\n")
    asked = goals(data)
    if asked:
        print(asked + "\n")
    speeds = None if data["quick"] else speed_up(data)  # quick sizes are too short for it
    if speeds:
        print(speeds + "\n")


def bars(data, case, path):
    """A bar chart as SVG, by hand so that no plotting library is needed. None if there is nothing to draw."""
    rows = [row for row in rows_of(data, case) if "median" in row]
    if not rows:
        return None
    low, top = rows[0]["median"], rows[-1]["median"]
    log = low > 0 and (suites.case_of(data["suite"], case).get("log", False) or top > 100 * low)

    def length(value):
        if log:
            return 20 + 380 * math.log(value / low) / max(math.log(top / low), 1e-9)
        return max(400 * value / top, 1) if top > 0 else 1

    scale = ", log scale" if log else ""
    height = 44 + 20 * len(rows)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12" '
             f'width="720" height="{height}"><rect width="100%" height="100%" fill="white"/>',
             f'<text x="10" y="20" font-size="14">{title_of(data, case)} '
             f'({rows[0]["unit"]}, median{scale})</text>']
    for at, row in enumerate(rows):
        y, width = 34 + 20 * at, length(row["median"])
        colour = "#c0392b" if row["peer"] in suites.OURS else "#5b7fa6"
        parts.append(f'<text x="200" y="{y + 11}" text-anchor="end">{row["peer"]} {row["form"]}</text>'
                     f'<rect x="206" y="{y}" width="{width:.1f}" height="14" fill="{colour}"/>'
                     f'<text x="{212 + width:.1f}" y="{y + 11}">{number(row["median"])}</text>')
    pathlib.Path(path).write_text("\n".join(parts) + "\n</svg>\n")
    return path


PEER_COLOURS = {"weft-abt": "#c0392b", "weft": "#c0392b", "argobots": "#2c6fbb", "qthreads": "#3a8f4d",
                "massivethreads": "#d98b1f"}
DASHES = ("", "7 3", "2 3", "9 3 2 3")


def lines_of(data, figure, part):
    """(peer, form) -> [(x, y)] for one panel of a figure."""
    found = {}
    for row in data["results"]:
        y = row.get("median") if part is None else row.get("extras", {}).get(part)
        if row["workload"] == figure["workload"] and row["form"] in figure["forms"] and y and y > 0:
            found.setdefault((row["peer"], row["form"]), []).append((row["sizes"][figure["x"]], y))
    return {key: sorted(points) for key, points in sorted(found.items())}


def draw(data, figure, path):
    """A figure of line plots as SVG. None if there is nothing to draw."""
    def line(key, points):
        peer, form = key
        return svg.Line(f"{peer} {form}", points, PEER_COLOURS.get(peer, "#777"),
                        DASHES[figure["forms"].index(form) % len(DASHES)])

    panels = [(f"{part or 'median'}, ns", figure["x_label"],
               [line(key, points) for key, points in lines_of(data, figure, part).items()])
              for part in figure["parts"]]
    return svg.write_lines(path, figure["title"], panels)


def cases_without_figure(data):
    drawn = {figure["workload"] for figure in suites.FIGURES.get(data["suite"], ())}
    return [case for case in cases_of(data)
            if suites.case_of(data["suite"], case).get("workload") not in drawn]


def boxes(data, path):
    """One page of box plots over all samples of the cases without a figure. None without matplotlib."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return None
    cases = cases_without_figure(data)
    if not cases:
        return None
    figure, axes = pyplot.subplots(len(cases), 1, figsize=(9, 3.2 * len(cases)), squeeze=False)
    for axis, case in zip(axes[:, 0], cases):
        rows = [row for row in rows_of(data, case) if "samples" in row]
        if rows:
            axis.boxplot([row["samples"] for row in rows], vert=False, whis=(5, 95), showfliers=False)
            axis.set_yticklabels([f"{row['peer']} {row['form']}" for row in rows], fontsize=7)
            axis.invert_yaxis()
            axis.set_xscale("log")
            axis.set_xlabel(rows[0]["unit"])
        axis.set_title(title_of(data, case), fontsize=10)
    figure.tight_layout()
    figure.savefig(path, dpi=80)
    pyplot.close(figure)
    return path


def plots(data, stem):
    """Draws every case and figure; gives the files that were written."""
    own = own_report(data)
    if own:
        return own.plots(data, stem)
    files = [bars(data, case, f"{stem}-{case}.svg") for case in cases_without_figure(data)]
    files += [draw(data, figure, f"{stem}-{figure['name']}.svg")
              for figure in suites.FIGURES.get(data["suite"], ())]
    return [path for path in [*files, boxes(data, f"{stem}.png")] if path]


if __name__ == "__main__":
    source = pathlib.Path(sys.argv[1])
    loaded = json.loads(source.read_text())
    tables(loaded)
    for written in plots(loaded, source.with_suffix("")):
        print(f"plot: {written}")
