#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""zero_cost.py [PROGRAM] -- instructions an operation of the benchmark `compose`, by callgrind: by hand, composed,
libweft. Fails if what is composed takes more than one instruction more than what is written by hand."""
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import counting  # noqa: E402

OPERATIONS = {
    "fork_join": "create + join, at once",
    "create_join": "create + join, 1,000 alive",
    "yield": "yield",
    "lock": "lock + unlock",
}
HOW = ("by_hand", "composed", "libweft")
TOLERANCE = 1  # where the compiler puts a cold block


def instructions(program, form):
    """By difference of two numbers of rounds."""
    found = []
    for rounds in (10, 40):
        arguments = ["--form", form, "--repeats", "1", "--n", "1000", "--rounds", str(rounds)]
        count, operations, _ = counting.callgrind(program, arguments, {}, 300, False)
        found.append((count, operations))
    (low, few), (high, more) = found
    return (high - low) / (more - few)


def counts_of(program):
    """Instructions an operation, by title and how; printed as they come."""
    counts = {}
    print(f"{'operation':28}" + "".join(f"{how:>10}" for how in HOW))
    for what, title in OPERATIONS.items():
        counts[title] = {how: instructions(program, f"{how}.{what}") for how in HOW}
        print(f"{title:28}" + "".join(f"{counts[title][how]:10.1f}" for how in HOW), flush=True)
    return counts


def main(arguments):
    if shutil.which("valgrind") is None:
        print("zero_cost: no valgrind")
        return 77
    counts = counts_of(arguments[0] if arguments else "build/release/bench/bin/compose.weft")
    worse = [title for title, count in counts.items() if count["composed"] > count["by_hand"] + TOLERANCE]
    if worse:
        print("zero_cost: composition costs instructions in: " + ", ".join(worse))
    return 1 if worse else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        sys.exit(f"zero_cost: {error}")
