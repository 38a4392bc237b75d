# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For ./do: real programs of OpenMP over Weft (tests/programs).

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

# run_suites DIR [OPTION...]: MPICH's own tests, whose source is nobody's but theirs: DIR/ENGINE is its tree, where test/mpi was configured with that
# engine's mpicc. Those of threads/ with threads of Weft, the others with main() as one.
run_suites() {
  local suite=$1 engine failed=0 ran=0 tree=build/ci-gcc/front
  shift
  need_for programs
  need_engine
  use_ccache
  say "building"
  build ci-gcc weft_abt
  for engine in openmpi mpich; do
    if [ ! -d "$suite/$engine/test/mpi/include" ] || [ ! -d "$tree/mpi" ]; then continue; fi
    build ci-gcc "weft_mpi_$engine" || continue
    ran=1
    say "$engine: threads of Weft"
    tests/mpi/run_mpich_suite "$suite/$engine/test/mpi" "$engine" $tree/mpi --abt $tree/abt --limit 120 "$@" || failed=1
    say "$engine: main() a thread of Weft"
    tests/mpi/run_mpich_suite "$suite/$engine/test/mpi" "$engine" $tree/mpi "$@" || failed=1
  done
  if [ $ran = 0 ]; then
    echo "$suite has no suite of an engine that is here: openmpi/test/mpi or mpich/test/mpi, configured" >&2
    return 2
  fi
  return $failed
}

verb_programs() {
  local runner=tests/programs/run names packages
  if [ "${1-}" = --suites ]; then
    [ $# -gt 1 ] || { echo "usage: ./do programs --suites DIR [OPTION...]" >&2; exit 2; }
    run_suites "${@:2}"
    return
  fi
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
