# SPDX-License-Identifier: MIT
"""The suite "applications": Figures 13a and 13b of "Argobots: A Lightweight Low-Level Threading and Tasking
Framework" (TPDS 2018), XSBench and LeanMD, and Figure 27 of "Analyzing the Performance Trade-Off in
Implementing User-Level Threads" (PPoPP 2018), Graph500 in one process. Each program is our own; a guide page
says how it differs from the paper's: docs/guide/xsbench.md, leanmd.md, graph500.md."""

import techniques_suite

WORKERS = (1, 2)
BUFFERS = (1, 16, 256, 4096)
TECHNIQUES = tuple(name for name in techniques_suite.TECHNIQUES if name != "RtC")  # which may not yield
# Through abt.h, and Weft's own interface.
PEERS = ("weft", "weft-abt", "argobots")

# Seconds with one worker in Fig. 13a, for 15 million lookups.
PAPER_XSBENCH = {"sorted": 47.67, "loop": 50.51, "loop of OpenMP": 51.76}

# Seconds of LeanMD with Charm++, 7 x 7 x 7 cells of 300 atoms, 20 steps, on both of two cores of our machine; and what
# share of it the paper's Fig. 13b has for Argobots: 9.6 of 11.7 s.
CHARM_LEANMD, PAPER_LEANMD = 8.4, 0.82

# Of a core: what others may use while a program runs, for its time to count.
QUIET = 0.25


def _xsbench(size, workers):
    large = size == "large"
    return {
        "name": f"xsbench-{size}-{workers}", "workload": "xsbench",
        "title": f"XSBench, {size}, {workers} workers", "peers": (*PEERS, "openmp"),
        "forms": tuple(f"{how}.{size}" for how in ("sorted", "unsorted", "loop")),
        "sizes": {"n": 400_000 if large else 500_000, "rounds": 1, "repeats": 3, "workers": workers},
        "quick": None if large else {"n": 100_000}, "others_below": QUIET, "timeout": 300, "counted": False,
    }


def _leanmd(workers):
    return {
        "name": f"leanmd-{workers}", "workload": "leanmd", "title": f"LeanMD, 7x7x7 cells, {workers} workers",
        "peers": PEERS, "forms": ("cells.7", "serial.7") if workers == 1 else ("cells.7",),
        "sizes": {"n": 300, "rounds": 20, "repeats": 1, "workers": workers},
        "quick": {"n": 50}, "others_below": QUIET, "timeout": 300, "counted": False,
    }


def _graph500(workers):
    return {
        "name": f"graph500-{workers}", "workload": "graph500", "title": f"Graph500, {workers} workers",
        "peers": (*PEERS, "serial") if workers == 1 else PEERS,
        "forms": tuple(f"{how}.{b}" for how in (*TECHNIQUES, "ult", "call") for b in BUFFERS),
        "environment": {"*": techniques_suite.STACKS},
        "sizes": {"n": 16, "rounds": 1, "repeats": 4, "workers": workers},
        "quick": {"n": 12} if workers == WORKERS[-1] else None, "others_below": QUIET, "once_above": 10,
        "counted": False,
    }


CASES = [
    *(_xsbench(size, workers) for size in ("small", "large") for workers in WORKERS),
    *(_leanmd(workers) for workers in WORKERS),
    *(_graph500(workers) for workers in WORKERS),
]
