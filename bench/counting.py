# SPDX-License-Identifier: MIT
"""Counts by valgrind: instructions, where in the source they stand, and simulated cache misses.

Each figure is the difference of two runs of a program that differ in --rounds only, divided by the operations
they differ by, so that start-up, warm-up and checks cancel out."""

import collections
import json
import pathlib
import re
import subprocess
import tempfile

import suites

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Size, associativity, line. Those of a core of the Skylake of the threading-techniques paper, on any machine:
# its first and its second level (for cachegrind, "LL").
CACHES = {"I1": "32768,8,64", "D1": "32768,8,64", "LL": "1048576,16,64"}

# Their lines are counted where they are inlined: atomics and the like, and what only reads the CPU's flags.
_TRANSPARENT_FOLDER = "weft/base/"
_TRANSPARENT_FUNCTION = re.compile(r"\bweft::arch::(any|count_down|idle_word|relax|stack_\w+|is_zero|ticks)\b")


def valgrind(path, arguments, environment, timeout, *options):
    """Runs a program; gives its own answer and what valgrind printed."""
    done = subprocess.run(["valgrind", *options, str(path), *arguments], capture_output=True, text=True,
                          timeout=timeout, env=suites.environment_with(environment))
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip()[-200:])
    return json.loads(done.stdout), done.stderr


def costs_of(file):
    """From callgrind's file: (object, address, source file, line) -> instructions. The object is the current
    function's, and after a jump to another stack that may be the wrong one: see by_file()."""
    costs, where, skip = collections.Counter(), {"ob": "", "file": ""}, False
    for line in file.read_text().splitlines():
        if skip:
            skip = False  # the cost of a call, which stands in the callee as well
        elif line.startswith("0x"):
            address, number, cost = line.split()
            costs[where["ob"], int(address, 16), where["file"], int(number)] += int(cost)
        elif line.startswith("calls="):
            skip = True
        else:
            key, _, name = line.partition("=")
            if key in ("ob", "fl", "fi", "fe"):
                where["ob" if key == "ob" else "file"] = name
    return costs


def callgrind(path, arguments, environment, timeout, by_line):
    """(instructions, operations, costs_of() if asked for)."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out")
        options = ["--tool=callgrind", f"--callgrind-out-file={file}"]
        if by_line:
            options += ["--dump-instr=yes", "--compress-strings=no", "--compress-pos=no"]
        answer, text = valgrind(path, arguments, environment, timeout, *options)
        collected = re.search(r"Collected\s*:\s*(\d+)", text)
        if not collected:
            raise RuntimeError(text.strip()[-200:])
        return int(collected.group(1)), answer["ops"], costs_of(file) if by_line else None


def inlining(objects, addresses):
    """(object, address) -> [(function, file, line)], the innermost function first."""
    found = {}
    for name in objects:
        done = subprocess.run(["addr2line", "-a", "-i", "-f", "-C", "-e", name], text=True,
                              capture_output=True, input="\n".join(map(hex, addresses)))
        frames, function = None, None
        for line in done.stdout.splitlines():
            if re.fullmatch("0x[0-9a-f]+", line):
                frames, function = found.setdefault((name, int(line, 16)), []), None
            elif function is None:
                function = line
            else:
                file, _, number = line.partition(" (discriminator")[0].rpartition(":")
                frames.append((function, file, int(number) if number.isdigit() else 0))
                function = None
    return found


def place(frames):
    """The file that an instruction counts for: the innermost one of this repository that is not a helper."""
    files = []
    for function, file, _line in frames:
        path = pathlib.Path(file)
        if path.is_relative_to(ROOT):
            name = str(path.relative_to(ROOT))
            if not name.startswith(_TRANSPARENT_FOLDER) and not _TRANSPARENT_FUNCTION.search(function):
                return name
            files.append(name)
    return files[-1] if files else "elsewhere"


def by_file(low, high, operations):
    """The difference of two costs_of(), an operation, by place()."""
    differences = {key: (cost - low[key]) / operations for key, cost in high.items() if cost != low[key]}
    objects = {key[0] for key in differences}
    frames = inlining(objects, {key[1] for key in differences})

    def frames_of(stated, address, file, line):
        # The object whose innermost line is the one that callgrind saw.
        for name in (stated, *objects):
            chain = frames.get((name, address))
            if chain and (chain[0][1], chain[0][2]) == (file, line):
                return chain
        return frames.get((stated, address), ())

    files = collections.Counter()
    for key, value in differences.items():
        files[place(frames_of(*key))] += value
    return {name: round(value, 2) for name, value in files.most_common() if abs(value) >= 0.005}


def cachegrind(path, arguments, environment, timeout):
    """(misses of the first level, of the last level, operations): of data."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out")
        answer, _ = valgrind(path, arguments, environment, timeout, "--tool=cachegrind", "--cache-sim=yes",
                             f"--cachegrind-out-file={file}",
                             *(f"--{level}={shape}" for level, shape in CACHES.items()))
        text = file.read_text()
    events = re.search(r"^events: (.*)$", text, re.MULTILINE).group(1).split()
    totals = dict(zip(events, map(int, re.search(r"^summary: (.*)$", text, re.MULTILINE).group(1).split())))
    return totals["D1mr"] + totals["D1mw"], totals["DLmr"] + totals["DLmw"], answer["ops"]


def count(path, form, sizes, timeout, environment=None, examine=False):
    """What a job's result gets: instructions and, to be examined, in which files, and cache misses."""
    def both(tool, *more):
        return [tool(path, suites.arguments_of({**sizes, "rounds": rounds}, form), environment or {}, timeout,
                     *more) for rounds in sizes["rounds"]]

    try:
        low, high = both(callgrind, examine)
        instructions = {"per_op": (high[0] - low[0]) / (high[1] - low[1]), "n": sizes["n"],
                        "runs": [list(low[:2]), list(high[:2])]}
        if not examine:
            return {"instructions": instructions}
        instructions["files"] = by_file(low[2], high[2], high[1] - low[1])
        low, high = both(cachegrind)
        operations = high[2] - low[2]
        return {"instructions": instructions,
                "cache_misses": {"first": (high[0] - low[0]) / operations,
                                 "second": (high[1] - low[1]) / operations}}
    except (RuntimeError, ValueError, OSError, AttributeError, subprocess.TimeoutExpired) as error:
        return {"instructions": {"per_op": None, "error": str(error)[:200]}}
