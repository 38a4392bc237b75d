# SPDX-License-Identifier: MIT
"""Tables and plots of the suite "openmp": what is asked of Weft, and each pattern over the number of threads,
a column a runtime. A figure is that of the runtime's best policy: the least median of its processes, since
other work only adds, and in brackets the median of their medians. Of those that had the cores to themselves;
of all, and marked by ~, if none had."""

import statistics

import openmp_suite
import patterns_suite
import report
import svg

COLOURS = {"weft": "#c0392b", "weft (clang)": "#e59866", "libgomp": "#7d3c98", "libomp": "#2c6fbb",
           "iomp5": "#3a8f4d", "bolt": "#d98b1f"}


def _point(row):
    """(workload, what, threads, runtime)"""
    what, _, runtime = row["case"].split("-", 2)
    return row["workload"], what, row["sizes"]["workers"], runtime


def _scale(row):
    return 1 if row["unit"].startswith("ms") else 1000


def _figure(row):
    """(best, median, disturbed) of a row, in us or, of the idle CPU time, ms."""
    passes = zip(row["others"], row["process_medians"])
    quiet = [median for others, median in passes if others <= openmp_suite.QUIET]
    medians = quiet or row["process_medians"]
    return min(medians) / _scale(row), statistics.median(medians) / _scale(row), not quiet


def _figures(data):
    """point -> policy -> figure"""
    found = {}
    for row in data["results"]:
        if "process_medians" in row:
            policy = row["form"].partition(".")[2]
            found.setdefault(_point(row), {})[policy] = _figure(row)
    return found


def _best(figures, point):
    return min(figures.get(point, {}).values(), default=None)


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _cell(figure):
    if figure is None:
        return "-"
    best, median, disturbed = figure
    return f"{_number(best)}{'~' if disturbed else ''} ({_number(median)})"


def _runtimes(figures):
    return [name for name in openmp_suite.RUNTIMES if any(point[3] == name for point in figures)]


def _bars(figures):
    """What is asked; Weft by what it does when it is told nothing, too; and whether it is reached."""
    runtimes = _runtimes(figures)
    lines = [["", "threads", "at most", "reached", "weft, told nothing", *runtimes]]
    for (workload, what, threads), most in openmp_suite.BARS.items():
        point = (workload, what, threads)
        own = _best(figures, (*point, "weft"))
        if own is None:
            continue
        told_nothing = figures[(*point, "weft")].get("default")
        lines.append([openmp_suite.TITLES[what], str(threads), f"{most:,}", "yes" if own[0] <= most else "NO",
                      _cell(told_nothing), *(_cell(_best(figures, (*point, name))) for name in runtimes)])
    return report.layout("what is asked of Weft; us, the best policy: best (median)", lines, (0,)) if len(lines) > 1 else ""


def _pattern(figures, pattern):
    runtimes = _runtimes(figures)
    lines = [["threads", *runtimes]]
    for threads in openmp_suite.THREADS:
        cells = [_best(figures, ("patterns", pattern, threads, name)) for name in runtimes]
        if any(cells):
            lines.append([str(threads), *map(_cell, cells)])
    return report.layout(f"{patterns_suite.PATTERNS[pattern]}; us", lines, ()) if len(lines) > 1 else ""


def _tiles(data, figures):
    """The least time, and what share of it the best runtime of others takes."""
    found = {name: best for name in _runtimes(figures) if (best := _best(figures, (*openmp_suite.TILES, name)))}
    others = [best[0] for name, best in found.items() if name not in openmp_suite.OURS]
    if not found:
        return ""
    lines = [["", *found], ["ms", *map(_cell, found.values())]]
    if others:
        lines.append(["speed, the best of others 1", *(f"{min(others) / best[0]:.2f}" for best in found.values())])
    by_mkl = any("BENCH_MKL" in row.get("environment", {}) for row in data["results"])
    return report.layout("a Cholesky factor of order 4,096 by tasks, 8 threads, " +
                         ("that call MKL, and 8 in each region of MKL's" if by_mkl else "that call OpenBLAS, which opens no regions in them"),
                         lines, (0,))


def tables(data):
    figures = _figures(data)
    for text in (_bars(figures), _tiles(data, figures)):
        if text:
            print(text + "\n")
    for pattern in patterns_suite.PATTERNS:
        if text := _pattern(figures, pattern):
            print(text + "\n")
    failed = [f"{row['case']} {row['form']}: {row['error']}" for row in data["results"] if row.get("error")]
    if failed:
        print("failed:\n  " + "\n  ".join(failed) + "\n")


def plots(data, stem):
    """Two pages of three figures each, time over threads."""
    figures = _figures(data)
    panels = []
    for pattern, title in patterns_suite.PATTERNS.items():
        lines = []
        for name in _runtimes(figures):
            points = [(threads, best[0]) for threads in openmp_suite.THREADS
                      if (best := _best(figures, ("patterns", pattern, threads, name)))]
            if len(points) > 1:
                lines.append(svg.Line(name, points, COLOURS[name], width=3 if name == "weft" else 1.6))
        panels.append((f"{title}; us", f"threads ({data['machine']['cores']} cores)", lines))
    pages = [svg.write_lines(f"{stem}-fig{first}-{first + 2}.svg", "OpenMP runtimes, each with its best policy",
                             panels[first - 8:first - 5]) for first in (8, 11)]
    return [page for page in pages if page]
