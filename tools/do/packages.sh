# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For ./do: what is installed, and what each verb needs.

apt_updated=0
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
apt_update() {
  if [ $apt_updated = 0 ]; then
    as_root apt-get update -q >/dev/null || say "apt-get update failed; going on with the lists that are here"
    apt_updated=1
  fi
}
# A package that is only mentioned, by one that recommends it perhaps, has no record to show.
exists() { [ -n "$(apt-cache show --no-all-versions "$1" 2>/dev/null)" ]; }
installed() { [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = "install ok installed" ]; }

# The newest clang installed, else the newest this distribution offers; nothing if neither.
newest_clang() {
  local version
  for version in 22 21 20 19 18 17 16; do
    if installed "clang-$version"; then echo "$version"; return; fi
  done
  apt_update >&2
  for version in 22 21 20 19 18 17 16; do
    if exists "clang-$version"; then echo "$version"; return; fi
  done
}

# need [--optional] package...: installs what is missing; optional packages that do not exist here are left out.
need() {
  local optional=0 package missing=()
  if [ "$1" = --optional ]; then optional=1; shift; fi
  if ! command -v dpkg >/dev/null; then
    say "no dpkg here: please see to it that these are installed: $*"
    return
  fi
  for package in "$@"; do
    if ! installed "$package"; then missing+=("$package"); fi
  done
  if [ ${#missing[@]} = 0 ] || [ "${WEFT_NO_INSTALL:-0}" = 1 ]; then return; fi
  apt_update
  if [ $optional = 1 ]; then
    local there=()
    for package in "${missing[@]}"; do
      if exists "$package"; then there+=("$package"); fi
    done
    if [ ${#there[@]} = 0 ]; then return; fi
    missing=("${there[@]}")
  fi
  say "installing ${missing[*]}"
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" \
      >/dev/null; then
    [ $optional = 1 ] || { echo "apt-get could not install: ${missing[*]}" >&2; exit 1; }
  fi
}

# An engine of MPI, for `demo --ranks`: those that are there, or Open MPI.
need_engine() {
  local engine
  for engine in openmpi mpich; do
    if command -v "mpicc.$engine" >/dev/null && command -v "mpiexec.$engine" >/dev/null; then return; fi
  done
  need openmpi-bin libopenmpi-dev
}

# venv_install FOLDER REQUIREMENT LOG: of PyPI, into a folder of this tree.
venv_install() {
  need --optional python3-venv
  [ -x "$1/bin/pip" ] || python3 -m venv "$1" >/dev/null || return 1
  "$1/bin/pip" install -q "$2" >"$3" 2>&1
}

# Of PyPI, for `bench openmp`: Intel's OpenMP runtime, under the name that programs of clang's look for, a peer; and MKL.
need_intel() {
  local folder=build/iomp5
  if { [ -e "$folder/openmp/libiomp5.so" ] && compgen -G "$folder/lib/libmkl_rt.so*" >/dev/null; } || [ "${WEFT_NO_INSTALL:-0}" = 1 ]; then return; fi
  say "installing intel-openmp and mkl from PyPI"
  if venv_install "$folder" intel-openmp "$LOGS/iomp5" && [ -e "$folder/lib/libiomp5.so" ]; then
    mkdir -p "$folder/openmp"
    ln -sf ../lib/libiomp5.so "$folder/openmp/libomp.so.5"
    ln -sf ../lib/libiomp5.so "$folder/openmp/libiomp5.so"
    venv_install "$folder" mkl "$LOGS/mkl" || say "there is no mkl: see $LOGS/mkl"
  else
    say "there is none: see $LOGS/iomp5"
  fi
}

# The one version of clang-format that decides how the sources look (tools/lint/format), where PyPI can be reached.
need_formatter() {
  local folder=build/clang-format version
  version=$(sed -n "s/^VERSION = '\(.*\)'/\1/p" tools/lint/format)
  if [ "$(cat "$folder/version" 2>/dev/null)" = "$version" ] || [ "${WEFT_NO_INSTALL:-0}" = 1 ]; then return; fi
  say "installing clang-format $version from PyPI"
  if venv_install "$folder" "clang-format==$version" "$LOGS/clang-format"; then
    echo "$version" >"$folder/version"
  else
    say "there is none: the format of the sources is not checked"
  fi
}

# Compilers are asked through ccache where it is: what was compiled once, in any clone, is not compiled again.
use_ccache() {
  if ! command -v ccache >/dev/null || [ -n "${CMAKE_CXX_COMPILER_LAUNCHER:-}" ]; then return; fi
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
}

need_for() {
  local clang
  need cmake ninja-build g++ pkg-config libhwloc-dev liburing-dev python3
  case $1 in
    demo) need libtbb-dev libcli11-dev ;;
    test)
      need libgtest-dev libtbb-dev libcli11-dev libboost-dev
      need --optional ccache libjemalloc2 libmimalloc2.0 libmimalloc3
      need --optional libdw-dev libelf-dev g++-12 gdb valgrind linux-perf linux-tools-generic libunwind-dev libbenchmark-dev
      need --optional g++-aarch64-linux-gnu g++-powerpc64le-linux-gnu g++-riscv64-linux-gnu qemu-user googletest make \
        xz-utils
      need --optional openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran # tests/mpi
      # tests/pthreads: programs. Its servers are not installed: Debian would start them.
      need --optional pigz pbzip2 zstd lbzip2 plzip p7zip-full sqlite3 ripgrep sysbench stress-ng
      need_quick_programs
      clang=$(newest_clang)
      if [ -n "$clang" ]; then need "clang-$clang" "libclang-rt-$clang-dev"; need --optional "clang-tidy-$clang"; fi
      need_formatter
      ;;
    bench)
      need libbenchmark-dev libtbb-dev libcli11-dev libboost-dev
      # For the suite http. Debian starts nginx on port 80 when it is installed; the suite starts one of its own.
      need --optional wrk nginx
      need --optional libboost-fiber-dev libboost-context-dev valgrind golang-go python3-matplotlib
      clang=$(newest_clang)
      if [ -n "$clang" ]; then need --optional "clang-$clang" "libomp-$clang-dev"; fi
      ;;
    soak)
      need libgtest-dev libtbb-dev libcli11-dev libboost-dev
      need --optional libjemalloc2 libmimalloc2.0 libmimalloc3 libdw-dev libelf-dev
      clang=$(newest_clang)
      if [ -n "$clang" ]; then need --optional "clang-$clang" "libclang-rt-$clang-dev"; fi
      ;;
    programs) need libcli11-dev libboost-dev libgtest-dev libtbb-dev; need --optional libdw-dev libelf-dev ;;
    install) need libcli11-dev libboost-dev; need --optional libdw-dev libelf-dev ;;
    try) need mmdebstrap git util-linux ;;
    core) ;;
    *) echo "unknown verb $1" >&2; exit 2 ;;
  esac
}

