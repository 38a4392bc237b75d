#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the benchmark programs of a suite; writes raw results as JSON, prints tables with ratios, draws plots.

    bench/run.py [--bin build/release/bench/bin] [--suite core] [--quick] [--instructions] [--only REGEX]

README.md beside this file says how to read what comes out.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import re
import resource
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import counting  # noqa: E402
import report  # noqa: E402
import suites  # noqa: E402


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def machine():
    lscpu = dict(line.split(":", 1) for line in output_of("lscpu").splitlines() if ":" in line)
    return {
        "cpu": lscpu.get("Model name", platform.processor()).strip(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "load": os.getloadavg(),
    }


def build(bin_dir):
    """Compiler and flags, as the build that holds the programs recorded them."""
    cache = {}
    for folder in (bin_dir, *bin_dir.parents):
        path = folder / "CMakeCache.txt"
        if path.exists():
            for line in path.read_text().splitlines():
                found = re.match(r"(\w+):\w+=(.*)", line)
                if found:
                    cache[found.group(1)] = found.group(2)
            break
    kind = cache.get("CMAKE_BUILD_TYPE", "")
    compiler = cache.get("CMAKE_CXX_COMPILER", "c++")
    version = output_of(compiler, "--version").splitlines()
    return {
        "compiler": version[0] if version else compiler,
        "build_type": kind,
        "flags": " ".join(filter(None, [cache.get("CMAKE_CXX_FLAGS", ""),
                                        cache.get(f"CMAKE_CXX_FLAGS_{kind.upper()}", ""), "-O2 -DNDEBUG"])),
    }


def commit():
    return {"commit": output_of("git", "rev-parse", "HEAD"),
            "dirty": bool(output_of("git", "status", "--porcelain", "--untracked-files=no"))}


def facts(suite, start, bin_dir):
    """What stands in a file of results beside them. Before the runs: the tree may have another commit after them."""
    return {"suite": suite, "date": start.isoformat(timespec="seconds"), "machine": machine(), **build(bin_dir.resolve()), **commit()}


def add_results(parser):
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "results", help="folder for the results")
    parser.add_argument("--dirty", action="store_true",
                        help="write into bench/results although the tree has changes that are not committed")


def require_clean(options):
    """What stands in bench/results is what its commit does: before anything is measured."""
    if options.out.resolve() == HERE / "results" and not options.dirty and commit()["dirty"]:
        sys.exit("the tree has changes that are not committed: commit them, or give --out FOLDER or --dirty")


def script_parser(doc):
    """The arguments that all suites have whose script is their own."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=default_bin())
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--passes", type=int)
    parser.add_argument("--timeout", type=float, default=120)
    add_results(parser)
    return parser


def write_results(options, suite, start, data):
    """Gives the path without its suffix, for plots."""
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"{suite}{'-quick' if options.quick else ''}-{start:%Y-%m-%d-%H%M%S}"
    pathlib.Path(f"{stem}.json").write_text(json.dumps(data, indent=1) + "\n")
    return stem


def programs(bin_dir):
    """(workload, peer) -> path, for every program in the folder."""
    found = {}
    for path in sorted(bin_dir.iterdir()):
        workload, dot, peer = path.name.partition(".")
        if dot and "." not in peer and os.access(path, os.X_OK) and path.is_file():
            found[workload, peer] = path
    return found


def cpu_seconds():
    """CPU time of everything on this machine, and of our own programs that have ended."""
    with open("/proc/stat") as stat:
        user, nice, system, _idle, _wait, irq, softirq, steal = map(int, stat.readline().split()[1:9])
    own = resource.getrusage(resource.RUSAGE_CHILDREN)
    everything = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
    return everything, own.ru_utime + own.ru_stime


def run_once(path, arguments, timeout, environment):
    command = [str(path), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                              env=suites.environment_with(environment))
    except subprocess.TimeoutExpired:
        return None, f"no answer in {timeout} s"
    try:
        result = json.loads(done.stdout)
    except ValueError:
        return None, f"exit code {done.returncode}, no JSON; {done.stderr.strip()[:200]}"
    if done.returncode != 0 or not result.get("checked"):
        return None, f"exit code {done.returncode}; {done.stderr.strip()[:200]}"
    return result, None


def forms_of(path):
    return output_of(str(path), "--list-forms").splitlines()


def plan(suite, found, quick, only):
    """The list of jobs: one for each case, peer and form, in the order of the suite."""
    jobs = []
    for case in suite:
        if any(name not in os.environ for name in case.get("needs", ())):
            print(f"{case['name']}: left out, needs {', '.join(case['needs'])}", file=sys.stderr)
            continue
        for (workload, peer), path in found.items():
            if workload != case["workload"] or not suites.has_peer(case, peer):
                continue
            for form in forms_of(path):
                if case.get("forms") and form not in case["forms"]:
                    continue
                sizes = suites.sizes_of(case, peer, form, quick)
                if sizes is None or not re.search(only, f"{case['name']}.{peer}.{form}"):
                    continue
                jobs.append({"case": case["name"], "workload": workload, "peer": peer, "form": form,
                             "sizes": sizes, "environment": suites.environment_of(case, form),
                             "timeout": case.get("timeout"), "once_above": case.get("once_above"),
                             "counted": case.get("counted", True),
                             "ours": case.get("ours", peer in suites.OURS),
                             "examined": form in case.get("examined", ()),
                             "quiet": case.get("others_below", math.inf),
                             "path": path, "results": [], "error": None, "seconds": 0})
    return jobs


def measure(jobs, passes, timeout, time_for_repeats):
    """Round robin over all jobs, so that a noisy minute hits every peer alike. A job that asks for quiet gets
    up to as many passes again in place of those that others disturbed, until `time_for_repeats` seconds
    are over."""
    begin = time.monotonic()
    for turn in range(2 * passes):
        for at, job in enumerate(jobs):
            if turn >= passes and time.monotonic() - begin > time_for_repeats:
                return
            if sum(result["others"] <= job["quiet"] for result in job["results"]) >= passes:
                continue
            if job["error"] or job["seconds"] > (timeout if job["once_above"] is None else job["once_above"]):
                continue
            if sys.stderr.isatty():
                where = f"{turn + 1}/{passes} {at + 1}/{len(jobs)} {job['case']} {job['peer']} {job['form']}"
                print(f"\r\033[K{where}", end="", file=sys.stderr)
            start, (everything, own) = time.monotonic(), cpu_seconds()
            result, job["error"] = run_once(job["path"], suites.arguments_of(job["sizes"], job["form"]),
                                            job["timeout"] or timeout, job["environment"])
            job["seconds"] = time.monotonic() - start
            if result:
                more, ours = cpu_seconds()
                result["others"] = max((more - everything) - (ours - own), 0) / job["seconds"]
                job["results"].append(result)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)


def count_instructions(jobs, timeout):
    """Counts each program and form once, at the workload's own size, for all its one-worker cases."""
    counted = {}
    for job in jobs:
        sizes = suites.instruction_sizes(job["workload"], job["peer"])
        if sizes is None or not job["counted"] or job["error"] or job["sizes"].get("workers", 1) != 1:
            continue
        key = (job["path"], job["form"], job["examined"])
        if key not in counted:
            counted[key] = counting.count(job["path"], job["form"], sizes, timeout, job["environment"],
                                          job["examined"])
        job.update(counted[key])


def summary(job):
    """What a job's passes come to: the samples of all of them, and the process medians."""
    results = job["results"]
    keep = {key: job[key] for key in ("case", "workload", "peer", "form", "sizes", "environment", "error")}
    keep.update((key, job[key]) for key in ("instructions", "cache_misses") if key in job)
    if not results:
        return keep
    samples = [sample for result in results for sample in result["samples"]]
    keep.update(unit=results[0]["unit"], samples=samples, min=min(samples), median=statistics.median(samples),
                process_medians=[result["median"] for result in results],
                others=[round(result["others"], 2) for result in results], ops=results[0]["ops"])
    known = {"workload", "peer", "form", "n", "rounds", "repeats", "workers", "unit", "ops", "min", "median",
             "samples", "ns_per_op", "checked", "others"}
    keep["extras"] = {name: statistics.median(result[name] for result in results if name in result)
                      for name in results[0] if name not in known}
    if "state" in results[0]:
        keep["states"] = sorted({result["state"] for result in results})
    return keep


def different_states(data):
    """A line for each size whose runs did not all end in the same state."""
    return [f"{workload}, {n}, {rounds} rounds: " +
            "; ".join(f"{state} by {', '.join(dict.fromkeys(who))}" for state, who in states.items())
            for (workload, n, rounds), states in report.end_states(data["results"]).items() if len(states) > 1]


def default_bin():
    candidates = [ROOT / "build" / preset / "bench" / "bin" for preset in ("release", "dev")]
    return next((path for path in candidates if path.is_dir()), candidates[0])


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=default_bin(), help="folder of the programs")
    parser.add_argument("--suite", default="core", choices=sorted(suites.SUITES))
    parser.add_argument("--quick", action="store_true", help="small sizes, two passes: under two minutes")
    parser.add_argument("--passes", type=int, help="how often each program is run")
    parser.add_argument("--only", default="", help="regular expression over case.peer.form")
    parser.add_argument("--instructions", action="store_true", help="count instructions with callgrind")
    add_results(parser)
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one run of one program")
    return parser.parse_args()


def main():
    options = parse_arguments()
    require_clean(options)
    if not options.bin.is_dir():
        sys.exit(f"{options.bin}: no such folder. Build the target 'bench' first, or give --bin.")
    jobs = plan(suites.SUITES[options.suite], programs(options.bin.resolve()), options.quick, options.only)
    if not jobs:
        sys.exit("nothing to run")
    passes = options.passes or suites.passes_of(options.suite, options.quick)
    start = datetime.datetime.now(datetime.timezone.utc)
    data = {**facts(options.suite, start, options.bin), "quick": options.quick, "passes": passes}
    measure(jobs, passes, options.timeout, 60 if options.quick else 480)
    if options.instructions:
        count_instructions(jobs, options.timeout)
        data["simulated_caches"] = counting.CACHES
    data["seconds"] = (datetime.datetime.now(datetime.timezone.utc) - start).total_seconds()
    data["results"] = [summary(job) for job in jobs]
    stem = write_results(options, options.suite, start, data)
    report.tables(data)
    print(f"raw results: {stem}.json")
    for path in report.plots(data, stem):
        print(f"plot: {path}")
    differ = different_states(data)
    for line in differ:
        print(f"runs ended in different states: {line}", file=sys.stderr)
    # A peer that cannot do a size is a result, and stands in the table as failed.
    return 1 if differ or any(job["error"] for job in jobs if job["ours"]) else 0


if __name__ == "__main__":
    sys.exit(main())
