# SPDX-License-Identifier: MIT
"""Runs programs of other people's test suites on the C library, and, where they pass, with a library preloaded."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess

import results

UNSUPPORTED, CRASHED = "unsupported", "crashed"


def say(text):
    print(text, flush=True)


def arguments_of(description, folder):
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("source", type=lambda s: pathlib.Path(s).resolve())
    p.add_argument("preload", type=os.path.abspath)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--only", default="", help="a pattern for names")
    p.add_argument("--timeout", type=float, default=120, help="seconds a test may take")
    p.add_argument("--keep", type=lambda s: pathlib.Path(s).resolve(), default=pathlib.Path(folder))
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--twice", action="store_true", help="a test must pass twice with the library")
    results.add_arguments(p)
    return p.parse_args()


def end_session(session):
    """Ends all processes of a session that this script has started."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(fields[3]) == session:
                os.kill(int(entry.name), signal.SIGKILL)
        except (OSError, IndexError, ValueError):
            pass


class Suite:
    """build(case) -> the program's path, or None; words(case), environment(case): what it is run with; judge(status, text) -> "passed",
    "failed", UNSUPPORTED, CRASHED or "timeout"; name: of its results. A case is (name, path of its source)."""

    def __init__(self, name, arguments, build, judge, words=lambda case: [], environment=lambda case: {}):
        self.arguments, self.build, self.judge, self.words, self.environment = arguments, build, judge, words, environment
        self.folder = arguments.keep
        results.begin(arguments, name, arguments.preload)
        self.folder.mkdir(parents=True, exist_ok=True)

    def run_once(self, case, program, library):
        """What the judge says, and the last words."""
        environment = dict(os.environ, LC_ALL="C", **self.environment(case))
        if library:
            environment.update(LD_PRELOAD=library, WEFT_WORKERS=str(self.arguments.workers))
        log = self.folder / (case[0] + (".preloaded.log" if library else ".libc.log"))
        work = self.folder / (case[0] + ".work")
        work.mkdir(exist_ok=True)
        with open(log, "w") as output:
            process = subprocess.Popen([str(program), *self.words(case)], env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, start_new_session=True, cwd=work)
            try:
                status = process.wait(self.arguments.timeout)
            except subprocess.TimeoutExpired:
                status = None
        end_session(process.pid)
        process.wait()
        text = log.read_text(errors="replace")
        if status is None:
            result = "timeout"
        elif status < 0:
            result = CRASHED
        else:
            result = self.judge(status, text)
        return result, " | ".join(text.strip().split("\n")[-2:])[:160]

    def run(self, case):
        program = self.build(case)
        if program is None:
            return case[0], "not compiled", ""
        known = self.folder / (case[0] + ".on_libc")
        if not known.exists():
            known.write_text(self.run_once(case, program, None)[0])
        if known.read_text() != "passed":
            return case[0], "not on the C library: " + known.read_text(), ""
        for _ in range(2 if self.arguments.twice else 1):
            result, last = self.run_once(case, program, self.arguments.preload)
            if result != "passed":
                break
        return case[0], result, last

    def run_all(self, cases):
        """Says what does not pass, and the sums; 1 if one has crashed."""
        sums, others = {}, {}
        cases = [c for c in cases if re.search(self.arguments.only, c[0])]
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            for name, result, last in pool.map(self.run, cases):
                kind = result.split(":")[0]
                sums[kind] = sums.get(kind, 0) + 1
                if result != "passed":
                    others[name] = result
                    say(f"{name}: {result}  {last}")
        counted = sum(n for kind, n in sums.items() if kind not in ("not compiled", "not on the C library"))
        say(f"{sums.get('passed', 0)} of {counted} that pass on the C library; " +
            ", ".join(f"{n} {kind}" for kind, n in sorted(sums.items()) if kind != "passed"))
        if self.arguments.out:
            said = {key: getattr(self.arguments, key) for key in ("workers", "twice", "jobs", "timeout")}
            say("results: " + results.write(self.arguments, {
                **said, "source": self.arguments.source.name, "sums": {**sums, "counted": counted}, "not_passed": others}))
        return 1 if sums.get(CRASHED) else 0
