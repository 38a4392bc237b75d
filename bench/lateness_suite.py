# SPDX-License-Identifier: MIT
"""The suite "lateness": a thread that sleeps 10 ms at a time while all workers compute, beside each structured
form. Weft's sleeper is one of its threads, Go's a goroutine, that of oneTBB a kernel thread (std::jthread)."""

WORKERS = (1, 2)
PEERS = ("weft", "onetbb", "go")

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.5


def _beside(workers):
    return {
        "name": f"lateness-{workers}", "workload": "lateness",
        "title": f"lateness of a sleeper of 10 ms, us, {workers} worker{'s' if workers > 1 else ''}",
        "peers": PEERS, "counted": False, "others_below": QUIET,
        "sizes": {"n": 1000 * workers, "rounds": 1, "repeats": 1, "workers": workers},
        "quick": {"n": 200 * workers},
    }


CASES = [_beside(workers) for workers in WORKERS]
