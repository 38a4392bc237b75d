# SPDX-License-Identifier: MIT
"""must_not_compile.py FILE -- COMPILER ARGUMENT...: FILE compiles with -DCORRECT, and without it fails as it says."""
import re
import subprocess
import sys

source, _, *command = sys.argv[1:]
with open(source) as text:
    expected = next(line for line in text if line.startswith("// expect: "))[len("// expect: "):].strip()

correct = subprocess.run([*command, "-DCORRECT", source], capture_output=True, text=True)
if correct.returncode != 0:
    sys.exit(f"{source} does not compile even when correct:\n{correct.stderr}")
misuse = subprocess.run([*command, source], capture_output=True, text=True)
if misuse.returncode == 0:
    sys.exit(f"{source} compiles")
if not re.search(expected, misuse.stderr):
    sys.exit(f"{source}: no message matches {expected!r} in:\n{misuse.stderr}")
