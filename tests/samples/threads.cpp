// SPDX-License-Identifier: MIT
// Samples of docs/guide/threads.md.
#include <weft/weft.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "tests/samples/check.hpp"

using namespace std::chrono_literals;
using samples::check;

namespace {

void create() {
  // [sample create]
  std::string greeting = "hello";
  std::size_t length = 0;
  weft::thread t([](const std::string& text, std::size_t* out) { *out = text.size(); }, greeting, &length);
  t.join();
  // [/sample]
  check(length == 5, "arguments are copied into the thread");
}

void attributes() {
  std::string seen;
  // [sample attributes]
  weft::thread_attributes small;
  small.stack_size = 16 << 10;  // bytes; 0 means WEFT_STACK_SIZE
  small.name = "reader";        // shown in messages, at most 31 characters
  weft::thread t(small, [&] { seen = weft::this_thread::name(); });
  t.join();
  // [/sample]
  check(seen == "reader", "the thread knows its name");
}

void tasklets() {
  // [sample tasklet]
  int answer = 0;
  weft::tasklet quick([&] { answer = 42; });
  quick.join();
  // [/sample]
  check(answer == 42, "the tasklet ran");

  bool refused = false;
  weft::tasklet wrong([&] {
    try {
      weft::this_thread::yield();
    } catch (const std::system_error& e) {
      refused = e.code() == std::errc::operation_not_permitted;
    }
  });
  wrong.join();
  check(refused, "a tasklet may not wait");
}

void start_now() {
  std::atomic<bool> begun{false};
  // [sample create-to]
  weft::thread child = weft::thread::create_to({}, [&] { begun = true; });
  // child has begun; this thread became ready when it did
  // [/sample]
  check(begun, "create_to runs the child first");
  child.join();
}

void timed_join() {
  std::atomic<bool> release{false};
  weft::thread t([&] {
    while (!release) weft::this_thread::yield();
  });
  // [sample timed-join]
  if (!t.try_join_for(1ms)) {
    // not ended; t is still joinable
  }
  // [/sample]
  check(t.joinable(), "a join that timed out leaves the thread joinable");
  release = true;
  t.join();
}

void jthreads() {
  std::atomic<bool> stopped{false};
  {
    // [sample jthread]
    weft::jthread t([&](std::stop_token stop) {
      weft::this_thread::sleep_for(1h, stop);  // ends early when a stop is requested
      stopped = stop.stop_requested();
    });
    // the destructor requests the stop and joins
    // [/sample]
  }
  check(stopped, "the jthread was stopped and joined");
}

void suspending() {
  bool resumed = false;
  // [sample suspend]
  weft::thread t([&] {
    weft::this_thread::suspend();  // until somebody calls resume()
    resumed = true;
  });
  t.resume();  // may come first: the next suspend() then returns at once
  t.join();
  // [/sample]
  check(resumed, "the thread went on");
}

struct noted {
  bool* flag;
  ~noted() { *flag = true; }
};

void cancelling() {
  std::atomic<bool> begun{false};
  bool unwound = false;
  // [sample cancel]
  weft::thread t([&] {
    const noted at_end{&unwound};  // destructors run
    begun = true;
    for (;;) weft::this_thread::yield();
  });
  while (!begun) weft::this_thread::yield();
  t.cancel();  // t ends at its next yield
  t.join();    // still needed
  // [/sample]
  check(unwound, "cancel unwinds the stack");
}

void exiting() {
  bool unwound = false, reached = false;
  // [sample exit]
  weft::thread t([&] {
    const noted at_end{&unwound};
    weft::this_thread::exit();
    reached = true;  // never
  });
  t.join();
  // [/sample]
  check(unwound && !reached, "exit unwinds the stack");
}

// [sample storage]
weft::thread_specific<int> counter;  // one int* for each thread, null to begin with

int next_number() {
  if (!counter) counter.reset(new int(0));  // deleted when the thread ends
  return ++*counter;
}
// [/sample]

void storage() {
  int first = 0, second = 0;
  weft::thread a([&] { next_number(), first = next_number(); });
  weft::thread b([&] { second = next_number(); });
  a.join();
  b.join();
  check(first == 2 && second == 1, "each thread has its own");
}

void exceptions() {
  std::string said;
  // [sample exception]
  weft::packaged_task<int()> task([]() -> int { throw std::runtime_error("no such file"); });
  weft::future<int> result = task.get_future();
  weft::thread t(std::move(task));
  try {
    result.get();
  } catch (const std::runtime_error& e) {
    said = e.what();
  }
  t.join();
  // [/sample]
  check(said == "no such file", "the exception came out of the future");
}

void stack_left() {
  std::size_t left = 0;
  weft::thread t([&] {
    // [sample stack-left]
    left = weft::this_thread::stack_left();  // bytes down to the guard
    // [/sample]
  });
  t.join();
  check(left > 16 << 10, "the default stack is larger");
}

} // namespace

int main() {
  create();
  attributes();
  tasklets();
  start_now();
  timed_join();
  jthreads();
  suspending();
  cancelling();
  exiting();
  storage();
  exceptions();
  stack_left();
  check(weft::runtime::count().units == 0, "every thread was freed");
}
