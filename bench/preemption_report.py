# SPDX-License-Identifier: MIT
"""Tables and plots of the suite "preemption".

A figure is the median of the processes' medians, of those processes that had the cores to themselves; if there
are none, of the one that others disturbed least, and it is marked by ~."""

import report
import svg
from preemption_suite import (ABOVE_TIMER, ALONE, GOALS, INTERVALS, KINDS, NOTHING_WAITS, QUIET, SOURCES,
                              STARTS, VARIANTS, WORKERS)

COLOURS = {"klt_local": "#7fbf8e", "klt_futex": "#16a2a2", "klt_naive": "#8e6c4e",
           "signal_yield": "#2c6fbb", "own_tls": "#c0392b", "own_kernel_thread": "#3a8f4d", "timer": "#555555",
           "monitor": "#c0392b", "creation_time": "#d98b1f", "aligned": "#2c6fbb", "one_to_all": "#7d3c98",
           "chain": "#16a2a2"}


def rows_by_form(data, case):
    return {row["form"]: row for row in data["results"] if row["case"] == case}


def figure(row, name=None):
    """(value, disturbed); `name`: of an extra figure. None: there is none."""
    if row is None or "process_medians" not in row:
        return None
    median, disturbed = report.quiet_median(row, QUIET)
    return (row["extras"].get(name, 0) if name else median), disturbed


def text_of(found, scale, digits):
    return "-" if found is None else f"{found[0] / scale:.{digits}f}{'~' if found[1] else ''}"


def kinds_in(rows, what):
    return [kind for kind in KINDS if f"{what}.{kind}" in rows]


def switch_table(data):
    rows = rows_by_form(data, "switch")
    lines = [["", "us", "least", "asked"]]
    for name in ("kernel", *KINDS, *VARIANTS):
        row = rows.get(f"switch.{name}")
        if row and "min" in row:
            lines.append([name, text_of(figure(row), 1000, 2), f"{row['min'] / 1000:.2f}", str(GOALS.get(name, "-"))])
    return report.layout("One preemption without any interrupt, a thread's last instruction to the other's first",
                         lines, (0,)) if len(lines) > 1 else None


def tick_table(data):
    rows = rows_by_form(data, "tick-10000")
    lines = [["", "us"]] + [[name, text_of(figure(rows[f"tick.{name}"]), 1000, 1)]
                            for name in ("kernel", *KINDS) if f"tick.{name}" in rows]
    return report.layout("Table 1: one preemption with its tick, 10 ms (kernel: its own ticks)", lines,
                         (0,)) if len(lines) > 1 else None


def sources_table(data):
    lines = [["", *(f"{source}, {workers}" for workers in WORKERS for source in SOURCES)]]
    for kind in KINDS:
        line = [kind]
        for workers in WORKERS:
            rows = rows_by_form(data, f"sources-{workers}")
            line += [text_of(figure(rows.get(f"tick.{kind}.{source}"), "lost_median"), 1000, 1)
                     for source in SOURCES]
        if any(cell != "-" for cell in line[1:]):
            lines.append(line)
    return report.layout("Fig. 4: us that a tick takes a worker, switch included, median; by workers", lines,
                         (0,)) if len(lines) > 1 else None


def overheads(data):
    """form without its first word -> interval -> (percent, disturbed)."""
    found = {}
    for interval in INTERVALS:
        for form, row in rows_by_form(data, f"overhead-{interval}").items():
            value = figure(row)
            if value:
                found.setdefault(form.partition(".")[2], {})[interval] = value
    return found


def overhead_table(data):
    found = overheads(data)
    lines = [["", *(f"{interval} us" for interval in INTERVALS)]]
    lines += [[name, *(text_of(at.get(interval), 1, 2) for interval in INTERVALS)] for name, at in found.items()]
    return report.layout("Fig. 6: CPU time more than without, percent, ten threads a worker", lines,
                         (0,)) if found else None


def preemptions_table(data):
    lines = [["", *(f"{interval} us" for interval in INTERVALS)]]
    for form in dict.fromkeys(form for interval in INTERVALS for form in rows_by_form(data, f"overhead-{interval}")):
        rows = [rows_by_form(data, f"overhead-{interval}").get(form) for interval in INTERVALS]
        lines.append([form.partition(".")[2],
                      *(f"{row['extras'].get('preemptions', 0):.0f}" if row else "-" for row in rows)])
    return report.layout("Preemptions in a round of Fig. 6", lines, (0,)) if len(lines) > 1 else None


def alone_table(data):
    lines = [["", *(f"{interval} us" for interval in ALONE)]]
    for kind in KINDS:
        cells = [text_of(figure(rows_by_form(data, f"alone-{interval}").get(f"alone.{kind}")), 1, 2)
                 for interval in ALONE]
        if any(cell != "-" for cell in cells):
            lines.append([kind, *cells])
    return report.layout("Nobody waits: CPU time more than without, percent", lines,
                         (0,)) if len(lines) > 1 else None


def monitor_table(data):
    lines = [["", *(f"{interval} us" for interval in ALONE)]]
    for kind in KINDS:
        extras = [rows_by_form(data, f"alone-{interval}").get(f"alone.{kind}", {}).get("extras", {})
                  for interval in ALONE]
        if any("monitor_percent" in e for e in extras):
            lines.append([kind, *(f"{e['monitor_percent']:.2f}, {e['monitor_runs']:.0f}, {e['signals']:.0f}"
                                  if "monitor_percent" in e else "-" for e in extras)])
    return report.layout("Nobody waits: the monitor's CPU time, percent, how often it runs in a round, signals", lines,
                         (0,)) if len(lines) > 1 else None


def start_table(data):
    rows = [row for row in data["results"] if row["case"] == "start" and "min" in row]
    lines = [["", "", "us", "least"]] + [[row["peer"], row["form"], text_of(figure(row), 1000, 1),
                                          f"{row['min'] / 1000:.1f}"] for row in rows]
    return report.layout("From ready to the first instruction, high beside low", lines, (0, 1)) if rows else None


def verdicts(data):
    lines = []
    rows = rows_by_form(data, "switch")
    for kind in KINDS:
        value = figure(rows.get(f"switch.{kind}"))
        if value:
            lines.append(f"{kind}: {text_of(value, 1000, 2)} us, asked {GOALS[kind]}")
        above = rows_by_form(data, "overhead-1000").get(f"overhead.{kind}", {}).get("extras", {}).get("above_timer")
        if above is not None:
            lines.append(f"{kind}: {above:.2f} % above the bare timer at 1 ms, asked {ABOVE_TIMER}")
        for interval in ALONE:
            value = figure(rows_by_form(data, f"alone-{interval}").get(f"alone.{kind}"))
            if value:
                lines.append(f"{kind}: {text_of(value, 1, 2)} % where nobody waits at {interval} us, asked "
                             f"{NOTHING_WAITS}")
        value = figure(rows_by_form(data, "start").get(f"kick.{kind}"))
        if value:
            lines.append(f"{kind}: {text_of(value, 1000, 1)} us from ready to the first instruction, asked {STARTS}")
    return lines


def tables(data):
    print("~: others were busy.\n")
    for text in (switch_table(data), tick_table(data), sources_table(data), overhead_table(data),
                 preemptions_table(data), alone_table(data), monitor_table(data), start_table(data)):
        if text:
            print(text + "\n")
    print("asked:\n  " + "\n  ".join(verdicts(data)) + "\n")


def fig4(data):
    lines = []
    for source in SOURCES:
        points = []
        for workers in WORKERS:
            row = rows_by_form(data, f"sources-{workers}").get(f"tick.own_tls.{source}")
            value = figure(row, "lost_median")
            if value and value[0] > 0:
                points.append((workers, value[0] / 1000))
        if points:
            lines.append(svg.Line(source, points, COLOURS[source]))
    return lines


def fig6(data):
    lines = []
    for name, at in overheads(data).items():
        kind, _, source = name.partition(".")
        points = [(interval, max(at[interval][0], 0.01)) for interval in INTERVALS if interval in at]
        lines.append(svg.Line(name, points, COLOURS[kind], "6 3" if source else ""))
    return lines


def plots(data, stem):
    paths = [
        svg.write_lines(f"{stem}-fig4.svg", "Fig. 4: what a tick takes a worker, switch included (own_tls)",
                        [("us", "workers", fig4(data), svg.Even, svg.FromZero)]),
        svg.write_lines(f"{stem}-fig6.svg", "Fig. 6: overhead, ten threads a worker",
                        [("percent more CPU time", "interval, us", fig6(data))]),
    ]
    return [path for path in paths if path]
