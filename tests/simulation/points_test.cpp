// SPDX-License-Identifier: MIT
// As many scheduling points as WEFT_SIMULATION_POINTS says, over programs of growing seeds that use most
// primitives: no hang, no loss, no leak. ./do soak asks for 10^9 of them.
#include "tests/simulation/simulate.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <vector>

namespace {

using namespace std::chrono_literals;

std::uint64_t wanted() {
  const char* given = std::getenv("WEFT_SIMULATION_POINTS");
  return given != nullptr ? std::strtoull(given, nullptr, 0) : 5'000'000;
}

// Each of some threads goes through each round of everything that can wait.
class crowd {
 public:
  void run() {
    std::vector<weft::thread> members;
    for (int i = 0; i < size; ++i)
      members.emplace_back([this, i] { take_part(i); });
    std::optional<weft::thread> impatient;
    impatient.emplace([this] { wait_for_nothing(stop_.get_token()); });
    for (weft::thread& t : members)
      t.join();
    stop_.request_stop();
    impatient->join();
    EXPECT_EQ(sum_, std::int64_t{size} * rounds);
    EXPECT_EQ(passed_on_, std::int64_t{size} * rounds);
    EXPECT_EQ(read_, std::int64_t{size} * rounds);
  }

 private:
  static constexpr int size = 12, rounds = 40;

  void take_part(int i) {
    for (int round = 0; round < rounds; ++round) {
      {
        const std::scoped_lock held(lock_);
        ++sum_;
        changed_.notify_one();
      }
      permits_.acquire();
      weft::thread child([this] { passed_on_.fetch_add(1); });
      if ((i + round) % 3 == 0)
        weft::this_thread::yield();
      permits_.release();
      auto forked = weft::fork([this] {
        const std::shared_lock reads(shared_);
        return read_.load() >= 0 ? 1 : 0;
      });
      if (round % 8 == i % 8) {
        const std::scoped_lock writes(shared_);
        weft::this_thread::sleep_for(std::chrono::microseconds(i));
      }
      read_.fetch_add(forked.join());
      child.join();
      all_here_.arrive_and_wait();
    }
  }
  // Notified, out of time or stopped.
  void wait_for_nothing(const std::stop_token& token) {
    std::unique_lock held(lock_);
    while (!token.stop_requested())
      changed_.wait_until(held, token, std::chrono::steady_clock::now() + 50us, [] { return false; });
  }

  weft::mutex lock_;
  weft::condition_variable_any changed_;
  weft::counting_semaphore<> permits_{3};
  weft::shared_mutex shared_;
  weft::barrier<> all_here_{size};
  std::stop_source stop_;
  std::int64_t sum_ = 0;
  std::atomic<std::int64_t> passed_on_{0}, read_{0};
};

TEST(simulation_points, no_hang_no_loss_no_leak) {
  std::uint64_t points = 0, seed = 0;
  for (std::uint64_t next_word = 100'000'000; points < wanted() && !HasFailure(); ++seed) {
    const weft::runtime::options how{.workers = 1 + static_cast<unsigned>(seed % 9),
                                     .pools = static_cast<weft::arrangement>(seed / 9 % 6)};
    points += weft::test::simulate(seed, how, [] { crowd().run(); }).decisions;
    if (points >= next_word) {
      std::printf("%" PRIu64 " points, %" PRIu64 " seeds\n", points, seed + 1);
      std::fflush(stdout);
      next_word += 100'000'000;
    }
  }
  std::printf("%" PRIu64 " points, %" PRIu64 " seeds\n", points, seed);
}

} // namespace
