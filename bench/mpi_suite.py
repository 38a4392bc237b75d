#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The suite "mpi": threads of Weft that wait in MPI, by the layer, beside kernel threads that wait in the engine. Two ranks on this
machine, a worker a rank.

    bench/mpi_suite.py [--bin build/release/bench/bin] [--layers build/release/front/mpi] [--quick] [--passes N] [--only CASE]
                       [--argobots PREFIX]

--argobots: an MPICH that is installed at PREFIX, built with Argobots' thread package: the same program of abt.h is measured on Weft's
libabt.so and on the one that this MPICH was built with.
"""

import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import argobots_engine  # noqa: E402
import run  # noqa: E402

LAUNCH = {
    "openmpi": ["mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "btl", "self,vader", "--mca", "pml", "ob1",
                "--bind-to", "none"],
    "mpich": ["mpiexec.mpich", "-iface", "lo", "-bind-to", "none"],
}
KINDS = ("weft", "kernel")
# By an engine that is built for Argobots' threads: no layer, two libraries.
ON_ARGOBOTS = "mpich-argobots"
LIBRARIES = ("weft", "argobots")
ON_ARGOBOTS_CASES = ("round_trips-1", "round_trips-64", "blocked-100000")
# Kernel threads that wait spin: many of them take so long that they do less.
CASES = {
    "round_trips-1": {"weft": [1, 20000, 20], "kernel": [1, 20000, 20], "quick": [1, 2000, 5]},
    "round_trips-64": {"weft": [64, 500, 20], "kernel": [64, 20, 5], "quick": [64, 10, 3]},
    "blocked-100000": {"weft": [100_000], "kernel": None, "quick": [10_000]},
    "idle": {"weft": [5], "kernel": [5], "quick": [1]},
    "beside-64": {"weft": [64, 20], "kernel": [64, 3], "quick": [64, 2]},
}
# What is printed of a case: a name, how it is found, the goal.
COLUMNS = {
    "round_trips-1": [("best, us", lambda r: min(r["windows"])), ("mean, us", lambda r: statistics.mean(r["windows"]))],
    "round_trips-64": [("best, us", lambda r: min(r["windows"])), ("mean, us", lambda r: statistics.mean(r["windows"]))],
    "blocked-100000": [("until all wait, ms", lambda r: r["to_block_ms"]), ("an answer, us", lambda r: r["answer_us"])],
    "idle": [("CPU of a rank, %", lambda r: r["cpu_percent"])],
    "beside-64": [("slower, %, least", lambda r: slower(r, min)), ("median", lambda r: slower(r, statistics.median))],
}


def slower(result, which):
    """By how many % 64 threads that wait slow one that computes: of `which` of its times."""
    alone, beside = (which(times) for times in zip(*result["alone_and_beside_ms"]))
    return 100 * (beside / alone - 1)


def command_of(job, numbers, options):
    case = job["case"].split("-")[0]
    if job["engine"] == ON_ARGOBOTS:
        launch = [str(options.argobots / "bin/mpiexec"), *LAUNCH["mpich"][1:]]
        return [*launch, "-n", "2", str(options.round_trips_abt), case, *map(str, numbers)]
    return [*LAUNCH[job["engine"]], "-n", "2", str(options.bin / f"mpi.{job['engine']}"), job["kind"], case, *map(str, numbers)]


def environment_of(job, options):
    environment = {**os.environ, "WEFT_WORKERS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if job["engine"] == ON_ARGOBOTS:
        folder = options.layers.parent / "abt" if job["kind"] == "weft" else options.libabt
        return environment | argobots_engine.on_libabt(folder.resolve())
    if job["kind"] == "weft":
        environment["LD_PRELOAD"] = str(options.layers.resolve() / f"libweft_mpi_{job['engine']}.so")
    return environment


def once(job, options):
    numbers = CASES[job["case"]]["quick" if options.quick else "kernel" if job["kind"] == "kernel" else "weft"]
    command, environment = command_of(job, numbers, options), environment_of(job, options)
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.timeout)
    except subprocess.TimeoutExpired:
        return {"error": f"more than {options.timeout} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        return {"error": (done.stderr.strip() or f"exit status {done.returncode}")[-300:]}
    return json.loads(lines[0])


def measure(options):
    jobs = [{"engine": engine, "kind": kind, "case": case, "passes": []} for case in CASES for engine in LAUNCH for kind in KINDS
            if (options.bin / f"mpi.{engine}").exists() and CASES[case][kind] is not None]
    if options.argobots:
        jobs += [{"engine": ON_ARGOBOTS, "kind": kind, "case": case, "passes": []} for case in ON_ARGOBOTS_CASES for kind in LIBRARIES]
    jobs = [job for job in jobs if options.only in (None, job["case"]) and options.engine in (None, job["engine"])]
    for _ in range(options.passes):
        for job in jobs:
            before = os.getloadavg()[0]
            job["passes"].append({"load": before, **once(job, options)})
    return jobs


def compile_for_argobots(options, folder):
    """The program of abt.h, by the engine's compiler."""
    options.argobots = options.argobots.resolve()
    options.round_trips_abt = pathlib.Path(folder) / "round_trips_abt"
    options.libabt = argobots_engine.argobots_of(options.argobots)
    subprocess.run([options.argobots / "bin/mpicc", "-O2", f"-I{argobots_engine.header_of(options.libabt)}", HERE / "mpi/round_trips_abt.c", "-o", options.round_trips_abt,
                    f"-L{options.libabt}", "-labt"], check=True)


def tables(jobs):
    for case, columns in COLUMNS.items():
        if all(job["case"] != case for job in jobs):
            continue
        print(f"\n{case}\n{'':20}" + "".join(f"{name:>22}" for name, _ in columns))
        for job in jobs:
            if job["case"] != case:
                continue
            good = [r for r in job["passes"] if "error" not in r]
            cells = [f"{statistics.median(find(r) for r in good):22.3f}" for _, find in columns] if good else \
                [f"  {job['passes'][-1]['error']}"]
            print(f"{job['engine'] + ', ' + job['kind']:20}" + "".join(cells))


def main():
    parser = run.script_parser(__doc__)
    parser.add_argument("--layers", type=pathlib.Path, help="the folder of libweft_mpi_ENGINE.so (unless said, of the same build)")
    parser.add_argument("--only", choices=CASES, help="one case")
    parser.add_argument("--engine", choices=[*LAUNCH, ON_ARGOBOTS], help="one engine")
    parser.add_argument("--argobots", type=pathlib.Path, metavar="PREFIX", help="an MPICH built with Argobots' thread package")
    options = parser.parse_args()
    run.require_clean(options)
    options.bin = options.bin.resolve()
    options.layers = options.layers or options.bin.parent.parent / "front" / "mpi"
    options.passes = options.passes or (1 if options.quick else 5)
    start = datetime.datetime.now(datetime.timezone.utc)
    data = {**run.facts("mpi", start, options.bin), "quick": options.quick, "passes": options.passes}
    with tempfile.TemporaryDirectory() as folder:
        if options.argobots:
            compile_for_argobots(options, folder)
        data["results"] = measure(options)
    if not data["results"]:
        sys.exit(f"{options.bin} has no mpi.openmpi and no mpi.mpich: install an MPI, and build the target 'bench'")
    stem = run.write_results(options, "mpi", start, data)
    tables(data["results"])
    print(f"\nraw results: {stem}.json")
    return 1 if any("error" in r for job in data["results"] if job["kind"] == "weft" for r in job["passes"]) else 0


if __name__ == "__main__":
    sys.exit(main())
