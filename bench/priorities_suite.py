# SPDX-License-Identifier: MIT
"""The suite "priorities": how soon a thread of high priority starts beside one of low priority that computes,
and Fig. 9 of "Lightweight Preemptive User-Level Threads" (Shiina et al., PPoPP 2021): what an analysis beside
a simulation costs, by the priority of its threads. The paper's simulation is LAMMPS on four nodes; here it is
the same liquid (insitu/lj.hpp) in one process."""

# fcc cells of four atoms, 10, 20 and 40 along an edge; how many steps.
SIZES = {4_000: 400, 32_000: 100, 256_000: 20}
INTERVALS = (1, 2)
# How analysis threads run, of each peer; the first is what the others are compared with.
HOW = {"weft": ("plain", "priority", "ticks", "signal_yield", "preemptive"),
       "pthreads": ("plain", "nice", "idle", "fifo")}
ALL = tuple(dict.fromkeys(how for hows in HOW.values() for how in hows))
# Of a core: what others may use while a program runs, for its time to count.
QUIET = 0.5


def _insitu(atoms):
    return {
        "name": f"insitu-{atoms}", "workload": "insitu", "title": f"a step of {atoms} atoms, 2 workers",
        "peers": tuple(HOW), "counted": False, "others_below": QUIET, "timeout": 200, "once_above": 60,
        "sizes": {"n": atoms, "rounds": SIZES[atoms], "repeats": 1, "workers": 2},
        "forms": ("none", *(f"{how}.{interval}" for how in ALL for interval in INTERVALS)),
        "quick": {"rounds": 10} if atoms < 256_000 else None,
    }


def _radial(atoms):
    return {
        **_insitu(atoms), "name": f"radial-{atoms}",
        "title": f"a step of {atoms} atoms, 2 workers, beside their radial distribution",
        "forms": ("none", *(f"{how}.radial.{interval}" for how in ALL for interval in INTERVALS)),
    }


START = {
    "name": "start", "workload": "priorities", "log": True, "counted": False, "others_below": QUIET,
    "title": "from ready to the first instruction, high beside low", "peers": tuple(HOW),
    "sizes": {"n": 400, "rounds": 1, "repeats": 1, "workers": 1}, "quick": {"n": 100},
}

CASES = [
    START,
    *(_insitu(atoms) for atoms in SIZES),
    *(_radial(atoms) for atoms in SIZES),
    {  # for its energy_drift, not its time
        "name": "drift-256000", "workload": "insitu", "title": "1,000 steps of 256,000 atoms", "peers": ("weft",),
        "forms": ("none",), "sizes": {"n": 256_000, "rounds": 1000, "repeats": 1, "workers": 2}, "quick": None,
        "counted": False, "timeout": 1800, "once_above": 60,
    },
]
