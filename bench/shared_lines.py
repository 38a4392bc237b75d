#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the cache lines that two streams share though their work shares nothing.

    bench/shared_lines.py [--bin build/release/bench/bin] [--quick] [--only REGEX] [--require-none PEER]

Runs shared_lines.<peer> under valgrind's lackey, which lists every memory access, and cuts the turns of the
two streams out of the list (shared_lines/workload.hpp). A line moves between cores when one stream wrote it
and the other one read or wrote it; a line that both only read does not. For each line that moves, says what
lies there and which functions touched it. The kernel's own accesses are not in the list.
"""

import argparse
import bisect
import collections
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import report  # noqa: E402
import run  # noqa: E402
import suites  # noqa: E402

SIZES = ({"n": 64, "rounds": 20, "repeats": 2}, {"n": 4096, "rounds": 2, "repeats": 2})
QUICK = ({"n": 16, "rounds": 4, "repeats": 2},)
# Shares one line on purpose: a count that cannot fail proves nothing.
CONTROL = "control"

STREAMS = 2
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
CHUNK = 1 << 20
ATTEMPTS = 5
# Bytes below a sleeper's frame that only itself, when awake, writes to.
FRAMES = 1024
# What is printed of a program; the results file has all.
MOST_GROUPS = 20


class Disturbed(Exception):
    """Somebody else was awake during a turn."""


class Turn:
    """What one stream did in its turns: for each line the code that read and that wrote it, and how often."""

    def __init__(self, line_bytes):
        self.line_bytes = line_bytes
        self.read, self.written = collections.defaultdict(set), collections.defaultdict(set)
        self.times = collections.Counter()

    def touched(self):
        return self.read.keys() | self.written.keys()

    def add(self, trace):
        """Lines like 'I  04017ab0,3', ' L 1ffeffe7e0,8' (load), ' S ' (store), ' M ' (both)."""
        code = 0
        for line in trace.split(b"\n"):
            if line[:1] == b"I":
                code = int(line[3:line.index(b",")], 16)
            elif line[:3] in (b" L ", b" S ", b" M "):
                address, _, size = line[3:].partition(b",")
                first = int(address, 16)
                last = first + int(size) - 1
                for at in range(first // self.line_bytes, last // self.line_bytes + 1):
                    self.times[at] += 1
                    if line[1:2] != b"S":
                        self.read[at].add(code)
                    if line[1:2] != b"L":
                        self.written[at].add(code)


def turns_of(trace, messages, line_bytes):
    """Reads the list of accesses as it comes, and what the program says where the marks are."""
    turns = [Turn(line_bytes) for _ in range(STREAMS)]
    marks, pattern, now, rest, inside = {}, None, None, b"", []
    while chunk := os.read(trace, CHUNK):
        chunk = rest + chunk
        end = chunk.rfind(b"\n") + 1
        chunk, rest = chunk[:end], chunk[end:]
        if pattern is None:  # what is in the pipe was made after what the program has said
            told = re.findall(r"^marks 0x(\w+) 0x(\w+)$", messages.read_text(), re.M)
            if len(told) < STREAMS:
                continue
            marks = {int(address, 16): (k, is_end) for k, pair in enumerate(told)
                     for is_end, address in enumerate(pair)}
            pattern = re.compile(rb"^ S (" + b"|".join(b"0*%x" % mark for mark in marks) + rb"),\d+\n", re.M)
        begin = 0
        for found in pattern.finditer(chunk):
            k, is_end = marks[int(found[1], 16)]
            if is_end:
                turns[k].add(b"".join(inside) + chunk[begin:found.start()])
                now, inside = None, []
            else:
                now, begin = k, found.end()
        if now is not None:
            inside.append(chunk[begin:])
    return turns


def accesses(path, arguments, line_bytes, timeout):
    """(the two streams' turns, what the program said on stderr, its result)"""
    with tempfile.TemporaryDirectory() as folder:
        out, messages = pathlib.Path(folder, "out"), pathlib.Path(folder, "messages")
        reader, writer = os.pipe()
        command = ["timeout", str(timeout), "valgrind", "--tool=lackey", "--trace-mem=yes",
                   "--fair-sched=try", f"--log-fd={writer}", str(path), *arguments]
        with open(out, "wb") as stdout, open(messages, "wb") as stderr:
            child = subprocess.Popen(command, stdout=stdout, stderr=stderr, pass_fds=(writer,))
        os.close(writer)
        try:
            turns = turns_of(reader, messages, line_bytes)
        finally:
            os.close(reader)
            code = child.wait()
        said = messages.read_text()
        if code != 0:
            raise RuntimeError(f"exit code {code}; {said.strip()[-300:]}")
        return turns, said, json.loads(out.read_text())


class Names:
    """What lies at an address of the process that has ended."""

    def __init__(self, said):
        self.maps, self.bases, self.symbols, self.code = [], {}, {}, {}
        for found in re.finditer(r"^map (\w+)-(\w+) (\S+) (\w+) \S+ \d+ *(.*)$", said, re.M):
            low, high, offset = (int(found[at], 16) for at in (1, 2, 4))
            self.maps.append((low, high, found[3], found[5]))
            if offset == 0 and found[5].startswith("/"):
                self.bases.setdefault(found[5], low)
        self.starts = [low for low, *_ in self.maps]

    def mapping(self, address):
        """(file or what the kernel calls it, offset), of the mapping that holds it; the zeros behind a file's
        data count as the file's."""
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0 or address >= self.maps[at][1]:
            return "unmapped", address
        low, _, _, name = self.maps[at]
        if not name and at > 0 and self.maps[at - 1][1] == low and self.maps[at - 1][3] in self.bases:
            name = self.maps[at - 1][3]
        return name or "anonymous memory", address - self.bases.get(name, low)

    def symbol_of(self, file, offset, line_bytes):
        """The symbols that have bytes in the line at this offset."""
        if file not in self.symbols:
            text = run.output_of("nm", "-C", "-S", "--defined-only", file)
            text = text or run.output_of("nm", "-D", "-C", "-S", "--defined-only", file)
            self.symbols[file] = [(int(m[1], 16), int(m[2], 16), m[3])
                                  for m in re.finditer(r"^(\w+) (\w+) [bBdDrRuVvtTwW] (.*)$", text, re.M)]
        return sorted({name for low, size, name in self.symbols[file]
                       if low < offset + line_bytes and offset < low + size})

    def place(self, address, line_bytes):
        file, offset = self.mapping(address)
        if file not in self.bases:
            return file
        symbols = self.symbol_of(file, offset, line_bytes)
        if not symbols and not self.maps[bisect.bisect_right(self.starts, address) - 1][3]:
            return "anonymous memory"  # beside a file's, but not its own
        return f"{pathlib.Path(file).name} +{offset:#x}" + (f" ({', '.join(symbols)})" if symbols else "")

    def function(self, address):
        if address not in self.code:
            file, offset = self.mapping(address)
            text = run.output_of("addr2line", "-C", "-f", "-s", "-e", file, hex(offset)).splitlines()
            if len(text) < 2 or text[0] == "??":
                text = [f"{pathlib.Path(file).name}+{offset:#x}", ""]
            name = text[0].replace("(anonymous namespace)::", "").partition("(")[0]
            self.code[address] = f"{name} {text[1].partition(' ')[0]}".strip()
        return self.code[address]


def check_undisturbed(turns, said):
    frames = [int(frame, 16) for frame in re.findall(r"^frame 0x(\w+)$", said, re.M)]
    for k, turn in enumerate(turns):
        for sleeper, frame in enumerate(frames):
            own = range((frame - FRAMES) // turn.line_bytes, frame // turn.line_bytes)
            if sleeper != k and any(line in turn.times for line in own):
                raise Disturbed(f"thread {sleeper} was awake in the turn of stream {k}")


def groups_of(lines, turns, names):
    """Lines at one place that the same functions touch are one group. Memory that belongs to no file is one
    place, so a group there is the same part of many stacks or units."""
    groups = {}
    for line in lines:
        address = line * turns[0].line_bytes
        place = names.place(address, turns[0].line_bytes)
        readers = [sorted({names.function(at) for at in turn.read.get(line, ())}) for turn in turns]
        writers = [sorted({names.function(at) for at in turn.written.get(line, ())}) for turn in turns]
        key = (place, str(readers), str(writers))
        group = groups.setdefault(key, {"place": place, "address": hex(address), "lines": 0,
                                        "accesses": [0] * STREAMS, "readers": readers, "writers": writers})
        group["lines"] += 1
        group["accesses"] = [before + turn.times[line] for before, turn in zip(group["accesses"], turns)]
    return sorted(groups.values(), key=lambda group: -group["lines"])


def count(path, form, sizes, line_bytes, timeout):
    turns, said, result = accesses(path, suites.arguments_of(sizes, form), line_bytes, timeout)
    check_undisturbed(turns, said)
    ops = result["ops"] / STREAMS
    if any(sum(turn.times.values()) < 10 * ops for turn in turns):
        raise RuntimeError("the turns are not in the list of accesses")
    first, second = turns
    both = first.touched() & second.touched()
    moving = sorted(line for line in both if line in first.written or line in second.written)
    names = Names(said)
    return {
        "ops": ops,
        "lines": [len(turn.touched()) for turn in turns],
        "written": [len(turn.written) for turn in turns],
        "only_read_by_both": len(both) - len(moving),
        "accesses_per_op": sum(turn.times[line] for turn in turns for line in moving) / result["ops"],
        "moving": len(moving),
        "groups": groups_of(moving, turns, names),
    }


def row_of(peer, path, form, sizes, options):
    row = {"workload": "shared_lines", "peer": peer, "form": form, "sizes": sizes, "attempts": 0}
    while row["attempts"] < ATTEMPTS:
        row["attempts"] += 1
        try:
            return {**row, **count(path, form, sizes, options.line, options.timeout), "error": None}
        except Disturbed as error:
            row["error"] = str(error)
        except (RuntimeError, ValueError, OSError) as error:
            row["error"] = str(error)
            break
    return row


def print_table(rows, line_bytes):
    lines = [["peer", "form", "n", "units/stream", "lines 1", "lines 2", "moving", "accesses/op",
              "read by both", ""]]
    for row in rows:
        cells = [row["peer"], row["form"], str(row["sizes"]["n"])]
        if row["error"]:
            lines.append(cells + ["-"] * 6 + [f"FAILED: {row['error']}"])
            continue
        lines.append(cells + [f"{row['ops']:.0f}", *map(str, row["lines"]), str(row["moving"]),
                              f"{row['accesses_per_op']:.2f}", str(row["only_read_by_both"]), ""])
    title = f"lines of {line_bytes} bytes that one stream wrote and the other touched"
    print(report.layout(title, lines, (0, 1, 9)))
    for row in rows:
        for group in row.get("groups", ())[:MOST_GROUPS]:
            print(f"\n{row['peer']} {row['form']} n={row['sizes']['n']}: {group['lines']} lines, first "
                  f"{group['address']}, {group['place']}, {' + '.join(map(str, group['accesses']))} accesses")
            for verb, key in (("written", "writers"), ("read", "readers")):
                for k, functions in enumerate(group[key]):
                    if functions:
                        print(f"  {verb} by stream {k + 1}: {', '.join(functions)}")


def wrong(rows, peer):
    """Why this peer fails: a stream's lines move, or the control's do not."""
    own = [row for row in rows if row["peer"] == peer]
    reasons = [] if own else [f"{peer}: nothing was counted"]
    for row in own:
        name = f"{peer} {row['form']} n={row['sizes']['n']}"
        if row["error"]:
            reasons.append(f"{name}: {row['error']}")
        elif row["form"] == CONTROL:
            if not any("common_counter" in group["place"] for group in row["groups"]):
                reasons.append(f"{name}: the shared counter was not found")
        elif row["moving"]:
            reasons.append(f"{name}: {row['moving']} lines move")
    return reasons


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, default=run.default_bin(), help="folder of the programs")
    parser.add_argument("--quick", action="store_true", help="one small size")
    parser.add_argument("--only", default="", help="regular expression over peer.form")
    parser.add_argument("--line", type=int, default=64, help="bytes of a line; 128: what is fetched in pairs")
    parser.add_argument("--require-none", metavar="PEER",
                        help="fail if lines of this peer move; writes no results file")
    run.add_results(parser)
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of one program")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if not options.require_none:
        run.require_clean(options)
    if not shutil.which("valgrind"):
        print("no valgrind")
        return SKIPPED
    start = datetime.datetime.now(datetime.timezone.utc)
    only = options.only or (re.escape(options.require_none) + r"\." if options.require_none else "")
    bin_dir = options.bin.resolve()
    data = {**run.facts("shared_lines", start, bin_dir), "quick": options.quick, "line": options.line,
            "valgrind": run.output_of("valgrind", "--version")}
    rows = [row_of(peer, path, form, sizes, options)
            for (workload, peer), path in run.programs(bin_dir).items() if workload == "shared_lines"
            for form in run.forms_of(path) if re.search(only, f"{peer}.{form}")
            for sizes in (QUICK if options.quick or form == CONTROL else SIZES)]
    if not rows:
        sys.exit("nothing to run")
    print_table(rows, options.line)
    if options.require_none:
        reasons = wrong(rows, options.require_none)
        print("\n".join(["", *reasons]) if reasons else "\nnone, and the control's was found")
        return 1 if reasons else 0
    data.update(seconds=(datetime.datetime.now(datetime.timezone.utc) - start).total_seconds(), results=rows)
    print(f"\nraw results: {run.write_results(options, 'shared_lines', start, data)}.json")
    return 1 if any(row["error"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
