// SPDX-License-Identifier: MIT
#include "tests/stress/mix.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "weft/io.hpp"

namespace weft::test::stress {

using namespace std::chrono_literals;

std::uint64_t seed_of_run() {
  const char* given = std::getenv("WEFT_STRESS_SEED");
  if (given == nullptr)
    given = std::getenv("WEFT_SIM"); // a simulated run repeats its choices too
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device{}();
  std::printf("WEFT_STRESS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

std::chrono::duration<double> length_of_run() {
  const char* given = std::getenv("WEFT_STRESS_SECONDS");
  return std::chrono::duration<double>(given != nullptr ? std::atof(given) : 5.0);
}

void check(bool condition, const char* what) {
  if (condition)
    return;
  std::fprintf(stderr, "invariant broken: %s\n", what);
  std::abort();
}

long fib(int n) {
  if (n < 2)
    return n;
  auto other = fork([n] { return fib(n - 1); });
  const long mine = fib(n - 2);
  return other.join() + mine;
}

namespace {

void transfer(world& w, std::mt19937_64& random) {
  std::scoped_lock held(w.lock);
  check(!std::exchange(w.inside, true), "two threads in one critical section");
  const long amount = static_cast<long>(random() % 100);
  w.account[random() % 8] += amount;
  w.account[random() % 8] -= amount;
  long sum = 0;
  for (const long a : w.account)
    sum += a;
  check(sum == 0, "transfers keep the sum");
  w.inside = false;
}

void timed_transfer(world& w, std::mt19937_64& random) {
  std::unique_lock held(w.lock, std::defer_lock);
  if (!w.lock.try_lock())
    return;
  w.lock.unlock();
  transfer(w, random);
}

void take_permit(world& w, std::mt19937_64& random) {
  const bool got = random() % 2 != 0 ? w.permits.try_acquire_for(std::chrono::microseconds(random() % 500))
                                     : (w.permits.acquire(), true);
  if (!got)
    return;
  check(w.holding.fetch_add(1) < 3, "more permits than there are");
  const struct giver { // a cancelled thread unwinds from the yield
    world& w;
    ~giver() {
      w.holding.fetch_sub(1);
      w.permits.release();
    }
  } at_end{w};
  this_thread::yield();
}

void wait_for_generation(world& w, std::mt19937_64& random) {
  std::unique_lock held(w.lock);
  const std::uint64_t seen = w.generation;
  if (random() % 2 != 0) {
    ++w.generation;
    w.changed.notify_all();
  } else {
    w.changed.wait_for(held, std::chrono::microseconds(random() % 300), [&] { return w.generation != seen; });
  }
}

void one_life(world& w, std::uint64_t seed, int depth);

void children(world& w, std::mt19937_64& random, int depth) {
  if (depth == 0)
    return;
  std::vector<thread> joined;
  const int count = 1 + static_cast<int>(random() % 3);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = random();
    thread t([&w, seed, depth] { one_life(w, seed, depth - 1); });
    if (random() % 8 == 0)
      t.cancel();
    joined.push_back(std::move(t));
  }
  for (auto& t : joined) {
    while (random() % 4 == 0 && t.joinable()) {
      if (t.try_join_for(std::chrono::microseconds(random() % 200)))
        break;
    }
    if (t.joinable())
      t.join();
  }
}

// Computes for about half a tick's interval and more, and must still be there after it.
void compute_preempted(world& w, std::mt19937_64& random) {
  thread_attributes preempted;
  preempted.preemption = std::array{preemption::signal_yield, preemption::own_tls, preemption::bound_tls,
                                    preemption::own_kernel_thread}[random() % 4];
  if (!can_preempt(preempted.preemption))
    return;
  thread(preempted, [&w, rounds = random() % 2'000'000] {
    const alive counted(w);
    volatile std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < rounds; ++i)
      sum = sum + i;
    check(sum == (rounds == 0 ? 0 : rounds * (rounds - 1) / 2), "a sum over many ticks");
  }).join();
}

struct descriptor {
  int number = -1;
  ~descriptor() { close(); }
  void close() {
    if (number >= 0)
      io::close(std::exchange(number, -1));
  }
};

// A pipe, its reader first. A writer that is cancelled unwinds from the yield: the reader comes to the end.
void talk(world& w, std::mt19937_64& random) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return; // too many at once
  const descriptor from{ends[0]};
  const std::uint64_t said = random();
  struct conversation {
    descriptor to;
    thread reader;
    ~conversation() {
      to.close();
      reader.join();
    }
  };
  conversation with{{ends[1]}, thread([&w, said, &from] {
                      const alive counted(w);
                      std::uint64_t heard = 0;
                      const auto got = io::read(from.number, &heard, sizeof heard);
                      check(got == 0 || (got == sizeof heard && heard == said), "what came through a pipe");
                    })};
  if (random() % 2 != 0)
    this_thread::yield();
  check(io::write(with.to.number, &said, sizeof said) == sizeof said, "a write into a pipe");
}

void one_step(world& w, std::mt19937_64& random, int depth) {
  w.steps.fetch_add(1, std::memory_order_relaxed);
  switch (random() % (w.everything ? 14 : 12)) {
  case 0:
  case 1:
    return this_thread::yield();
  case 2:
    return transfer(w, random);
  case 3:
    return timed_transfer(w, random);
  case 4:
    return take_permit(w, random);
  case 5:
    return wait_for_generation(w, random);
  case 6:
    this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    return;
  case 7:
    return children(w, random, depth);
  case 8:
    return check(fib(8) == 21, "fork and join of fib(8)");
  case 9: {
    tasklet t([&w] { w.tasklets.fetch_add(1); });
    return t.join();
  }
  case 10:
    try {
      this_thread::migrate_to(*w.side_pool);
    } catch (const std::system_error&) {
    }
    return;
  case 11: {
    auto gate = std::make_shared<binary_semaphore>(0);
    thread([gate] { gate->release(); }).detach();
    return gate->acquire();
  }
  case 12:
    return compute_preempted(w, random);
  case 13:
    return talk(w, random);
  }
}

void one_life(world& w, std::uint64_t seed, int depth) {
  const alive counted(w);
  std::mt19937_64 random(seed);
  const int steps = 1 + static_cast<int>(random() % 12);
  for (int i = 0; i < steps && !w.over(); ++i)
    one_step(w, random, depth);
}

void foreign_life(world& w, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  while (!w.over()) {
    switch (random() % 5) {
    case 0:
      transfer(w, random);
      break;
    case 1:
      take_permit(w, random);
      break;
    case 2:
      wait_for_generation(w, random);
      break;
    case 3: {
      const std::uint64_t child = random();
      thread([&w, child] { one_life(w, child, 1); }).join();
      break;
    }
    case 4:
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      break;
    }
  }
  w.foreign_ended.release();
}

} // namespace

void live(const set_up& where, std::uint64_t seed, world& w) {
  runtime::start({.workers = where.workers, .pools = where.pools});
  thread([] {}).join();
  const auto before = runtime::count();
  w.side_pool = make_pool(order::fifo, access::mpmc);
  // A group of its own serves the pool that threads migrate to.
  group_options beside;
  beside.workers = 2;
  beside.pools = arrangement::custom;
  beside.make_scheduler = [&w](unsigned) {
    return std::make_shared<fifo_scheduler>(std::vector<std::shared_ptr<pool>>{w.side_pool});
  };
  {
    worker_group others(beside);
    std::vector<std::thread> foreign; // a simulation has none
    for (std::uint64_t i = 0; i < 2 && !simulation::active(); ++i)
      foreign.emplace_back([&w, s = seed + 1 + i] { foreign_life(w, s); });
    std::mt19937_64 random(seed);
    while (!w.over()) {
      std::vector<thread> crowd;
      for (int i = 0; i < 32; ++i) {
        const std::uint64_t child = random();
        crowd.emplace_back([&w, child] { one_life(w, child, 2); });
      }
      for (auto& t : crowd)
        t.join();
    }
    // First as a thread: std::thread::join() blocks worker 0, which may have to run what they wait for.
    for (std::size_t i = 0; i < foreign.size(); ++i)
      w.foreign_ended.acquire();
    for (auto& f : foreign)
      f.join();
    // Detached ones end a moment later.
    for (int i = 0; i < 1000 && runtime::count().units != before.units; ++i)
      this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(w.started.load(), w.ended.load());
  EXPECT_EQ(w.holding.load(), 0);
  const auto after = runtime::count();
  EXPECT_EQ(after.units, before.units);
  EXPECT_EQ(after.stacks, before.stacks);
  EXPECT_EQ(after.timers, 0u);
  EXPECT_TRUE(runtime::stop());
}

} // namespace weft::test::stress
