# SPDX-License-Identifier: MIT
"""The suite "openmp": one program, compiled by gcc or by clang, with each OpenMP runtime that is found: Weft's,
libgomp, libomp, Intel's, BOLT. Figures 8 to 13 of "Analysis of Threading Libraries for High Performance
Computing", and what single constructs cost beside what is asked of Weft. The Cholesky factor by tiles of
"Lightweight Preemptive User-Level Threads": tasks that call Intel's MKL, which opens regions of its own.

A runtime is the folder in front of the search path; the programs check that it is theirs. BENCH_OPENMP_IOMP5
and BENCH_OPENMP_BOLT name folders in which libomp.so.5 is one of these; `./do bench openmp` installs Intel's. BENCH_MKL is the path of MKL's
libmkl_rt.so; the same verb installs one. Where there is none OpenBLAS stands in for it, if its library for OpenMP
is there (BENCH_OPENBLAS, or where Debian has it)."""

import os
import pathlib
import typing

import patterns_suite

ROOT = pathlib.Path(__file__).resolve().parent.parent
WEFT = ROOT / "build/release/front/openmp"
IOMP5 = ROOT / "build/iomp5/openmp"
MKL = next((ROOT / "build/iomp5/lib").glob("libmkl_rt.so*"), None)

OPENBLAS = next(pathlib.Path("/usr/lib").glob("*-linux-gnu/openblas-openmp/libopenblas.so.0"), None)

# Of a core: what others may use while a program runs, for its times to count.
QUIET = 0.25


class Runtime(typing.NamedTuple):
    name: str
    program: str  # the peer whose compiler made it: openmp is gcc, openmp_llvm clang
    folder: str  # of the library; empty: where the system has it


def _folder(variable, default):
    """Null if there is no runtime in it. What is in this tree is named by its place in it: it stands in the results."""
    folder = pathlib.Path(os.environ.get(variable, default)).resolve()
    if not any(folder.glob("lib*omp*.so*")):
        return None
    return f"{{repository}}/{folder.relative_to(ROOT)}" if folder.is_relative_to(ROOT) else str(folder)


def _found():
    wanted = (("weft", "openmp", _folder("BENCH_OPENMP_WEFT", WEFT)),
              ("weft (clang)", "openmp_llvm", _folder("BENCH_OPENMP_WEFT", WEFT)),
              ("libgomp", "openmp", ""), ("libomp", "openmp_llvm", ""),
              ("iomp5", "openmp_llvm", _folder("BENCH_OPENMP_IOMP5", IOMP5)),
              ("bolt", "openmp_llvm", _folder("BENCH_OPENMP_BOLT", "/usr/local/lib/bolt")))
    return [Runtime(*runtime) for runtime in wanted if runtime[2] is not None]


RUNTIMES = ("weft", "weft (clang)", "libgomp", "libomp", "iomp5", "bolt")
OURS = RUNTIMES[:2]
FOUND = _found()
POLICIES = ("default", "passive")  # active is what most of them do when they are told nothing
THREADS = (1, 2, 4, 8, 16, 36)

# MKL's layer for LLVM's ABI asks for Intel's runtime by its name, under which libomp is not found: two runtimes
# would share the process.
NOT_WITH_MKL = ("libomp",)
TILES = ("cholesky", "tiles", 8)

# What is asked of Weft, in us (idle: ms of CPU time), with the best policy: (workload, form, threads) -> most.
BARS = {
    ("constructs", "region", 2): 0.6, ("constructs", "region", 36): 8,
    ("constructs", "barrier", 2): 0.25, ("constructs", "barrier", 36): 6,
    ("patterns", "for_loop", 2): 1.6, ("patterns", "for_loop", 36): 8,
    ("patterns", "single", 2): 150, ("patterns", "single", 36): 200,
    ("patterns", "parallel", 2): 70, ("patterns", "parallel", 36): 150,
    ("constructs", "fib", 2): 5000, ("constructs", "fib", 16): 5000,
    ("patterns", "nested", 2): 1300, ("patterns", "nested", 36): 7000,
    ("constructs", "inner", 2): 0.8, ("constructs", "inner", 16): 4,
    ("constructs", "lock", 16): 0.05,
    ("constructs", "idle", 2): 1,
}
TITLES = {
    "region": "empty region", "barrier": "barrier", "for_loop": "loop of 1,000", "single": "1,000 tasks of one",
    "parallel": "1,000 tasks of all", "fib": "fib(20) by tasks", "nested": "nested 1,000 x 1,000",
    "inner": "inner region, of two threads", "lock": "lock", "idle": "idle, ms CPU in 0.5 s",
}


def _mkl():
    """As with runtimes, what is in this tree by its place in it; null if there is none."""
    path = os.environ.get("BENCH_MKL") or MKL
    if path is None:
        return None
    path = pathlib.Path(path)
    return f"{{repository}}/{path.relative_to(ROOT)}" if path.is_relative_to(ROOT) else str(path)


def _openblas():
    path = os.environ.get("BENCH_OPENBLAS") or OPENBLAS
    return str(path) if path is not None else None


def _environment(workload, runtime):
    words = {}
    if workload == "cholesky":
        words = {"BENCH_MKL": _mkl()} if _mkl() is not None else {"BENCH_OPENBLAS": _openblas()}
    if runtime.folder:
        words |= {"LD_LIBRARY_PATH": runtime.folder, "BENCH_OPENMP_FOLDER": runtime.folder}
    return {"*": words} if words else {}


SIZES = {"patterns": {"n": 1000, "rounds": 20, "repeats": 40}, "cholesky": {"n": 4096, "rounds": 1, "repeats": 3}}


def _case(workload, what, threads, runtime):
    sizes = SIZES.get(workload, {})
    return {
        "name": f"{what}-{threads}-{runtime.name}", "workload": workload, "runtime": runtime.name,
        "title": f"{what}, {threads} threads, {runtime.name}", "log": True, "ours": runtime.name in OURS,
        "peers": (runtime.program,), "forms": tuple(f"{what}.{policy}" for policy in POLICIES),
        "environment": _environment(workload, runtime), "counted": False,
        "sizes": {**sizes, "workers": threads},
        "quick": {} if threads in (2, 36) and (workload, what, threads) in BARS else None,
        # More threads than cores that spin for each other: some rounds take seconds, and repeat well enough.
        "timeout": 60 if workload == "cholesky" else 10, "once_above": 1, "others_below": QUIET,
    }


_POINTS = [("patterns", pattern, threads) for pattern in patterns_suite.PATTERNS for threads in THREADS]
_POINTS += [point for point in BARS if point not in _POINTS]
CASES = [_case(*point, runtime) for point in _POINTS for runtime in FOUND]
if _mkl() is not None:
    CASES += [_case(*TILES, runtime) for runtime in FOUND if runtime.name not in NOT_WITH_MKL]
elif _openblas() is not None:  # over what answers as libgomp: a second runtime would share the process with others
    CASES += [_case(*TILES, runtime) for runtime in FOUND if runtime.program == "openmp"]
