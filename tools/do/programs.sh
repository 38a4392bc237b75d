# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For ./do: real programs of OpenMP (tests/programs) and of threads (tests/pthreads) over Weft, and other people's suites.

wheels=build/wheels

# need_wheels PACKAGE...: PyPI's, into a folder of this tree. One that cannot be had is left out: the runner names it.
need_wheels() {
  local package missing=()
  if [ "${WEFT_NO_INSTALL:-0}" = 1 ] || [ $# = 0 ]; then return; fi
  for package in "$@"; do
    if ! compgen -G "$wheels/lib/python3*/site-packages/${package//-/_}-*.dist-info" >/dev/null; then missing+=("$package"); fi
  done
  for package in "${missing[@]}"; do
    say "installing $package from PyPI"
    venv_install "$wheels" "$package" "$LOGS/wheel-$package" || say "there is none, see $LOGS/wheel-$package"
  done
}

# What `./do test` runs of them.
need_quick_programs() {
  local runner=tests/programs/run
  # shellcheck disable=SC2046  # a word a package
  need --optional $($runner --quick --packages)
  # shellcheck disable=SC2046
  need_wheels $($runner --quick --wheels)
}

# run_suites DIR [OPTION...]: other people's own tests, whose source is nobody's but theirs, as far as they lie in DIR:
#   glibc-VERSION (`apt source glibc`)          of threads, over the Pthreads door
#   open_posix_testsuite, or LTP that holds it  the same
#   openmpi/test/mpi, mpich/test/mpi            MPICH's, configured with that engine's compilers of C, C++ and Fortran: threads/ with
#                                               threads of Weft, the others with main() as one
#   argobots/test/mpi                           the same, configured with the compiler of an MPICH that was built with Argobots' thread
#                                               package: threads/ on Argobots' libabt and on Weft's
run_suites() {
  local suite=$1
  shift
  suites_failed=0 suites_ran=0
  need_for programs
  use_ccache
  run_suites_of_threads "$suite" "$@"
  run_suites_of_mpi "$suite" "$@"
  run_suite_on_argobots "$suite" "$@"
  if [ $suites_ran = 0 ]; then
    echo "$suite has no suite that is known: glibc-*, open_posix_testsuite, openmpi/test/mpi, mpich/test/mpi or argobots/test/mpi, configured" >&2
    return 2
  fi
  return $suites_failed
}

run_suites_of_threads() {
  local suite=$1 source library=build/ci-gcc/front/pthreads/libweft_pthread.so
  shift
  for source in "$suite"/glibc-*/nptl "$suite"/open_posix_testsuite "$suite"/*/testcases/open_posix_testsuite; do
    if [ ! -d "$source" ]; then continue; fi
    say "building"
    build ci-gcc weft_pthread
    suites_ran=1
    say "$source"
    case $source in
      */nptl) tests/pthreads/run_nptl_suite "${source%/nptl}" $library "$@" || suites_failed=1 ;;
      *) tests/pthreads/run_posix_suite "$source" $library "$@" || suites_failed=1 ;;
    esac
  done
}

run_suites_of_mpi() {
  local suite=$1 engine tree=build/ci-gcc/front
  shift
  for engine in openmpi mpich; do
    if [ ! -d "$suite/$engine/test/mpi/include" ]; then continue; fi
    need_engine
    say "building"
    build ci-gcc weft_abt
    if [ ! -d "$tree/mpi" ]; then return; fi
    build ci-gcc "weft_mpi_$engine" || continue
    suites_ran=1
    say "$engine: threads of Weft"
    tests/mpi/run_mpich_suite "$suite/$engine/test/mpi" "$engine" $tree/mpi --abt $tree/abt --limit 120 "$@" || suites_failed=1
    say "$engine: main() a thread of Weft"
    tests/mpi/run_mpich_suite "$suite/$engine/test/mpi" "$engine" $tree/mpi "$@" || suites_failed=1
  done
}

run_suite_on_argobots() {
  local suite=$1/argobots/test/mpi compiler
  shift
  if [ ! -d "$suite/include" ]; then return; fi
  compiler=$(sed -n 's/^CC *= *//p' "$suite/Makefile")
  say "building"
  build ci-gcc weft_abt
  suites_ran=1
  say "mpich with Argobots' threads"
  tests/mpi/run_mpich_suite "$suite" mpich build/ci-gcc/front/abt --argobots "${compiler%/bin/mpicc}" --limit 120 "$@" || suites_failed=1
}

# programs_of_threads [OPTION...]: all that tests/pthreads/programs knows, each twice; minutes, and servers are installed, which Debian starts.
programs_of_threads() {
  local tests=()
  need_for programs
  if command -v apt-cache >/dev/null; then
    mapfile -t tests < <(apt-cache search --names-only '^libpython3\.[0-9]+-testsuite$' | cut -d' ' -f1)
  fi
  need --optional pigz pbzip2 lbzip2 plzip xz-utils zstd p7zip-full git ripgrep x264 libopenblas0-pthread sqlite3 perl default-jdk-headless \
    nodejs redis-server memcached nginx curl sysbench stress-ng "${tests[@]}"
  use_ccache
  say "building"
  build ci-gcc weft_pthread
  exec tests/pthreads/programs build/ci-gcc/front/pthreads/libweft_pthread.so --kinds programs,servers,cpython --workers 2 --times 2 "$@"
}

verb_programs() {
  local runner=tests/programs/run names packages
  if [ "${1-}" = --suites ]; then
    [ $# -gt 1 ] || { echo "usage: ./do programs --suites DIR [OPTION...]" >&2; exit 2; }
    run_suites "${@:2}"
    return
  fi
  if [ "${1-}" = --threads ]; then programs_of_threads "${@:2}"; fi
  case " $* " in
    *" --list "* | *" --help "* | *" -h "*) exec $runner "$@" ;;
  esac
  need_for programs
  use_ccache
  names=$($runner --packages "$@") || exit 2
  mapfile -t packages <<<"$names"
  need --optional "${packages[@]}"
  names=$($runner --wheels "$@")
  # shellcheck disable=SC2086  # a word a package
  need_wheels $names
  say "building"
  build ci-gcc weft_omp weft_tool
  exec $runner "$@"
}
