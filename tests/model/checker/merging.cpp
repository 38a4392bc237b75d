// SPDX-License-Identifier: MIT
// Merging: what makes a state (README.md, "Merging"), and how an execution that is left leaves nothing.
#include "tests/model/checker/engine.hpp"

#include "tests/model/checker/quarantine.hpp"

#include <algorithm>
#include <cstring>
#include <cxxabi.h>

// Where the static variables of the program lie.
extern "C" char __data_start[]; // NOLINT
extern "C" char _end[];         // NOLINT

namespace weft::model {

void engine::remember_statics() {
  statics_.assign(__data_start, _end);
}

// An execution that was left in the middle has not put back what it changed; and what one that ended has put
// into static variables may refer to its memory.
void engine::forget_execution() noexcept {
  std::memcpy(__data_start, statics_.data(), statics_.size());
  std::memset(static_cast<void*>(abi::__cxa_get_globals()), 0, sizeof(void*) + sizeof(unsigned));
}

void engine::merge() noexcept {
  if (!seen_.insert(hash_of_state()))
    end_execution();
}

// Of its caller: that one has put all registers that its own caller may use later into its frame, by
// __builtin_unwind_init(), and its frame lies above this one.
void engine::note_stance() noexcept {
  me().stance = static_cast<const char*>(__builtin_frame_address(0));
}

// What all know that have not finished, but for one of them, if it is one.
view engine::known_to_all_but(unsigned one) const noexcept {
  view known = view::top();
  for (unsigned id = 0; id < count_; ++id) {
    if (id != one && threads_[id].status != thread_status::finished)
      known.meet(threads_[id].memory.now);
  }
  return known;
}

void engine::tell_views_apart() noexcept {
  views_.start(known_to_all_but(max_threads));
  for (unsigned id = 0; id < count_; ++id)
    views_.note(id, threads_[id].memory.now.clock[id]);
  plain_.each([this](const void*, const plain_record& r) {
    views_.note(r.writer, r.write_clock);
    for (unsigned id = 0; id < count_; ++id)
      views_.note(id, r.read_clock[id]);
  });
  locations_.each(
      [this](const void*, const location_index& l) { views_.note(l.constructor, l.constructor_clock); });
  views_.rank();
}

// Of what a thread may take over later, what it does not know yet; of what others may take over from it, what
// one of them does not know.
std::uint64_t engine::hash_of_views(unsigned id) noexcept {
  const thread_state& t = threads_[id];
  const int locations = memory_.locations();
  std::uint64_t sum = views_.hash(t.memory.now, views_.known_to_all(), names_, locations);
  if (t.status == thread_status::finished)
    return sum;
  sum = mix(sum, views_.hash(t.memory.release_fence, known_to_all_but(id), names_, locations));
  sum = mix(sum, views_.hash(t.memory.acquire_pending, t.memory.now, names_, locations));
  sum = mix(sum, views_.hash(t.token_view, t.memory.now, names_, locations));
  std::uint64_t reads = 0; // which locations are read afresh
  for (std::size_t i = 0; i < static_cast<std::size_t>(locations); ++i)
    reads += t.memory.read_at[i] == 0 || names_[i] == 0
                 ? 0
                 : mix(names_[i], t.memory.read_at[i] == t.memory.relaxations ? 1 : 2);
  return mix(sum, reads);
}

unsigned engine::who_is_woken_before(unsigned id) const noexcept {
  const thread_state& t = threads_[id];
  unsigned before = 0;
  for (unsigned other = 0; other < count_; ++other) {
    const thread_state& o = threads_[other];
    before += o.status == thread_status::futex && o.waits_on == t.waits_on && o.ticket < t.ticket ? 1 : 0;
  }
  return before;
}

// Where it stands, and all that it will find on its stack.
std::uint64_t engine::hash_of_what_runs(unsigned id) noexcept {
  const thread_state& t = threads_[id];
  std::uint64_t sum = static_cast<std::uint64_t>(t.status) | t.rounds << 8;
  for (const bool flag : {t.yielded, t.timed, t.woken, t.token, t.poised, t.begun})
    sum = sum << 1 | (flag ? 1 : 0);
  if (t.status == thread_status::finished)
    return sum;
  if (t.begun)
    sum = mix(sum, hash_of_bytes(t.stance, static_cast<std::size_t>(t.stack + stack_bytes - t.stance)));
  for (unsigned i = 0; i < thread_word_count_; ++i)
    sum = mix(sum, reinterpret_cast<std::uintptr_t>(id == current_ ? *thread_words_[i] : t.words[i]));
  for (const void* each :
       {static_cast<const void*>(t.body), t.failed_without_cause, reinterpret_cast<const void*>(t.handler),
        t.status == thread_status::futex ? t.waits_on : nullptr})
    sum = mix(sum, reinterpret_cast<std::uintptr_t>(each));
  if (t.status == thread_status::joining)
    sum = mix(sum, t.joins);
  if (t.late.when != t.late.none)
    sum = mix(mix(sum, t.late.when), mix(reinterpret_cast<std::uintptr_t>(t.late.address), t.late.value));
  if (t.status == thread_status::futex)
    sum = mix(sum, who_is_woken_before(id));
  return sum;
}

std::uint64_t engine::hash_of_state() noexcept {
  tell_views_apart();
  std::array<const view*, max_threads> live{};
  std::size_t count = 0;
  for (unsigned id = 0; id < count_; ++id) {
    if (threads_[id].status != thread_status::finished)
      live[count++] = &threads_[id].memory.now;
  }
  std::uint64_t sum = memory_.hash(views_, names_, {live.data(), count});
  for (unsigned id = 0; id < count_; ++id)
    sum += mix(mix(id, hash_of_what_runs(id)), hash_of_views(id));
  plain_.each([&](const void* address, const plain_record& r) {
    std::uint64_t record = views_.hash_of_clock(r.writer, r.write_clock);
    for (unsigned id = 0; id < count_; ++id)
      record += 3 * views_.hash_of_clock(id, r.read_clock[id]);
    sum += record == 0 ? 0 : mix(reinterpret_cast<std::uintptr_t>(address), record);
  });
  locations_.each([&](const void* address, const location_index& l) {
    const std::uint64_t record = views_.hash_of_clock(l.constructor, l.constructor_clock);
    sum += record == 0 ? 0 : mix(reinterpret_cast<std::uintptr_t>(address) + 1, record);
  });
  sum = mix(sum, quarantine::hash());
  sum = mix(sum, hash_of_bytes(__data_start, statics_.size()));
  sum = mix(sum, hash_of_bytes(abi::__cxa_get_globals(), sizeof(void*) + sizeof(unsigned)));
  if (options_.preemptions != unlimited)
    sum = mix(sum, mix(preemptions_, current_));
  return options_.stale_reads != unlimited ? mix(sum, stale_reads_) : sum;
}

} // namespace weft::model
