# SPDX-License-Identifier: MIT
"""What is run, at which size. A suite is a list of cases; a case runs a workload with every peer that has it.

A case: name, workload, title, sizes (n, rounds, repeats, workers: the programs' options), quick (what
--quick changes); optional: peers, forms (only these), per_peer (sizes that differ, or None to leave it out;
the key is a peer or "peer.form"), log (the plot's axis). Sizes that differ are for peers so slow that the
common size would take minutes.
"""

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

SUITES = {"core": CORE}

# Sizes for callgrind: small, since a run is fifty times slower there; "rounds" are those of the two runs. A
# workload that is absent is not counted.
_INSTRUCTIONS = {
    "create_join": {"n": 4096, "rounds": (2, 6), "repeats": 1},
    "yield": {"n": 10000, "rounds": (1, 3), "repeats": 1},
    "switch_to": {"n": 10000, "rounds": (1, 3), "repeats": 1},
    "fib": {"n": 18, "rounds": (1, 3), "repeats": 1},
    "mutex": {"n": 10000, "rounds": (1, 3), "repeats": 1},
}

# No stable count: kernel threads, other kernel threads that spin meanwhile, or a runtime valgrind cannot run.
_UNCOUNTED = {"std_async", "go", "pthreads"}
_COUNTED_ANYWAY = {("mutex", "pthreads")}

# Floors: shown, but not what "x best" compares with. A call; libgomp, which runs a task at once when there is
# one thread.
_FLOORS = {("fib", "serial"), ("create_join", "openmp")}

# Units without a stack of their own; they are compared among each other.
_TASKLETS = {"tasklet", "tasklet_created"}

# Of a core, while there is nothing to do: who polls wakes at once, and pays for it all the time.
_BUSY_ABOVE = 0.25


def sizes_of(case, peer, form, quick):
    """The sizes of one peer's form in one case; None if it is left out."""
    overrides = case.get("per_peer", {})
    own = overrides.get(f"{peer}.{form}", overrides.get(peer, {}))
    if own is None:
        return None
    sizes = {**case["sizes"], **(case.get("quick", {}) if quick else {})}
    for name, value in own.items():
        sizes[name] = min(value, sizes.get(name, value)) if quick else value
    return sizes


def instruction_sizes(workload, peer):
    """The sizes for counting instructions; None if this peer is not counted."""
    if peer in _UNCOUNTED and (workload, peer) not in _COUNTED_ANYWAY:
        return None
    return _INSTRUCTIONS.get(workload)


def is_floor(workload, peer):
    return (workload, peer) in _FLOORS


def kind_of(row):
    """Results of one kind are compared with each other."""
    if row.get("extras", {}).get("idle_cpu", 0) > _BUSY_ABOVE:
        return "busy"
    if row["form"] in _TASKLETS:
        return "tasklet"
    return "spin" if row["form"] == "spin" else "thread"


def case_of(suite, name):
    return next((case for case in SUITES.get(suite, ()) if case["name"] == name), {})
