# SPDX-License-Identifier: MIT
"""What the suites share that run programs on the C library's threads and with a library preloaded that takes them over."""

import datetime
import os
import pathlib
import sys

import run


def arguments(doc, only, passes, programs=()):
    """`only`: what --only names; `passes`: unless said; `programs`: of --bin, which have to be there."""
    parser = run.script_parser(doc)
    parser.add_argument("--preload", type=pathlib.Path, help="libweft_pthread.so (unless said, of the same build)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help=f"{only}, with commas between")
    options = parser.parse_args()
    run.require_clean(options)
    options.bin = options.bin.resolve()
    options.preload = (options.preload or options.bin.parent.parent / "front/pthreads/libweft_pthread.so").resolve()
    options.passes = options.passes or (1 if options.quick else passes)
    for needed in (*(options.bin / name for name in programs), options.preload):
        if not needed.exists():
            sys.exit(f"{needed} is not there: build the target 'bench'")
    return options


def is_wanted(name, options):
    return not options.only or name in options.only.split(",")


def massivethreads(options):
    """MassiveThreads' library for the same purpose. It is there if CMake found it (bench/pthreads)."""
    return options.bin / "pthreads.massivethreads.so"


def environment(how, options):
    """`how`: libc, weft or massivethreads."""
    found = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    if how == "weft":
        found.update(LD_PRELOAD=str(options.preload), WEFT_WORKERS=str(options.workers))
    elif how == "massivethreads":
        found.update(LD_PRELOAD=str(massivethreads(options)), MYTH_NUM_WORKERS=str(options.workers))
    return found


def begin(suite, options):
    """For write_results(), before the runs."""
    options.start = datetime.datetime.now(datetime.timezone.utc)
    options.facts = {**run.facts(suite, options.start, options.bin), "quick": options.quick, "passes": options.passes, "workers": options.workers}


def write_results(options, results):
    """Gives the path of the file."""
    return f"{run.write_results(options, options.facts['suite'], options.start, {**options.facts, 'results': results})}.json"
