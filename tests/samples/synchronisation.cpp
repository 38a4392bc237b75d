// SPDX-License-Identifier: MIT
// Samples of docs/guide/synchronisation.md.
#include <weft/weft.hpp>

#include <chrono>
#include <deque>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/samples/check.hpp"

using namespace std::chrono_literals;
using samples::check;

namespace {

void locks(const std::stop_token& token) {
  // [sample timed-lock]
  weft::mutex m;
  if (m.try_lock_for(10ms, token)) {      // false: time passed, or a stop was requested
    // ...
    m.unlock();
  }
  // [/sample]
  check(m.try_lock(), "the mutex was released");
  m.unlock();
}

int scoped() {
  // [sample scoped-lock]
  weft::mutex m;
  {
    std::scoped_lock held(m);     // std::lock, std::unique_lock, std::scoped_lock work with all of them
  }
  // [/sample]
  return m.try_lock() ? (m.unlock(), 1) : 0;
}

void queue_of_waiters() {
  weft::mutex m;
  std::vector<weft::suspended_thread*> waiting;
  bool resumed = false;
  weft::thread t([&] {
    weft::suspended_thread place;
    // [sample unlock-and-wait]
    m.lock();
    waiting.push_back(&place);
    m.unlock_and_wait(place);       // until somebody calls place.notify(); m is not held then
    // [/sample]
    resumed = true;
  });
  for (bool notified = false; !notified; weft::this_thread::yield()) {
    std::scoped_lock held(m);  // not before the thread is in its place
    notified = !waiting.empty() && waiting.back()->notify();
  }
  t.join();
  check(resumed, "the waiter went on");
}

void functions_delegated() {
  // [sample delegator]
  long balance = 0;
  weft::delegator<> account;       // guards it
  account.start_consumer();

  account.post([&] { balance += 10; });                                       // executed now or later
  long left = account.execute_or_delegate([&] { return balance -= 3; });      // waits for the result
  {
    std::scoped_lock held(account);  // a lock all the same
    balance *= 2;
  }
  account.stop_consumer();         // when everything that was posted has been executed
  // [/sample]
  check(left == 7 && balance == 14, "all was executed, in order");
}

// [sample consumer]
struct log_writer {
  struct delegated_func_type { std::string line; };     // what one leaves for it
  std::tuple<bool, weft::suspended_thread> execute(delegated_func_type& f) {
    batch += f.line;
    return {true, weft::suspended_thread()};            // done; nobody to be resumed
  }
  weft::suspended_thread progress() {                   // called while is_active()
    written += std::exchange(batch, "").size();
    return {};
  }
  bool is_active() const { return batch.size() > 4096; }

  std::string batch;
  std::size_t written = 0;
};
// [/sample]

void lines_delegated() {
  // [sample delegator-with-consumer]
  log_writer writer;
  weft::delegator<log_writer> log;
  log.start_consumer(writer);
  log.execute_or_delegate([&] { writer.batch += "one\n"; },                   // if it is free
                          [](auto& f) { f.line = "one\n"; return nullptr; }); // else
  log.stop_consumer();
  // [/sample]
  check(writer.written == 0 && writer.batch == "one\n", "the line was kept for the next batch");
}

void conditions(const std::stop_token& token) {
  weft::mutex m;
  weft::condition_variable changed;
  std::deque<int> queue;
  weft::thread producer([&] {
    std::scoped_lock held(m);
    queue.push_back(1);
    changed.notify_one();
  });
  {
    // [sample condition-variable]
    std::unique_lock held(m);
    changed.wait(held, [&] { return !queue.empty(); });
    if (!changed.wait_for(held, token, 1s, [&] { return !queue.empty(); })) {
      // time passed or stop requested
    }
    // [/sample]
    check(queue.size() == 1, "the producer's value is there");
  }
  producer.join();
}

int reports = 0;
void report_progress() { ++reports; }

void phases() {
  constexpr int workers = 1;
  int now = 1, next = 2;
  using std::swap;
  // [sample barrier]
  weft::barrier all(workers, [&]() noexcept { swap(now, next); });
  auto token = all.arrive();
  while (!all.wait_for(token, 1s)) report_progress();
  // [/sample]
  check(now == 2 && reports == 0, "the phase was completed once");
}

std::size_t handled = 0;
void handle(const std::string& line) { handled += line.size(); }
std::string next_line() { return "a line"; }

void send_lines() {
  // [sample channel]
  weft::channel<std::string> lines(100);  // 100 values wait in it at most; without an argument: any number

  weft::thread reader([&] {
    for (std::string& line : lines) handle(line); // until it is closed and empty
  });

  if (lines.send(next_line()) == weft::channel_status::closed) return;
  lines.close();
  reader.join();
  // [/sample]
  check(handled == 6, "the line was handled");
}

void receive_lines(weft::channel<std::string>& lines, const std::stop_token& token) {
  // [sample receive]
  if (auto line = lines.receive_for(1s, token)) {
    handle(*line);
  } else if (line.status == weft::channel_status::closed) {
    return;
  }
  // [/sample]
}

void sleeping(const std::stop_token& token) {
  const auto next_tick = std::chrono::steady_clock::now() + 1h;
  // [sample sleep-until]
  weft::this_thread::sleep_for(10ms);
  if (!weft::this_thread::sleep_until(next_tick, token)) return;  // stopped
  // [/sample]
  check(false, "the sleep ended by the stop request");
}

} // namespace

int main() {
  std::stop_source stop;
  locks(stop.get_token());
  check(scoped() == 1, "the lock was released");
  queue_of_waiters();
  functions_delegated();
  lines_delegated();
  conditions(stop.get_token());
  phases();
  send_lines();
  weft::channel<std::string> lines(1);
  check(lines.send("six ch") == weft::channel_status::ok, "there is room");
  receive_lines(lines, stop.get_token());
  check(handled == 12, "the second line was handled");
  weft::thread stopper([&] { stop.request_stop(); });
  sleeping(stop.get_token());
  stopper.join();
  check(weft::runtime::count().units == 0, "every thread was freed");
}
