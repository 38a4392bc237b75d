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

verb_programs() {
  local runner=tests/programs/run names packages
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
