# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For ./do: long runs with fresh seeds.

# What a round of soak goes through, short parts first: a name, the preset (one of `./do test`, whose build serves), what is
# built ("all" for all), settings of its own (@seed and @round stand for the round's), ctest's arguments. Each sees WEFT_SOAK,
# the seconds of a long test, a fresh WEFT_STRESS_SEED, and the lengths that soak_lengths sets. Simulated, a failure comes
# again with its seed.
soak_parts=(
  "endurance"
  "stress|ci-gcc|all||-L ^stress$"
  "simulated|ci-gcc|all|WEFT_SIM=@seed|-L ^stress$"
  "fuzz|ci-clang|fuzzers||-L ^fuzz$"
  "interleavings|ci-gcc|all|WEFT_MODEL_DEPTH=@round|-L ^(long_)?model$"
  "disturbed|ci-gcc|all||-R ^(system_(interference|limits|calendar|fork|exit|signals|reopen|wake)|fault_injection|fault_interrupted|unit_preempt)"
  "waits|ci-gcc|all|WEFT_WAITS_REPEATED=200|-R ^system_waits.*(main_(stdio|malloc)|_fork|_static_guard)_"
  "waits-all|ci-gcc|all|WEFT_WAITS_REPEATED=10|-R ^system_waits"
  "random|ci-gcc|all||-L ^random$"
  "state|ci-gcc|all||-L ^state$"
  "state-clang|ci-clang|thread_states||-L ^state$"
  "simulation|ci-gcc|all|WEFT_SIMULATION_SEEDS=@round00|-L ^simulation$"
)

# Where the round stands, over several calls: its number, how many of its tests have passed, and what they passed.
soak_state=build/soak.state
read_state() {
  round=1 done_tests=0
  # shellcheck source=/dev/null
  if [ -f "$soak_state" ]; then . "$soak_state"; fi
}
write_state() { printf 'round=%d done_tests=%d\n' "$round" "$done_tests" >"$soak_state"; }

# The lengths of the tests that have one, such that the longest is done well inside the time.
soak_lengths() { # minutes
  export WEFT_STRESS_SECONDS=${WEFT_STRESS_SECONDS:-30} WEFT_SOAK=${WEFT_SOAK:-20} WEFT_FUZZ_RUNS=${WEFT_FUZZ_RUNS:-500000}
  export WEFT_SIMULATION_POINTS=${WEFT_SIMULATION_POINTS:-1000000000}
  export WEFT_RANDOM_PROGRAMS=${WEFT_RANDOM_PROGRAMS:-$(($1 * 3000))} WEFT_STATE_MIGRATIONS=${WEFT_STATE_MIGRATIONS:-$(($1 * 50000))}
  export WEFT_STRESS_SEED
}

# The tests of the parts asked for, one a line: "part|preset|settings|test".
soak_tests() {
  local part name preset targets settings arguments
  for part in "${parts[@]}"; do
    IFS='|' read -r name preset targets settings arguments <<<"$part"
    # shellcheck disable=SC2086  # ctest's words
    ctest --preset "$preset" -N $arguments 2>/dev/null | sed -n "s/^ *Test *#[0-9]*: /$name|$preset|$settings|/p"
  done
}

# One batch: neighbours with the same settings, as many as run at once. Sets `passed`: no if the time ran out.
soak_batch() { # part preset settings test...
  local name=$1 preset=$2 settings=$3 status=0 left=$((end - SECONDS)) tests
  shift 3
  passed=no
  if [ $left -le 5 ]; then return; fi
  WEFT_STRESS_SEED=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
  settings=${settings//@seed/$WEFT_STRESS_SEED}
  settings=${settings//@round/$round}
  tests=$(printf '%s\n' "$@" | sed 's/[][().*+?^$|{}\\]/\\&/g' | paste -sd '|')
  say "round $round, $name, WEFT_STRESS_SEED=$WEFT_STRESS_SEED $settings, $(((left + 59) / 60)) minutes left: $*"
  # shellcheck disable=SC2086  # none or one
  env $settings timeout "$left" ctest --preset "$preset" -j "$JOBS" --timeout 3000 --output-on-failure --no-tests=error \
    -R "^($tests)\$" >"$LOGS/soak.batch" 2>&1 || status=$?
  if [ $status = 124 ] && [ $SECONDS -ge $((end - 1)) ]; then return; fi
  if [ $status != 0 ]; then
    cat "$LOGS/soak.batch"
    say "failed in round $round, $name: $settings WEFT_STRESS_SEED=$WEFT_STRESS_SEED" \
      "WEFT_STRESS_SECONDS=$WEFT_STRESS_SECONDS WEFT_SOAK=$WEFT_SOAK WEFT_RANDOM_PROGRAMS=$WEFT_RANDOM_PROGRAMS"
    exit 1
  fi
  passed=yes
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

# Goes on where the last call ended, as far as the time goes; a test that the end of the time stops is run anew by the next.
verb_soak() {
  local minutes=${1:-60} end round done_tests whole=0 passed=yes part name preset targets settings test key parts=() all batch lacking=""
  case $minutes in *[!0-9]* | "" | 0) usage; exit 2 ;; esac
  local wanted=" ${*:2} "
  for name in ${wanted}; do
    [[ " ${soak_parts[*]%%|*} " = *" $name "* ]] || { echo "no part $name; there are: ${soak_parts[*]%%|*}" >&2; exit 2; }
  done
  need_for soak
  use_ccache
  for part in "${soak_parts[@]}"; do
    IFS='|' read -r name preset targets settings _ <<<"$part"
    if [[ $wanted != "  " && $wanted != *" $name "* ]]; then
      lacking+=", $name not asked for"
    elif [ "$name" = endurance ]; then
      begin_endurance "$minutes"
    elif [ "$preset" = ci-clang ] && [ -z "$(newest_clang)" ]; then
      lacking+=", $name left out: no clang"
    else
      say "building for $name"
      if [ "$targets" = all ]; then build "$preset"; else build "$preset" "$targets"; fi
      parts+=("$part")
    fi
  done
  if [[ $wanted != "  " ]]; then soak_state=$LOGS/soak.state-of-parts; rm -f "$soak_state"; fi
  end=$((SECONDS + minutes * 60))
  soak_lengths "$minutes"
  read_state
  mapfile -t all < <(soak_tests)
  while [ ${#all[@]} -gt 0 ] && [ "$passed" = yes ] && [ $SECONDS -lt $end ]; do
    batch=()
    key=${all[done_tests]%|*}
    while [ ${#batch[@]} -lt $((2 * JOBS)) ] && [ $((done_tests + ${#batch[@]})) -lt ${#all[@]} ]; do
      test=${all[done_tests + ${#batch[@]}]}
      if [ "${test%|*}" != "$key" ]; then break; fi
      batch+=("${test##*|}")
    done
    IFS='|' read -r name preset settings <<<"$key"
    soak_batch "$name" "$preset" "$settings" "${batch[@]}"
    if [ "$passed" = no ]; then break; fi
    done_tests=$((done_tests + ${#batch[@]}))
    if [ "$done_tests" -ge ${#all[@]} ]; then
      say "round $round passed as a whole: ${#all[@]} tests"
      round=$((round + 1)) done_tests=0 whole=$((whole + 1))
    fi
    write_state
  done
  end_endurance
  say "whole rounds that ended without a failure: $whole; of round $round, $done_tests of ${#all[@]} tests have passed$lacking"
  if [ $done_tests -lt ${#all[@]} ]; then
    say "parts that remain of it: $(printf '%s\n' "${all[@]:$done_tests}" | cut -d'|' -f1 | uniq | paste -sd ' ')"
  fi
}
