// SPDX-License-Identifier: MIT
#include "tests/model/checker/engine.hpp"

#include "tests/model/checker/quarantine.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace weft::model {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

} // namespace

engine& engine::get() noexcept {
  static engine one;
  return one;
}

// --- exploring ---

result engine::explore(const options& how, const std::function<void()>& body) {
  options_ = how;
  const bool random = how.random_executions > 0;
  const std::uint64_t limit = random ? how.random_executions : how.max_executions;
  random ? choices_.start_random(how.seed) : choices_.start_depth_first();
  result outcome;
  while (outcome.executions < limit) {
    run(body);
    ++outcome.executions;
    if (failed_) {
      outcome.failed = true;
      outcome.reason = reason_;
      outcome.report = render();
      abandon();
      quarantine::release_all();
      return outcome;
    }
    quarantine::release_all();
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
  spawn(body);
  active_ = true;
  quarantine::enable(true);
  ::swapcontext(&host_, &threads_[0].context);
  quarantine::enable(false);
  active_ = false;
}

// The stacks of a failed execution are never unwound, so what the bodies hold must stay as well.
void engine::abandon() {
  static auto& bodies = *new std::vector<std::function<void()>>;
  for (unsigned id = 0; id < count_; ++id) {
    bodies.push_back(std::move(threads_[id].body));
  }
}

void engine::fail(const std::string& reason) noexcept {
  if (!active_) {
    std::fprintf(stderr, "model: %s (outside an execution)\n", reason.c_str());
    std::abort();
  }
  failed_ = true;
  reason_ = reason;
  ucontext_t abandoned;
  ::swapcontext(&abandoned, &host_);
  std::abort(); // nobody comes back
}

// --- threads ---

unsigned engine::spawn(std::function<void()> body) {
  if (count_ == max_threads) {
    fail("more threads than max_threads (tests/model/checker/view.hpp)");
  }
  const unsigned id = count_++;
  thread_state& child = threads_[id];
  child.body = std::move(body);
  child.memory = thread_memory{};
  child.status = thread_status::runnable;
  child.yielded = child.token = child.woken = child.timed = false;
  child.token_view = view{};
  child.handler = nullptr;
  child.late.when = child.late.none;
  child.words = initial_words_;
  if (id != 0) {
    child.memory.now = me().memory.now;
    tick();
  }
  child.memory.now.clock[id] = 1;
  if (!child.stack) {
    child.stack = std::make_unique<char[]>(stack_bytes);
  }
  ::getcontext(&child.context);
  child.context.uc_stack.ss_sp = child.stack.get();
  child.context.uc_stack.ss_size = stack_bytes;
  child.context.uc_link = nullptr;
  ::makecontext(&child.context, &engine::trampoline, 0);
  return id;
}

void engine::trampoline() {
  engine& machine = get();
  try {
    machine.me().body();
  } catch (const std::exception& error) {
    machine.fail(std::string("exception left a thread: ") + error.what());
  }
  machine.finish();
}

void engine::finish() noexcept {
  bring_late_store();
  me().body = nullptr;
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
  ::swapcontext(&threads_[previous].context, &threads_[id].context);
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
  if (preemptions_ < options_.preemptions) {
    std::array<unsigned, max_threads> ids{current_};
    const unsigned pick = choices_.choose(eligible(ids, 1));
    if (pick != 0) {
      ++preemptions_;
      switch_to(ids[pick]);
    }
  }
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
  }
}

void engine::relax() noexcept {
  bring_late_store();
  if (++steps_ > options_.max_steps) {
    fail("livelock: more than max_steps operations in one execution");
  }
  me().yielded = true;
  ++me().memory.relaxations;
  std::array<unsigned, max_threads> ids{};
  unsigned count = eligible(ids, 0);
  if (count == 0) {
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
      ::setcontext(&host_);
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
