# SPDX-License-Identifier: MIT
"""What is run, at which size. A suite is a list of cases; a case runs a workload with every peer that has it.

A case: name, workload, title, sizes (n, rounds, repeats, workers: the programs' options), quick (what
--quick changes, or None to leave the case out); optional: peers, forms (only these), per_peer (sizes that
differ, or None to leave it out; the key is a peer or "peer.form"), environment (of a form; "*": of all),
goals (of a form, for the table of goals), log (the plot's axis). Sizes that differ are for peers so slow that
the common size would take minutes. timeout (seconds), once_above (who takes longer is run once, whatever the
passes), others_below (cores; a pass during which other processes used more is repeated), needs (environment
variables without which the case is left out), counted (False: its instructions are those of another case),
examined (forms whose instructions are counted by file, and their cache misses), ours (True: one that fails is our
failure, whichever peer's program it is).
"""

import os
import pathlib

import applications_suite
import delegation_suite
import hand_over_suite
import io_suite
import lateness_suite
import openmp_suite
import packing_suite
import patterns_suite
import preemption_suite
import priorities_suite
import techniques_suite
import tls_blocks_suite

_REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

# Weft behind another library's interface. They run where a case names them.
FRONTS = {"weft-abt"}
# What is Weft is not what "x best" compares with.
OURS = {"weft", *FRONTS}

# A kernel thread a unit.
_THREADS = ("pthreads", "std_async")

CORE = [
    {
        "name": "create_join-64", "workload": "create_join", "title": "create + join + free, N=64",
        "sizes": {"n": 64, "rounds": 1500, "repeats": 5}, "quick": {"rounds": 300, "repeats": 3},
        "per_peer": {peer: {"rounds": 10} for peer in _THREADS},
    },
    {
        "name": "create_join-4096", "workload": "create_join", "title": "create + join + free, N=4096",
        "sizes": {"n": 4096, "rounds": 40, "repeats": 5}, "quick": {"rounds": 8, "repeats": 3},
        "per_peer": {peer: None for peer in _THREADS},
    },
    {
        # MassiveThreads, parent-first, runs into vm.max_map_count.
        "name": "create_join-262144", "workload": "create_join", "title": "create + join + free, N=262144",
        "sizes": {"n": 262144, "rounds": 1, "repeats": 5}, "quick": {"repeats": 1},
        "per_peer": {**{peer: None for peer in _THREADS}, "boost_fiber": None,
                     "massivethreads.parent_first": None},
    },
    {
        "name": "yield", "workload": "yield", "title": "yield between two threads, one worker",
        "sizes": {"n": 100000, "rounds": 5, "repeats": 5}, "quick": {"rounds": 2, "repeats": 3},
        "per_peer": {"pthreads": {"n": 10000}},
    },
    {
        "name": "switch_to", "workload": "switch_to", "title": "switch to a named thread",
        "sizes": {"n": 100000, "rounds": 5, "repeats": 5}, "quick": {"rounds": 2, "repeats": 3},
    },
    {
        "name": "fib-1", "workload": "fib", "title": "fib, a spawn, 1 worker",
        "sizes": {"n": 35, "rounds": 1, "repeats": 1, "workers": 1}, "quick": {"n": 24},
        "per_peer": {"std_async": {"n": 12}, "qthreads": {"n": 22}, "boost_fiber": {"n": 22},
                     "go": {"n": 28}},
    },
    {
        "name": "fib-2", "workload": "fib", "title": "fib, a spawn, 2 workers",
        "sizes": {"n": 35, "rounds": 1, "repeats": 1, "workers": 2}, "quick": {"n": 24},
        "per_peer": {"std_async": None, "qthreads": {"n": 22}, "boost_fiber": None, "go": {"n": 28},
                     "openmp": {"n": 30}, "openmp_llvm": {"n": 30}},
    },
    {
        "name": "mutex", "workload": "mutex",
        "title": "lock + unlock, uncontended, two kernel threads alive",
        "sizes": {"n": 1000000, "rounds": 2, "repeats": 5}, "quick": {"n": 200000, "repeats": 3},
    },
    {
        "name": "memory-created", "workload": "memory", "title": "resident bytes a thread, created",
        "forms": ("created", "tasklet_created"), "sizes": {"n": 100000}, "quick": {"n": 20000},
    },
    {
        "name": "memory-blocked", "workload": "memory", "title": "resident bytes a thread, blocked once",
        "forms": ("blocked",), "sizes": {"n": 100000}, "quick": {"n": 20000},
        "per_peer": {"pthreads": {"n": 2000}},
    },
    {
        "name": "wakeup", "workload": "wakeup", "title": "push to run on an idle worker", "log": True,
        "sizes": {"n": 200, "workers": 2}, "quick": {"n": 40},
    },
]

# The figures of the Argobots paper (TPDS 2018), and what is asked of Weft's libabt beside Argobots.
_ABT = ("argobots", "weft-abt")

# A library that takes memory from malloc gets huge pages from it, also where the kernel wants to be asked.
_HUGE = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
_HUGE_FORMS = ("huge_pages", "join_each", "join_each_lifo", "join_many", "private_pool", "no_migration",
               "tasklet")


def _phases(exponent):
    n = 1 << exponent
    return {
        "name": f"phases-{n}", "workload": "phases", "title": f"create, join and free apart, N={n}",
        "peers": _ABT, "environment": {form: _HUGE for form in _HUGE_FORMS},
        "sizes": {"n": n, "rounds": max((1 << 17) // n, 1), "repeats": 3},
        "quick": {"rounds": max((1 << 14) // n, 1)} if exponent in (6, 10, 14) else None,
    }


def _streams(workers):
    return {
        "name": f"streams-{workers}", "workload": "streams",
        "title": f"a root a stream, batches of 256, {workers} streams",
        "peers": (*_ABT, "qthreads", "massivethreads"),
        "sizes": {"n": 256, "rounds": 400, "repeats": 5, "workers": workers},
        "quick": {"rounds": 50, "repeats": 2} if workers <= 2 else None,
    }


_WAKE_WITHIN = {"ns": 50_000}

ARGOBOTS = [
    {
        "name": f"create_join-{n}", "workload": "create_join", "title": f"create + join + free, N={n}",
        "peers": _ABT, "sizes": {"n": n, "rounds": (1 << 17) // n, "repeats": 5},
        "quick": {"rounds": (1 << 14) // n, "repeats": 3},
        "goals": {"thread": {"instructions": 180, "ratio": 0.4}, "create_many": {"instructions": 150},
                  "tasklet": {"instructions": 95}},
    }
    for n in (64, 4096)
] + [
    {
        "name": "yield", "workload": "yield", "title": "yield between two threads, one stream", "peers": _ABT,
        "sizes": {"n": 100000, "rounds": 5, "repeats": 5}, "quick": {"rounds": 2, "repeats": 3},
        "goals": {"thread": {"instructions": 75, "ratio": 0.4}},
    },
    {
        "name": "switch_to", "workload": "switch_to", "title": "switch to a named thread", "peers": _ABT,
        "sizes": {"n": 100000, "rounds": 5, "repeats": 5}, "quick": {"rounds": 2, "repeats": 3},
        "goals": {"yield_to": {}, "self_yield_to": {"instructions": 60}, "suspend_to": {"instructions": 55}},
    },
    {
        "name": "units", "workload": "units", "title": "a unit made and gone, the other ways", "peers": _ABT,
        "sizes": {"n": 10000, "rounds": 10, "repeats": 5}, "quick": {"rounds": 2, "repeats": 3},
        # What Argobots takes in its least form.
        "goals": {"create_to": {"instructions": 361}, "unnamed": {"instructions": 312},
                  "unnamed_tasklet": {"instructions": 202}, "revive": {"instructions": 358},
                  "revive_tasklet": {"instructions": 340}, "fifo": {"instructions": 415},
                  "fifo_tasklet": {"instructions": 400}, "randws": {"instructions": 419},
                  "randws_tasklet": {"instructions": 411}},
    },
    {
        "name": "mutex", "workload": "mutex", "title": "lock + unlock, uncontended, two kernel threads alive",
        "peers": _ABT,
        "sizes": {"n": 1000000, "rounds": 2, "repeats": 5}, "quick": {"n": 200000, "repeats": 3},
        "goals": {"mutex": {"ratio": 0.7}},
    },
    {
        "name": "wakeup", "workload": "wakeup", "title": "push to run on an idle stream", "log": True,
        "peers": _ABT, "sizes": {"n": 200, "workers": 2}, "quick": {"n": 40},
        "goals": {"push": _WAKE_WITHIN, "push_wait": _WAKE_WITHIN},
    },
    {
        "name": "idle_join", "workload": "idle_join", "log": True,
        "title": "join of an idle stream, or of a unit pushed to one", "peers": _ABT,
        "sizes": {"n": 100, "workers": 2}, "quick": {"n": 10},
        "per_peer": {"argobots.stream_wait": {"n": 10}},  # a tenth of a second each
        "goals": {form: _WAKE_WITHIN for form in ("stream", "stream_wait", "unit", "unit_wait")},
    },
] + [_phases(exponent) for exponent in range(6, 20, 2)] + [_streams(workers) for workers in (1, 2, 4, 8)]

SUITES = {"applications": applications_suite.CASES, "argobots": ARGOBOTS, "core": CORE,
          "delegation": delegation_suite.CASES,
          "hand_over": hand_over_suite.CASES, "io": io_suite.CASES, "lateness": lateness_suite.CASES,
          "openmp": openmp_suite.CASES, "packing": packing_suite.CASES, "patterns": patterns_suite.CASES,
          "preemption": preemption_suite.CASES, "priorities": priorities_suite.CASES, "techniques": techniques_suite.CASES,
          "tls_blocks": tls_blocks_suite.CASES}

# How often each program is run: quick, and else.
_PASSES = {"applications": (1, 3), "delegation": (1, 3), "hand_over": (1, 3), "io": (1, 3), "lateness": (1, 1),
           "openmp": (1, 3), "packing": (1, 2), "patterns": (2, 3), "preemption": (1, 3),
           "priorities": (1, 3), "techniques": (1, 3)}

_N = {"workload": "phases", "x": "n", "x_label": "threads"}
_STREAMS = {"workload": "streams", "x": "workers", "x_label": "streams"}
_PARTS = ("create", "join", "free")

# Line plots over the cases of one workload: a panel for each of `parts` (a name of an extra figure; None: the
# median), a line for each peer and form. Cases that stand in one have no bars of their own.
FIGURES = {
    "argobots": [
        {"name": "fig3", "title": "Fig. 3: baseline", "forms": ("malloc_stacks",), "parts": _PARTS, **_N},
        {"name": "fig4", "title": "Fig. 4: memory pools and huge pages", "parts": _PARTS,
         "forms": ("malloc_stacks", "mempool", "huge_pages"), **_N},
        {"name": "fig7", "title": "Fig. 7: join", "parts": ("join",),
         "forms": ("huge_pages", "join_each", "join_each_lifo", "join_many"), **_N},
        {"name": "fig8", "title": "Fig. 8: private pool, no migration", "parts": _PARTS,
         "forms": ("join_many", "private_pool", "no_migration"), **_N},
        {"name": "fig9", "title": "Fig. 9: baseline and everything switched on", "parts": _PARTS,
         "forms": ("malloc_stacks", "no_migration", "tasklet"), **_N},
        {"name": "fig10", "title": "Fig. 10: create and join; time, and CPU time of the process",
         "parts": (None, "cpu"), "forms": ("thread", "tasklet", "parent_first"), **_STREAMS},
        {"name": "fig11", "title": "Fig. 11: create and join, batches of 256",
         "parts": ("least", "mean", "most"), "forms": ("thread",), **_STREAMS},
        {"name": "fig12", "title": "Fig. 12: yield; time, and CPU time of the process",
         "parts": (None, "cpu"), "forms": ("yield", "yield_to"), **_STREAMS},
    ],
}

# Sizes for callgrind: small, since a run is fifty times slower there; "rounds" are those of the two runs. A
# workload that is absent is not counted.
_INSTRUCTIONS = {
    "create_join": {"n": 4096, "rounds": (2, 6), "repeats": 1},
    "yield": {"n": 10000, "rounds": (1, 3), "repeats": 1},
    "switch_to": {"n": 10000, "rounds": (1, 3), "repeats": 1},
    "fib": {"n": 18, "rounds": (1, 3), "repeats": 1},
    "mutex": {"n": 10000, "rounds": (1, 3), "repeats": 1},
    "delegation": {"n": 64, "rounds": (1, 3), "repeats": 1, "workers": 1},
    "phases": {"n": 1024, "rounds": (2, 6), "repeats": 1},
    "promotion": {"n": 10000, "rounds": (1, 3), "repeats": 1},
    "recursion": {"n": 16, "rounds": (1, 3), "repeats": 1},
    "techniques": {"n": 4096, "rounds": (2, 6), "repeats": 1},
    "units": {"n": 2000, "rounds": (1, 3), "repeats": 1},
}

# No stable count: kernel threads, other kernel threads that spin meanwhile, or a runtime valgrind cannot run.
_UNCOUNTED = {"std_async", "go", "pthreads"}
_COUNTED_ANYWAY = {("mutex", "pthreads")}

# Floors: shown, but not what "x best" compares with. A call; libgomp, which runs a task at once when there is
# one thread.
_FLOORS = {("fib", "serial"), ("create_join", "openmp")}

# Units without a stack of their own; they are compared among each other.
_TASKLETS = {"tasklet", "tasklet_created"}

# Workloads whose forms are different operations.
_ALIKE_BY_FORM = {"phases", "idle_join"}

# Of a core, while there is nothing to do: who polls wakes at once, and pays for it all the time.
_BUSY_ABOVE = 0.25


def sizes_of(case, peer, form, quick):
    """The sizes of one peer's form in one case; None if it is left out."""
    overrides = case.get("per_peer", {})
    own = overrides.get(f"{peer}.{form}", overrides.get(peer, {}))
    if own is None or (quick and case.get("quick", {}) is None):
        return None
    sizes = {**case["sizes"], **(case.get("quick", {}) if quick else {})}
    for name, value in own.items():
        sizes[name] = min(value, sizes.get(name, value)) if quick else value
    return sizes


def arguments_of(sizes, form):
    """The programs' options."""
    words = ["--form", form]
    for name in ("n", "rounds", "repeats", "workers"):
        if name in sizes:
            words += [f"--{name}", str(sizes[name])]
    return words


def environment_of(case, form):
    """What a case adds to the environment of a form's program."""
    added = case.get("environment", {})
    return {**added.get("*", {}), **added.get(form, {})}


def environment_with(added):
    """`{repository}` in a value is this tree's folder: results say it so, wherever they were measured."""
    return {**os.environ, **{name: value.replace("{repository}", str(_REPOSITORY)) for name, value in added.items()}}


def passes_of(suite, quick):
    return _PASSES.get(suite, (2, 5))[0 if quick else 1]


def instruction_sizes(workload, peer):
    """The sizes for counting instructions; None if this peer is not counted."""
    if peer in _UNCOUNTED and (workload, peer) not in _COUNTED_ANYWAY:
        return None
    return _INSTRUCTIONS.get(workload)


def has_peer(case, peer):
    return peer in case["peers"] if case.get("peers") else peer not in FRONTS


def is_floor(workload, peer):
    return (workload, peer) in _FLOORS


def kind_of(row):
    """Results of one kind are compared with each other."""
    if row.get("extras", {}).get("idle_cpu", 0) > _BUSY_ABOVE:
        return "busy"
    if row["workload"] in _ALIKE_BY_FORM:
        return row["form"]
    if row["workload"] == "streams" and row["form"].startswith("yield"):
        return "yield"
    if row["form"] in _TASKLETS:
        return "tasklet"
    return "spin" if row["form"] == "spin" else "thread"


def case_of(suite, name):
    return next((case for case in SUITES.get(suite, ()) if case["name"] == name), {})
