# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For ./do: builds, and the test run.

configure_options=() # more of cmake's, for the next build

# build PRESET [target...]
build() {
  local preset=$1
  shift
  cmake --preset "$preset" "${configure_options[@]}" >"$LOGS/$preset.configure" 2>&1 || { cat "$LOGS/$preset.configure"; return 1; }
  if [ $# -gt 0 ]; then set -- --target "$@"; fi
  cmake --build --preset "$preset" -j "$JOBS" "$@" >"$LOGS/$preset.build" 2>&1 ||
    { grep -E -A12 'FAILED|error|warning' "$LOGS/$preset.build" | head -80; return 1; }
}

# --- test ---

table=()
passed_all=0
failed_all=0

record() { # name passed failed skipped seconds-of-building seconds-of-testing remark
  table+=("$(printf '%-14s %7d %7d %7d %7ds %7ds  %s' "$@")")
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
  local name=$1 preset=$2 targets=$3 start=$SECONDS built junit
  shift 3
  junit=$PWD/$LOGS/$name.xml
  rm -f "$junit"
  say "$name: building"
  # shellcheck disable=SC2086  # several targets in one word
  if ! build "$preset" $targets; then
    record "$name" 0 1 0 $((SECONDS - start)) 0 "build failed, see $LOGS/$preset.build"
    return
  fi
  built=$((SECONDS - start))
  say "$name: testing"
  local status=0
  ctest --preset "$preset" -j "$JOBS" --output-on-failure --no-tests=error --output-junit "$junit" "$@" \
    >"$LOGS/$name.ctest" 2>&1 || status=$?
  # Failures in full, then ctest's own summary; every passed or skipped test's line stays in the log.
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ Test .*(Passed|Skipped)|[[:space:]]+[0-9]+ - .*\(Skipped\)$|The following tests did not run:)' \
    "$LOGS/$name.ctest" | tail -n 400 || true
  if [ ! -s "$junit" ]; then
    record "$name" 0 1 0 $built $((SECONDS - start - built)) "ctest did not run, see $LOGS/$name.ctest"
    return
  fi
  local total failed skipped disabled
  total=$(attribute "$junit" tests)
  failed=$(attribute "$junit" failures)
  skipped=$(attribute "$junit" skipped)
  disabled=$(attribute "$junit" disabled)
  skipped=$((skipped + disabled))
  if [ $status != 0 ] && [ "$failed" = 0 ]; then
    record "$name" $((total - skipped)) 1 "$skipped" $built $((SECONDS - start - built)) "ctest failed, see $LOGS/$name.ctest"
    return
  fi
  record "$name" $((total - failed - skipped)) "$failed" "$skipped" $built $((SECONDS - start - built)) ""
}

skip_suite() { # name reason
  table+=("$(printf '%-14s %7s %7s %7s %8s %8s  %s' "$1" - - - - - "skipped: $2")")
}

# tree NAME PRESET: the tests of this tree (tests/trees.cmake), and in a full run all that it can run.
tree() {
  configure_options=("-DWEFT_FULL=$full")
  suite "$1" "$2" tests_here -L '^here$'
  configure_options=()
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

# foreign PORT TRIPLE: the port for another CPU, cross-compiled and run by qemu-user, in less work a
# case. qemu takes guard advice that it does not know for granted, so guard pages are made by mprotect(2).
foreign() {
  local port=$1 triple=$2
  if ! command -v "$triple-g++" >/dev/null; then skip_suite "$port" "no $triple-g++"; return; fi
  if ! command -v "qemu-$port" >/dev/null; then skip_suite "$port" "no qemu-$port"; return; fi
  if [ ! -d /usr/src/googletest ]; then skip_suite "$port" "no source of GoogleTest"; return; fi
  say "$port: hwloc and GoogleTest for it"
  if ! JOBS=$JOBS tools/sysroot "$port" >"$LOGS/sysroot-$port" 2>&1; then
    skip_suite "$port" "no hwloc for it, see $LOGS/sysroot-$port"
    return
  fi
  WEFT_GUARD=mprotect WEFT_CONFORMANCE_SCALE=5 tree "$port" "$port"
}

# --- the suites ---

# A build in which all tests run but the longest, which are suites of their own; and its variants: other guards of stacks
# and other fences, as older kernels have them.
suite_gcc() { suite gcc ci-gcc "" -LE '^long_'; }
suite_models() { suite models ci-gcc "" -L '^long_model$'; }
# Valgrind's runs of more than twenty seconds, and the searches that must find seeded faults.
suite_memcheck() { suite memcheck ci-gcc "" -L '^long_check$'; }
suite_mprotect() { WEFT_GUARD=mprotect suite mprotect ci-gcc "" -R "$of_memory" -LE '^preempt$'; }
suite_canary() { WEFT_GUARD=canary suite canary ci-gcc "" -R "$of_memory" -LE '^preempt$'; }
suite_plain-fences() { WEFT_MEMBARRIER=0 suite plain-fences ci-gcc "" -R "$of_fences" -LE '^preempt$'; }
of_memory='^(unit_memory|conformance|fault_injection|stress_mix)\.'
of_fences='^(unit_queue|unit_sync|conformance|stress_mix)\.'

# The libraries by clang, on days when its tests are not run: it warns of other things than gcc.
suite_clang-libraries() {
  local start=$SECONDS
  say "clang-libraries: building"
  if build ci-clang weft_shared fronts; then
    record clang-libraries 1 0 0 $((SECONDS - start)) 0 ""
  else
    record clang-libraries 0 1 0 $((SECONDS - start)) 0 "build failed, see $LOGS/ci-clang.build"
  fi
}

# The other trees build and run what tests/trees.cmake says.
suite_clang() {
  if [ "$full" = 1 ]; then
    configure_options=(-DWEFT_FULL=1)
    suite clang ci-clang "" -LE '^(memcheck|model|long_model|bench)$'
    configure_options=()
  else
    tree clang ci-clang
  fi
}
suite_asan() { WEFT_CONFORMANCE_SCALE=${WEFT_CONFORMANCE_SCALE:-25} tree asan asan; }
suite_tsan() { WEFT_CONFORMANCE_SCALE=${WEFT_CONFORMANCE_SCALE:-25} tree tsan tsan; }
suite_portable() { tree portable portable; }
suite_cet() {
  if [ "$(uname -m)" != x86_64 ]; then skip_suite cet "not x86-64"; return; fi
  tree cet cet
}
# Inlined across the library's files, nothing of a kernel thread may be kept across a switch either.
suite_lto() { WEFT_CONFORMANCE_SCALE=25 tree lto lto; }
suite_aarch64() { foreign aarch64 aarch64-linux-gnu; }
suite_ppc64le() { foreign ppc64le powerpc64le-linux-gnu; }
suite_riscv64() { foreign riscv64 riscv64-linux-gnu; }

# clang-tidy over the sources of weft/, front/ and tools/, as .clang-tidy says; counts as one test.
suite_tidy() {
  local start=$SECONDS status=0
  say "tidy: checking"
  if ! cmake --preset ci-clang >"$LOGS/ci-clang.configure" 2>&1; then
    record tidy 0 1 0 0 $((SECONDS - start)) "cannot be configured, see $LOGS/ci-clang.configure"
    return
  fi
  tools/lint/tidy build/ci-clang >"$LOGS/tidy.log" 2>&1 || status=$?
  case $status in
    0) record tidy 1 0 0 0 $((SECONDS - start)) "" ;;
    77) skip_suite tidy "no clang-tidy" ;;
    *)
      grep -E 'error:|^tidy:' "$LOGS/tidy.log" | head -40
      record tidy 0 1 0 0 $((SECONDS - start)) "see $LOGS/tidy.log"
      ;;
  esac
}

# A fresh Debian (tools/do/try.sh): counts as one test.
suite_try() {
  local start=$SECONDS
  if [ "$(id -u)" != 0 ]; then skip_suite try "not root"; return; fi
  if (verb_try >"$LOGS/try.log" 2>&1); then
    record try 1 0 0 0 $((SECONDS - start)) ""
  else
    tail -n 80 "$LOGS/try.log"
    record try 0 1 0 0 $((SECONDS - start)) "see $LOGS/try.log"
  fi
}

# What a run has always, and what it has in turn, one of each list a day; --full has them all.
always=(gcc)
trees=(clang asan tsan)
in_turn=(models mprotect portable memcheck canary cet lto plain-fences aarch64 ppc64le riscv64 tidy)
of_the_day() { # suite...
  local -i day=$(($(date +%s) / 86400))
  local suites=("$@")
  echo "${suites[$((day % $#))]}"
}

verb_test() {
  local models suites=("${always[@]}") name
  full=0
  case ${1:-} in
    --quick) suites=(gcc) ;;
    --full) full=1; suites+=("${trees[@]}" "${in_turn[@]}" try) ;;
    --suite)
      shift
      suites=("$@")
      for name in "${suites[@]}"; do
        declare -F "suite_$name" >/dev/null || { echo "no suite $name; there are: ${always[*]} clang-libraries ${trees[*]} ${in_turn[*]} try" >&2; exit 2; }
      done
      ;;
    "")
      suites+=("$(of_the_day "${trees[@]}")" "$(of_the_day "${in_turn[@]}")")
      if [ "${suites[1]}" != clang ]; then suites+=(clang-libraries); fi
      ;;
    *) usage; exit 2 ;;
  esac
  need_for test
  use_ccache
  export WEFT_STRESS_SECONDS=${WEFT_STRESS_SECONDS:-2}
  for name in "${suites[@]}"; do
    "suite_$name"
    # Now: the next suites of this build write its log anew.
    if [ "$name" = gcc ]; then models=$(explored build/ci-gcc/Testing/Temporary/LastTest.log); fi
  done
  if [ -n "${models:-}" ]; then printf '\n%s\n' "$models"; fi
  printf '\n%-14s %7s %7s %7s %8s %8s\n' suite passed failed skipped building testing
  printf '%s\n' "${table[@]}"
  printf 'in %d minutes\n' $(((SECONDS + 30) / 60))
  printf '%d passed, %d failed\n' "$passed_all" "$failed_all"
  [ "$failed_all" = 0 ]
}
