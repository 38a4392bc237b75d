# SPDX-License-Identifier: MIT
"""Tables and plots of the suite "techniques", by the numbers that its paper's figures have."""

import report
import svg
from techniques_suite import (CHILD_FIRST, FIXED, GOALS, MEMORY_GOAL_KB, OF_PEER, QUIET, REUSES_STACKS,
                              TECHNIQUES, WITHIN, WORKERS)

ENDS = (0, 100)  # the paper's two values of D where it shows no others

# What a file of the source is for; the first that its name begins with.
PARTS = {
    "context switch": ("weft/arch/",),
    "start and end": ("weft/technique/", "weft/sched/technique", "weft/sched/inline_join"),
    "descriptor": ("weft/unit/", "weft/memory/object_"),
    "stack": ("weft/memory/",),
    "pool": ("weft/queue/", "weft/sched/pool"),
    "scheduling": ("weft/sched/",),
    "interface": ("weft/", "front/"),
    "the program": ("bench/",),
    "elsewhere": ("",),
}
PART_COLOURS = dict(zip(PARTS, ("#c0392b", "#e08e45", "#2c6fbb", "#7fb2e5", "#3a8f4d", "#9ccf8f", "#8e5ea2",
                                "#bbbbbb", "#555555")))
END_COLOURS = {0: "#5b7fa6", 100: "#c0392b"}

_STYLES = {
    "RtC": ("#888888", ""), "automatic": ("#c0392b", ""), "inline join": ("#8e5ea2", ""),
    "SC": ("#d98b1f", ""), "SS": ("#3a8f4d", ""), "SS-L": ("#3a8f4d", "7 3"), "RoC": ("#2c6fbb", ""),
    "RoC-L": ("#2c6fbb", "7 3"), "Full": ("#222222", ""), "Full-L": ("#222222", "7 3"),
    "C-Full": ("#16a2a2", ""), "C-Full-E": ("#16a2a2", "7 3"), "C-RoC": ("#b0307a", ""),
    "C-RoC-E": ("#b0307a", "7 3"), "Argobots": ("#8a6d3b", "2 3"), "Weft's libabt": ("#c0392b", "2 3"),
}


def name_of(row):
    """The technique; for threads of a library, the library."""
    return OF_PEER.get(row["peer"]) or row["form"].partition(".")[0]


def value_of(row):
    """What stands behind the technique: D, or the number of replicas."""
    return int(row["form"].partition(".")[2] or 0)


def known(names):
    """In the order of the tables."""
    order = [*TECHNIQUES, *OF_PEER.values()]
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


def by_value(data, case):
    """name -> {what stands behind it: row}, of one case."""
    found = {}
    for row in data["results"]:
        if row["case"] == case and "median" in row:
            found.setdefault(name_of(row), {})[value_of(row)] = row
    return {name: found[name] for name in known(found)}


def by_threads(data, deviating):
    """name -> {N: row}"""
    found = {}
    for row in data["results"]:
        if row["case"].startswith("threads-") and "median" in row and value_of(row) == deviating:
            found.setdefault(name_of(row), {})[row["sizes"]["n"]] = row
    return {name: dict(sorted(found[name].items())) for name in known(found)}


def values_in(found):
    return sorted({value for rows in found.values() for value in rows})


def misses_of(level):
    def figure(row):
        count = row.get("cache_misses", {}).get(level)
        return None if count is None else max(count, 0)  # a difference of two runs
    return figure


def memory_mb(row):
    return row["extras"]["max_rss_kb"] / 1000


def median(row):
    return report.quiet_median(row, QUIET)[0]


def grid(title, corner, found, figure, text=report.number):
    """A row a name, a column a value. None if there is no figure at all."""
    values = values_in(found)
    cells = {name: [figure(rows[value]) if value in rows else None for value in values]
             for name, rows in found.items()}
    if all(cell is None for line in cells.values() for cell in line):
        return None
    lines = [[corner, *map(str, values)]]
    lines += [[name, *("-" if cell is None else text(cell) for cell in line)]
              for name, line in cells.items()]
    return report.layout(title, lines, (0,))


def best(found, deviating, figure):
    """(figure, name) of the best fixed technique, all capabilities included; None if there is none."""
    figures = [(figure(found[name][deviating]), name) for name in FIXED if deviating in found.get(name, {})]
    return min((pair for pair in figures if pair[0] is not None), default=None)


def asked_of(found, name, deviating):
    """The goal in instructions; None if there is none."""
    goal = GOALS.get((name, deviating))
    if not isinstance(goal, tuple):
        return goal
    other, more = goal
    if other == "best":
        pair = best(found, deviating, report.instructions_of)
        return pair and pair[0] + more
    base = report.instructions_of(found.get(other, {}).get(deviating, {}))
    return base and base + more


def goals(found):
    lines = [["technique", "D", "instr", "asked", ""]]
    for name, deviating in GOALS:
        own = report.instructions_of(found.get(name, {}).get(deviating, {}))
        asked = asked_of(found, name, deviating)
        if own is not None and asked is not None:
            lines.append([name, str(deviating), f"{own:.1f}", f"{asked:.1f}",
                          "" if round(own) <= asked else "!"])
    return report.layout("goals, instructions (!: above)", lines, (0, 4)) if len(lines) > 1 else None


def automatic(found):
    """automatic beside the best fixed technique, at each D, in instructions and in time."""
    figures = {"instr": report.instructions_of, "ns": median, "ns, least": lambda row: row["min"]}
    head = ["D", *(cell for unit in figures for cell in (unit, "best", "which", "ratio"))]
    lines = [head]
    for deviating, row in sorted(found.get("automatic", {}).items()):
        line = [str(deviating)]
        for figure in figures.values():
            own, pair = figure(row), best(found, deviating, figure)
            if own is None or pair is None:
                line += ["-"] * 4
                continue
            ratio = own / pair[0]
            line += [f"{own:.1f}", f"{pair[0]:.1f}", pair[1], f"{ratio:.2f}{'!' if ratio > WITHIN else ''}"]
        lines.append(line)
    title = f"automatic, and the best fixed technique (asked: a ratio of at most {WITHIN}; !: above)"
    return report.layout(title, lines, (3, 7, 11)) if len(lines) > 1 else None


def parts_of(row):
    """Part -> instructions; None if they were not counted by file."""
    files = row.get("instructions", {}).get("files")
    if files is None:
        return None
    parts = dict.fromkeys(PARTS, 0)
    for file, count in files.items():
        parts[next(part for part, begins in PARTS.items() if file.startswith(begins))] += count
    return parts


def breakdown(found, deviating):
    lines = [["technique", *PARTS, "sum"]]
    for name, rows in found.items():
        parts = parts_of(rows.get(deviating, {}))
        if parts:
            lines.append([name, *(f"{count:.1f}" for count in parts.values()), f"{sum(parts.values()):.1f}"])
    title = f"Fig. 16, 20: instructions at D={deviating} %, by what the source is for"
    return report.layout(title, lines, (0,)) if len(lines) > 1 else None


def misses(found, caches):
    lines = [["technique", *(f"{level}, D={d}" for level in ("first", "second") for d in ENDS)]]
    for name, rows in found.items():
        cells = [misses_of(level)(rows.get(d, {})) for level in ("first", "second") for d in ENDS]
        if any(cell is not None for cell in cells):
            lines.append([name, *("-" if cell is None else f"{cell:.2f}" for cell in cells)])
    first, second = (caches.get(level, "-").replace(",", "/") for level in ("D1", "LL"))
    title = f"Fig. 17, 21: data cache misses a thread; simulated, size/ways/line {first} and {second}"
    return report.layout(title, lines, (0,)) if len(lines) > 1 else None


def memory(found):
    lines = [["technique", *(f"D={d}" for d in values_in(found)), "asked, D=0", "", "address space, D=0"]]
    for name, rows in found.items():
        least, asked = rows.get(0), name in REUSES_STACKS
        over = least and asked and least["extras"]["max_rss_kb"] > MEMORY_GOAL_KB
        lines.append([name, *(f"{memory_mb(rows[d]):.1f}" if d in rows else "-" for d in values_in(found)),
                      f"{MEMORY_GOAL_KB / 1000:.1f}" if asked else "-", "!" if over else "",
                      f"{least['extras']['max_address_space_kb'] / 1000:,.0f}" if least else "-"])
    title = "Fig. 24: most resident memory, MB, 65,536 threads with stacks of 16 KiB"
    return report.layout(title, lines, (0,)) if len(lines) > 1 else None


def traversal(row):
    """ns a body, of the part that the paper measures."""
    return row["extras"]["traversal"]


def speeds(data):
    """name -> {workers: row} of the FMM, and the time that is speed 1."""
    found = {}
    for workers in WORKERS:
        for name, rows in by_value(data, f"fmm-{workers}").items():
            found.setdefault(name, {})[workers] = rows[0]
    base = found.get("Full", {}).get(WORKERS[0])
    return found, base and traversal(base)


def fmm(data):
    found, base = speeds(data)
    if not base:
        return None
    lines = [["technique", *(f"{w} workers" for w in WORKERS), *(f"ns a body, {w}" for w in WORKERS)]]
    for name, rows in found.items():
        times = [traversal(rows[w]) if w in rows else None for w in WORKERS]
        lines.append([name, *("-" if t is None else f"{base / t:.3f}" for t in times),
                      *map(report.number, times)])
    return report.layout("Fig. 26: FMM, speed of the traversal; Full with one worker is 1", lines, (0,))


def recursion(data):
    """ns a thread of fib and UTS; and what automatic takes of the best fixed technique's."""
    rows = [row for row in data["results"] if row["workload"] == "recursion" and "median" in row]
    cases = list(dict.fromkeys(row["case"] for row in rows))
    found = {}
    for row in rows:
        found.setdefault(name_of(row), {})[row["case"]] = (median(row), row["min"])
    if not found:
        return None
    lines = [["technique", *(f"{case}, {what}" for case in cases for what in ("ns", "least"))]]
    for name in known(found):
        pairs = [found[name].get(case, (None, None)) for case in cases]
        lines.append([name, *(report.number(value) for pair in pairs for value in pair)])
    if "automatic" in found:
        ratios = []
        for case, at in ((case, at) for case in cases for at in (0, 1)):
            best = min((found[name][case][at] for name in FIXED if case in found.get(name, {})), default=None)
            own = found["automatic"].get(case, (None, None))[at]
            ratios.append(f"{own / best:.2f}" if own and best else "-")
        lines.append(["automatic, of the best fixed", *ratios])
    return report.layout("recursion: a thread a call or node, work stealing", lines, (0,))


def throughput(row):
    return row["extras"]["points_per_s"] / 1e6


def promoted(row):
    return 100 * row["extras"]["promoted"]


def tables(data):
    found = by_value(data, "deviations")
    disturbed = [report.quiet_median(row, QUIET)[1] for row in data["results"] if "median" in row]
    print("Times are medians of those processes that had a core to themselves; where there are none, of\n"
          f"the one that others disturbed least ({sum(disturbed)} of {len(disturbed)}). D: of a hundred\n"
          "threads, those that yield once. RtC is a tasklet.\n")
    title = "create + join + free, N=4096"
    promotions = by_value(data, "promotion")
    texts = [
        grid(f"Fig. 10, 22: {title}, ns", "D, %", found, median),
        grid(f"{title}, instructions", "D, %", found, report.instructions_of),
        goals(found), automatic(found),
        *(breakdown(found, deviating) for deviating in ENDS), misses(found, data.get("simulated_caches", {})),
        *(grid(f"Fig. 23: create + join + free at D={deviating} %, ns", "N", by_threads(data, deviating),
               median) for deviating in ENDS),
        memory(by_value(data, "memory")),
        grid("promotion: a call that asks whether it deviated, ns", "D, %", promotions, median),
        grid("promotion, instructions", "D, %", promotions, report.instructions_of),
    ]
    for workers in WORKERS:
        rows, what = by_value(data, f"kmeans-{workers}"), f"Fig. 25: KMeans, {workers} workers"
        texts += [grid(f"{what}, million points/s", "r", rows, throughput, "{:.2f}".format),
                  grid(f"{what}, % promoted", "r", rows, promoted, "{:.3f}".format)]
    texts += [recursion(data), fmm(data)]
    failed = [f"{row['case']} {row['peer']} {row['form']}: {row['error']}" for row in data["results"]
              if row.get("error")]
    for text in [*texts, "failed:\n  " + "\n  ".join(failed) if failed else None]:
        if text:
            print(text + "\n")


def line(name, rows, figure, values=None):
    points = [(value, figure(row)) for value, row in rows.items() if values is None or value in values]
    colour, dash = _STYLES.get(name, ("#777", "9 3 2 3"))
    return svg.Line(name, sorted(points), colour, dash, 2.6 if name == "automatic" else 1.6)


def level(name, rows, figure, values):
    """RtC cannot deviate: its cost at D=0, all along the axis, as in the paper."""
    return line(name, {value: rows[0] for value in values}, figure)


def lines_of(found, names, figure):
    values = values_in(found)
    return [level(name, found[name], figure, values) if name == "RtC" and list(found[name]) == [0]
            else line(name, found[name], figure) for name in names if found.get(name)]


def other_names(found, without):
    """With those that are not in the paper's list: libraries, and techniques that were added."""
    return [name for name in found if name not in without]


def both_kinds(found, figure, x_label, unit, y_axis=svg.FromZero, x_axis=svg.Even):
    """Panels of parent-first and child-first techniques, each beside the libraries, on one scale."""
    def common_axis(_values, begin, end):
        return y_axis([figure(row) for rows in found.values() for row in rows.values()], begin, end)

    kinds = {"parent first": other_names(found, CHILD_FIRST),
             "child first": [name for name in (*CHILD_FIRST, *OF_PEER.values()) if name in found]}
    return [(f"{kind}, {unit}", x_label, lines_of(found, names, figure), x_axis, common_axis)
            for kind, names in kinds.items()]


def stacks(found, names, path, title):
    """Instructions by part, a bar a technique, a panel a D."""
    parts, rows = [], {d: [(name, parts_of(found.get(name, {}).get(d, {}))) for name in names] for d in ENDS}
    if not any(cells for pairs in rows.values() for _, cells in pairs):
        return None
    for at, (deviating, pairs) in enumerate(rows.items()):
        bars = [(name, [svg.Bar(count, PART_COLOURS[part]) for part, count in cells.items()])
                for name, cells in pairs if cells]
        parts += svg.bar_panel(450 * at, f"D={deviating} %, instructions", bars, "{:.0f}".format,
                               stacked=True)
    parts += svg.bar_legend(910, PART_COLOURS.items())
    return svg.write(path, 1050, max(84 + 24 * len(names), 90 + 18 * len(PARTS)), title, parts)


def pairs_of_bars(found, names, figure):
    """A row a technique, with a bar for each D."""
    rows = [(name, [svg.Bar(figure(found[name][d]), END_COLOURS[d]) for d in ENDS
                    if d in found.get(name, {}) and figure(found[name][d]) is not None]) for name in names]
    return [(name, bars) for name, bars in rows if bars]


def costs(found, names, path, title):
    """Time and cache misses, bars for both D."""
    panels = [("ns", median, "{:.0f}"), ("misses of the first level", misses_of("first"), "{:.2f}"),
              ("misses of the second level", misses_of("second"), "{:.2f}")]
    shown = [(what, pairs_of_bars(found, names, figure), text) for what, figure, text in panels]
    shown = [panel for panel in shown if panel[1]]
    if len(shown) < 2:  # the times alone stand in another figure
        return None
    parts = [text for at, (what, rows, form) in enumerate(shown)
             for text in svg.bar_panel(440 * at, what, rows, form.format)]
    parts += svg.bar_legend(440 * len(shown) + 10,
                            [(f"D={d} %", colour) for d, colour in END_COLOURS.items()])
    return svg.write(path, 440 * len(shown) + 90, 84 + 24 * len(names), title, parts)


def plot_fmm(data, path):
    found, base = speeds(data)
    if not base:
        return None
    names = [name for name in found if name != "serial"]
    parts = []
    for at, workers in enumerate(WORKERS):
        rows = [(name, [svg.Bar(base / traversal(found[name][workers]),
                                "#c0392b" if name == "automatic" else "#5b7fa6")])
                for name in names if workers in found[name]]
        parts += svg.bar_panel(440 * at, f"{workers} workers, speed; Full with one is 1", rows,
                               "{:.2f}".format)
    return svg.write(path, 440 * len(WORKERS) + 20, 84 + 24 * len(names),
                     "Fig. 26: FMM, traversal", parts)


def kmeans_panels(data):
    panels = []
    for workers in WORKERS:
        found = by_value(data, f"kmeans-{workers}")
        share = {name: rows for name, rows in found.items() if name in TECHNIQUES}
        panels += [(f"{workers} workers, million points/s", "replicas of a sum, r",
                    lines_of(found, found, throughput), svg.Even, svg.FromZero),
                   (f"{workers} workers, % of the threads promoted", "replicas of a sum, r",
                    lines_of(share, share, promoted), svg.Even, svg.FromZero)]
    return panels


def plots(data, stem):
    found = by_value(data, "deviations")
    many, few = by_threads(data, 0), by_threads(data, 100)
    resident = by_value(data, "memory")
    parent = other_names(found, CHILD_FIRST)
    child = [name for name in CHILD_FIRST if name in found]
    full = [name for name in ("RtC", "Full", "C-Full", *OF_PEER.values()) if name in found]
    deviations = "D, % of the threads that yield"
    title = "create + join + free, N=4096"
    files = [
        svg.write_lines(f"{stem}-fig10.svg", f"Fig. 10: {title}: without and with full capabilities",
                        [("ns", deviations, lines_of(found, full, median), svg.Even, svg.FromZero)]),
        stacks(found, parent, f"{stem}-fig16.svg", "Fig. 16: instructions, parent first"),
        costs(found, parent, f"{stem}-fig17.svg", f"Fig. 17: {title}, parent first"),
        stacks(found, child, f"{stem}-fig20.svg", "Fig. 20: instructions, child first"),
        costs(found, child, f"{stem}-fig21.svg", f"Fig. 21: {title}, child first"),
        svg.write_lines(f"{stem}-fig22.svg", f"Fig. 22: {title}",
                        both_kinds(found, median, deviations, "ns")),
        *(svg.write_lines(f"{stem}-fig23-{deviating}.svg", f"Fig. 23: create + join + free, D={deviating} %",
                          both_kinds(rows, median, "threads", "ns", svg.Axis, svg.Axis))
          for deviating, rows in ((0, many), (100, few))),
        svg.write_lines(f"{stem}-fig24.svg", "Fig. 24: most resident memory, 65,536 threads",
                        both_kinds(resident, memory_mb, deviations, "MB")),
        svg.write_lines(f"{stem}-fig25.svg", "Fig. 25: KMeans", kmeans_panels(data)),
        plot_fmm(data, f"{stem}-fig26.svg"),
    ]
    return [path for path in files if path]
