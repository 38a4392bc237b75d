# SPDX-License-Identifier: MIT
"""How runs of others' programs and suites are kept beside the benchmarks' results: with machine, compiler and commit."""
import datetime
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))
import run  # noqa: E402  pylint: disable=wrong-import-position


def add_arguments(parser):
    parser.add_argument("--out", type=pathlib.Path, help="folder for a file of results")


def begin(options, suite, library):
    """For write(), before the runs. `library`: of the build that is run."""
    options.start, options.quick = datetime.datetime.now(datetime.timezone.utc), False
    options.facts = run.facts(suite, options.start, pathlib.Path(library).parent)


def write(options, data):
    """Gives the path of the file."""
    return f"{run.write_results(options, options.facts['suite'], options.start, {**options.facts, **data})}.json"
