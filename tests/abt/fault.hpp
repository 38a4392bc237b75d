// SPDX-License-Identifier: MIT
// "Fail the first allocation of a call, then the second, ... until it gets through", for the C API. A
// scenario is an object: its constructor sets the stage, call() is what is tested, and its destructor clears
// the stage whether the call has failed or not. No fault happens but in call(), which therefore does nothing
// else.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

#include "front/abt/object.hpp"
#include "tests/fault/fail_each.hpp"
#include "units.hpp"
#include "weft/workers/worker.hpp"

namespace abt_test {

using weft::fault_test::all_sites;
using weft::fault_test::fault_site;
using weft::fault_test::reach;

struct scenario {
  int done = ABT_SUCCESS;                  // what the call returns if all goes well
  reach whose = reach::this_kernel_thread; // whose allocations fail
  bool can_fail = true;
  bool scarce = true; // nothing is left in the caches of objects and descriptors
  int units = 0;      // but so many descriptors
  void failed() {}    // checks what a call that failed has left
  void succeeded() {} // undoes a call
};

// --- caches that have nothing left, so that each object takes a mapping ---

constexpr std::size_t largest_object = 2048;

template <class F, std::size_t... I>
void for_each_cell_size(F f, std::index_sequence<I...>) {
  (f(std::integral_constant<std::size_t, 64 * (I + 1)>{}), ...);
}
template <class F>
void for_each_cell_size(F f) {
  for_each_cell_size(f, std::make_index_sequence<largest_object / 64>{});
}

// What a cache still had. Chained where its own list would: nothing else in a free object may change.
template <class T, class Cache>
class drained {
 public:
  explicit drained(Cache& cache) : cache_(cache) {
    while (T* object = cache.allocate()) {
      link(object) = first_;
      first_ = object;
    }
  }
  ~drained() {
    while (first_ != nullptr)
      cache_.free(std::exchange(first_, static_cast<T*>(link(first_))));
  }
  void give_back(int count) {
    for (; count > 0 && first_ != nullptr; --count)
      cache_.free(std::exchange(first_, static_cast<T*>(link(first_))));
  }
  drained(const drained&) = delete;
  drained& operator=(const drained&) = delete;

 private:
  static void*& link(T* object) {
    return *reinterpret_cast<void**>(reinterpret_cast<std::byte*>(object) +
                                     weft::memory::object_link_offset<T>);
  }
  Cache& cache_;
  T* first_ = nullptr;
};

template <std::size_t... I>
class drained_cells : drained<weft::door::cell<64 * (I + 1)>,
                              weft::memory::shared_object_cache<weft::door::cell<64 * (I + 1)>>>... {
 public:
  explicit drained_cells(std::index_sequence<I...>)
      : drained<weft::door::cell<64 * (I + 1)>,
                weft::memory::shared_object_cache<weft::door::cell<64 * (I + 1)>>>(
            weft::door::cells<64 * (I + 1)>())... {}
};

// What the caller's stream keeps for its next units.
void drop_kept_infos() noexcept;

// Made and destroyed on the same worker.
class scarcity {
  using descriptors = drained<weft::unit::descriptor, weft::memory::object_cache<weft::unit::descriptor>>;
  struct no_mappings {
    no_mappings() { weft::os::fail_after(fault_site::mmap, 0, ENOMEM); }
    ~no_mappings() { weft::os::disarm_faults(); }
  };

 public:
  explicit scarcity(int units) {
    const no_mappings meanwhile;
    drop_kept_infos();
    cells_.emplace(std::make_index_sequence<largest_object / 64>{});
    descriptors_.emplace(weft::sched::here().caches.descriptors);
    descriptors_->give_back(units);
    weft::sched::here().caches.stacks.trim(0);
  }

 private:
  template <std::size_t... I>
  static drained_cells<I...> type_of(std::index_sequence<I...>);
  std::optional<decltype(type_of(std::make_index_sequence<largest_object / 64>{}))> cells_;
  std::optional<descriptors> descriptors_;
};

// --- what must be as it was when all is over ---

struct remains {
  std::size_t kernel_threads = 0;
  std::size_t units = 0;
  std::size_t stacks = 0;
  std::size_t objects = 0;
  std::int64_t allocations = 0;

  static remains now() {
    remains r;
    r.kernel_threads = weft::fault_test::kernel_threads();
    const weft::runtime::census alive = weft::runtime::count();
    r.units = alive.units;
    r.stacks = alive.stacks;
    for_each_cell_size([&r](auto size) {
      using cell = weft::door::cell<decltype(size)::value>;
      r.objects += weft::memory::object_cache<cell>::process_depot().count().live;
    });
    r.allocations = weft::fault_test::live_allocations();
    return r;
  }
  bool operator==(const remains&) const = default;
  [[nodiscard]] std::string text() const {
    return std::to_string(kernel_threads) + " kernel threads, " + std::to_string(units) + " units, " +
           std::to_string(stacks) + " stacks, " + std::to_string(objects) + " objects, " +
           std::to_string(allocations) + " allocations";
  }
};

// --- the loop ---

struct outcome {
  bool hit = false;
  bool error = false;
  bool can_fail = false;
};

// Runs the scenario within a runtime of its own, with the nth call of the site failing; then the same call
// again if it has failed, which must have changed nothing that prevents it.
template <class Scenario>
outcome attempt(fault_site site, std::uint64_t nth) {
  const runtime rt;
  Scenario s;
  outcome result{.can_fail = s.can_fail};
  {
    std::optional<scarcity> scarce;
    if (s.scarce)
      scarce.emplace(s.units);
    int code = ABT_SUCCESS;
    {
      const weft::fault_test::allocations_may_fail open(s.whose);
      weft::os::fail_nth(site, nth, weft::fault_test::error_of(site));
      code = s.call();
      weft::os::disarm_faults();
    }
    result.hit = weft::os::fault_hits(site) != 0;
    result.error = code != s.done;
    if (result.error) {
      EXPECT_TRUE(result.hit) << "an error although nothing was made to fail";
      EXPECT_TRUE(code == ABT_ERR_MEM || code == ABT_ERR_SYS) << name_of(code);
      EXPECT_TRUE(s.can_fail) << "has to do without memory: " << name_of(code);
      s.failed();
      EXPECT_ABT(s.done, s.call()) << "once there is memory again";
    }
  }
  s.succeeded();
  return result;
}

// A kernel thread that was joined may be seen for a moment more.
inline void settle_kernel_threads(std::size_t most) {
  for (int tries = 0; weft::fault_test::kernel_threads() > most && tries < 5000; ++tries)
    ::usleep(200);
}

// What grows with each attempt is lost; what grows now and then is a cache.
template <class Scenario>
outcome attempt_without_loss(fault_site site, std::uint64_t nth) {
  outcome result;
  remains before;
  remains after;
  for (int tries = 0; tries < 5; ++tries) {
    before = remains::now();
    result = attempt<Scenario>(site, nth);
    settle_kernel_threads(before.kernel_threads);
    for_each_cell_size([](auto size) { weft::door::cells<decltype(size)::value>().trim(); });
    after = remains::now();
    if (after == before || ::testing::Test::HasFailure())
      return result;
  }
  EXPECT_EQ(before.text(), after.text());
  return result;
}

template <class Scenario>
void fails_cleanly() {
  constexpr std::uint64_t never = 1'000'000'000;
  constexpr std::uint64_t most = 500;
  std::uint64_t errors = 0;
  bool can_fail = false;
  for (int warm_up = 0; warm_up < 2; ++warm_up)
    attempt<Scenario>(fault_site::memory, never);
  for (const auto& [site, name] : all_sites) {
    outcome seen{.hit = true};
    for (std::uint64_t nth = 1; seen.hit; ++nth) {
      SCOPED_TRACE(std::string(name) + " call " + std::to_string(nth));
      ASSERT_LT(nth, most) << "still failing";
      seen = attempt_without_loss<Scenario>(site, nth);
      errors += seen.error ? 1 : 0;
      can_fail = seen.can_fail;
      if (::testing::Test::HasFailure())
        return; // the next one would say the same
    }
  }
  EXPECT_EQ(errors != 0, can_fail) << errors << " calls were refused";
}

// --- what scenarios share ---

// A variable of the environment for as long as it lives.
class environment {
 public:
  environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~environment() { ::unsetenv(name_); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
};

// A handle that a call makes. `on_failure`: what it is then.
template <class Handle, class Make, class Free>
struct creation : scenario {
  static inline Handle on_failure;
  static inline Make* make;
  static inline Free* free;

  Handle handle = untouched<Handle>();
  int call() { return make(&handle); }
  void failed() { EXPECT_EQ(handle, on_failure); }
  void succeeded() { EXPECT_OK(free(&handle)); }
};
template <class Handle>
void creates(Handle on_failure, int (*make)(Handle*), int (*free)(Handle*)) {
  using test = creation<Handle, int(Handle*), int(Handle*)>;
  test::on_failure = on_failure;
  test::make = make;
  test::free = free;
  fails_cleanly<test>();
}

// A user's pool that takes no memory of operator new's, so that what fails is the library's.
class quiet_pool {
 public:
  explicit quiet_pool(bool several_at_once = false);
  ~quiet_pool();
  quiet_pool(const quiet_pool&) = delete;
  quiet_pool& operator=(const quiet_pool&) = delete;

  operator ABT_pool() const { return pool_; }
  [[nodiscard]] ABT_thread pop() const {
    ABT_thread t = ABT_THREAD_NULL;
    EXPECT_OK(ABT_pool_pop_thread(pool_, &t));
    return t;
  }
  void run_all() const {
    for (ABT_thread t = pop(); t != ABT_THREAD_NULL; t = pop())
      EXPECT_OK(ABT_self_schedule(t, ABT_POOL_NULL));
  }
  [[nodiscard]] static int units(); // of all such pools, made and not freed

 private:
  ABT_pool pool_ = ABT_POOL_NULL;
};
// Its definition; without `init` and `free`.
ABT_pool_user_def quiet_definition(bool several_at_once);

// A unit that is ready in a pool of its own, which nobody serves.
struct waiting_unit {
  own_pool pool;
  ABT_thread t = ABT_THREAD_NULL;
  explicit waiting_unit(ABT_thread_attr attr = ABT_THREAD_ATTR_NULL) {
    EXPECT_OK(ABT_thread_create(pool, nothing, nullptr, attr, &t));
  }
  ~waiting_unit() {
    pool.run_all();
    EXPECT_OK(ABT_thread_free(&t));
  }
  waiting_unit(const waiting_unit&) = delete;
  waiting_unit& operator=(const waiting_unit&) = delete;
};

// Something else's turn: a ULT of a stream, or a foreign kernel thread, calls what it is told to.
class helper {
 public:
  explicit helper(ABT_pool pool); // a ULT
  helper();                       // a kernel thread
  ~helper();
  helper(const helper&) = delete;
  helper& operator=(const helper&) = delete;
  // Waits by yielding; `f(argument)` makes no use of this stream.
  int run(int (*f)(void*), void* argument);

 private:
  void work();
  static void start(void* self) { static_cast<helper*>(self)->work(); }

  std::atomic<int (*)(void*)> task_ = nullptr;
  void* argument_ = nullptr;
  int code_ = ABT_SUCCESS;
  std::atomic<bool> done_ = false;
  std::atomic<bool> stop_ = false;
  ABT_thread ult_ = ABT_THREAD_NULL;
  std::thread kernel_;
};

} // namespace abt_test
