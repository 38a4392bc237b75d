#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The suite "http": weft-http beside nginx, Go's net/http and Boost.Asio on the loopback, loaded by wrk and, at a
fixed rate, by http.loader.

    bench/http_suite.py [--bin build/release/bench/bin] [--quick] [--passes N] [--rate R]

What counts is requests per second of the server's CPU time (user and system, of all its processes): on a machine
whose cores the load shares with the server, requests per second say as much about the load. README.md beside this
file says how to read what comes out.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import http_servers  # noqa: E402
import run  # noqa: E402
import svg  # noqa: E402

COLOURS = {"weft": "#c0392b", "weft-uring": "#e08a80", "nginx": "#3a8f4d", "go": "#2c6fbb", "asio": "#d98b1f"}
HAS_NO_FILES = {"asio"}
OURS = ("weft", "weft-uring")
UNITS = {"us": 1, "ms": 1e3, "s": 1e6}
# Goals for requests per CPU second: at least so much of the peer's.
GOALS = {"nginx": 1.0, "go": 1.5}
IDLE = 10_000


def cases(quick):
    """(kind, path, connections, workers)"""
    found = [("full", "/plaintext", connections, workers) for workers in (1, 2) for connections in (100, 1000)]
    found += [("full", "/file.txt", 100, 1)]
    found += [("paced", "/plaintext", connections, workers) for workers in (1, 2) for connections in (100, 1000)]
    found += [("idle", "/plaintext", IDLE, workers) for workers in (1, 2)]
    return [case for case in found if not quick or case[3] == 1]


def places(workers):
    """CPUs of the server and of the load: apart from each other where there are enough."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) > workers:
        return set(cpus[:workers]), set(cpus[workers:])
    return set(cpus), set(cpus)


def output_of(command, cpus):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=120,
                          preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()[:200]}")
    return done.stdout


def full_load(server, path, connections, seconds, cpus, _tools):
    before = server.cpu_seconds()
    text = output_of(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency",
                      f"http://127.0.0.1:{server.port}{path}"], cpus)
    cpu = server.cpu_seconds() - before
    requests, length = re.search(r"(\d+) requests in ([\d.]+)s", text).groups()
    value, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", text).groups()
    errors = re.search(r"Socket errors:.*|Non-2xx.*", text)
    if errors:
        raise RuntimeError(errors.group(0))
    return {"requests_per_second": int(requests) / float(length), "requests_per_cpu_second": int(requests) / cpu,
            "p99_us": float(value) * UNITS[unit], "busy": cpu / float(length)}


def paced_load(server, _path, connections, seconds, cpus, tools):
    before = server.cpu_seconds()
    found = json.loads(output_of([tools["loader"], server.port, connections, tools["rate"], seconds], cpus))
    cpu = server.cpu_seconds() - before
    return {"requests_per_second": found["answered"] / seconds, "requests_per_cpu_second": found["answered"] / cpu,
            "busy": cpu / seconds, **found}


def idle_load(server, _path, connections, seconds, cpus, tools):
    time.sleep(0.3)  # until it has closed the connection that asked whether it is there
    descriptors = server.descriptors()
    load = subprocess.Popen([tools["loader"], str(server.port), str(connections), "0", str(seconds + 60)],
                            stdout=subprocess.DEVNULL, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    try:
        for _ in range(200):
            time.sleep(0.1)
            if server.descriptors() >= descriptors + connections:
                break
        else:
            raise RuntimeError(f"not all of {connections} connections came")
        time.sleep(1)
        before = server.cpu_seconds()
        time.sleep(seconds)
        cpu, resident = server.cpu_seconds() - before, server.resident_bytes()
        server.answer("/plaintext")
    finally:
        load.kill()  # abruptly
        load.wait()
    time.sleep(1)
    return {"idle_cpu_share": cpu / seconds, "resident_mb": resident / 1e6,
            "descriptors_left": server.descriptors() - descriptors}


LOADS = {"full": full_load, "paced": paced_load, "idle": idle_load}


def name_of(case):
    kind, path, connections, workers = case
    return f"{kind}{'' if path == '/plaintext' else path.replace('/', '-')}-{connections}-{workers}"


def measure(starts, plan, passes, seconds, tools):
    """Round robin, a fresh server each time, so that a noisy minute hits everyone alike."""
    found = {}
    for _ in range(passes):
        for case in plan:
            for name, start in starts.items():
                if isinstance(start, str) or (case[1] != "/plaintext" and name in HAS_NO_FILES):
                    continue
                servers_cpus, loads_cpus = places(case[3])
                row = found.setdefault((name_of(case), name), {"passes": [], "error": None})
                if row["error"]:
                    continue
                everything, _ = run.cpu_seconds()
                begin = time.monotonic()
                server = start(case[3], servers_cpus)
                try:
                    row["answer_bytes"] = len(server.answer(case[1]))
                    one = LOADS[case[0]](server, case[1], case[2], seconds, loads_cpus, tools)
                    row["passes"].append(one)
                except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
                    row["error"] = str(error)
                finally:
                    server.stop()
                if row["passes"] and not row["error"]:
                    more, _ = run.cpu_seconds()
                    row["passes"][-1]["all_cpus_busy"] = (more - everything) / (time.monotonic() - begin)
    return found


def summary(found):
    rows = []
    for (case, server), row in found.items():
        keys = row["passes"][0].keys() if row["passes"] else ()
        rows.append({"case": case, "server": server, **row,
                     "median": {key: statistics.median(one[key] for one in row["passes"]) for key in keys}})
    return rows


def columns_of(case):
    if case.startswith("idle"):
        return (("idle_cpu_share", "CPU, cores", "{:.4f}"), ("resident_mb", "MB", "{:.1f}"),
                ("descriptors_left", "descriptors left", "{:.0f}"))
    return (("requests_per_second", "requests/s", "{:.0f}"), ("requests_per_cpu_second", "per CPU s", "{:.0f}"),
            ("p99_us", "p99 us", "{:.0f}"), ("busy", "CPU, cores", "{:.2f}"))


def tables(data):
    for case in dict.fromkeys(row["case"] for row in data["results"]):
        columns = columns_of(case)
        rows = [row for row in data["results"] if row["case"] == case]
        print(f"\n{case}\n{'':12}" + "".join(f"{title:>18}" for _, title, _ in columns) + f"{'answer bytes':>14}")
        for row in rows:
            if row["error"]:
                print(f"{row['server']:12}failed: {row['error']}")
                continue
            print(f"{row['server']:12}" + "".join(f"{form.format(row['median'][key]):>18}" for key, _, form in columns)
                  + f"{row['answer_bytes']:>14}")
        goals(rows)


def goals(rows):
    """weft-http to each peer of a goal."""
    value = {row["server"]: row["median"] for row in rows if row["median"].get("requests_per_cpu_second")}
    for peer, wanted in GOALS.items():
        if peer in value and "weft" in value:
            ratio = value["weft"]["requests_per_cpu_second"] / value[peer]["requests_per_cpu_second"]
            late = value["weft"]["p99_us"] / value[peer]["p99_us"]
            print(f"  weft to {peer}, per CPU second: {ratio:.2f} (goal {wanted}); p99: {late:.2f} (goal 1)")


def plot(data, path):
    """One panel a case of load: requests per CPU second, and p99."""
    names = [name for name in COLOURS if any(row["server"] == name for row in data["results"])]
    shown = [case for case in dict.fromkeys(row["case"] for row in data["results"]) if not case.startswith("idle")]
    parts = []
    for at, (key, title) in enumerate((("requests_per_cpu_second", "requests per CPU second of the server"),
                                       ("p99_us", "p99, us"))):
        rows = []
        for case in shown:
            medians = {row["server"]: row["median"] for row in data["results"] if row["case"] == case}
            rows.append((case[:15], [svg.Bar(medians.get(name, {}).get(key, 0), COLOURS[name]) for name in names]))
        parts += svg.bar_panel(20 + 480 * at, title, rows, lambda value: f"{value:.0f}")
    parts += svg.bar_legend(980, [(name, COLOURS[name]) for name in names])
    return svg.write(path, 1100, 80 + 24 * len(shown), "HTTP servers: kind-connections-workers", parts)


def parse_arguments():
    parser = argparse.ArgumentParser(description="HTTP servers beside each other")
    parser.add_argument("--bin", type=pathlib.Path, default=run.default_bin(), help="folder of the programs")
    parser.add_argument("--quick", action="store_true", help="one worker, one pass, short")
    parser.add_argument("--passes", type=int)
    parser.add_argument("--seconds", type=int, help="of load, each time")
    parser.add_argument("--rate", type=int, default=10_000, help="requests per second at the fixed rate")
    parser.add_argument("--only", default="", help="regular expression over the cases' names")
    parser.add_argument("--servers", default="", help="only these, with commas")
    run.add_results(parser)
    return parser.parse_args()


def main():
    options = parse_arguments()
    run.require_clean(options)
    if not shutil.which("wrk"):
        sys.exit("no wrk: ./do deps bench")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    start = datetime.datetime.now(datetime.timezone.utc)
    data = {**run.facts("http", start, options.bin), "quick": options.quick, "rate": options.rate}
    plan = [case for case in cases(options.quick) if re.search(options.only, name_of(case))]
    with tempfile.TemporaryDirectory(prefix="weft-http-bench-") as folder:
        os.chmod(folder, 0o755)  # nginx's workers are another user when it is started by root
        starts = http_servers.starters(options.bin.resolve(), pathlib.Path(folder))
        if options.servers:
            starts = {name: start_it for name, start_it in starts.items() if name in options.servers.split(",")}
        for name, reason in starts.items():
            if isinstance(reason, str):
                print(f"{name}: left out, {reason}", file=sys.stderr)
        tools = {"loader": options.bin.resolve() / "http.loader", "rate": options.rate}
        found = measure(starts, plan, options.passes or (1 if options.quick else 3),
                        options.seconds or (2 if options.quick else 8), tools)
    data.update(apart=len(os.sched_getaffinity(0)) > 1, results=summary(found))
    stem = run.write_results(options, "http", start, data)
    tables(data)
    print(f"raw results: {stem}.json\nplot: {plot(data, f'{stem}.svg')}")
    return 1 if any(row["error"] for row in data["results"] if row["server"] in OURS) else 0


if __name__ == "__main__":
    sys.exit(main())
