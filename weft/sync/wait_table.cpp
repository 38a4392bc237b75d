// SPDX-License-Identifier: MIT
// Waiting for a mutex: spin a little, announce, stand in the queue, sleep.
#include "weft/sync/wait_table.hpp"
#include "weft/carrier/runtime_section.hpp"

#include "weft/arch/arch.hpp"
#include "weft/sched/switch.hpp"
#include "weft/simulator/simulation.hpp"
#include "weft/sync/wait_told.hpp"
#include "weft/workers/group.hpp"

#include <algorithm>

namespace weft::sync {
namespace {

/// Looks at a taken word before sleeping. Some 32 pauses take about as long as announcing, sleeping and being
/// woken, so spinning at most doubles the price of a wait (Karlin et al. 1991, competitive spinning).
constexpr int spin_looks = 32;

/// Where one worker runs all threads, the owner cannot make progress while its successor spins.
bool owner_may_be_running() noexcept {
  return !sched::on_worker() || sched::here().owner_group.size() > 1;
}

bool spin(mutex_word& word, std::uint32_t mark) noexcept {
  for (int i = 0; i < spin_looks; ++i) {
    arch::relax();
    // RACY: relaxed look only decides when to try
    if (word.load_relaxed() == word_free && take_word(word, mark)) {
      return true;
    }
  }
  return false;
}

/// After the constructor in os/membarrier.cpp (101): owners must fence themselves where heavy fences do not
/// reach them.
[[gnu::constructor(102)]] void choose_fences() noexcept {
  if (!base::asymmetric_fences) {
    std::for_each(std::begin(wait_table), std::end(wait_table),
                  [](auto& slot) { slot.state.set_symmetric(); });
  }
}

} // namespace

WEFT_API constinit wait_slot<waiter> wait_table[wait_slots];

namespace {

// In a simulation every release goes the long way, where others may go on. Nobody waits when one begins.
void release_slowly(bool simulated) noexcept {
  for (auto& slot : wait_table) {
    if (simulated) {
      slot.state.set_symmetric();
    } else if (base::asymmetric_fences) {
      slot.state.set_asymmetric();
    }
  }
}

[[gnu::constructor(102)]] void follow_simulations() noexcept {
  sched::simulation::told.store(&release_slowly, std::memory_order_release);
}

} // namespace

bool lock_slowly(mutex_word& word, std::uint32_t displaced, sched::deadline until,
                 const std::stop_token& stop) {
  const sched::runtime_section in;
  if (is_offered(displaced)) { // (M6) it is the caller's by now, but somebody has waited longer
    slot_of(&word).release(word);
    ++displaced; // the mark of that one
  }
  const std::uint32_t mark = arch::stack_mark();
  if (owner_may_be_running() && spin(word, mark)) {
    return true;
  }
  if (has_passed(until)) {
    let_others_run(); // SWITCH: may resume on another worker
    return take_word(word, arch::stack_mark());
  }
  if (sched::on_worker()) {
    sched::require_thread("mutex::lock");
  }
  const wait_told told(&word);
  return slot_of(&word).acquire(word, mark, [&](waiter& w) {
    w.why = {unit::wait_kind::mutex, displaced, &word};
    return w.wait(until, stop) == wait_result::notified;
  }); // SWITCH: may resume on another worker
}

void lock_slowly(mutex_word& word, std::uint32_t displaced) {
  static_cast<void>(lock_slowly(word, displaced, sched::no_deadline, {}));
}

void release_contended(mutex_word& word) noexcept {
  const sched::runtime_section in;
  sched::note_here(trace::event::lock_pass, &word);
  slot_of(&word).release(word);
}

void look_again(const mutex_word* key) noexcept {
  const sched::runtime_section in;
  slot_of(key).look_again(key);
}

void forget_waiters_after_fork() noexcept {
  std::for_each(std::begin(wait_table), std::end(wait_table), [](auto& slot) { slot.forget(); });
}

bool wait_table_valid() noexcept {
  return std::all_of(std::begin(wait_table), std::end(wait_table), [](auto& slot) { return slot.valid(); });
}

} // namespace weft::sync
