// SPDX-License-Identifier: MIT
// The runtimes that the tests of this room run over: those of the guide, the parts that ship in each place,
// and libweft itself. A runtime joins by one line in `all_pages`.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <type_traits>

#include "tests/samples/own_runtime.hpp"
#include "weft/compose.hpp"
#include "weft/memory/stack_depot.hpp"

namespace weft::compose::testing {

using namespace std::chrono_literals;

// Only differs from the default page in being another type: the templates with all default parts.
struct other_recorder : no_recorder {};
struct templates_page : default_policies {
  using recorder = other_recorder;
};
struct private_fifo_page : default_policies {
  template <class Unit>
  using ready_queue = private_fifo<Unit>;
};
struct locked_fifo_page : default_policies {
  template <class Unit>
  using ready_queue = locked_fifo<Unit>;
};
struct child_first_page : default_policies {
  using techniques = technique_set<child_first>;
};
struct all_techniques_page : default_policies {
  using techniques = technique_set<full_lazy, inline_join, child_first>;
};
struct heap_stacks_page : default_policies {
  using stack_source = heap_stacks<>;
};
struct polling_page : default_policies {
  using idle_strategy = polling_idle;
};

// Every third stack cannot be had: starts are put off.
class scarce_stacks : public cached_stacks {
 public:
  stack* allocate(std::size_t bytes) noexcept {
    return ++asked_ % 3 == 0 ? nullptr : cached_stacks::allocate(bytes);
  }

 private:
  unsigned asked_ = 0;
};
struct scarce_stacks_page : default_policies {
  using stack_source = scarce_stacks;
  using techniques = technique_set<child_first, full_lazy>;
};

// Makes ready whoever waits for a tick, one a poll.
class ticks {
 public:
  void poll() noexcept {
    ++polls;
    if (waiting_ != nullptr && polls % 8 == 0)
      std::exchange(waiting_, nullptr)(place_);
  }
  [[nodiscard]] bool active() const noexcept { return asked_.load(std::memory_order_acquire); }
  // On a runtime with one worker.
  template <class Place>
  void wait(Place& place) {
    asked_.store(true, std::memory_order_release);
    place.wait_with([&] {
      place_ = &place;
      waiting_ = [](void* p) { static_cast<Place*>(p)->notify(); };
      return true;
    });
    asked_.store(false, std::memory_order_release);
  }
  unsigned polls = 0;

 private:
  std::atomic<bool> asked_{false};
  void (*waiting_)(void*) = nullptr;
  void* place_ = nullptr;
};
struct ticking_page : default_policies {
  using event_sources = ticks;
};

// Counts what is asked of the runtime's own words.
template <class T>
class counting_atomic : public base::atomic<T> {
 public:
  using base::atomic<T>::atomic;
  T exchange_acq_rel(T value) noexcept {
    exchanges.fetch_add(1, std::memory_order_relaxed);
    return base::atomic<T>::exchange_acq_rel(value);
  }
  static inline std::atomic<unsigned> exchanges{0};
};
struct counting_atomics_page : default_policies {
  template <class T>
  using atomic = counting_atomic<T>;
};

using all_pages =
    ::testing::Types<default_policies, templates_page, samples::own_deque_page, samples::earliest_first_page,
                     samples::tracing_page, samples::spin_mutex_page, samples::kernel_thread_page,
                     samples::sequential_page, private_fifo_page, locked_fifo_page, child_first_page,
                     all_techniques_page, heap_stacks_page, polling_page, scarce_stacks_page, ticking_page,
                     counting_atomics_page>;

struct page_names {
  template <class P>
  static std::string GetName(int) {
    std::string name = ::testing::internal::GetTypeName<P>();
    return name.substr(name.rfind(':') + 1);
  }
};

template <class P>
inline constexpr bool is_libweft = is_default_page<P>;
template <class P>
inline constexpr bool is_sequential = std::is_same_v<typename P::template worker<P>, sequential_worker<P>>;
template <class P>
inline constexpr bool has_kernel_threads = !P::context::keeps_kernel_thread;

// Of threads: kernel threads are dear.
template <class P>
inline constexpr int many = has_kernel_threads<P> ? 60 : 1000;

inline std::size_t kernel_threads() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    ++count;
  return count;
}

// Ends by counting stacks, units of the page and kernel threads.
template <class P>
class page_test : public ::testing::Test {
 protected:
  using rt = runtime<P>;

  void SetUp() override {
    std::thread([] {}).join(); // ThreadSanitizer starts a kernel thread of its own beside the first one
    stacks_ = memory::stack_depot::process().count().live;
    kernel_threads_ = kernel_threads();
  }
  void TearDown() override {
    EXPECT_EQ(memory::stack_depot::process().count().live, stacks_);
    if constexpr (!is_libweft<P>) {
      EXPECT_EQ(memory::object_cache<unit<P>>::process_depot().count().live, 0U);
    }
    // A kernel thread that was joined may stand in /proc for a moment longer, also in the count before.
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    while (kernel_threads() > kernel_threads_ && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(1ms);
    EXPECT_LE(kernel_threads(), kernel_threads_);
  }

  // body() on 1, 2 and 4 workers.
  template <class Body>
  void on_each_count(Body body) {
    for (unsigned workers : {1U, 2U, 4U}) {
      SCOPED_TRACE(workers);
      rt::run(body, {.workers = workers});
    }
  }

 private:
  std::size_t stacks_ = 0;
  std::size_t kernel_threads_ = 0;
};

} // namespace weft::compose::testing
