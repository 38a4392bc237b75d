# SPDX-License-Identifier: MIT
"""How runs of others' programs and suites are kept beside the benchmarks' results: with machine, compiler and commit."""
import pathlib
import sys
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))
import run  # noqa: E402  pylint: disable=wrong-import-position


def add_arguments(parser):
    parser.add_argument("--out", type=pathlib.Path, help="folder for a file of results")


def write(options, suite, library, start, data):
    """Gives the path of the file. `library`: of the build that was run."""
    said = {"suite": suite, "date": start.isoformat(timespec="seconds"), "machine": run.machine(), **run.build(library.parent),
            **run.commit(), **data}
    return f"{run.write_results(types.SimpleNamespace(out=options.out, quick=False), suite, start, said)}.json"
