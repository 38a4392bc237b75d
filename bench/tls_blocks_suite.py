# SPDX-License-Identifier: MIT
"""The suite "tls_blocks": what a thread costs that has thread-local variables of its own, beside a kernel
thread. docs/design/tls-blocks.md shows the table."""

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.5


def _case(alive, rounds, **more):
    return {
        "name": f"tls_blocks-{alive}", "workload": "tls_blocks",
        "title": f"create + join with variables of its own, CPU time, {alive} alive",
        "peers": ("weft", "pthreads"), "counted": False, "others_below": QUIET,
        "sizes": {"n": alive, "rounds": rounds, "repeats": 7}, "quick": {"repeats": 3}, **more,
    }


CASES = [
    _case(1, 20000, per_peer={"pthreads": {"rounds": 500}}),
    _case(1000, 50, per_peer={"pthreads": {"rounds": 3}}),
    _case(50000, 1, per_peer={"pthreads": None}),  # more than the kernel gives to a process by default
]
