# SPDX-License-Identifier: MIT
"""The suite "preemption": the figures of "Lightweight Preemptive User-Level Threads" (Shiina, Iwasaki, Taura,
Balaji, PPoPP 2021) that are about single threads: Table 1, Fig. 4, Fig. 6. preemption/workload.hpp says what is
measured. A kind or a source that the program has not is left out. How soon a thread of high priority starts is
a case of the suite "priorities", run here too."""

import priorities_suite

KINDS = ("signal_yield", "own_tls", "own_kernel_thread")
# The paper's ways to pass a worker from kernel thread to kernel thread.
VARIANTS = ("klt_local", "klt_futex", "klt_naive")
SOURCES = ("monitor", "creation_time", "aligned", "one_to_all", "chain")
INTERVALS = (100, 300, 1000, 3000, 10000)
# A round is as long as ten intervals of each thread, or there would be no preemptions to speak of.
# At 1 ms more often: what was asked there is as small as what two runs differ by.
REPEATS = {100: 9, 300: 9, 1000: 15, 3000: 5, 10000: 3}
ALONE = (300, 1000)
WORKERS = (1, 2)

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.25

# In microseconds: the median of a preemption without any interrupt; in percent: CPU time beyond the bare
# timer's, and where nobody waits.
GOALS = {"signal_yield": 1.8, "own_tls": 2.0, "own_kernel_thread": 5.0}
ABOVE_TIMER = 1.0
NOTHING_WAITS = 0.5
STARTS = 20  # us, kicked


def _case(name, title, forms, sizes, quick, **more):
    return {"name": name, "workload": "preemption", "title": title, "peers": ("weft", "pthreads"),
            "forms": tuple(forms), "sizes": sizes, "quick": quick, "counted": False, "others_below": QUIET, **more}


def _overhead(interval):
    forms = ["overhead.timer"]
    for kind in KINDS:
        forms += [f"overhead.{kind}", f"overhead.{kind}.aligned"]
    # By the monitor: a timer's signal goes to the kernel thread that the thread was preempted on, which must
    # get a CPU before it can pass it on, so that there are hardly any preemptions.
    forms += [f"overhead.{variant}" for variant in VARIANTS]
    return _case(f"overhead-{interval}", f"Fig. 6: ten threads a worker, {interval} us", forms,
                 {"n": interval, "rounds": max(1000, interval), "repeats": REPEATS[interval], "workers": 2},
                 {"repeats": 3} if interval in (300, 1000) else None)


CASES = [
    _case("switch", "one preemption, no interrupt", ["switch.kernel", *(f"switch.{kind}" for kind in KINDS + VARIANTS)],
          {"rounds": 2000, "repeats": 9}, {"repeats": 3}),
    _case("tick-10000", "Table 1: one preemption with its tick, 10 ms",
          ["tick.kernel", *(f"tick.{kind}" for kind in KINDS)], {"n": 10000, "rounds": 100, "repeats": 3}, None),
    *(_case(f"sources-{workers}", f"Fig. 4: one tick, 1 ms, {workers} workers",
            [f"tick.{kind}.{source}" for kind in KINDS for source in SOURCES],
            {"n": 1000, "rounds": 500, "repeats": 3, "workers": workers}, {"rounds": 100}) for workers in WORKERS),
    *(_overhead(interval) for interval in INTERVALS),
    *(_case(f"alone-{interval}", f"one thread a worker, {interval} us", [f"alone.{kind}" for kind in KINDS],
            {"n": interval, "rounds": 1000, "repeats": 15, "workers": 2}, {"repeats": 3}) for interval in ALONE),
    priorities_suite.START,
]
