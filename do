#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One door to everything that is done with this repository. Runs on a fresh Debian 12 or 13 or Ubuntu 24.04: each
# verb installs what it lacks. `./do help` lists the verbs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() {
  cat <<'TEXT'
usage: ./do VERB

  demo [--quick]            count the UTS trees, one thread a node; writes a page with the results
  test [--quick]            every build and every test; --quick: the gcc build only
  bench [SUITE] [--quick]   benchmarks against the peers that are installed
  soak [MINUTES [PART...]]  stress, interleavings, simulation, faults and fuzzing, long and with fresh seeds; 60 minutes unless said,
                            and one whole round of all of it in any case; or of the parts named, to go on after one that failed
  install PREFIX            build and install the library and the tool weft
  deps VERB                 install what VERB needs, nothing else
  help                      this text

Environment: JOBS (parallel jobs, all CPUs unless said), WEFT_STRESS_SECONDS (a stress test's length),
WEFT_NO_INSTALL=1 (never call apt-get).
TEXT
}

JOBS=${JOBS:-$(nproc)}
LOGS=build/logs

say() { printf '== %s\n' "$*"; }

# --- packages ---

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
installed() { dpkg -s "$1" 2>/dev/null | grep -q '^Status: install ok installed'; }

# The newest clang installed, else the newest this distribution offers; nothing if neither.
newest_clang() {
  local version
  for version in 22 21 20 19 18 17 16; do
    if installed "clang-$version"; then echo "$version"; return; fi
  done
  apt_update >&2
  for version in 22 21 20 19 18 17 16; do
    if apt-cache show "clang-$version" >/dev/null 2>&1; then echo "$version"; return; fi
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
      if apt-cache show "$package" >/dev/null 2>&1; then there+=("$package"); fi
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

need_for() {
  local clang
  need cmake ninja-build g++ pkg-config libhwloc-dev liburing-dev python3
  case $1 in
    demo) need libtbb-dev libcli11-dev ;;
    test)
      need libgtest-dev libtbb-dev libcli11-dev libboost-dev
      need --optional libjemalloc2 libmimalloc2.0 libmimalloc3
      need --optional libdw-dev libelf-dev g++-12 gdb valgrind linux-perf linux-tools-generic libunwind-dev libbenchmark-dev
      need --optional g++-aarch64-linux-gnu g++-powerpc64le-linux-gnu g++-riscv64-linux-gnu qemu-user googletest make \
        xz-utils
      clang=$(newest_clang)
      if [ -n "$clang" ]; then need "clang-$clang" "libclang-rt-$clang-dev"; fi
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
    install) need libcli11-dev; need --optional libdw-dev libelf-dev ;;
    core) ;;
    *) echo "unknown verb $1" >&2; exit 2 ;;
  esac
}

# --- builds ---

# build PRESET [target...]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" >"$LOGS/$preset.configure" 2>&1 || { cat "$LOGS/$preset.configure"; return 1; }
  if [ $# -gt 0 ]; then set -- --target "$@"; fi
  cmake --build --preset "$preset" -j "$JOBS" "$@" >"$LOGS/$preset.build" 2>&1 ||
    { grep -E -A12 'FAILED|error|warning' "$LOGS/$preset.build" | head -80; return 1; }
}

# --- test ---

table=()
passed_all=0
failed_all=0

record() { # name passed failed skipped seconds remark
  table+=("$(printf '%-18s %7d %7d %7d %7ds  %s' "$@")")
  passed_all=$((passed_all + $2))
  failed_all=$((failed_all + $3))
}

attribute() { # file name: the number of a junit attribute, 0 if absent
  local number
  number=$(grep -m1 -oE "[[:space:]]$2=\"[0-9]+\"" "$1" | grep -oE '[0-9]+' || true)
  echo "${number:-0}"
}

# suite NAME PRESET TARGETS [ctest argument...]: builds the targets ("" for all) and runs; a build that fails counts as
# one failure.
suite() {
  local name=$1 preset=$2 targets=$3 start=$SECONDS junit
  shift 3
  junit=$PWD/$LOGS/$name.xml
  rm -f "$junit"
  say "$name: building"
  # shellcheck disable=SC2086  # several targets in one word
  if ! build "$preset" $targets; then
    record "$name" 0 1 0 $((SECONDS - start)) "build failed, see $LOGS/$preset.build"
    return
  fi
  say "$name: testing"
  local status=0
  ctest --preset "$preset" -j "$JOBS" --output-on-failure --no-tests=error --output-junit "$junit" "$@" \
    >"$LOGS/$name.ctest" 2>&1 || status=$?
  # Failures in full, then ctest's own summary; every passed or skipped test's line stays in the log.
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .*(Passed|Skipped)|[[:space:]]+[0-9]+ - .*\(Skipped\)$|The following tests did not run:)' \
    "$LOGS/$name.ctest" | tail -n 400 || true
  if [ ! -s "$junit" ]; then
    record "$name" 0 1 0 $((SECONDS - start)) "ctest did not run, see $LOGS/$name.ctest"
    return
  fi
  local total failed skipped disabled
  total=$(attribute "$junit" tests)
  failed=$(attribute "$junit" failures)
  skipped=$(attribute "$junit" skipped)
  disabled=$(attribute "$junit" disabled)
  skipped=$((skipped + disabled))
  if [ $status != 0 ] && [ "$failed" = 0 ]; then
    record "$name" $((total - skipped)) 1 "$skipped" $((SECONDS - start)) "ctest failed, see $LOGS/$name.ctest"
    return
  fi
  record "$name" $((total - failed - skipped)) "$failed" "$skipped" $((SECONDS - start)) ""
}

skip_suite() { # name reason
  table+=("$(printf '%-18s %7s %7s %7s %8s  %s' "$1" - - - - "skipped: $2")")
}

# explored LOG: what the model tests say of the executions they went through (tests/model/expect.hpp, mutations.hpp) in
# ctest's log, a line a program; nothing if there is none.
explored() {
  [ -f "$1" ] || return 0
  awk '
    / Testing: / { program = $3; sub(/\..*/, "", program) }
    match($0, /explored [^ ]+: [0-9]+ executions/) {
      split(substr($0, RSTART, RLENGTH), word, " ")
      runs[program]++
      executions[program] += word[3]
    }
    /^weakened [^ ]+: [0-9]+ of [0-9]+ found, [0-9]+ excused; [0-9]+ executions$/ {
      found[program] += $3
      places[program] += $5
      excused[program] += $7
      executions[program] += $9
    }
    END {
      for (program in executions) {
        line = sprintf("%s: %.0f executions", program, executions[program])
        if (runs[program] > 0) line = line sprintf(", in %d explorations", runs[program])
        if (places[program] > 0)
          line = line sprintf(", and of %d weakened places %d found, %d excused", places[program], found[program],
            excused[program])
        print line
      }
    }' "$1" | sort
}

# foreign_suite PORT TRIPLE [target...]: the port for another CPU, cross-compiled and run by qemu-user, in less work a
# case. qemu takes guard advice that it does not know for granted, so guard pages are made by mprotect(2).
foreign_suite() {
  local port=$1 triple=$2
  shift 2
  if ! command -v "$triple-g++" >/dev/null; then skip_suite "$port" "no $triple-g++"; return; fi
  if ! command -v "qemu-$port" >/dev/null; then skip_suite "$port" "no qemu-$port"; return; fi
  if [ ! -d /usr/src/googletest ]; then skip_suite "$port" "no source of GoogleTest"; return; fi
  say "$port: hwloc and GoogleTest for it"
  if ! JOBS=$JOBS tools/sysroot "$port" >"$LOGS/sysroot-$port" 2>&1; then
    skip_suite "$port" "no hwloc for it, see $LOGS/sysroot-$port"
    return
  fi
  WEFT_GUARD=mprotect WEFT_CONFORMANCE_SCALE=5 suite "$port" "$port" \
    "unit_arch unit_arch_o0 unit_arch_o2_no_pic unit_arch_o3_frame_pointer arch_switch_cost weft_conformance $*" \
    -R '^(unit_arch(_o[0-9_a-z]+)?|conformance)\.'
}

verb_test() {
  local quick=0 models
  case ${1:-} in
    --quick) quick=1 ;;
    "") ;;
    *) usage; exit 2 ;;
  esac
  need_for test
  export WEFT_STRESS_SECONDS=${WEFT_STRESS_SECONDS:-2}
  suite gcc ci-gcc ""
  models=$(explored build/ci-gcc/Testing/Temporary/LastTest.log) # now: the next suites of this build write it anew
  if [ $quick = 0 ]; then
    # Older kernels have no guard regions in page tables: both fallbacks, on the same build.
    WEFT_GUARD=mprotect suite gcc-mprotect ci-gcc "" -R '^(unit_memory|conformance|fault_injection|stress_mix)\.' -LE '^preempt$'
    WEFT_GUARD=canary suite gcc-canary ci-gcc "" -R '^(unit_memory|conformance|fault_injection|stress_mix)\.' -LE '^preempt$'
    WEFT_MEMBARRIER=0 suite gcc-plain-fences ci-gcc "" -R '^(unit_queue|unit_sync|conformance|stress_mix)\.' -LE '^preempt$'
    # The other builds run what depends on the compiler, the port or the sanitizer.
    suite portable portable "unit_arch arch_debuggee arch_switch_cost weft_conformance" -R '^(unit_arch|conformance)\.'
    if [ "$(uname -m)" = x86_64 ]; then
      suite cet cet "unit_arch arch_debuggee weft_conformance weft_abt system_signals system_hardening_ibt" \
        -R "^((unit_arch|conformance|system_signals)\\.|system_hardening\\.(ibt|cet)$)" -E "^unit_arch\\.instructions$" # landing pads count
    fi
    # Inlined across the library's files, nothing of a kernel thread may be kept across a switch either.
    WEFT_CONFORMANCE_SCALE=25 suite lto lto "thread_state_o2 weft_conformance" -R "^(thread_state\\.o2|conformance)\\."
    foreign_suite aarch64 aarch64-linux-gnu unit_arch_o2_bti unit_arch_o2_sve
    foreign_suite ppc64le powerpc64le-linux-gnu
    foreign_suite riscv64 riscv64-linux-gnu
    suite clang ci-clang "" -LE '^(memcheck|model|bench)$'
    export WEFT_CONFORMANCE_SCALE=${WEFT_CONFORMANCE_SCALE:-25}
    suite asan asan "unit_arch weft_conformance stress_mix simulation unit_api unit_technique unit_memory unit_queue unit_sched unit_sync unit_io unit_base unit_os unit_unit unit_topology unit_trace unit_runtime abt_tests system_seeded_faults system_interference system_exit system_signals system_fork unit_compose fault_interrupted simulation_points random_cxx random_abt thread_state_o2" \
      -R '^((unit_arch|unit_api|unit_technique|unit_memory|unit_queue|unit_sched|unit_sync|unit_io|unit_base|unit_os|unit_unit|unit_topology|unit_trace|unit_runtime|conformance|stress_mix|simulation_points|simulation\.(simulation|simulation_faults|arrangements/set_ups|mix)|system_seeded_faults|system_interference|system_exit|system_signals|system_fork|unit_compose|fault_interrupted|abt_(init|xstream|sched|pool|thread|self|key|sync|foreign|info|tool))\.|random\.(cxx|abt)$|thread_state\.o2\.)'
    suite tsan tsan "unit_arch weft_conformance stress_mix unit_api unit_technique unit_memory unit_queue unit_sched unit_sync unit_io unit_trace abt_sync abt_self system_seeded_faults random_cxx random_abt thread_state_o2" \
      -R '^((unit_arch|unit_api|unit_technique|unit_memory|unit_queue|unit_sched|unit_sync|unit_io|unit_trace|conformance|stress_mix|system_seeded_faults|abt_sync|abt_self)\.|random\.(cxx|abt)$|thread_state\.o2\.)'
  fi
  if [ -n "$models" ]; then printf '\n%s\n' "$models"; fi
  printf '\n%-18s %7s %7s %7s %8s\n' suite passed failed skipped time
  printf '%s\n' "${table[@]}"
  printf '%d passed, %d failed\n' "$passed_all" "$failed_all"
  [ "$failed_all" = 0 ]
}

# --- the other verbs ---

verb_demo() {
  need_for demo
  say "building"
  build release weft-demo
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
  build release bench
  if [ "$suite" = http ]; then
    exec python3 bench/http_suite.py --bin build/release/bench/bin "$@"
  fi
  exec python3 bench/run.py --bin build/release/bench/bin "${arguments[@]}" "$@"
}

# What a round of soak goes through, short parts first: a name, the preset (one of `./do test`, whose build serves), what is
# built ("all" for all), settings of its own (@seed and @round stand for the round's), ctest's arguments. Each sees WEFT_SOAK,
# the seconds of a long test, a fresh WEFT_STRESS_SEED, and the lengths that verb_soak sets. Simulated, a failure comes again
# with its seed.
soak_parts=(
  "endurance"
  "stress|ci-gcc|all||-L ^stress$"
  "simulated|ci-gcc|all|WEFT_SIM=@seed|-L ^stress$"
  "fuzz|ci-clang|fuzzers||-L ^fuzz$"
  "interleavings|ci-gcc|all|WEFT_MODEL_DEPTH=@round|-L ^model$"
  "disturbed|ci-gcc|all||-R ^(system_(interference|limits|calendar|fork|exit|signals|reopen|wake)|fault_injection|fault_interrupted|unit_preempt)"
  "random|ci-gcc|all||-L ^random$"
  "state|ci-gcc|all||-L ^state$"
  "state-clang|ci-clang|thread_states||-L ^state$"
  "simulation|ci-gcc|all|WEFT_SIMULATION_SEEDS=@round00|-L ^simulation$"
)

soak_part() { # round name preset settings argument...
  local round=$1 name=$2 preset=$3 settings=$4 status=0 left
  shift 4
  WEFT_STRESS_SEED=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
  settings=${settings//@seed/$WEFT_STRESS_SEED}
  settings=${settings//@round/$round}
  left=$(((end - SECONDS + 59) / 60))
  say "round $round, $name, WEFT_STRESS_SEED=$WEFT_STRESS_SEED $settings, $((left > 0 ? left : 0)) minutes left"
  # shellcheck disable=SC2086  # none or one
  env $settings ctest --preset "$preset" -j "$JOBS" --timeout 3000 --output-on-failure --no-tests=error "$@" || status=$?
  if [ $status != 0 ]; then
    say "failed in round $round, $name: $settings WEFT_STRESS_SEED=$WEFT_STRESS_SEED" \
      "WEFT_STRESS_SECONDS=$WEFT_STRESS_SECONDS WEFT_SOAK=$WEFT_SOAK"
    exit 1
  fi
}

# One process for as long as all of it takes, beside the other parts: what it holds must not grow. A failure is told when the
# rest has ended.
soak_endurance=0
begin_endurance() { # minutes
  say "endurance, beside the others, into $LOGS/soak.endurance"
  build ci-gcc stress_endurance
  WEFT_STRESS_SECONDS=$(($1 * 60)) timeout $(($1 * 60 + 900)) build/ci-gcc/tests/stress/stress_endurance >"$LOGS/soak.endurance" 2>&1 &
  soak_endurance=$!
  trap 'kill $soak_endurance 2>/dev/null || true' EXIT
}
end_endurance() {
  if [ $soak_endurance = 0 ]; then return; fi
  say "waiting for endurance"
  wait $soak_endurance || { cat "$LOGS/soak.endurance"; say "failed: endurance"; exit 1; }
  grep -E '^(first|last|[0-9]+ turns)' "$LOGS/soak.endurance"
}

# The first round goes through all parts, however long they take; a later one ends when the time is up, and is then not
# counted.
verb_soak() {
  local minutes=${1:-60} start end round=0 whole=0 part name preset targets settings arguments parts=() times="" began lacking=""
  local -A spent=()
  case $minutes in *[!0-9]* | "") usage; exit 2 ;; esac
  local wanted=" ${*:2} "
  for name in ${wanted}; do
    [[ " ${soak_parts[*]%%|*} " = *" $name "* ]] || { echo "no part $name; there are: ${soak_parts[*]%%|*}" >&2; exit 2; }
  done
  need_for soak
  for part in "${soak_parts[@]}"; do
    IFS='|' read -r name preset targets settings arguments <<<"$part"
    if [[ $wanted != "  " && $wanted != *" $name "* ]]; then
      lacking+=", $name not asked for"
      continue
    fi
    if [ "$name" = endurance ]; then
      begin_endurance "$minutes"
      times="endurance all along"
      continue
    fi
    if [ "$preset" = ci-clang ] && [ -z "$(newest_clang)" ]; then
      say "no clang: $name is left out"
      lacking+=", $name left out"
      continue
    fi
    say "building for $name"
    if [ "$targets" = all ]; then build "$preset"; else build "$preset" "$targets"; fi
    parts+=("$part")
  done
  start=$SECONDS
  end=$((start + minutes * 60))
  export WEFT_STRESS_SECONDS=${WEFT_STRESS_SECONDS:-30} WEFT_SOAK=${WEFT_SOAK:-20} WEFT_FUZZ_RUNS=${WEFT_FUZZ_RUNS:-500000}
  export WEFT_SIMULATION_POINTS=${WEFT_SIMULATION_POINTS:-1000000000}
  export WEFT_RANDOM_PROGRAMS=${WEFT_RANDOM_PROGRAMS:-1000000} WEFT_STATE_MIGRATIONS=${WEFT_STATE_MIGRATIONS:-10000000}
  export WEFT_STRESS_SEED
  while [ ${#parts[@]} -gt 0 ] && { [ $whole = 0 ] || [ $SECONDS -lt $end ]; }; do
    round=$((round + 1))
    for part in "${parts[@]}"; do
      if [ $whole -gt 0 ] && [ $SECONDS -ge $end ]; then break 2; fi
      IFS='|' read -r name preset targets settings arguments <<<"$part"
      began=$SECONDS
      # The part may have a | of its own: it is the rest of the line. Words of ctest's, so unquoted.
      # shellcheck disable=SC2086
      soak_part $round "$name" "$preset" "$settings" $arguments
      spent[$name]=$((${spent[$name]:-0} + SECONDS - began))
    done
    whole=$round
  done
  end_endurance
  for part in "${parts[@]}"; do
    name=${part%%|*}
    times+="${times:+, }$name ${spent[$name]} s"
  done
  say "whole rounds without a failure: $whole, in $(((SECONDS - start + 30) / 60)) minutes: $times$lacking"
}

verb_install() {
  [ $# = 1 ] || { usage; exit 2; }
  need_for install
  local prefix
  prefix=$(realpath -m "$1")
  say "building"
  build install
  cmake --install build/install --prefix "$prefix" >"$LOGS/install" || { cat "$LOGS/install"; exit 1; }
  say "installed into $prefix"
}

mkdir -p "$LOGS"
verb=${1:-help}
[ $# = 0 ] || shift
case $verb in
  demo | test | bench | soak | install) "verb_$verb" "$@" ;;
  deps) need_for "${1:-core}" ;;
  help | -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
