// SPDX-License-Identifier: MIT
// What a thread has others do and waits for, over the C++ interface: hand-overs, schedulers that are pushed
// into pools, and errands in as many ways as there are for them.
#include "tests/random/cxx_machine.hpp"
#include "tests/random/own_policies.hpp"
#include "weft/techniques.hpp"

namespace weft::random_programs {

namespace {

using counting = cxx_machine::counting;

constexpr auto stays = [] { return true; };

// Of a LIFO that is one of several pools who yields is the next again.
void let_others_run() {
  this_thread::sleep_for(impatience);
}

} // namespace

// --- hand-overs ---

void cxx_machine::hand_over(long n, unsigned way, const counting& f) {
  thread_attributes there;
  there.pool = places_[static_cast<unsigned>(n) % pools];
  switch (way) {
  case 0:
  case 1:
    return swap_places(n, way == 1, there, f);
  case 2:
    return enter_place(n, there, f);
  default:
    return notify_impatient(n, there, f);
  }
}

// Each suspends and the other goes on in its place; if `refusing`, after one time in which nobody does.
void cxx_machine::swap_places(long n, bool refusing, const thread_attributes& there, const counting& f) {
  suspended_thread mine;
  suspended_thread its;
  latch is_in{1};
  thread other(there, [&] {
    its.wait_with([&is_in] {
      is_in.count_down();
      return true;
    });
    for (long k = 1; k <= n; ++k) {
      f();
      if (k < n) {
        its.swap(mine);
      } else {
        check(mine.notify(), "nobody was in a place to be notified:", k);
      }
    }
  });
  is_in.wait();
  if (n == 0)
    its.notify();
  for (long k = 0; k < n; ++k) {
    if (refusing) {
      mine.swap_with(its, [] { return false; });
      check(static_cast<bool>(its) && !mine, "a refused swap has moved somebody:", k);
    }
    mine.swap(its);
  }
  other.join();
}

// The other goes on in the caller's place, which becomes ready.
void cxx_machine::enter_place(long n, const thread_attributes& there, const counting& f) {
  suspended_thread its;
  counting_semaphore<> is_in{0};
  thread other(there, [&] {
    for (long k = 0; k < n; ++k) {
      its.wait_with([&is_in] {
        is_in.release();
        return true;
      });
      f();
    }
  });
  for (long k = 0; k < n; ++k) {
    is_in.acquire();
    its.enter();
  }
  other.join();
}

// The other waits a little only, again and again.
void cxx_machine::notify_impatient(long n, const thread_attributes& there, const counting& f) {
  suspended_thread its;
  const std::stop_source nobody_stops;
  thread other(there, [&] {
    for (long k = 0; k < n; ++k) {
      growing_patience patience;
      while (its.wait_with_until(stays, sync::deadline_of(patience.next()), nobody_stops.get_token()) !=
             wait_result::notified) {
      }
      f();
    }
  });
  for (long k = 0; k < n; ++k) {
    while (!its.notify())
      let_others_run();
  }
  other.join();
}

// --- schedulers in pools ---

void cxx_machine::nest(long n, unsigned way, const counting& f) {
  std::shared_ptr<pool> inner;
  if (way == 0) {
    inner = std::make_shared<own_pool>();
  } else {
    constexpr order orders[] = {order::fifo, order::lifo, order::priority};
    inner = make_pool(orders[way % std::size(orders)], access::mpmc);
  }
  thread_attributes below;
  below.pool = inner.get();
  std::vector<thread> all;
  for (long k = 0; k < n; ++k) {
    all.emplace_back(below, [&f] {
      this_thread::yield();
      f();
    });
  }
  std::vector<unit_handle*> schedulers;
  if (way % 2 == 0) {
    schedulers.push_back(push_below(inner, way));
  } else { // two deep
    auto middle = std::make_shared<own_pool>();
    schedulers.push_back(&push_scheduler(*middle, std::make_shared<fifo_scheduler>(std::vector{inner})));
    schedulers.push_back(push_below(middle, way));
  }
  for (thread& t : all)
    t.join();
  for (unit_handle* const u : schedulers) {
    sched::join(*u);
    sched::free_unit(sched::here(), *u);
  }
}

unit_handle* cxx_machine::push_below(std::shared_ptr<pool> served, unsigned way) {
  std::vector pools_served{std::move(served)};
  std::shared_ptr<scheduler> s;
  switch (way % 3) {
  case 0:
    s = std::make_shared<own_scheduler>(pools_served);
    break;
  case 1:
    s = std::make_shared<scheduler_of<backward_turns>>(pools_served);
    break;
  default:
    s = std::make_shared<priority_scheduler>(pools_served);
  }
  return &push_scheduler(*places_[way % pools], std::move(s));
}

// --- errands ---

namespace {

// A callback comes from somebody else, or at once, or never.
void by_callback(long n, const thread_attributes& there, const counting& f) {
  for (long k = 0; k < n; ++k) {
    thread other;
    const long got = suspend<long>([&](resume_handle<long> h) {
      if (k % 3 == 0)
        return h(k);
      void* const released = resume_handle<long>(std::move(h)).release();
      other = thread(there, [released, k] {
        auto again = resume_handle<long>::adopt(released);
        again(k);
      });
    });
    if (other.joinable())
      other.join();
    if (got == k)
      f();
  }
}

void by_broken_callback(long n, const counting& f) {
  for (long k = 0; k < n; ++k) {
    try {
      suspend<>([](const resume_handle<void>&) {});
    } catch (const std::future_error&) {
      f();
    }
  }
}

void by_stop(long n, const counting& f) {
  std::vector<jthread> all;
  for (long k = 0; k < n; ++k) {
    all.emplace_back([&f](const std::stop_token& stop) {
      counting_semaphore<> never_comes{0};
      if (!never_comes.acquire(stop))
        f();
    });
  }
} // who leaves asks them to stop

void by_packaged_task(long n, const thread_attributes& there, const counting& f) {
  long sum = 0;
  for (long k = 0; k < n; ++k) {
    packaged_task<long(long)> task([](long x) { return 2 * x; });
    future<long> result = task.get_future();
    thread(there, [one = std::move(task), k]() mutable { one(k); }).detach();
    while (result.wait_for(impatience) != std::future_status::ready) {
    }
    sum += result.get() - k;
  }
  for (long k = 0; k < n && sum == n * (n - 1) / 2; ++k)
    f();
}

void by_pipeline(long n, const thread_attributes& there, const counting& f) {
  channel<long> pipe(static_cast<std::size_t>(n % 3));
  thread sender(there, [&] {
    for (long k = 0; k < n; ++k)
      static_cast<void>(pipe.send(k));
    pipe.close();
  });
  for ([[maybe_unused]] const long k : pipe)
    f();
  sender.join();
}

void by_timed_group(long n, const counting& f) {
  task_group all;
  for (long k = 0; k < n; ++k) {
    all.run([&f] {
      this_thread::yield();
      f();
    });
  }
  while (!all.wait_for(impatience)) {
  }
}

// All wait for one condition.
void by_broadcast(long n, const thread_attributes& there, const counting& f) {
  mutex lock;
  condition_variable changed;
  bool open = false;
  std::vector<thread> all;
  for (long k = 0; k < n; ++k) {
    all.emplace_back(k % 2 == 0 ? there : thread_attributes{}, [&] {
      std::unique_lock held(lock);
      changed.wait(held, [&open] { return open; });
      f();
    });
  }
  {
    const std::scoped_lock held(lock);
    open = true;
    changed.notify_all();
  }
  for (thread& t : all)
    t.join();
}

// In the k-th round one fewer takes part than in the one before.
void by_leaving_barrier(long n, const thread_attributes& there, const counting& f) {
  barrier rounds(n + 1, [&f]() noexcept { f(); });
  std::vector<thread> all;
  for (long k = 0; k < n; ++k) {
    all.emplace_back(k % 2 == 0 ? there : thread_attributes{}, [&rounds, k] {
      for (long r = 0; r < k; ++r)
        rounds.arrive_and_wait();
      rounds.arrive_and_drop();
    });
  }
  for (long r = 0; r < n; ++r)
    rounds.arrive_and_wait();
  for (thread& t : all)
    t.join();
}

void by_spare_kernel_thread(long n, const counting& f) {
  for (long k = 0; k < n; ++k)
    blocking(f);
}

// Moved by its creator while it runs.
void by_migrant(long n, const thread_attributes& there, const counting& f) {
  for (long k = 0; k < n; ++k) {
    std::atomic<bool> moved{false};
    thread t([&] {
      while (!moved.load(std::memory_order_acquire)) {
        let_others_run();
        this_thread::yield(); // where it moves
      }
      f();
    });
    if (there.pool != nullptr)
      t.migrate_to_and_wait(*there.pool);
    moved.store(true, std::memory_order_release);
    t.join();
  }
}

void by_light_threads(long n, const counting& f) {
  light::mutex lock;
  light::condition_variable changed;
  long left = n;
  std::vector<light::thread> all;
  for (long k = 0; k < n; ++k) {
    all.emplace_back([&] {
      f();
      const light::lock_guard held(lock);
      --left;
      changed.notify_all();
    });
  }
  {
    const light::lock_guard held(lock);
    changed.wait(lock, [&left] { return left == 0; });
  }
  for (light::thread& t : all)
    t.join();
}

// Of techniques that are known at compile time.
void by_typed_threads(long n, const counting& f) {
  for (long k = 0; k < n; ++k) {
    thread_of<technique_id::roc> first(f);
    thread_of<technique_id::ss_lazy> second([&first] { first.join(); });
    second.join();
  }
}

// One of the delegator's requests waits in a place until another one lets it go.
void by_delegated_wait(long n, const counting& f) {
  delegator<> d;
  suspended_thread waits;
  bool is_in = false;
  thread other([&] {
    for (long k = 0; k < n; ++k) {
      d.lock();
      is_in = true;
      d.unlock_and_wait(waits);
      f();
    }
  });
  for (long k = 0; k < n;) {
    const bool let_go = d.execute_or_delegate([&] { return is_in && (is_in = !waits.notify(), !is_in); });
    if (let_go) {
      ++k;
    } else {
      let_others_run();
    }
  }
  other.join();
}

} // namespace

void cxx_machine::errand(long n, unsigned way, const counting& f) {
  thread_attributes there;
  there.pool = places_[static_cast<unsigned>(n) % pools];
  switch (way) {
  case 0:
    return parallel_for(0L, n, [&f](long) { f(); });
  case 1:
    return check(parallel_reduce(
                     0L, n, 0L, [&f](long) { return f(), 1L; }, std::plus<>(), 1L) == n,
                 "a reduction over as many ones is not", n);
  case 2:
    return by_callback(n, there, f);
  case 3:
    return by_broken_callback(n, f);
  case 4:
    return by_stop(n, f);
  case 5:
    return by_packaged_task(n, there, f);
  case 6:
    return by_pipeline(n, there, f);
  case 7:
    return by_timed_group(n, f);
  case 8:
    return by_broadcast(n, there, f);
  case 9:
    return by_leaving_barrier(n, there, f);
  case 10:
    return by_spare_kernel_thread(n, f);
  case 11:
    return by_migrant(n, there, f);
  case 12:
    return by_light_threads(n, f);
  case 13:
    return by_typed_threads(n, f);
  default:
    return by_delegated_wait(n, f);
  }
}

} // namespace weft::random_programs
