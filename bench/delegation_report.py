# SPDX-License-Identifier: MIT
"""Tables and plots of the suite "delegation".

A time is the median of the processes' medians, of those processes that had the cores to themselves; if there
are none, of the one that others disturbed least, and it is marked by ~. Judged is at one worker a core and
fewer: delegators against our mutex where threads contend (two workers and more, or owners that yield), and
the best of ours against every peer. Above the core count who holds the lock may have lost its core; those
figures are shown."""

import math

import report
import svg
from delegation_suite import DELEGATORS, FIB, FIB_WORKERS, MUTEXES, POSTS, QUIET, THREADS, WORKERS

COLOURS = {"weft": "#c0392b", "argobots": "#2c6fbb", "massivethreads": "#d98b1f", "boost_fiber": "#3a8f4d",
           "pthreads": "#555555", "go": "#00add8", "libfork": "#7d3c98", "composablethreads": "#16a2a2"}
DASHES = {"mutex": "6 3", "mcs_mutex": "2 3", "delegator_list": "", "delegator_ring": "9 3 2 3",
          "thread": "6 3"}


def time_of(row):
    return report.quiet_median(row, QUIET)[0]


def text_of(row):
    if row is None:
        return "-"
    if "process_medians" not in row:
        return "failed"
    median, disturbed = report.quiet_median(row, QUIET)
    return report.number(median) + ("~" if disturbed else "")


def plain(form):
    return form.partition(".")[0]


class Cases:
    """The results of one kind: (peer, form without its suffix) -> workers -> row."""

    def __init__(self, data, prefix):
        self.rows = {}
        for row in data["results"]:
            if row["case"].rpartition("-")[0] == prefix:
                key = row["peer"], plain(row["form"])
                self.rows.setdefault(key, {})[row["sizes"]["workers"]] = row

    def at(self, key, workers):
        """None unless there is a figure."""
        row = self.rows.get(key, {}).get(workers)
        return row if row and "process_medians" in row else None

    def workers(self):
        return sorted({w for rows in self.rows.values() for w in rows})

    def order(self):
        ours = [("weft", form) for form in (*MUTEXES, *DELEGATORS, *POSTS)]
        return [key for key in ours if key in self.rows] + sorted(key for key in self.rows if key not in ours)


def table(cases, title):
    workers = cases.workers()
    counted = any("instructions" in row for rows in cases.rows.values() for row in rows.values())
    head = ["", *(f"{w} worker{'s' if w > 1 else ''}" for w in workers)]
    lines = [head + (["instr/op, 1 worker"] if counted else [])]
    for key in cases.order():
        line = [" ".join(key), *(text_of(cases.rows[key].get(w)) for w in workers)]
        if counted:
            one = cases.rows[key].get(1)
            line.append(report.number(report.instructions_of(one)) if one else "-")
        lines.append(line)
    return report.layout(title, lines, (0,))


def compared(row, other, name):
    """"form 0.65 of name"; a figure during which others were busy says nothing, and is marked."""
    share = time_of(row) / time_of(other)
    disturbed = any(report.quiet_median(r, QUIET)[1] for r in (row, other))
    return f"{plain(row['form'])} {share:.2f} of {name}{'~' if disturbed else '' if share < 1 else '!'}"


def verdicts(cases, name, cores, least_workers):
    """One line for each number of workers that is judged."""
    lines = []
    for workers in cases.workers():
        mutex = cases.at(("weft", "mutex"), workers)
        if not least_workers <= workers <= cores or mutex is None:
            continue
        parts = []
        for form in DELEGATORS:
            row = cases.at(("weft", form), workers)
            if row:
                parts.append(compared(row, mutex, "mutex"))
        peers = [cases.at(key, workers) for key in cases.order() if key[0] != "weft"]
        peers = [row for row in peers if row]
        if peers:
            best = min(peers, key=time_of)
            for form in ("mutex", *DELEGATORS):
                row = cases.at(("weft", form), workers)
                if row:
                    parts.append(compared(row, best, best["peer"]))
        lines.append(f"{name}, {workers} worker{'s' if workers > 1 else ''}: {'; '.join(parts)}")
    return lines


def speed_ups(data, figure):
    """Lines (peer, form) -> [(workers, speed-up)], over Weft's fork with one worker, as the paper takes its
    own. And what one spawn costs there."""
    cases = Cases(data, f"fib{FIB[figure][0]}")
    base = cases.at(("weft", "fork"), 1)
    if base is None:
        return {}, None
    found = {key: [(w, time_of(base) / time_of(cases.at(key, w))) for w in FIB_WORKERS if cases.at(key, w)]
             for key in cases.order()}
    return {key: points for key, points in found.items() if points}, time_of(base)


def speed_table(data, figure):
    lines, base = speed_ups(data, figure)
    if base is None:
        return None
    workers = sorted({w for points in lines.values() for w, _ in points})
    text = [["", *(f"{w} worker{'s' if w > 1 else ''}" for w in workers), "over itself"]]
    for key, points in sorted(lines.items(), key=lambda item: -item[1][0][1]):
        own = dict(points)
        most = max(own.values()) / own[1] if 1 in own else math.nan
        text.append([" ".join(key), *(f"{own[w]:.2f}" if w in own else "-" for w in workers),
                     "-" if math.isnan(most) else f"{most:.2f}"])
    return report.layout(f"Fig. {figure}: fib({FIB[figure][0]}), speed-up over Weft's fork with one worker "
                         f"({base:.1f} ns a spawn)", text, (0,))


def tables(data):
    cores, judged = data["machine"]["cores"], []
    print(f"Nanoseconds an increment. More than {cores} workers are shown, not judged. ~: others were busy.\n"
          "!: the other one is ahead.\n")
    for threads in THREADS:
        cases = Cases(data, f"fetch_and_add-{threads}")
        if cases.rows:
            print(table(cases, f"Fig. 11: fetch and add, {threads} threads") + "\n")
            judged += verdicts(cases, f"{threads} threads", cores, 2)
    cases = Cases(data, "convoy-64")
    if cases.rows:
        print(table(cases, "fetch and add, 64 threads, owners yield in each 16th section") + "\n")
        judged += verdicts(cases, "64 threads, owners yield", cores, 1)
    print("under contention:\n  " + "\n  ".join(judged) + "\n" if judged else "")
    for figure in FIB:
        text = speed_table(data, figure)
        if text:
            print(text + "\n")


def throughput(data, threads):
    """Million increments a second over workers."""
    cases = Cases(data, f"fetch_and_add-{threads}")
    keys = [key for key in cases.order() if key[1] not in POSTS]
    return [svg.Line(" ".join(key), points, COLOURS[key[0]],
                     DASHES[key[1]] if key[0] == "weft" else "", 2.2 if key[0] == "weft" else 1.4)
            for key in keys
            if (points := [(w, 1e3 / time_of(cases.at(key, w))) for w in WORKERS if cases.at(key, w)])]


def plots(data, stem):
    cores = data["machine"]["cores"]
    panels = [(f"{threads} threads: million sections a second", f"workers ({cores} cores)", lines)
              for threads in THREADS if (lines := throughput(data, threads))]
    paths = [svg.write_lines(f"{stem}-fig11.svg", "Fig. 11: fetch and add under one mutex or delegator", panels)]
    for figure in FIB:
        lines = [svg.Line(" ".join(key), points, COLOURS[key[0]], DASHES.get(key[1], ""))
                 for key, points in speed_ups(data, figure)[0].items()]
        title = f"Fig. {figure}: fib({FIB[figure][0]})"
        paths.append(svg.write_lines(f"{stem}-fig{figure}.svg", title,
                                     [("speed-up over Weft's fork, 1 worker", f"workers ({cores} cores)", lines)]
                                     if lines else []))
    return [path for path in paths if path]
