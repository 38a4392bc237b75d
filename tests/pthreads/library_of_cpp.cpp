// SPDX-License-Identifier: MIT
// Threads as the C++ library has them: what it makes of pthreads, of futexes, and of unwinding.
#include "tests/pthreads/check.h"

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <future>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

void futures() {
  std::vector<std::future<int>> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(std::async(std::launch::async, [i] {
      std::this_thread::sleep_for(1ms);
      if (i % 4 == 0)
        throw std::runtime_error("one in four");
      return i;
    }));
  int sum = 0, thrown = 0;
  for (auto& f : all) {
    try {
      sum += f.get();
    } catch (const std::runtime_error&) {
      ++thrown;
    }
  }
  CHECK(thrown == 10 && sum == 780 - 180);
}

void atomic_waits() {
  std::atomic<int> turn{0};
  std::counting_semaphore<> tickets{0};
  std::barrier meet(5);
  {
    std::vector<std::jthread> all;
    for (int i = 0; i < 4; ++i)
      all.emplace_back([&, i] {
        for (int round = 0; round < 50; ++round) {
          for (int seen = turn; seen % 4 != i; seen = turn)
            turn.wait(seen);
          ++turn;
          turn.notify_all();
        }
        tickets.acquire();
        meet.arrive_and_wait();
      });
    tickets.release(4);
    meet.arrive_and_wait();
  }
  CHECK(turn == 200);
}

void stopped() {
  std::mutex lock;
  std::condition_variable_any changed;
  bool was_stopped = false;
  {
    std::jthread waits([&](const std::stop_token& stop) {
      std::unique_lock held(lock);
      was_stopped = !changed.wait(held, stop, [] { return false; });
    });
    std::this_thread::sleep_for(5ms);
  }
  CHECK(was_stopped);
  std::shared_mutex shared;
  std::shared_timed_mutex timed;
  const std::unique_lock held(timed);
  std::thread([&] {
    const std::shared_lock also(shared);
    CHECK(!timed.try_lock_for(5ms));
  }).join();
}

std::once_flag once;
std::atomic<int> tried{0};
void only_once() {
  std::vector<std::jthread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([] {
      for (;;) {
        try {
          std::call_once(once, [] {
            if (++tried < 3)
              throw std::runtime_error("not yet");
          });
          return;
        } catch (const std::runtime_error&) {
        }
      }
    });
  all.clear();
  CHECK(tried == 3);
}

std::atomic<int> destroyed{0};
struct counted {
  ~counted() { ++destroyed; }
};
thread_local counted of_thread;
[[gnu::noinline]] void unwind(int depth) {
  const counted here;
  static_cast<void>(&of_thread);
  try {
    if (depth > 0)
      unwind(depth - 1);
  } catch (const std::exception&) {
    CHECK(false);
  }
  if (depth == 0)
    pthread_exit(&destroyed);
}
void exit_unwinds() {
  pthread_t t = begin(
      [](void*) -> void* {
        unwind(9);
        return nullptr;
      },
      nullptr);
  CHECK(end(t) == &destroyed);
  CHECK(destroyed == 11); // ten frames, one of the thread's own
}

std::atomic<bool> caught{false};
void cancel_unwinds() {
  pthread_t t = begin(
      [](void*) -> void* {
        const counted here;
        try {
          for (;;)
            sleep(1000);
        } catch (...) {
          caught = true;
          throw;
        }
      },
      nullptr);
  sleep_ms(10);
  CHECK_ERROR(0, pthread_cancel(t));
  CHECK(end(t) == PTHREAD_CANCELED);
  CHECK(caught && destroyed == 1);
}

} // namespace

int main(int /*count*/, char** words) {
  static const test_case cases[] = {{"futures", futures},           {"atomic_waits", atomic_waits},
                                    {"stopped", stopped},           {"only_once", only_once},
                                    {"exit_unwinds", exit_unwinds}, {"cancel_unwinds", cancel_unwinds}};
  return RUN_CASE(cases, words);
}
