# SPDX-License-Identifier: MIT
"""The suite "hand_over": how long a thread that is ready waits for the worker of one that waits in the kernel.
docs/design/leaving.md shows the table."""

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.5

CASES = [
    {
        "name": f"hand_over-{workers}", "workload": "hand_over",
        "title": f"from a wait in the kernel to whoever is ready, us, {workers} worker{'s' if workers > 1 else ''}",
        "peers": ("weft", "go"), "counted": False, "others_below": QUIET, "log": True,
        "sizes": {"n": 300, "rounds": 1, "repeats": 1, "workers": workers}, "quick": {"n": 60},
    }
    for workers in (1, 2)
] + [
    {
        "name": "leaving", "workload": "leaving",
        "title": "malloc and free, or a copy of a shared_ptr, one worker, without a monitor (off) and with one (on), ns",
        "peers": ("weft",), "counted": False,
        "sizes": {"n": 200_000, "rounds": 2, "repeats": 7, "workers": 1}, "quick": {"n": 50_000},
    },
]
