#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fills the table between <!-- figures --> and <!-- /figures --> in README.md from benchmark results.

usage: tools/figures.py [RESULTS.json] [--check]     default: the newest full run in bench/results/
--check changes nothing and fails if the table is not that of the results.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "bench"))

import report  # noqa: E402
import suites  # noqa: E402

PAGE = ROOT / "README.md"
BEGIN, END = "<!-- figures -->\n", "<!-- /figures -->"

# What the page shows: words, case, Weft's form.
ROWS = [
    ("create + join + free, thread, 4,096 alive", "create_join-4096", "thread"),
    ("the same, tasklet", "create_join-4096", "tasklet"),
    ("the same, thread, 262,144 alive", "create_join-262144", "thread"),
    ("yield between two threads", "yield", "thread"),
    ("yield_to", "switch_to", "yield_to"),
    ("suspend_to", "switch_to", "suspend_to"),
    ("fork + join, a spawn of fib, 1 worker", "fib-1", "fork"),
    ("lock + unlock, uncontended", "mutex", "mutex"),
    ("resident bytes, thread created", "memory-created", "created"),
    ("resident bytes, thread blocked, 16 KiB stack", "memory-blocked", "blocked"),
    ("wake-up of an idle worker", "wakeup", "notify"),
]


def fail(why):
    sys.exit(f"tools/figures.py: {why}")


def load(path):
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        fail(f"{path}: {error}")
    if not isinstance(data, dict) or "results" not in data:
        fail(f"{path}: not a results file of bench/run.py")
    return data


def newest():
    """The newest full run of the suite core that measured Weft."""
    folder = ROOT / "bench/results"
    runs = [(path, load(path)) for path in sorted(folder.glob("core-*.json"))]
    full = [(data["date"], path, data) for path, data in runs
            if not data.get("quick") and data.get("suite", "core") == "core" and is_whole(data)]
    if not full:
        fail(f"no full run in {folder}; run ./do bench first (--quick does not count)")
    ours = [run for run in full if any(measured(row) for row in run[2]["results"])]
    if not ours:
        fail(f"none of the {len(full)} full runs in {folder} has a result of Weft")
    return max(ours, key=lambda run: run[0])[1:]


def is_whole(data):
    """Not a run of some cases (--only)."""
    return {case["name"] for case in suites.CORE} <= {row["case"] for row in data["results"]}


def measured(row):
    return row["peer"] == "weft" and "median" in row


def best_of(rows, row, figure):
    """The peer of this row's kind with the least figure, as text, and the ratio to it."""
    best = report.best_peer(rows, row, figure)
    own = figure(row)
    if not best or own is None:
        return "-", "-"
    name = next(other["peer"] for other in rows if other["peer"] not in suites.OURS and figure(other) == best)
    return f"{name} {report.number(best)}", f"{own / best:.2f}"


def line(data, words, case, form):
    rows = report.rows_of(data, case)
    row = next((row for row in rows if measured(row) and row["form"] == form), None)
    if row is None:
        fail(f"no result of weft for {case}, form {form}")
    unit = {"bytes/thread": "bytes"}.get(row["unit"], row["unit"].split("/")[0])
    figure = report.instructions_of(row)
    peer, times = best_of(rows, row, lambda other: other.get("median"))
    peer_instructions, instruction_ratio = best_of(rows, row, report.instructions_of)
    cells = [words, report.number(figure), peer_instructions, instruction_ratio,
             f"{report.number(row['median'])} {unit}", peer, times]
    return "| " + " | ".join(cells) + " |"


def speed_up(data):
    """The last column of report.speed_up() for Weft's forks, as a sentence."""
    for text in (report.speed_up(data) or "").splitlines():
        words = text.split()
        if words[:2] == ["weft", "fork"]:
            return (f"fib(35) on 2 workers is {words[2]} times as fast as on one: {words[3]} of what two "
                    "independent serial processes reach beside one in the same run, on a machine shared with others.\n")
    return ""


def table(data):
    where = data["machine"]
    head = ["operation", "instructions", "least of the peers", "ratio", "time or bytes", "best peer", "ratio"]
    lines = ["| " + " | ".join(head) + " |", "|---|--:|--:|--:|--:|--:|--:|"]
    lines += [line(data, *row) for row in ROWS]
    dirty = " with uncommitted changes" if data["dirty"] else ""
    commit = data["commit"][:10] or "unknown"
    machine = f"{where['cpu']}, {where['cores']} CPUs, Linux {where['kernel']}, load {where['load'][0]:.1f}"
    lines += ["", f"{machine}; {data['compiler']}, {data['flags']}; commit {commit}{dirty}; {data['date'][:10]}."]
    return "\n".join(lines) + "\n\n" + speed_up(data)


def main(arguments):
    files = [pathlib.Path(argument) for argument in arguments if not argument.startswith("--")]
    path, data = (files[0], load(files[0])) if files else newest()
    text = PAGE.read_text()
    if BEGIN not in text or END not in text:
        fail(f"{PAGE} has no {BEGIN.strip()} … {END}")
    before, rest = text.split(BEGIN, 1)
    found, after = rest.split(END, 1)
    wanted = table(data)
    if "--check" in arguments:
        if found != wanted:
            fail(f"{PAGE} does not show {path}; run tools/figures.py")
    else:
        PAGE.write_text(before + BEGIN + wanted + END + after)
    print(f"figures: {len(ROWS)} rows from {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
