#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One door to everything that is done with this repository. Runs on a fresh Debian 12 or 13: each verb installs what it
# lacks. `./do help` lists the verbs; tools/do/ has the longer ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'TEXT'
usage: ./do VERB

  demo [--quick]            count the UTS trees, one thread a node; writes a page with the results
  demo --ranks N [--workers W] [--quick]
                            the same over N ranks of an MPI job, beside one process; writes weft-ranks.json
  test [--quick | --full | --suite NAME...]
                            gcc's build with every test but the longest; what depends on the compiler or a sanitizer in clang's
                            build or in that of a sanitizer, another one each day; and one more of the longest, of the other
                            builds and settings, another one each day; --quick: gcc's only; --full: all of them, and `try`; or
                            those named
  try [SUITE...]            demo and `test --quick` in a fresh clone on a fresh Debian (trixie unless said; bookworm, trixie, sid)
  programs [NAME...] [--list] [--quick] [--time N]
                            programs of Debian's and PyPI's, unmodified, their OpenMP stock and by Weft: what they write is compared;
                            --list names them; --quick: those of `test`; --time: the least seconds of N runs, without comparing
  programs --threads [OPTION...]
                            34 programs with threads, unmodified, on Weft by preload: each twice, with a check; it installs them, and
                            Debian starts the servers among them. Options: those of tests/pthreads/programs: --only, --out, ...
  programs --suites DIR [OPTION...]
                            other people's own tests by Weft, those whose source lies in DIR: glibc-VERSION (apt source), LTP or its
                            open_posix_testsuite; openmpi and mpich: MPICH's, configured for the engine. Options are those of
                            tests/pthreads/run_nptl_suite, run_posix_suite and tests/mpi/run_mpich_suite: --only, --jobs, ...
  bench [SUITE] [--quick]   benchmarks against the peers that are installed
  soak [MINUTES [PART...]]  stress, interleavings, simulation, faults and fuzzing, long and with fresh seeds, for 60 minutes unless
                            said: a round goes as far as it gets, and the next call goes on from there; or the parts named
  install PREFIX            build and install the library, the tool weft and the server weft-http
  deps VERB                 install what VERB needs, nothing else
  help                      this text

Environment: JOBS (parallel jobs, all CPUs unless said), WEFT_STRESS_SECONDS (a stress test's length),
WEFT_NO_INSTALL=1 (never call apt-get).
TEXT
}

JOBS=${JOBS:-$(nproc)}
LOGS=build/logs

say() { printf '== %s\n' "$*"; }

for part in packages programs test soak try; do
  # shellcheck source=/dev/null
  . "tools/do/$part.sh"
done

verb_demo() {
  need_for demo
  local targets=(weft-demo)
  case " $* " in
    *" --ranks "* | *" --ranks="*)
      need_engine
      targets+=(weft-demo-ranks weft_tool)
      ;;
  esac
  say "building"
  build release "${targets[@]}"
  exec build/release/apps/uts/weft-demo "$@"
}

verb_bench() {
  local arguments=() suite=core
  case ${1:-} in
    "" | -*) ;;
    *) suite=$1; arguments+=(--suite "$1"); shift ;;
  esac
  # Instruction counts take valgrind's time; a quick run leaves them out.
  case " $* " in
    *" --quick "*) ;;
    *) arguments+=(--instructions) ;;
  esac
  need_for bench
  if [ "$suite" = techniques ] && [ -z "${WEFT_KMEANS_DATA:-}" ]; then
    # The data set of KMeans; without it that figure is left out.
    if [ -f build/digits.csv ] || tools/kmeans_data build/digits.csv; then
      export WEFT_KMEANS_DATA=$PWD/build/digits.csv
    fi
  fi
  say "building"
  if [ "$suite" = openmp ]; then
    need_intel
    build release weft_omp bench_constructs.openmp bench_patterns.openmp bench_cholesky.openmp
    # Clang's are there where clang and its runtime are.
    build release bench_constructs.openmp_llvm bench_patterns.openmp_llvm bench_cholesky.openmp_llvm ||
      say "without libomp, iomp5 and BOLT: clang's programs cannot be built"
  elif [ "$suite" = pthreads ]; then
    build release bench_pthreads.threads bench_pthreads.echo
  elif [ "$suite" = programs ]; then
    need --optional pigz pbzip2 zstd lbzip2 plzip x264 sysbench
    build release weft_pthread
  else
    build release bench
  fi
  if [ "$suite" = http ]; then
    exec python3 bench/http_suite.py --bin build/release/bench/bin "$@"
  fi
  if [ "$suite" = mpi ]; then
    exec python3 bench/mpi_suite.py --bin build/release/bench/bin "$@"
  fi
  if [ "$suite" = pthreads ]; then
    exec python3 bench/pthreads_suite.py --bin build/release/bench/bin "$@"
  fi
  if [ "$suite" = decisions ]; then
    exec python3 bench/decisions_suite.py --bin build/release/bench/bin "$@"
  fi
  if [ "$suite" = programs ]; then
    exec python3 bench/programs_suite.py --bin build/release/bench/bin "$@"
  fi
  exec python3 bench/run.py --bin build/release/bench/bin "${arguments[@]}" "$@"
}

verb_install() {
  local prefix name=install options=()
  case ${2:-} in
    "") ;;
    --sanitizer=address | --sanitizer=thread)
      name=install-${2#*=}
      options=(-B "build/$name" "-DWEFT_SANITIZER=${2#*=}" -DWEFT_TOOLS=OFF)
      ;;
    *) usage; exit 2 ;;
  esac
  { [ $# = 1 ] || [ $# = 2 ]; } || { usage; exit 2; }
  need_for install
  prefix=$(realpath -m "$1")
  say "building"
  cmake --preset install "${options[@]}" >"$LOGS/$name.configure" 2>&1 || { cat "$LOGS/$name.configure"; exit 1; }
  cmake --build "build/$name" -j "$JOBS" >"$LOGS/$name.build" 2>&1 ||
    { grep -E -A12 'FAILED|error|warning' "$LOGS/$name.build" | head -80; exit 1; }
  cmake --install "build/$name" --prefix "$prefix" >"$LOGS/$name" || { cat "$LOGS/$name"; exit 1; }
  say "installed into $prefix"
}

mkdir -p "$LOGS"
verb=${1:-help}
[ $# = 0 ] || shift
case $verb in
  demo | test | programs | try | bench | soak | install) "verb_$verb" "$@" ;;
  deps) need_for "${1:-core}" ;;
  help | -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
