# SPDX-License-Identifier: MIT
"""The suite "techniques": the figures of "Analyzing the Performance Trade-Off in Implementing User-Level
Threads". techniques/workload.hpp says what is done; D, of a hundred threads, are those that yield once."""

# Parent first and child first, in the order of the tables. RtC is Weft's tasklet.
PARENT_FIRST = ("RtC", "automatic", "inline join", "SC", "SS-L", "SS", "RoC-L", "RoC", "Full-L", "Full")
CHILD_FIRST = ("C-Full", "C-Full-E", "C-RoC", "C-RoC-E")
TECHNIQUES = (*PARENT_FIRST, *CHILD_FIRST)
# What the techniques are compared with: libraries through abt.h, whose threads are of one technique.
PEERS = ("weft", "weft-abt", "argobots")
OF_PEER = {"weft-abt": "Weft's libabt", "argobots": "Argobots"}

DEVIATIONS = (0, 1, 2, 5, 10, 20, 50, 100)
REPLICAS = (1, 2, 4, 8, 16, 32, 64)
WORKERS = (1, 2)

# Goals for instructions: (technique, D) -> a number, or (technique or "best", instructions more). The best is
# that of the fixed techniques with all capabilities, which are all but RtC and automatic.
GOALS = {
    ("RtC", 0): 75, ("SC", 0): ("RtC", 3), ("inline join", 0): ("RtC", 28), ("SS-L", 0): 105,
    ("RoC-L", 0): 120, ("Full", 0): 150, ("C-RoC-E", 0): 120, ("C-Full", 0): 150,
    ("automatic", 0): ("best", 5), ("Full", 100): 260, ("inline join", 100): ("Full", 0),
}
FIXED = tuple(name for name in TECHNIQUES if name not in ("RtC", "automatic"))
# automatic, divided by the best fixed technique, at every D.
WITHIN = 1.1
# Of memory, at D=0 with 65,536 threads: for those that have a stack only while they run.
MEMORY_GOAL_KB = 25_000
REUSES_STACKS = ("RtC", "automatic", "inline join", "SC", "SS-L", "RoC-L", "Full-L", "C-Full-E", "C-RoC-E")

# Of a core: what others may use while a program runs, for its time to count.
QUIET = 0.5

# The paper's size, for all but its FMM.
STACKS = {"WEFT_STACK_SIZE": "16384", "ABT_THREAD_STACKSIZE": "16384"}
_LARGE_STACKS = {"WEFT_STACK_SIZE": "65536", "ABT_THREAD_STACKSIZE": "65536"}


def _forms(names, values):
    return tuple(f"{name}.{value}" for name in (*names, "ult") for value in values)


def _threads(exponent):
    n = 1 << exponent
    return {
        "name": f"threads-{n}", "workload": "techniques", "title": f"create + join + free, N={n}",
        "peers": PEERS, "forms": _forms(TECHNIQUES, (0, 100)), "environment": {"*": STACKS},
        "sizes": {"n": n, "rounds": (1 << 19) // n, "repeats": 2}, "counted": False, "others_below": QUIET,
        "quick": {"rounds": max((1 << 16) // n, 1)} if exponent in (6, 10, 14) else None,
    }


def _kmeans(workers):
    # One worker never finds a lock taken, so there r costs memory only.
    replicas = REPLICAS if workers > 1 else REPLICAS[::len(REPLICAS) - 1]
    return {
        "name": f"kmeans-{workers}", "workload": "kmeans", "title": f"KMeans, {workers} workers",
        "peers": PEERS, "forms": _forms(TECHNIQUES, replicas), "environment": {"*": STACKS},
        "needs": ("WEFT_KMEANS_DATA",),
        # Fewer than the paper's 494,021 points, so that there is time for several runs; a million threads.
        "sizes": {"n": 200_000, "rounds": 1, "repeats": 1, "workers": workers},
        "quick": {"n": 20_000} if workers == WORKERS[-1] else None, "once_above": 5,
    }


def _fmm(workers):
    return {
        "name": f"fmm-{workers}", "workload": "fmm", "title": f"FMM, {workers} workers",
        "peers": PEERS, "forms": (*TECHNIQUES, "ult", "serial"), "environment": {"*": _LARGE_STACKS},
        "sizes": {"n": 524_288, "rounds": 1, "repeats": 1, "workers": workers},
        "quick": {"n": 20_000}, "once_above": 30,
    }


def _recursion(program, n, quick, workers):
    return {
        "name": f"{program}-{workers}", "workload": "recursion", "title": f"{program}, {workers} workers",
        "peers": ("weft",), "forms": tuple(f"{name}.{program}" for name in TECHNIQUES),
        "sizes": {"n": n, "rounds": 1, "repeats": 3, "workers": workers}, "others_below": QUIET,
        "quick": {"n": quick, "repeats": 1}, "once_above": 5,
    }


CASES = [
    {
        "name": "deviations", "workload": "techniques", "title": "create + join + free, N=4096",
        "peers": PEERS, "examined": _forms(TECHNIQUES, (0, 100)), "environment": {"*": STACKS},
        "sizes": {"n": 4096, "rounds": 128, "repeats": 3}, "quick": {"rounds": 16}, "others_below": QUIET,
    },
    *(_threads(exponent) for exponent in range(6, 20, 2)),
    {
        # Once: the most memory a process has is the same each time.
        "name": "memory", "workload": "techniques", "title": "memory of 65,536 threads", "peers": PEERS,
        "environment": {"*": STACKS}, "sizes": {"n": 65_536, "rounds": 1, "repeats": 1}, "quick": {},
        "counted": False, "once_above": 0,
    },
    {
        "name": "promotion", "workload": "promotion", "title": "how a caller learns of a deviation",
        "peers": ("weft",), "sizes": {"n": 100_000, "rounds": 20, "repeats": 5},
        "quick": {"rounds": 5}, "others_below": QUIET,
    },
    *(_recursion("fib", 30, 20, workers) for workers in WORKERS),
    *(_recursion("uts", 30, 10, workers) for workers in WORKERS),
    *(_kmeans(workers) for workers in WORKERS),
    *(_fmm(workers) for workers in WORKERS),
]
