#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The suite "pthreads": two programs of pthreads, on the C library, with libweft_pthread.so preloaded, and with MassiveThreads'
libmyth-dl.so preloaded if the build found it, in turn.

    bench/pthreads_suite.py [--bin build/release/bench/bin] [--preload libweft_pthread.so] [--quick] [--passes N] [--workers N]

An operation's figure is the CPU time of the process, in us: the least of all passes, since what else runs on the machine only adds.
"""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import preloaded  # noqa: E402

# name: what it is; how many operations on the C library, with a preload, and quick; the bar: "us", or "ratio" to the C library's.
CASES = {
    "create_join": ("create and join, from a thread", (20_000, 200_000, 5_000), {"us": 1.2}),
    "create_join_main": ("create and join, from main", (20_000, 20_000, 3_000), {"ratio": 1.0}),
    "create_many": ("1,000 created, then joined, from a thread", (20_000, 200_000, 5_000), {"us": 0.9}),
    "create_many_main": ("the same, from main", (20_000, 200_000, 5_000), {"us": 0.9}),
    "ring": ("ring of 10,000 threads, a condition variable each", (100_000, 1_000_000, 20_000), {"us": 1.2}),
    "semaphores": ("semaphores to and fro, two threads", (100_000, 2_000_000, 20_000), {"us": 0.25}),
    "semaphores_main": ("the same, main against a thread", (100_000, 100_000, 20_000), {"ratio": 1.2}),
    "barrier": ("barrier of 64 threads, a round", (2_000, 20_000, 300), {"us": 20}),
    "mutex": ("mutex alone, in a thread", (20_000_000, 20_000_000, 1_000_000), {"ratio": 1.2}),
    "mutex_main": ("the same, in main", (20_000_000, 20_000_000, 1_000_000), {"ratio": 1.2}),
    "echo": ("a server's request, 2,000 connections, a thread each", (400_000, 400_000, 20_000), {"ratio": 0.55}),
    "mutex_64": ("mutex of 64 threads", (6_400_000, 6_400_000, 640_000), {}),
    # What the C library can hold depends on the limits of the machine.
    "waiting": ("threads that wait, with stacks of 64 KiB", (10_000, 50_000, 2_000), {}),
}


def once(how, case, options):
    number = CASES[case][1][2 if options.quick else 0 if how == "libc" else 1]
    before = os.getloadavg()[0]
    program = ["pthreads.echo"] if case == "echo" else ["pthreads.threads", case]
    try:
        done = subprocess.run([str(options.bin / program[0]), *program[1:], str(number)], env=preloaded.environment(how, options), capture_output=True,
                              text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"load": before, "error": f"more than {options.timeout} s"}
    if done.returncode != 0:
        return {"load": before, "error": (done.stderr.strip() or f"exit status {done.returncode}")[-300:]}
    return {"load": before, **json.loads(done.stdout)}


def least(job):
    good = [r["cpu_us"] for r in job["passes"] if "error" not in r]
    return min(good) if good else None


def verdict(bar, ours, theirs):
    """The bar in words, and whether it is met; None: there is none, or nothing to compare with."""
    if "us" in bar:
        return f"{bar['us']:g} us", ours <= bar["us"]
    if "ratio" in bar and theirs:
        return f"{bar['ratio']:g} x", ours <= bar["ratio"] * theirs
    return "", None


def figure(job, width):
    least_of_it = least(job) if job else None
    return f"{'-' if not job else 'fails' if least_of_it is None else f'{least_of_it:.3f}':>{width}}"


def table(jobs):
    print(f"\n{'CPU time an operation, us':52}{'C library':>11}{'Weft':>11}{'ratio':>8}{'bar':>10}{'':8}{'MassiveThreads':>16}")
    for case, (title, _, bar) in CASES.items():
        of = {job["how"]: job for job in jobs if job["case"] == case}
        if not of:
            continue
        theirs, ours = least(of["libc"]), least(of["weft"])
        words, met = verdict(bar, ours, theirs) if ours is not None else ("", None)
        print(f"{title:52}{figure(of['libc'], 11)}{figure(of['weft'], 11)}" + (f"{ours / theirs:8.2f}" if ours and theirs else f"{'-':>8}") +
              f"{words:>10}{({None: '', True: '  met', False: '  missed'}[met]):8}{figure(of.get('massivethreads'), 16)}")
    for job in jobs:
        sizes = [r["bytes"] for r in job["passes"] if "error" not in r and "bytes" in r]
        if sizes:
            print(f"{job['case']}, {job['how']}: {min(sizes) / 1024:.1f} KiB resident a thread, {job['passes'][0]['operations']} threads")
    for job in jobs:
        errors = [r["error"] for r in job["passes"] if "error" in r]
        if errors:
            print(f"{job['case']}, {job['how']}: {len(errors)} of {len(job['passes'])} failed, the last: {errors[-1]}")


def main():
    options = preloaded.arguments(__doc__, "cases", 5, ("pthreads.threads", "pthreads.echo"))
    preloaded.begin("pthreads", options)
    jobs = [{"case": case, "how": how, "passes": []} for case in CASES if preloaded.is_wanted(case, options)
            for how in ("libc", "weft", *(["massivethreads"] if preloaded.massivethreads(options).exists() else []))]
    for _ in range(options.passes):
        for job in jobs:
            job["passes"].append(once(job["how"], job["case"], options))
    file = preloaded.write_results(options, jobs)
    table(jobs)
    print(f"\nraw results: {file}")
    # What fails on the C library or on MassiveThreads is a result.
    return 1 if any("error" in r for job in jobs if job["how"] == "weft" for r in job["passes"]) else 0


if __name__ == "__main__":
    sys.exit(main())
