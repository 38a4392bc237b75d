# SPDX-License-Identifier: MIT
"""The suite "delegation": figures 9 to 11 of "ComposableThreads: Rethinking User-level Threads with
Composability and Parametricity in C++", on one to eight workers."""

# More workers than cores are shown, and not judged.
WORKERS = (1, 2, 3, 4, 6, 8)
THREADS = (2, 64)

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.25

# What protects the number; Weft's first. A thread that posts waits for its last increment only: no peer has
# that, so it is shown beside the others.
MUTEXES, DELEGATORS, POSTS = ("mutex", "mcs_mutex"), ("delegator_list", "delegator_ring"), ("post_list",
                                                                                            "post_ring")
PEERS = ("weft", "argobots", "massivethreads", "boost_fiber", "pthreads", "go")


def _fetch_and_add(threads, workers, kind):
    convoy = kind == "convoy"
    forms = (*MUTEXES, *DELEGATORS, *POSTS)
    title = "fetch and add, owners yield" if convoy else "Fig. 11: fetch and add"
    return {
        "name": f"{kind}-{threads}-{workers}", "workload": "delegation",
        "title": f"{title}, {threads} threads, {workers} workers", "peers": PEERS,
        "forms": tuple(f"{form}.convoy" for form in forms) if convoy else forms,
        "sizes": {"n": threads, "rounds": 1, "repeats": 9, "workers": workers},
        "quick": {"repeats": 3} if workers <= 2 else None,
        # More workers than cores, and peers that spin: they get no further.
        "timeout": 5, "once_above": 1, "others_below": QUIET,
        # Threads of one worker meet at a lock only where an owner yields; instructions are those of 64.
        "counted": workers == 1 and threads == 64,
    }


def _fib(figure, n, quick, workers, peers):
    return {
        "name": f"fib{n}-{workers}", "workload": "fib",
        "title": f"Fig. {figure}: fib({n}), a spawn, {workers} workers", "peers": peers,
        "forms": ("fork", "thread", "randws", "tasklet"),
        "sizes": {"n": n, "rounds": 1, "repeats": 1, "workers": workers},
        "quick": {"n": quick} if workers <= 2 else None, "once_above": 0.5,
        "counted": workers == 1 and n < 40,
    }


# Argobots could not do fib(45) in the paper either, and would take some minutes for each point here.
FIB = {9: (45, 24), 10: (34, 22)}
FIB_PEERS = {9: ("weft", "massivethreads", "libfork", "composablethreads"),
             10: ("weft", "massivethreads", "libfork", "composablethreads", "argobots")}
FIB_WORKERS = (1, 2, 4, 8)

CASES = [
    *(_fetch_and_add(threads, workers, "fetch_and_add") for threads in THREADS for workers in WORKERS),
    *(_fetch_and_add(64, workers, "convoy") for workers in (1, 2)),
    *(_fib(figure, *FIB[figure], workers, FIB_PEERS[figure]) for figure in FIB for workers in FIB_WORKERS),
]
