// SPDX-License-Identifier: MIT
#undef _FORTIFY_SOURCE // its longjmp() refuses to go to another stack
#include "tests/model/checker/engine.hpp"

#include "tests/model/checker/quarantine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <utility>

// Where the static variables of the program lie.
extern "C" char __data_start[]; // NOLINT
extern "C" char _end[];         // NOLINT

namespace weft::model {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

} // namespace

engine& engine::get() noexcept {
  static engine& one = *new engine; // not among the static variables that are put back
  return one;
}

// --- exploring ---

result engine::explore(const options& how, const std::function<void()>& body) {
  options_ = how;
  const bool random = how.random_executions > 0;
  const std::uint64_t limit = random ? how.random_executions : how.max_executions;
  random ? choices_.start_random(how.seed) : choices_.start_depth_first();
  seen_.clear();
  if (how.merge)
    statics_.assign(__data_start, _end);
  result outcome;
  while (outcome.executions < limit && seen_.count() < how.max_states) {
    run(body);
    ++outcome.executions;
    outcome.states = seen_.count();
    if (failed_) {
      outcome.failed = true;
      outcome.reason = reason_;
      outcome.report = render();
      quarantine::release_all();
      return outcome;
    }
    quarantine::release_all();
    if (how.merge)
      forget_execution();
    if (!choices_.advance()) {
      outcome.complete = true;
      break;
    }
  }
  return outcome;
}

// An execution that was left in the middle has not put back what it changed; and what one that ended has put
// into static variables may refer to its memory.
void engine::forget_execution() noexcept {
  std::memcpy(__data_start, statics_.data(), statics_.size());
  std::memset(static_cast<void*>(abi::__cxa_get_globals()), 0, sizeof(void*) + sizeof(unsigned));
}

void engine::run(const std::function<void()>& body) {
  choices_.rewind();
  memory_.reset();
  locations_.clear();
  plain_.clear();
  labels_.clear();
  events_.clear();
  count_ = current_ = preemptions_ = stale_reads_ = steps_ = 0;
  tickets_ = 0;
  thread_word_count_ = 0;
  failed_ = false;
  using quarantine::memory_of;
  quarantine::use(options_.merge ? memory_of::merged_execution : memory_of::execution);
  spawn(body);
  active_ = true;
  if (_setjmp(host_) == 0)
    go_on_with(threads_[0]);
  quarantine::use(quarantine::memory_of::host);
  active_ = false;
}

// What stands on stacks is never unwound unless all have finished.
void engine::end_execution() noexcept {
  _longjmp(host_, 1);
}

void engine::fail(const std::string& reason) noexcept {
  if (!active_) {
    std::fprintf(stderr, "model: %s (outside an execution)\n", reason.c_str());
    std::abort();
  }
  quarantine::use(quarantine::memory_of::host);
  failed_ = true;
  reason_ = reason;
  end_execution();
}

// --- merging ---

std::uint64_t engine::hash_of_thread(unsigned id) noexcept {
  const thread_state& t = threads_[id];
  const thread_memory& m = t.memory;
  std::uint64_t flags = static_cast<std::uint64_t>(t.status) | t.rounds << 8;
  for (const bool flag : {t.yielded, t.timed, t.woken, t.token, t.poised, t.failed_without_cause != nullptr})
    flags = flags << 1 | (flag ? 1 : 0);
  flags = flags << 2 | static_cast<unsigned>(t.late.when);
  std::uint64_t sum = mix(mix(mix(id, t.history), flags), t.last_round);
  sum = mix(sum, hash_of(m.now, names_, memory_.locations()));
  if (t.status == thread_status::finished)
    return sum;
  sum = mix(sum, hash_of(m.release_fence, names_, memory_.locations()));
  sum = mix(sum, hash_of(m.acquire_pending, names_, memory_.locations()));
  sum = mix(sum, hash_of(t.token_view, names_, memory_.locations()));
  sum = mix(sum, reinterpret_cast<std::uintptr_t>(t.handler));
  std::uint64_t reads = 0; // which locations are read afresh
  for (std::size_t i = 0; i < static_cast<std::size_t>(memory_.locations()); ++i)
    reads += m.read_at[i] == 0 ? 0 : mix(names_[i], m.read_at[i] == m.relaxations ? 1 : 2);
  sum = mix(sum, reads);
  if (t.status == thread_status::futex) {
    std::uint64_t before = 0; // who is woken first
    for (unsigned other = 0; other < count_; ++other) {
      const thread_state& o = threads_[other];
      before += o.status == thread_status::futex && o.waits_on == t.waits_on && o.ticket < t.ticket ? 1 : 0;
    }
    sum = mix(sum, before);
  }
  return sum;
}

std::uint64_t engine::hash_of_state() noexcept {
  std::uint64_t sum = memory_.hash(names_);
  for (unsigned id = 0; id < count_; ++id)
    sum += hash_of_thread(id);
  if (options_.preemptions != unlimited)
    sum = mix(sum, mix(preemptions_, current_));
  return options_.stale_reads != unlimited ? mix(sum, stale_reads_) : sum;
}

void engine::merge() noexcept {
  if (seen_.insert(hash_of_state()))
    return;
  end_execution();
}

// All who could run spin, and have found the same three times since anything was written.
bool engine::nothing_changes() const noexcept {
  for (unsigned id = 0; id < count_; ++id) {
    const thread_state& t = threads_[id];
    if (t.timed || (t.status == thread_status::runnable && t.rounds < 3))
      return false;
  }
  return true;
}

// --- threads ---

unsigned engine::spawn(std::function<void()> body) {
  if (count_ == max_threads) {
    fail("more threads than max_threads (tests/model/checker/view.hpp)");
  }
  const unsigned id = count_++;
  thread_state& child = threads_[id];
  child.body = new std::function<void()>(std::move(body)); // of the execution
  child.begun = false;
  child.memory = thread_memory{};
  child.history = child.round = child.last_round = child.at_relax = 0;
  child.rounds = 0;
  child.poised = false;
  child.failed_without_cause = nullptr;
  child.waits_on = nullptr;
  child.status = thread_status::runnable;
  child.yielded = child.token = child.woken = child.timed = false;
  child.token_view = view{};
  child.handler = nullptr;
  child.late.when = child.late.none;
  child.words = initial_words_;
  if (id != 0) {
    child.memory.now = me().memory.now;
    log("starts", std::memory_order_release, nullptr, id);
    tick();
  }
  child.memory.now.clock[id] = 1;
  if (child.stack == nullptr)
    child.stack = static_cast<char*>(std::aligned_alloc(64, stack_bytes));
  ::getcontext(&child.context);
  child.context.uc_stack.ss_sp = child.stack;
  child.context.uc_stack.ss_size = stack_bytes;
  child.context.uc_link = nullptr;
  ::makecontext(&child.context, &engine::trampoline, 0);
  return id;
}

void engine::trampoline() {
  engine& machine = get();
  try {
    (*machine.me().body)();
  } catch (const std::exception& error) {
    machine.fail(std::string("exception left a thread: ") + error.what());
  }
  machine.finish();
}

void engine::finish() noexcept {
  bring_late_store();
  delete std::exchange(me().body, nullptr);
  me().status = thread_status::finished;
  progress();
  for (unsigned id = 0; id < count_; ++id) {
    if (threads_[id].status == thread_status::joining && threads_[id].joins == current_) {
      wake(threads_[id]);
    }
  }
  leave();
}

void engine::join(unsigned id) {
  if (threads_[id].status != thread_status::finished) {
    me().joins = id;
    block(thread_status::joining, false);
  }
  me().memory.now.join(threads_[id].memory.now);
  log("joined", std::memory_order_acquire, nullptr, id);
}

bool engine::block(thread_status status, bool timed) noexcept {
  bring_late_store();
  thread_state& waiter = me();
  waiter.status = status;
  waiter.timed = timed;
  waiter.woken = false;
  leave();
  waiter.status = thread_status::runnable;
  waiter.timed = false;
  return waiter.woken;
}

void engine::wake(thread_state& blocked) noexcept {
  blocked.status = thread_status::runnable;
  blocked.woken = true;
}

// --- scheduling ---

unsigned engine::eligible(std::array<unsigned, max_threads>& ids, unsigned from) noexcept {
  for (unsigned id = 0; id < count_; ++id) {
    const thread_state& candidate = threads_[id];
    const bool can = candidate.status == thread_status::runnable || candidate.timed;
    if (id != current_ && can && !candidate.yielded) {
      ids[from++] = id;
    }
  }
  return from;
}

void engine::switch_to(unsigned id) noexcept {
  const unsigned previous = current_;
  current_ = id;
  for (unsigned i = 0; i < thread_word_count_; ++i) {
    threads_[previous].words[i] = *thread_words_[i];
    *thread_words_[i] = threads_[id].words[i];
  }
  if (_setjmp(threads_[previous].left) == 0)
    go_on_with(threads_[id]);
}

void engine::go_on_with(thread_state& next) noexcept {
  if (std::exchange(next.begun, true))
    _longjmp(next.left, 1);
  ::setcontext(&next.context);
  std::abort();
}

void engine::step() noexcept {
  if (me().late.when == me().late.due) [[unlikely]]
    bring_late_store();
  decide();
  if (me().late.when == me().late.next) [[unlikely]]
    me().late.when = me().late.due;
}

void engine::decide() noexcept {
  if (++steps_ > options_.max_steps) {
    fail("livelock: more than max_steps operations in one execution");
  }
  me().poised = true;
  if (options_.merge && choices_.is_new())
    merge();
  if (preemptions_ < options_.preemptions) {
    std::array<unsigned, max_threads> ids{current_};
    const unsigned pick = choices_.choose(eligible(ids, 1));
    if (pick != 0) {
      ++preemptions_;
      switch_to(ids[pick]);
    }
  }
  me().poised = false;
  if (me().handler != nullptr && choices_.choose(2) == 1) {
    take_interrupt();
  }
}

void engine::store_late(int location, std::memory_order order, word value, const void* address) {
  bring_late_store();
  me().late = {me().late.next, location, order, value, address};
}

void engine::bring_late_store() noexcept {
  if (me().late.when == me().late.none) [[likely]]
    return;
  me().late.when = me().late.none;
  log("late store comes", me().late.order, me().late.address, me().late.value);
  decide();
  store(me().late.location, me().late.order, me().late.value);
  log("late store", me().late.order, me().late.address, me().late.value);
  progress();
  tick();
}

void engine::take_interrupt() noexcept {
  if (void (*const handler)() = std::exchange(me().handler, nullptr)) {
    log("interrupt {", std::memory_order_relaxed, nullptr, 0);
    handler();
    log("} interrupt", std::memory_order_relaxed, nullptr, 0);
  }
}

void engine::add_thread_word(void** word, void* initial) noexcept {
  if (thread_word_count_ == thread_words_.size()) {
    fail("more words of threads than there is room for (tests/model/checker/engine.hpp)");
  }
  thread_words_[thread_word_count_] = word;
  initial_words_[thread_word_count_] = initial;
  ++thread_word_count_;
  *word = initial;
}

void engine::progress() noexcept {
  for (unsigned id = 0; id < count_; ++id) {
    threads_[id].yielded = false;
    threads_[id].rounds = 0;
  }
}

void engine::relax() noexcept {
  bring_late_store();
  thread_state& t = me();
  // A round of a loop that has found what the round before found leaves the thread as it was.
  const bool same = t.round == std::exchange(t.last_round, t.round);
  if (same)
    t.history = t.at_relax;
  t.rounds = same ? std::min(t.rounds + 1, 3U) : 1U;
  t.at_relax = t.history;
  t.round = 0;
  if (++steps_ > options_.max_steps) {
    fail("livelock: more than max_steps operations in one execution");
  }
  me().yielded = true;
  ++me().memory.relaxations;
  std::array<unsigned, max_threads> ids{};
  unsigned count = eligible(ids, 0);
  if (count == 0) {
    if (options_.merge && nothing_changes())
      fail("livelock: all spin, and nothing changes");
    for (unsigned id = 0; id < count_; ++id) {
      threads_[id].yielded = id == current_;
    }
    count = eligible(ids, 0);
  }
  if (count != 0) {
    switch_to(ids[choices_.choose(count)]);
  }
  me().yielded = false;
}

void engine::leave() noexcept {
  std::array<unsigned, max_threads> ids{};
  unsigned count = eligible(ids, 0);
  if (count == 0) {
    bool all_finished = true;
    for (unsigned id = 0; id < count_; ++id) {
      threads_[id].yielded = false;
      all_finished = all_finished && threads_[id].status == thread_status::finished;
    }
    if (all_finished) {
      end_execution();
    }
    count = eligible(ids, 0);
  }
  if (me().timed) {
    ids[count++] = current_; // gives up at once
  }
  if (count == 0) {
    fail("deadlock: every thread waits");
  }
  const unsigned pick = choices_.choose(count);
  if (ids[pick] != current_) {
    switch_to(ids[pick]);
  }
}

unsigned engine::choose_outcome(unsigned count) noexcept {
  if (count <= 1 || stale_reads_ >= options_.stale_reads) {
    return 0;
  }
  const unsigned pick = choices_.choose(count);
  stale_reads_ += pick != 0 ? 1 : 0;
  return pick;
}

} // namespace weft::model
