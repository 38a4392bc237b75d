#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the counts of bench/scaling and writes them down.

    bench/scaling/report.py [--bin build/release/bench/bin] [--most 256] [--out bench/results]
    bench/scaling/report.py --show FILE

Writes scaling-<time>.json beside the other results and prints the table: for each workload and number of
workers the median of the seeds, an operation.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import subprocess

COLUMNS = ("loads", "stores", "changes", "moved", "upgraded", "steals", "parks")


def table(results):
    lines = ["| workload | workers | " + " | ".join(COLUMNS) + " |", "|---|--:|" + "--:|" * len(COLUMNS)]
    keys = sorted({(list_of(results).index(r["workload"]), r["workload"], r["workers"]) for r in results})
    for _, workload, workers in keys:
        rows = [r for r in results if r["workload"] == workload and r["workers"] == workers]
        cells = [f"{statistics.median(r[c] for r in rows):.2f}" for c in COLUMNS]
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
        print(table(json.loads(pathlib.Path(arguments.show).read_text())["results"]))
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


if __name__ == "__main__":
    main()
