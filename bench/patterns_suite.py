# SPDX-License-Identifier: MIT
"""The suite "patterns": figures 8 to 13 of "Analysis of Threading Libraries for High Performance Computing",
on one to 36 workers; patterns/workload.hpp says what each pattern is."""

PATTERNS = {
    "create": "Fig. 8: creating one unit a worker",
    "join": "Fig. 9: joining one unit a worker",
    "for_loop": "Fig. 10: a loop of 1,000 iterations",
    "single": "Fig. 11: 1,000 tasks created by one",
    "parallel": "Fig. 12: 1,000 tasks created by all",
    "nested": "Fig. 13: a loop in a loop, 1,000 iterations each",
}
FIGURE = {name: f"fig{number}-{name}" for number, name in enumerate(PATTERNS, start=8)}
WORKERS = (1, 2, 4, 8, 18, 36)
PEERS = ("weft", "weft-abt", "argobots", "qthreads", "massivethreads", "openmp", "openmp_llvm", "onetbb",
         "go", "pthreads")
# Of the paper's libraries, the one that no distribution packages.
NOT_FOUND = ("Converse Threads",)

# With one worker they run a task at once and never queue it: shown, and not compared with.
CUT_OFF_WITH_ONE = {"openmp", "openmp_llvm"}

_VARIANTS = (
    *(f"{unit}_{how}" for unit in ("thread", "tasklet") for how in ("private", "shared", "stealing", "wait")),
    "fork", "parallel_for", "thread", "tasklet", "to", "tasklet_to", "work_first", "help_first", "active",
    "passive",
)

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.25


def _case(pattern, workers):
    return {
        "name": f"{pattern}-{workers}", "workload": "patterns",
        "title": f"{PATTERNS[pattern]}, {workers} workers",
        "peers": PEERS, "forms": tuple(f"{pattern}.{variant}" for variant in _VARIANTS), "log": True,
        "sizes": {"n": 1000, "rounds": 20, "repeats": 40, "workers": workers},
        "quick": {"repeats": 20} if workers <= 4 else None,
        # More workers than cores, and peers that spin: some rounds take seconds, and repeat well enough.
        "timeout": 5, "once_above": 0.5, "others_below": QUIET,
    }


CASES = [_case(pattern, workers) for pattern in PATTERNS for workers in WORKERS]
