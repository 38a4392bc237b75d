// SPDX-License-Identifier: MIT
// The operations: those of the seam (backend.hpp) and those that tests call (model.hpp), each one step of the
// engine.
#include "tests/model/checker/engine.hpp"
#include "tests/model/checker/sites.hpp"

#include <array>
#include <cerrno>
#include <cstdio>

namespace weft::model {

namespace {

// What stands below the caller's frame, for so many bytes.
template <std::size_t Bytes>
[[gnu::noinline]] void clear_below() noexcept {
  char frames[Bytes];
  std::memset(frames, 0, Bytes);
  asm volatile("" : : "r"(frames) : "memory");
}

// What an operation of the checker has left on the stack makes no difference to what runs there next.
struct leaves_nothing {
  leaves_nothing() = default;
  leaves_nothing(const leaves_nothing&) = delete;
  ~leaves_nothing() { clear_below<1024>(); }
};

} // namespace

bool active() noexcept {
  return engine::get().active();
}

void on_construct(const void* address, word initial) noexcept {
  if (active()) {
    engine::get().construct(address, initial);
  }
}

word on_load(const void* address, word bare, std::memory_order order) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  order = sites::order(operation::load, order);
  const bool unseen = sites::has(operation::load, weakening::unseen);
  machine.step();
  const int location = machine.location(address, bare);
  thread_memory& mine = machine.me().memory;
  const unsigned readable = machine.shared().readable(mine, location, order);
  const unsigned back = unseen ? machine.shared().oldest(location) : machine.choose_outcome(readable);
  const load_result found = machine.shared().load(mine, location, order, back);
  machine.log("load", order, address, found.value, 0, found.stale); // no tick: it publishes nothing
  return found.value;
}

void on_store(const void* address, word bare, word value, std::memory_order order) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  order = sites::order(operation::store, order);
  const bool forgotten = sites::has(operation::store, weakening::forgotten);
  const bool late = sites::has(operation::store, weakening::late);
  machine.step();
  const int location = machine.location(address, bare);
  if (forgotten) [[unlikely]]
    return;
  if (late) [[unlikely]]
    return machine.store_late(location, order, value, address);
  machine.store(location, order, value);
  machine.log("store", order, address, value);
  machine.progress();
  machine.tick();
}

word on_rmw(const void* address, word& bare, rmw_op op, word operand, word mask,
            std::memory_order order) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  order = sites::order(operation::rmw, order);
  const bool idle = sites::has(operation::rmw, weakening::forgotten);
  machine.step();
  const int location = machine.location(address, bare);
  const word value =
      idle ? machine.shared().peek(location) : apply(op, machine.shared().peek(location), operand, mask);
  const word old = machine.shared().replace(machine.me().memory, location, order, value);
  machine.log("rmw", order, address, old, value);
  machine.progress();
  machine.tick();
  bare = value;
  return old;
}

namespace {

/// The ways a compare-and-swap may end other than by looking at the newest store: failing without cause if
/// weak (0 stores back), and failing on an older store that differs.
unsigned other_outcomes(engine& machine, const void* address, int location, const cas_request& request,
                        std::array<unsigned, 16>& stores_back) {
  unsigned count = 0;
  // Where nothing else bounds it, not twice in a row, or a loop would never end.
  if (request.weak && machine.shared().peek(location) == request.expected &&
      !(machine.is_unbounded() && machine.me().failed_without_cause == address)) {
    stores_back[count++] = 0;
  }
  const unsigned readable = machine.shared().readable(machine.me().memory, location, request.failure);
  for (unsigned back = 1; back < readable && count < stores_back.size(); ++back) {
    if (machine.shared().peek(location, back) != request.expected) {
      stores_back[count++] = back;
    }
  }
  return count;
}

// What a compare-and-swap that fails keeps of its order.
std::memory_order order_of_failure(std::memory_order success) noexcept {
  switch (success) {
  case std::memory_order_seq_cst:
    return std::memory_order_seq_cst;
  case std::memory_order_acq_rel:
  case std::memory_order_acquire:
    return std::memory_order_acquire;
  default:
    return std::memory_order_relaxed;
  }
}

} // namespace

bool on_cas(const void* address, word bare, cas_request& request) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  request.success = sites::order(operation::cas, request.success);
  request.failure = order_of_failure(request.success);
  const bool unchecked = sites::has(operation::cas, weakening::unchecked);
  std::array<unsigned, 16> stores_back{}; // before the step: what stands in its place is a part of the state
  machine.step();
  const int location = machine.location(address, bare);
  thread_memory& mine = machine.me().memory;
  if (unchecked) [[unlikely]]
    request.expected = machine.shared().peek(location);
  const unsigned pick =
      machine.choose_outcome(1 + other_outcomes(machine, address, location, request, stores_back));
  const bool had_no_cause = pick != 0 && machine.shared().peek(location) == request.expected;
  machine.me().failed_without_cause = had_no_cause ? address : nullptr;
  if (pick == 0 && machine.shared().peek(location) == request.expected) {
    machine.shared().replace(mine, location, request.success, request.desired);
    machine.log("cas done", request.success, address, request.expected, request.desired);
    machine.progress();
    machine.tick();
    return true;
  }
  const unsigned back = pick == 0 ? 0 : stores_back[pick - 1];
  request.expected = machine.shared().load(mine, location, request.failure, back).value;
  machine.log("cas failed", request.failure, address, request.expected, 0, pick != 0);
  return false;
}

void on_fence(std::memory_order order) noexcept {
  const leaves_nothing after;
  if (!active()) {
    return;
  }
  engine& machine = engine::get();
  const bool off = sites::is_off(operation::fence);
  if (order == std::memory_order_seq_cst) {
    machine.step(); // the others see when it happens
  }
  if (off) {
    return;
  }
  machine.shared().fence(machine.me().memory, order);
  machine.log("fence", order, nullptr, 0);
  machine.tick();
}

void on_heavy_fence() noexcept {
  const leaves_nothing after;
  if (!active()) {
    return;
  }
  engine& machine = engine::get();
  constexpr auto full = std::memory_order_seq_cst;
  const bool alone = sites::is_off(operation::heavy_fence);
  machine.step();
  machine.shared().fence(machine.me().memory, full);
  machine.log("heavy fence {", full, nullptr, 0);
  // Every other thread fences at a point of its own between the beginning and the end, as membarrier's
  // interrupts arrive one by one.
  for (unsigned id = 0; id < machine.thread_count(); ++id) {
    if (id != machine.self() && !alone) {
      if (machine.at(id).status == thread_status::runnable) {
        machine.step();
      }
      thread_memory& theirs = machine.at(id).memory;
      machine.shared().fence(theirs, full);
      ++theirs.now.clock[id];
      machine.log("  for thread", full, nullptr, id);
    }
  }
  machine.step();
  machine.shared().fence(machine.me().memory, full);
  machine.log("} heavy fence", full, nullptr, 0);
  machine.tick();
}

void on_relax() noexcept {
  const leaves_nothing after;
  if (active()) {
    engine::get().log("relax", std::memory_order_relaxed, nullptr, 0);
    engine::get().take_interrupt();
    engine::get().relax();
  }
}

void on_plain_construct(const void* address) noexcept {
  if (active()) {
    engine::get().plain_construct(address);
  }
}

void on_plain_read(const void* address) noexcept {
  if (active()) {
    engine::get().plain_read(address);
  }
}

void on_plain_write(const void* address) noexcept {
  if (active()) {
    engine::get().plain_write(address);
  }
}

result explore(const options& how, const std::function<void()>& body, bool quiet) {
  result outcome = engine::get().explore(how, body);
  if (outcome.failed && !quiet) {
    std::fprintf(stderr, "model: %s\nexecution %llu, seed %llu%s; schedule:\n%s", outcome.reason.c_str(),
                 static_cast<unsigned long long>(outcome.executions),
                 static_cast<unsigned long long>(how.seed),
                 how.random_executions > 0 ? " (random)" : " (unused: depth first)", outcome.report.c_str());
  }
  return outcome;
}

void clear_stack() noexcept {
  clear_below<8192>();
}

thread::thread(std::function<void()> body) : id_(engine::get().spawn(std::move(body))) {}

void thread::join() {
  if (!joined_) {
    joined_ = true;
    engine::get().join(id_);
  }
}

unsigned self() noexcept {
  return engine::get().self();
}

void check(bool condition, const char* text) noexcept {
  if (!condition) {
    fail(text);
  }
}

void fail(const std::string& reason) noexcept {
  engine::get().fail(reason);
}

void label(const void* address, const char* name) {
  engine::get().label(address, name);
}

void thread_word(void** word, void* initial) {
  engine::get().add_thread_word(word, initial);
}

void interrupt(unsigned thread_id, void (*handler)()) noexcept {
  engine& machine = engine::get();
  machine.step();
  machine.log("interrupt", std::memory_order_relaxed, nullptr, thread_id);
  machine.at(thread_id).handler = handler;
}

unsigned choose(unsigned count) noexcept {
  const leaves_nothing after;
  const unsigned chosen = engine::get().choose(count);
  engine::get().log("choice", std::memory_order_relaxed, nullptr, chosen);
  return chosen;
}

namespace {

bool park_for(bool timed) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  machine.step();
  machine.take_interrupt();
  machine.log("park", std::memory_order_acquire, nullptr, 0);
  thread_state& mine = machine.me();
  if (!mine.token) {
    machine.block(thread_status::parked, timed);
  }
  const bool got = mine.token;
  if (got) {
    mine.token = false;
    mine.memory.now.join(mine.token_view);
  }
  machine.log(got ? "unparked" : "park timed out", std::memory_order_acquire, nullptr, 0);
  return got;
}

} // namespace

void park() noexcept {
  park_for(false);
}
bool park_timed() noexcept {
  return park_for(true);
}

void unpark(unsigned thread_id) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  machine.step();
  thread_state& target = machine.at(thread_id);
  target.token = true;
  target.token_view.join(machine.me().memory.now);
  machine.log("unpark", std::memory_order_release, nullptr, thread_id);
  machine.progress();
  machine.tick();
  if (target.status == thread_status::parked) {
    machine.wake(target);
  }
}

int futex_wait(const void* word_address, std::uint32_t expected, bool timed) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  const bool blind = sites::is_off(operation::futex_wait);
  machine.step();
  machine.take_interrupt();
  std::uint32_t bare = 0;
  std::memcpy(&bare, word_address, sizeof bare);
  const int location = machine.location(word_address, bare);
  const word newest = machine.shared().peek(location);
  // The kernel looks on the CPU of the caller, whose loads find nothing older after that. (Where stale reads
  // are bounded it is not needed, and left out.)
  if (machine.is_unbounded())
    machine.shared().load(machine.me().memory, location, std::memory_order_relaxed, 0);
  machine.log("futex wait", std::memory_order_relaxed, word_address, newest);
  if (static_cast<std::uint32_t>(newest) != expected && !blind) {
    return EAGAIN;
  }
  machine.me().waits_on = word_address;
  machine.me().ticket = machine.next_ticket();
  const bool woken = machine.block(thread_status::futex, timed);
  machine.log(woken ? "futex woken" : "futex timed out", std::memory_order_relaxed, word_address, 0);
  return woken ? 0 : ETIMEDOUT;
}

int futex_wake(const void* word_address, int count) noexcept {
  const leaves_nothing after;
  engine& machine = engine::get();
  const bool off = sites::is_off(operation::futex_wake);
  machine.step();
  if (off) {
    return 0;
  }
  int woken = 0;
  for (; woken < count; ++woken) {
    thread_state* first = nullptr;
    for (unsigned id = 0; id < machine.thread_count(); ++id) {
      thread_state& each = machine.at(id);
      if (each.status == thread_status::futex && each.waits_on == word_address && !each.woken &&
          (first == nullptr || each.ticket < first->ticket)) {
        first = &each;
      }
    }
    if (first == nullptr) {
      break;
    }
    machine.wake(*first);
    machine.progress();
  }
  machine.log("futex wake", std::memory_order_relaxed, word_address, static_cast<word>(woken));
  return woken;
}

} // namespace weft::model
