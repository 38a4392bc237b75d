#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The suite "programs": programs of others, as far as they are installed, on the C library's threads and with libweft_pthread.so
preloaded, in pairs of runs.

    bench/programs_suite.py [--bin build/release/bench/bin] [--preload libweft_pthread.so] [--quick] [--passes N] [--workers N]

A program's figure is the median, over the pairs, of the ratio of the two runs' times: by the wall clock, and of the CPUs.
"""

import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import preloaded  # noqa: E402

# name: command (FILE: 40 MB of text; its output goes nowhere), the measure, the bar: at most so many times the C library's.
PROGRAMS = {
    "pigz": (["pigz", "-p2", "-c", "FILE"], "wall", 1.10),
    "pbzip2": (["pbzip2", "-p2", "-c", "FILE"], "wall", 1.10),
    "lbzip2": (["lbzip2", "-n2", "-c", "FILE"], "wall", 1.10),
    "plzip": (["plzip", "-n2", "-0", "-c", "FILE"], "wall", 1.10),
    "xz": (["xz", "-T2", "-0", "--block-size=4MiB", "-c", "FILE"], "wall", 1.10),
    "zstd": (["zstd", "-q", "-T2", "-5", "-c", "FILE"], "wall", 1.10),
    "x264": (["x264", "--quiet", "--threads", "2", "--preset", "veryfast", "--demuxer", "raw", "--input-res", "320x240", "--frames",
              "300", "-o", "/dev/null", "--muxer", "raw", "FILE"], "wall", 1.10),
    "sysbench threads": (["sysbench", "threads", "--threads=64", "--events=5000", "--time=0", "run"], "cpu", 0.50),
}


def once(words, environment):
    """Wall clock and CPU time, in s."""
    start = time.monotonic()
    child = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with child.stderr:
        said = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        return {"error": f"exit status {child.returncode}: {said.decode(errors='replace')[-200:]}"}
    return {"wall": time.monotonic() - start, "cpu": used.ru_utime + used.ru_stime}


def pairs_of(words, options):
    pairs = []
    for i in range(options.passes):
        pair = {"load": os.getloadavg()[0]}
        for how in ("libc", "weft") if i % 2 == 0 else ("weft", "libc"):
            pair[how] = once(words, preloaded.environment(how, options))
        pairs.append(pair)
    return pairs


def ratio(pairs, measure):
    good = [p["weft"][measure] / p["libc"][measure] for p in pairs if "error" not in p["weft"] and "error" not in p["libc"]]
    return statistics.median(good) if good else None


def write_text(file, megabytes):
    numbers = random.Random(1)
    lines = [b"%d %s\n" % (numbers.randrange(10**9), bytes(numbers.choices(b"etaoin shrdlu", k=numbers.randrange(60)))) for _ in range(20000)]
    with open(file, "wb") as out:
        while out.tell() < megabytes << 20:
            out.writelines(numbers.choices(lines, k=5000))


def main():
    options = preloaded.arguments(__doc__, "programs", 15)
    preloaded.begin("programs", options)
    results = []
    print(f"{'':20}{'wall clock':>12}{'CPU time':>12}   times the C library's, median of {options.passes}")
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "text")
        write_text(file, 4 if options.quick else 40)
        for name, (words, measure, bar) in PROGRAMS.items():
            if not preloaded.is_wanted(name, options) or not shutil.which(words[0]):
                continue
            pairs = pairs_of([file if w == "FILE" else w for w in words], options)
            results.append({"program": name, "command": words, "measure": measure, "bar": bar, "pairs": pairs})
            wall, cpu = ratio(pairs, "wall"), ratio(pairs, "cpu")
            if wall is None:
                print(f"{name:20}  {next((p[how]['error'] for p in pairs for how in ('weft', 'libc') if 'error' in p[how]))}")
                continue
            met = (wall if measure == "wall" else cpu) <= bar
            print(f"{name:20}{wall:12.3f}{cpu:12.3f}   bar {bar:g} ({measure}): {'met' if met else 'missed'}")
    print(f"\nraw results: {preloaded.write_results(options, results)}")
    return 1 if any("error" in p["weft"] for r in results for p in r["pairs"]) else 0


if __name__ == "__main__":
    sys.exit(main())
