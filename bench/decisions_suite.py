#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The suite "decisions": what the pages of docs/design say of forms that were chosen and rejected: switches, guards, composition and
what headers cost the compiler. x86-64 only; the instructions of composition need valgrind.

    bench/decisions_suite.py [--bin build/release/bench/bin] [--quick] [--passes N]
"""

import datetime
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "compose")]

import compile_time  # noqa: E402
import run  # noqa: E402
import zero_cost  # noqa: E402


def best_of(program, words, passes, timeout):
    """For each form the least of `least` and of `median` over the passes: what else runs only adds."""
    best = {}
    for _ in range(passes):
        done = subprocess.run([str(program), *words], check=True, capture_output=True, text=True, timeout=timeout)
        for form, figures in json.loads(done.stdout).items():
            if figures is not None:
                best[form] = {name: min(value, best.get(form, figures)[name]) for name, value in figures.items()}
    return best


# Forms of tests/unit/arch/switch_cost.cpp, which is also counted by a test, whose rounds are two switches.
OWN_SWITCHES = {"swap": "swap", "swap_with": "swap_with", "cond_swap": "cond_swap", "flags": "swap, flags differ",
                "rounding": "swap, rounding differs"}


def own_switches(program, rounds, turns, timeout):
    """ns a switch, one way, of Weft's own forms: least and median of `turns` series in turn."""
    series = {name: [] for name in OWN_SWITCHES.values()}
    for _ in range(turns):
        for form, name in OWN_SWITCHES.items():
            done = subprocess.run([str(program), form, str(rounds)], check=True, capture_output=True, text=True, timeout=timeout)
            series[name].append(float(done.stderr.split()[0]) / 2)
    return {name: {"least": min(values), "median": statistics.median(values)} for name, values in series.items()}


def print_forms(title, forms):
    print(f"\n{title:34}{'least':>10}{'median':>10}")
    for form, figures in forms.items():
        print(f"{form:34}{figures['least']:10.2f}{figures['median']:10.2f}")


def main():
    options = run.script_parser(__doc__).parse_args()
    run.require_clean(options)
    for needed in ("decisions.switches", "decisions.switch_cost", "decisions.guards", "compose.weft"):
        if not (options.bin / needed).exists():
            sys.exit(f"{options.bin / needed} is not there: build the target 'bench'")
    passes = options.passes or (1 if options.quick else 5)
    start = datetime.datetime.now(datetime.timezone.utc)
    data = {**run.facts("decisions", start, options.bin), "quick": options.quick, "passes": passes}
    data["switches"] = best_of(options.bin / "decisions.switches", ["20000"] if options.quick else [], passes, options.timeout)
    data["switches"].update(own_switches(options.bin / "decisions.switch_cost", *((20_000, 3) if options.quick else (200_000, 9)),
                                         options.timeout))
    print_forms("ns a switch, one way", data["switches"])
    data["guards"] = best_of(options.bin / "decisions.guards", ["512"] if options.quick else [], passes, options.timeout)
    print_forms("ns a stack", data["guards"])
    data["compile_seconds"] = compile_time.measure(1 if options.quick else 9, "g++", "gcc")
    print()
    compile_time.print_table(data["compile_seconds"])
    if shutil.which("valgrind"):
        print()
        data["composition"] = zero_cost.counts_of(str(options.bin / "compose.weft"))
    print(f"\nraw results: {run.write_results(options, 'decisions', start, data)}.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
