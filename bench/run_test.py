#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py fails where programs that must end in the same state do not, and names them; it passes where they do."""

import pathlib
import subprocess
import sys
import tempfile

RUN = pathlib.Path(__file__).resolve().parent / "run.py"

PROGRAM = """#!/bin/sh
if [ "$1" = --list-forms ]; then echo cells.7; exit; fi
echo '{"workload": "leanmd", "peer": "%s", "form": "cells.7", "n": 50, "rounds": 20, "repeats": 1, "workers": 2,' \
     '"unit": "ms/step", "ops": 20, "min": 1.0, "median": 1.0, "samples": [1.0], "energy_drift": 1e-9,' \
     '"state": %s, "checked": true}'
"""


def run(folder, states, passes):
    """Exit code and errors of a run of the suite over one such program for each peer."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    for peer, state in states.items():
        path = programs / f"leanmd.{peer}"
        path.write_text(PROGRAM % (peer, state))
        path.chmod(0o755)
    done = subprocess.run([sys.executable, RUN, "--suite", "applications", "--only", "leanmd-2", "--quick", "--passes",
                           str(passes), "--bin", programs, "--out", folder], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        code, errors = run(folder, {"weft": 7, "argobots": 7}, 1)
        assert code == 0 and "different" not in errors, (code, errors)
        code, errors = run(folder, {"weft": 7, "argobots": 8}, 1)
        said = "leanmd, 50, 20 rounds: 8 by argobots cells.7; 7 by weft cells.7"
        assert code == 1 and said in errors, (code, errors)
        code, errors = run(folder, {"weft": "'$$'", "argobots": 7}, 2)  # another in each run
        # A run that others disturbed is done again: two to four.
        assert code == 1 and errors.count("by weft cells.7") in (2, 3, 4), (code, errors)
    print("passed")


if __name__ == "__main__":
    main()
