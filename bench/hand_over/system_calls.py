#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the system calls of one hand-over: strace's counts of a long run less those of a short one.

    bench/hand_over/system_calls.py [--bin build/release/bench/bin] [--out bench/results]
"""
import argparse
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BENCH))

import run  # noqa: E402

SHORT, LONG = 300, 1300
SEEN = 0.02  # fewer in a hand-over is what happens now and then


def counts(program, n, workers, form):
    with tempfile.NamedTemporaryFile("r") as table:
        subprocess.run(["strace", "-f", "-c", "-o", table.name, program, "--n", str(n), "--workers", str(workers),
                        "--form", form], check=True, stdout=subprocess.DEVNULL)
        # "% time  seconds  usecs/call  calls  [errors]  syscall"
        rows = [line.split() for line in table if line[:8].strip().replace(".", "").isdigit()]
    return {row[-1]: int(row[3]) for row in rows if row[-1] != "total"}


def per_hand_over(program, workers, form):
    few, many = (counts(program, n, workers, form) for n in (SHORT, LONG))
    each = {name: (number - few.get(name, 0)) / (LONG - SHORT) for name, number in many.items()}
    return dict(sorted(((name, x) for name, x in each.items() if x >= SEEN), key=lambda item: -item[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=run.default_bin())
    parser.add_argument("--out", type=pathlib.Path, default=BENCH / "results")
    options = parser.parse_args()
    start = datetime.datetime.now(datetime.timezone.utc)
    data = {**run.facts("hand_over_system_calls", start, options.bin), "strace": run.output_of("strace", "--version").split("\n")[0]}
    rows = []
    for workers in (1, 2):
        for form in ("read", "mutex"):
            calls = per_hand_over(options.bin / "hand_over.weft", workers, form)
            rows.append({"workers": workers, "form": form, "calls": calls})
            print(f"{form}, {workers} workers:", *(f"{name} {x:.2f}" for name, x in calls.items()), sep="  ")
    data["results"] = rows
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / f"hand_over_system_calls-{start:%Y-%m-%d-%H%M%S}.json"
    path.write_text(json.dumps(data, indent=1) + "\n")
    print(f"\nraw results: {path}")


if __name__ == "__main__":
    sys.exit(main())
