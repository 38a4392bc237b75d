#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the counts of bench/scaling and writes them down.

    bench/scaling/report.py [--bin build/release/bench/bin] [--most 256] [--out bench/results]
    bench/scaling/report.py --show FILE

Writes scaling-<time>.json and a plot beside the other results and prints the table: for each workload and
number of workers the median of the seeds, an operation. --show: both again, from a file.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import svg  # noqa: E402

COLUMNS = ("loads", "stores", "changes", "moved", "upgraded", "steals", "parks")

DRAWN = (("changes", "atomic operations that change memory"), ("moved", "lines moved between cores"),
         ("steals", "steals"))
COLOURS = {"create_join": "#2c6fbb", "fork_join": "#3a8f4d", "mutex": "#c0392b", "ring": "#8e44ad",
           "yield": "#e67e22"}


def median_of(results, workload, workers, column):
    return statistics.median(r[column] for r in results if (r["workload"], r["workers"]) == (workload, workers))


def plot(results, path):
    """Of what is counted, an operation, by the number of workers: a panel each."""
    workers = sorted({r["workers"] for r in results})

    def line(workload, column):
        return svg.Line(workload, [(w, median_of(results, workload, w, column)) for w in workers],
                        COLOURS.get(workload, "#777"))

    panels = [(title, "simulated workers", [line(workload, column) for workload in list_of(results)], svg.Axis,
               svg.FromZero) for column, title in DRAWN]
    return svg.write_lines(path, "What an operation costs others, counted", panels)


def table(results):
    lines = ["| workload | workers | " + " | ".join(COLUMNS) + " |", "|---|--:|" + "--:|" * len(COLUMNS)]
    keys = sorted({(list_of(results).index(r["workload"]), r["workload"], r["workers"]) for r in results})
    for _, workload, workers in keys:
        cells = [f"{median_of(results, workload, workers, c):.2f}" for c in COLUMNS]
        lines.append(f"| {workload} | {workers} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def list_of(results):
    return list(dict.fromkeys(r["workload"] for r in results))


def commit():
    done = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default="build/release/bench/bin")
    parser.add_argument("--most", type=int, default=256)
    parser.add_argument("--out", default="bench/results")
    parser.add_argument("--show")
    arguments = parser.parse_args()
    if arguments.show:
        shown = pathlib.Path(arguments.show)
        results = json.loads(shown.read_text())["results"]
        print(table(results))
        print(plot(results, shown.with_suffix(".svg")))
        return
    program = pathlib.Path(arguments.bin) / "scaling"
    done = subprocess.run([program, str(arguments.most)], capture_output=True, text=True, check=True)
    results = json.loads(done.stdout)
    now = datetime.datetime.now()
    record = {"suite": "scaling", "date": now.isoformat(timespec="seconds"), "commit": commit(),
              "model": "a core with an infinite cache for each worker, lines of 64 bytes, MSI; operations of the "
                       "seam of atomics alone; per operation of the workload",
              "results": results}
    path = pathlib.Path(arguments.out) / f"scaling-{now:%Y-%m-%d-%H%M%S}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(table(results))
    print(path)
    print(plot(results, path.with_suffix(".svg")))


if __name__ == "__main__":
    main()
