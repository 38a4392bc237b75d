// SPDX-License-Identifier: MIT
#undef _FORTIFY_SOURCE // its longjmp() refuses to go to another stack
#include "tests/model/checker/engine.hpp"

#include "tests/model/checker/quarantine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace weft::model {
namespace {

constexpr std::size_t cleared_bytes = 16 * 1024; // more than most use

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
    remember_statics();
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
  child.round = child.last_round = 0;
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
  // Nothing of earlier executions, so that what a frame leaves as it is makes no difference between two.
  if (options_.merge)
    std::memset(child.stack + stack_bytes - cleared_bytes, 0, cleared_bytes);
  ::getcontext(&child.context);
#if defined(__x86_64__)
  for (const int preserved : {REG_RBX, REG_RBP, REG_R12, REG_R13, REG_R14, REG_R15})
    child.context.uc_mcontext.gregs[preserved] = 0;
#endif
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
  __builtin_unwind_init();
  note_stance();
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
  __builtin_unwind_init();
  note_stance();
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
  __builtin_unwind_init();
  note_stance();
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
  __builtin_unwind_init();
  note_stance();
  bring_late_store();
  thread_state& t = me();
  const bool same = t.round == std::exchange(t.last_round, std::exchange(t.round, 0));
  t.rounds = same ? std::min(t.rounds + 1, 3U) : 1U;
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
