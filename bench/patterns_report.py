# SPDX-License-Identifier: MIT
"""Tables and plots of the suite "patterns": for each pattern and number of workers our form, every peer's
best one, and the ratio of the two.

A figure is the median of the processes' medians, of those processes that had the cores to themselves; if
there are none, of the one that others disturbed least, and it is marked by ~: on a busy core what spins loses
whole time slices, and what only two cores at a time make slow looks fast. "Ours" is one form a pattern:
that with the least product of times over all numbers of workers from two up. Peers take their best form at
each number."""

import math
import pathlib

import report
import suites
from patterns_suite import CUT_OFF_WITH_ONE, FIGURE, NOT_FOUND, PATTERNS, PEERS, QUIET, WORKERS


def time_of(row):
    return report.quiet_median(row, QUIET)[0]


def disturbed(row):
    return "~" if report.quiet_median(row, QUIET)[1] else ""


class Pattern:
    """The results of one pattern."""

    def __init__(self, data, name):
        self.name, self.cores = name, data["machine"]["cores"]
        rows = [row for row in data["results"] if row["case"].rpartition("-")[0] == name]
        self.failed = [row for row in rows if row.get("error")]
        self.rows = [row for row in rows if "process_medians" in row]
        self.workers = [w for w in WORKERS if any(row["sizes"]["workers"] == w for row in self.rows)]
        self.ours = self.best_form()

    def at(self, workers, peers):
        return [row for row in self.rows if row["sizes"]["workers"] == workers and row["peer"] in peers]

    def best(self, workers, peers):
        return min(self.at(workers, peers), key=time_of, default=None)

    def best_form(self):
        """(peer, form) of ours that is best over two workers and more."""
        times = {}
        wanted = [w for w in self.workers if w > 1] or self.workers
        for row in self.rows:
            if row["peer"] in suites.OURS and row["sizes"]["workers"] in wanted:
                times.setdefault((row["peer"], row["form"]), []).append(math.log(time_of(row)))
        complete = {key: sum(logs) for key, logs in times.items() if len(logs) == len(wanted)}
        return min(complete, key=complete.get, default=None)

    def our_row(self, workers):
        rows = self.at(workers, suites.OURS)
        return next((row for row in rows if (row["peer"], row["form"]) == self.ours), None)

    def best_compared(self, workers, peer):
        """The peer's best form, of those that are not exempt if there are any; and whether it is."""
        rows = self.at(workers, (peer,))
        compared = [row for row in rows if not self.exempt(row)]
        row = min(compared or rows, key=time_of, default=None)
        return row, not compared

    def exempt(self, row):
        workers = row["sizes"]["workers"]
        if workers == 1:
            return row["peer"] in CUT_OFF_WITH_ONE
        # Above the core count: who does not run a unit on each worker.
        return workers > self.cores and row["extras"].get("threads", 0) < workers - 0.5


def short(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def variant(row):
    return row["form"].partition(".")[2]


def table(pattern, behind):
    found = {row["peer"] for row in pattern.rows} - suites.OURS
    peers = [peer for peer in PEERS if peer in found]
    head = ["workers", "ours", "best of ours", *peers]
    lines = [head]
    for workers in pattern.workers:
        own, best = pattern.our_row(workers), pattern.best(workers, suites.OURS)
        if own is None:
            continue
        line = [str(workers), short(time_of(own)) + disturbed(own),
                f"{short(time_of(best))}{disturbed(best)} {variant(best)}"]
        for peer in peers:
            row, exempt = pattern.best_compared(workers, peer)
            if row is None:
                line.append("-")
                continue
            ratio = time_of(own) / time_of(row)
            mark = "*" if exempt else "!" if ratio >= 1 else ""
            line.append(f"{short(time_of(row))}{disturbed(row)} {ratio:.2f}{mark}")
            if mark == "!":
                behind.append(f"{pattern.name}, {workers} workers: {variant(own)} {short(time_of(own))}, "
                              f"{peer} {variant(row)} {short(time_of(row))}")
        lines.append(line)
    peer, form = pattern.ours
    title = f"{PATTERNS[pattern.name]}; ours: {peer} {form.partition('.')[2]}"
    text = report.layout(title, lines, (2,))
    if pattern.failed:
        text += "\n" + "; ".join(f"{row['case']} {row['peer']} {variant(row)}: {row['error']}"
                                 for row in pattern.failed)
    return text


def forms_table(pattern):
    """Every form of ours."""
    forms = {}
    for row in pattern.rows:
        if row["peer"] in suites.OURS:
            cells = forms.setdefault(f"{row['peer']} {variant(row)}", {})
            cells[row["sizes"]["workers"]] = short(time_of(row)) + disturbed(row)
    lines = [["", *map(str, pattern.workers)]]
    lines += [[name, *(cells.get(w, "-") for w in pattern.workers)] for name, cells in forms.items()]
    return report.layout("our forms", lines, (0,))


def tables(data):
    patterns = [Pattern(data, name) for name in PATTERNS]
    patterns = [pattern for pattern in patterns if pattern.ours]
    print("Time, and ours divided by theirs. !: we are behind. *: exempt: with one worker it never\n"
          "queues a task; above the core count it does not run a unit on each worker. ~: others were busy.\n"
          f"Not found: {', '.join(NOT_FOUND)}.\n")
    behind = []
    for pattern in patterns:
        print(table(pattern, behind) + "\n")
        print(forms_table(pattern) + "\n")
    print("behind:\n  " + "\n  ".join(behind) if behind else "behind: nowhere")
    print()


COLOURS = {"argobots": "#2c6fbb", "qthreads": "#3a8f4d", "massivethreads": "#d98b1f", "openmp": "#7d3c98",
           "openmp_llvm": "#b48ad0", "onetbb": "#16a2a2", "go": "#8a6d3b", "pthreads": "#555555"}


def plot(pattern, path):
    """As the paper plots it: time over workers, both logarithmic, a line a peer in its best form."""
    lines = {f"Weft {pattern.ours[1].partition('.')[2]}": ("#c0392b", 3, [
        (w, time_of(pattern.our_row(w))) for w in pattern.workers if pattern.our_row(w)])}
    for peer, colour in COLOURS.items():
        rows = [pattern.best(w, (peer,)) for w in pattern.workers]
        lines[peer] = (colour, 1.5, [(row["sizes"]["workers"], time_of(row)) for row in rows if row])
    lines = {name: line for name, line in lines.items() if line[2]}
    points = [point for _, _, line in lines.values() for point in line]
    low, high = (end(math.log10(y) for _, y in points) for end in (min, max))
    first, last = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    most = math.log2(max(pattern.workers) * 1.05)

    def x_of(workers):
        return 80 + 480 * math.log2(workers) / most

    def y_of(ns):
        return 380 - 330 * (math.log10(ns) - first) / (last - first)

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="12" width="760" '
             'height="430"><rect width="100%" height="100%" fill="white"/>',
             f'<text x="10" y="20" font-size="14">{PATTERNS[pattern.name]}</text>',
             f'<text x="320" y="420" text-anchor="middle">workers ({pattern.cores} cores)</text>']
    for power in range(first, last + 1):
        y = y_of(10**power)
        parts.append(f'<line x1="80" y1="{y:.1f}" x2="570" y2="{y:.1f}" stroke="#ddd"/>'
                     f'<text x="74" y="{y + 4:.1f}" text-anchor="end">{short(10**power)}</text>')
    for workers in pattern.workers:
        parts.append(f'<text x="{x_of(workers):.1f}" y="398" text-anchor="middle">{workers}</text>')
    for at, (name, (colour, width, line)) in enumerate(lines.items()):
        path_text = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in line)
        parts.append(f'<polyline points="{path_text}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        parts += [f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="3" fill="{colour}"/>' for x, y in line]
        y = 60 + 20 * at
        parts.append(f'<line x1="585" y1="{y}" x2="610" y2="{y}" stroke="{colour}" stroke-width="{width}"/>'
                     f'<text x="616" y="{y + 4}">{name}</text>')
    pathlib.Path(path).write_text("\n".join(parts) + "\n</svg>\n")
    return path


def plots(data, stem):
    patterns = [Pattern(data, name) for name in PATTERNS]
    return [plot(pattern, f"{stem}-{FIGURE[pattern.name]}.svg") for pattern in patterns if pattern.ours]
