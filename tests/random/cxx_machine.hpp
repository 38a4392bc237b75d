// SPDX-License-Identifier: MIT
// The objects and threads of one program over the C++ interface.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "tests/random/interpreter.hpp"
#include "weft/light.hpp"
#include "weft/weft.hpp"

namespace weft::random_programs {

using namespace std::chrono_literals;

inline constexpr auto impatience = 30us; // of waits that are tried again
inline constexpr auto never = 300s;

// Where two must wait at once: each time twice as long. Between them a thread may compute until its tick,
// again and again, on the only worker; whoever was as impatient each time would have given up before the
// other looks.
class growing_patience {
 public:
  std::chrono::nanoseconds next() { return std::exchange(length_, std::min(2 * length_, longest)); }

 private:
  static constexpr std::chrono::nanoseconds longest = 100ms;
  std::chrono::nanoseconds length_ = impatience;
};

// A lock of the program's choice.
class any_lock {
 public:
  // Calls f(lock).
  template <class F>
  auto visit(lock_kind kind, F f) {
    switch (kind) {
    case lock_kind::recursive:
      return f(recursive_);
    case lock_kind::mcs:
      return f(mcs_);
    case lock_kind::shared:
      return f(shared);
    case lock_kind::delegator:
      return f(delegate);
    case lock_kind::light:
      return f(light_);
    default:
      return f(mutex_);
    }
  }

  shared_mutex shared;
  delegator<> delegate;

 private:
  mutex mutex_;
  recursive_mutex recursive_;
  mcs_mutex mcs_;
  light::mutex light_;
};

// Permits for one acquirer, who waits for them in a suspended_thread.
class place_semaphore {
 public:
  void release(long n) {
    for (; n > 0; --n) {
      if (permits_.fetch_add(1) < 0 && !place_.notify())
        late_.release(); // its time had passed
    }
  }
  void acquire(unsigned way, const std::stop_token& not_stopped);

 private:
  std::atomic<long> permits_{0}; // less one while the acquirer is in the place
  suspended_thread place_;
  counting_semaphore<> late_{0};
};

// A semaphore, or one that is made of a mutex and a condition variable, or of a place.
class any_semaphore {
 public:
  void release(semaphore_kind kind, long n) {
    if (kind == semaphore_kind::semaphore)
      return direct_.release(n);
    if (kind == semaphore_kind::place)
      return in_place_.release(n);
    const std::scoped_lock held(lock_);
    count_ += n;
    for (; n > 0; --n) {
      changed_.notify_one();
      changed_any_.notify_one();
    }
  }
  void acquire(semaphore_kind kind, unsigned way, const std::stop_token& not_stopped) {
    if (kind == semaphore_kind::semaphore)
      return acquire_direct(way, not_stopped);
    if (kind == semaphore_kind::place)
      return in_place_.acquire(way, not_stopped);
    std::unique_lock held(lock_);
    if (kind == semaphore_kind::condition) {
      wait(changed_, held, way, not_stopped);
    } else {
      wait(changed_any_, held, way, not_stopped);
    }
    --count_;
  }

 private:
  void acquire_direct(unsigned way, const std::stop_token& not_stopped) {
    if (way == 0)
      return direct_.acquire();
    while (!(way == 1 ? direct_.try_acquire_for(impatience) : direct_.acquire(not_stopped))) {
    }
  }
  template <class Condition>
  void wait(Condition& changed, std::unique_lock<mutex>& held, unsigned way,
            const std::stop_token& not_stopped) {
    const auto there = [this] { return count_ > 0; };
    if (way == 0)
      return changed.wait(held, there);
    while (!(way == 1 ? changed.wait_for(held, impatience, there) : changed.wait(held, not_stopped, there))) {
    }
  }

  counting_semaphore<> direct_{0};
  place_semaphore in_place_;
  mutex lock_;
  condition_variable changed_;
  condition_variable_any changed_any_;
  long count_ = 0;
};

class cxx_machine {
 public:
  static constexpr bool unwinds = true; // threads that are cancelled, or exit
  using key_type = thread_specific<char>;
  using counting = std::function<void()>;
  // `places`: the pools; `own`: the stage's keys, for their number is limited.
  cxx_machine(const program& p, std::array<pool*, pools> places, std::array<key_type*, keys> own, record& r);
  cxx_machine(const cxx_machine&) = delete;
  cxx_machine& operator=(const cxx_machine&) = delete;

  // --- the caller ---
  void yield(unsigned way) {
    if (way == 0)
      return this_thread::yield();
    light::yield();
  }
  void sleep(long us) { this_thread::sleep_for(std::chrono::microseconds(us)); }
  void move(unsigned where) { this_thread::migrate_to(*places_[where]); }
  void suspend(unsigned) { this_thread::suspend(); }
  [[noreturn]] static void exit(unsigned) { this_thread::exit(); }
  void set_key(unsigned k, long n) { keys_[k]->reset(reinterpret_cast<char*>(n)); }
  long get_key(unsigned k) { return reinterpret_cast<long>(keys_[k]->get()); }
  template <class F>
  void without_preemption(F f) {
    const no_preemption here;
    f();
  }
  template <class F>
  void fork(long n, F f);
  template <class F>
  void group(long n, F f);
  // Of all three, `n` calls of f by others.
  void hand_over(long n, unsigned way, const counting& f);
  void nest(long n, unsigned way, const counting& f);
  void errand(long n, unsigned way, const counting& f);
  // Whether a wait ended otherwise than by its time.
  bool waits_in_vain(unsigned way);

  // --- locks ---
  void lock(unsigned a, unsigned way) {
    locks_[a].visit(program_.lock[a], [way](auto& l) {
      if constexpr (requires { l.try_lock_for(1us); }) {
        if (way == 1) {
          while (!l.try_lock_for(impatience)) {
          }
          return;
        }
      }
      l.lock();
    });
  }
  bool try_lock(unsigned a, long us) {
    return locks_[a].visit(program_.lock[a], [us](auto& l) {
      if constexpr (requires { l.try_lock_for(1us); }) {
        if (us > 0)
          return l.try_lock_for(std::chrono::microseconds(us));
      }
      return l.try_lock();
    });
  }
  void unlock(unsigned a) {
    locks_[a].visit(program_.lock[a], [](auto& l) { l.unlock(); });
  }
  void lock_shared(unsigned a, unsigned way) {
    if (way == 0)
      return locks_[a].shared.lock_shared();
    while (!locks_[a].shared.try_lock_shared_for(impatience)) {
    }
  }
  void unlock_shared(unsigned a) { locks_[a].shared.unlock_shared(); }
  void take_permit() { two_.acquire(); }
  void give_permit() { two_.release(); }
  template <class F>
  void call(unsigned a, F f) {
    locks_[a].delegate.execute_or_delegate(f);
  }
  template <class F>
  void post(unsigned a, F f) {
    locks_[a].delegate.post(f);
  }

  // --- what waits, and is waited for ---
  void release(unsigned a, long n) { semaphores_[a].release(program_.semaphore[a], n); }
  void acquire(unsigned a, unsigned way) {
    semaphores_[a].acquire(program_.semaphore[a], way, not_stopped_.get_token());
  }
  void count_down(unsigned a, long n) { latches_[a]->count_down(n); }
  void wait(unsigned a, unsigned way);
  void arrive(unsigned a, unsigned way);
  void set(unsigned a, long n, unsigned way);
  long get(unsigned a, unsigned way);
  void send(unsigned a, stamped value, unsigned way);
  stamped receive(unsigned a, unsigned way);
  void stop(unsigned a) { stops_[a].request_stop(); }
  bool await_stop(unsigned a, unsigned way);

  // --- threads ---
  template <class F>
  void spawn(unsigned t, unsigned way, F f);
  void join(unsigned t, unsigned way);
  void cancel(unsigned t);
  void ask_to_move(unsigned t, unsigned where);
  void yield_to(unsigned t);
  void resume(unsigned t);
  void one_left() { leaving_->count_down(); }
  // Until detached and foreign ones have come to their ends.
  void wait_for_the_rest();

 private:
  struct sent_exception {
    long value;
  };
  struct slot {
    latch there{1};
    std::variant<std::monostate, thread, tasklet, light::thread, std::thread> handle;
    unit::descriptor* unit = nullptr;
  };
  [[nodiscard]] thread_attributes attributes_of(const thread_spec& spec) const;
  [[nodiscard]] thread* handle_of(unsigned t);
  void check(bool condition, const char* what, long of) noexcept { record_.check(condition, what, of); }
  void swap_places(long n, bool refusing, const thread_attributes& there, const counting& f);
  static void enter_place(long n, const thread_attributes& there, const counting& f);
  static void notify_impatient(long n, const thread_attributes& there, const counting& f);
  unit_handle* push_below(std::shared_ptr<pool> served, unsigned way);

  const program& program_;
  const std::array<pool*, pools> places_;
  const std::array<key_type*, keys> keys_;
  record& record_;
  std::array<any_lock, locks> locks_;
  counting_semaphore<> two_{2};
  std::array<any_semaphore, semaphores> semaphores_;
  std::array<std::optional<latch>, latches> latches_;
  std::array<std::optional<barrier<>>, barriers> barriers_;
  std::array<promise<long>, futures> promises_;
  std::array<shared_future<long>, futures> futures_;
  std::array<std::optional<channel<stamped>>, channels> channels_;
  std::array<std::stop_source, stops> stops_;
  std::stop_source not_stopped_;
  counting_semaphore<> never_comes_{0};
  latch never_down_{1};
  std::optional<latch> leaving_;
  std::array<slot, most_threads> slots_;
};

template <class F>
void cxx_machine::fork(long n, F f) {
  if (n == 1)
    return f();
  auto half = weft::fork([this, n, &f] { fork(n / 2, f); });
  fork(n - n / 2, f);
  half.join();
}

template <class F>
void cxx_machine::group(long n, F f) {
  task_group all;
  for (long i = 0; i < n; ++i)
    all.run(f);
  all.wait();
}

template <class F>
void cxx_machine::spawn(unsigned t, unsigned way, F f) {
  const thread_spec& spec = program_.threads[t];
  slot& s = slots_[t];
  const thread_attributes a = attributes_of(spec);
  const bool plain = spec.technique == 0 && spec.preemption == 0 && spec.pool == 0 && !spec.cancellable &&
                     std::none_of(spec.body.begin(), spec.body.end(),
                                  [](const instruction& i) { return i.what == op::suspend; });
  if (spec.kind == unit_kind::foreign) {
    s.handle.emplace<std::thread>(f);
  } else if (spec.kind == unit_kind::tasklet) {
    s.handle.emplace<tasklet>(a, f);
  } else if (way == 1) {
    s.handle.emplace<thread>(thread::create_to(a, f));
  } else if (way == 2 && plain) {
    s.handle.emplace<light::thread>(f);
  } else if (way == 3 && plain) {
    s.handle.emplace<thread>(f);
  } else {
    s.handle.emplace<thread>(a, f);
  }
  if (thread* const one = std::get_if<thread>(&s.handle))
    s.unit = one->native_handle();
  if (spec.detached && spec.kind != unit_kind::foreign) {
    std::visit(
        [](auto& one) {
          if constexpr (requires { one.detach(); })
            one.detach();
        },
        s.handle);
  }
  s.there.count_down();
}

} // namespace weft::random_programs
