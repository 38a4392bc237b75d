// SPDX-License-Identifier: MIT
#include "weft/channel.hpp"

#include "tests/unit/sync/fixture.hpp"

#include <memory>
#include <string>

namespace weft::testing {
namespace {

WEFT_SYNC_SUITE(channel_test);

TEST_P(channel_test, first_in_first_out) {
  channel<std::string> c(2);
  EXPECT_EQ(c.send("a"), channel_status::ok);
  EXPECT_EQ(c.try_send("b"), channel_status::ok);
  std::string third = "c";
  EXPECT_EQ(c.try_send(std::move(third)), channel_status::full);
  EXPECT_EQ(third, "c"); // given back
  EXPECT_EQ(c.send_for(std::move(third), 1ms), channel_status::timed_out);
  EXPECT_EQ(third, "c");
  EXPECT_EQ(c.size(), 2U);
  EXPECT_EQ(*c.receive(), "a");
  EXPECT_EQ(*c.try_receive(), "b");
  EXPECT_EQ(c.try_receive().status, channel_status::empty);
  EXPECT_EQ(c.receive_for(1ms).status, channel_status::timed_out);
  EXPECT_EQ(c.receive_until(std::chrono::system_clock::now()).status, channel_status::timed_out);
}

TEST_P(channel_test, closing) {
  channel<int> c;
  EXPECT_EQ(c.send(1), channel_status::ok);
  c.close();
  EXPECT_TRUE(c.closed());
  EXPECT_EQ(c.send(2), channel_status::closed);
  EXPECT_EQ(c.try_send(2), channel_status::closed);
  EXPECT_EQ(*c.receive(), 1);
  EXPECT_EQ(c.receive().status, channel_status::closed);
  EXPECT_EQ(c.try_receive().status, channel_status::closed);
}

TEST_P(channel_test, close_ends_all_waits) {
  channel<int> full(1);
  channel<int> empty;
  ASSERT_EQ(full.send(0), channel_status::ok);
  crowd c;
  const auto send = [&](int i) { EXPECT_EQ(full.send(i), channel_status::closed); };
  const auto receive = [&](int) { EXPECT_EQ(empty.receive().status, channel_status::closed); };
  c.weft_threads(3, send);
  c.kernel_threads(1, send);
  c.weft_threads(3, receive);
  c.kernel_threads(1, receive);
  this_thread::yield();
  full.close();
  empty.close();
  c.join();
  EXPECT_EQ(*full.receive(), 0);
}

TEST_P(channel_test, a_stop_request_ends_all_waits) {
  channel<int> full(0);
  channel<int> empty;
  std::stop_source source;
  crowd c;
  const auto send = [&](int i) { EXPECT_EQ(full.send(i, source.get_token()), channel_status::stopped); };
  const auto receive = [&](int) {
    EXPECT_EQ(empty.receive_for(never, source.get_token()).status, channel_status::stopped);
  };
  c.weft_threads(3, send);
  c.kernel_threads(1, send);
  c.weft_threads(3, receive);
  c.kernel_threads(1, receive);
  this_thread::yield();
  source.request_stop();
  c.join();
}

TEST_P(channel_test, range_for_until_closed) {
  channel<std::unique_ptr<int>> c(4);
  weft::thread sender([&] {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(c.send(std::make_unique<int>(i)), channel_status::ok);
    }
    c.close();
  });
  int expected = 0;
  for (const auto& value : c) {
    EXPECT_EQ(*value, expected++);
  }
  EXPECT_EQ(expected, 100);
  sender.join();
}

/// Every value accepted is received exactly once, with any capacity and whatever races.
TEST_P(channel_test, stress) {
  for (const std::size_t capacity :
       {std::size_t{0}, std::size_t{1}, std::size_t{5}, channel<int>::unbounded}) {
    channel<std::unique_ptr<int>> c(capacity);
    std::atomic<long> sent = 0;
    std::atomic<long> got = 0;
    std::atomic<int> senders = 5;
    crowd all;
    const auto send = [&](int id) {
      std::mt19937 random(static_cast<unsigned>(seed) + static_cast<unsigned>(id));
      for (int i = 0; i < 300; ++i) {
        auto value = std::make_unique<int>(static_cast<int>(random() % 1000));
        const int number = *value;
        channel_status how = channel_status::ok;
        switch (random() % 3) {
        case 0:
          how = c.send(std::move(value));
          break;
        case 1:
          how = c.try_send(std::move(value));
          break;
        default:
          how = c.send_for(std::move(value), std::chrono::microseconds(random() % 50));
          break;
        }
        sent += how == channel_status::ok ? number : 0;
        EXPECT_EQ(value == nullptr, how == channel_status::ok);
      }
      if (--senders == 0) {
        c.close();
      }
    };
    const auto receive = [&](int id) {
      std::mt19937 random(static_cast<unsigned>(seed) - static_cast<unsigned>(id));
      for (;;) {
        auto r = random() % 2 == 0 ? c.receive() : c.receive_for(std::chrono::microseconds(random() % 50));
        if (r) {
          got += **r;
        } else if (r.status == channel_status::closed) {
          return;
        }
      }
    };
    all.kernel_threads(1, receive);
    all.weft_threads(3, receive);
    all.kernel_threads(1, send);
    all.weft_threads(4, send);
    all.join();
    EXPECT_EQ(got, sent);
    EXPECT_EQ(c.size(), 0U);
  }
}

TEST_P(channel_test, a_tasklet_may_use_it_but_not_wait) {
  channel<int> c(1);
  bool refused = false;
  weft::tasklet([&] {
    refused = is_refused([&] { static_cast<void>(c.receive()); });
    EXPECT_EQ(c.send(1), channel_status::ok);
    refused = refused && is_refused([&] { static_cast<void>(c.send(2)); });
  }).join();
  EXPECT_TRUE(refused);
  EXPECT_EQ(*c.receive(), 1);
  EXPECT_EQ(c.try_receive().status, channel_status::empty);
}

} // namespace
} // namespace weft::testing
