// SPDX-License-Identifier: MIT
#include "weft/door/stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "weft/door/process.hpp"
#include "weft/pool.hpp"
#include "weft/thread.hpp"

namespace {

namespace door = weft::door;

struct stream {
  std::shared_ptr<weft::pool> pool = weft::make_pool(weft::order::fifo, weft::access::mpmc);
  weft::worker* worker = nullptr; // its own, from its start on
  std::unique_ptr<weft::worker_group> group;

  stream() {
    door::prepare_process();
    group = door::start_stream(this, false, [this] {
      return std::make_shared<weft::fifo_scheduler>(std::vector<std::shared_ptr<weft::pool>>{pool});
    });
  }
};

weft::thread on(stream& s, auto f) {
  weft::thread_attributes a;
  a.pool = s.pool.get();
  return weft::thread(a, std::move(f));
}

TEST(door_stream, runs_what_is_in_its_pool) {
  stream s;
  stream* owner = nullptr;
  unsigned nesting = 9;
  on(s, [&] {
    owner = door::owner_here<stream>();
    nesting = door::nesting_here();
    s.worker = &door::here();
  }).join();
  EXPECT_EQ(owner, &s);
  EXPECT_EQ(nesting, 0U);
  EXPECT_TRUE(door::is_stream(*s.worker));
  door::look_again(*s.worker);
  s.group.reset();
  door::release_process();
}

TEST(door_stream, two_share_nothing) {
  stream first;
  stream second;
  stream* owner = nullptr;
  on(second, [&] { owner = door::owner_here<stream>(); }).join();
  EXPECT_EQ(owner, &second);
  on(first, [&] { owner = door::owner_here<stream>(); }).join();
  EXPECT_EQ(owner, &first);
}

TEST(door_stream, others_are_none) {
  stream s;
  EXPECT_EQ(door::owner_here<stream>(), nullptr);
  stream* owner = &s;
  weft::thread([&] { owner = door::owner_here<stream>(); }).join();
  EXPECT_EQ(owner, nullptr);
}

TEST(door_stream, one_that_gets_no_scheduler_does_not_start) {
  door::prepare_process();
  const auto none = []() -> std::shared_ptr<weft::scheduler> { throw std::runtime_error("none"); };
  EXPECT_THROW(static_cast<void>(door::start_stream(nullptr, false, none)), std::runtime_error);
}

TEST(door_stream, numbers_differ) {
  EXPECT_NE(door::next_stream_number(), door::next_stream_number());
}

TEST(door_process, says_what_stacks_have) {
  EXPECT_GT(door::default_stack_size(), 0U);
  EXPECT_NO_THROW(static_cast<void>(door::overflow_check_of_stacks()));
  EXPECT_GE(door::worker_count_by_default(), 1U);
}

TEST(door_process, names_an_address) {
  char name[200] = "";
  door::describe_address(reinterpret_cast<const void*>(&door::next_stream_number), name, sizeof name);
  EXPECT_NE(name[0], '\0');
}

TEST(door_process, cpus_may_be_kept) {
  std::vector<int> cpus;
  ASSERT_EQ(door::cpus_here(cpus), 0);
  ASSERT_FALSE(cpus.empty());
  EXPECT_EQ(door::keep_on_cpus(::pthread_self(), cpus), 0);
}

} // namespace
