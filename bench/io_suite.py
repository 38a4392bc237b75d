# SPDX-License-Identifier: MIT
"""The suite "io": pairs of threads that send a byte forth and back over a socket pair each. Nothing is computed
in between, so what is measured is the way into the kernel and back, over epoll and over io_uring. And clients
and servers of as many TCP connections: CPU time of a round trip, and how long one in a hundred takes."""

WORKERS = (1, 2)
PAIRS = (1, 16, 256)
PEERS = ("weft", "go", "pthreads")

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.5


def _ping_pong(pairs, workers):
    return {
        "name": f"pairs{pairs}-{workers}", "workload": "io",
        "title": f"a byte forth and back, {pairs} pair{'s' if pairs > 1 else ''}, {workers} worker"
                 f"{'s' if workers > 1 else ''}",
        "peers": PEERS, "counted": False, "others_below": QUIET,
        # A round is 200 trips of each pair.
        "sizes": {"n": pairs, "rounds": max(1, 256 // pairs), "repeats": 5, "workers": workers},
        "quick": {"rounds": 1, "repeats": 3},
    }


def _echo(connections, workers):
    return {
        "name": f"echo{connections}-{workers}", "workload": "echo",
        "title": f"64 bytes to a server and back, {connections} TCP connection{'s' if connections > 1 else ''}, "
                 f"{workers} worker{'s' if workers > 1 else ''}",
        "peers": ("weft",), "counted": False, "others_below": QUIET,
        # A round is 64 trips of each connection.
        "sizes": {"n": connections, "rounds": max(1, 500 // connections), "repeats": 5, "workers": workers},
        "quick": {"rounds": 1, "repeats": 3},
    }


CASES = [_ping_pong(pairs, workers) for workers in WORKERS for pairs in PAIRS]
CASES += [_echo(connections, workers) for workers in WORKERS for connections in (1, 100, 1000)]
