# SPDX-License-Identifier: MIT
"""The suite "packing": section 4.2 of "Lightweight Preemptive User-Level Threads" (Shiina et al.), as far as a
machine with two cores goes: N threads on n active workers or CPUs. packing/model.cpp has the rest. The multigrid also by OpenMP, with
Weft's runtime of it in place of the compiler's."""

import openmp_suite

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.25

# Length of a region in us: regions in a sample, in all so long that a tick more or less does not matter.
LENGTHS = {1000: 30, 3000: 10, 10000: 4, 100000: 1}
# (N, n)
SHAPES = ((2, 2), (3, 2), (4, 2), (5, 2), (7, 2), (8, 2), (2, 1), (4, 1))
WAYS = ("wrap_around", "own_tls", "signal_yield", "none", "affinity")

HPGMG_THREADS = (1, 2, 3, 4, 5, 7, 8)
HPGMG_WAYS = ("wrap_around", "own_tls", "signal_yield", "none", "passive", "active")


def _equal(length, threads, active):
    return {
        "name": f"packing-{length}-{threads}-{active}", "workload": "packing",
        "title": f"{threads} threads of {length} us on {active}", "peers": ("weft", "pthreads"),
        "forms": tuple(f"{way}.{length}" for way in WAYS),
        "sizes": {"n": threads, "rounds": LENGTHS[length], "repeats": 3 if length == 100000 else 7, "workers": active},
        "quick": {"repeats": 3} if threads == 3 else None,
        "timeout": 60, "once_above": 20, "others_below": QUIET, "counted": False,
    }


def _hpgmg(threads):
    active = min(threads, 2)
    return {
        "name": f"hpgmg-{threads}-{active}", "workload": "hpgmg",
        "title": f"multigrid, 128^3, {threads} threads on {active}", "peers": ("weft", "openmp", "openmp_llvm"),
        "forms": tuple(f"{way}.{threads}" for way in HPGMG_WAYS),
        "sizes": {"n": 128, "rounds": 1, "repeats": 3, "workers": active},
        "quick": {"n": 32} if threads == 3 else None,
        "timeout": 40, "once_above": 10, "others_below": QUIET, "counted": False,
    }


def _hpgmg_by_openmp(threads, runtime):
    return {
        **_hpgmg(threads), "name": f"hpgmg-{threads}-{min(threads, 2)}-{runtime.name}",
        "title": f"multigrid, 128^3, {threads} threads on {min(threads, 2)}, by OpenMP over {runtime.name}",
        "peers": (runtime.program,), "forms": tuple(f"{way}.{threads}" for way in ("passive", "active")),
        "environment": {"*": {"LD_LIBRARY_PATH": runtime.folder, "BENCH_OPENMP_FOLDER": runtime.folder}}, "ours": True,
    }


CASES = [
    *(_equal(length, *shape) for length in LENGTHS for shape in SHAPES),
    *(_hpgmg(threads) for threads in HPGMG_THREADS),
    *(_hpgmg_by_openmp(threads, runtime) for runtime in openmp_suite.FOUND if runtime.name in openmp_suite.OURS
      for threads in HPGMG_THREADS),
]
