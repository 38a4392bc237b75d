// SPDX-License-Identifier: MIT
// Clients that are slow, broken, greedy or gone. The fixture counts what they leave behind.
#include "apps/http/server_fixture.hpp"

#include <random>
#include <sys/resource.h>

namespace weft::http {
namespace {

using namespace testing;

constexpr std::string_view plain = "GET /plaintext HTTP/1.1\r\nHost: test\r\n\r\n";

WEFT_HTTP_SUITE(http_abuse);

TEST_P(http_abuse, limits_are_told) {
  server_options o;
  o.limits.head_bytes = 1024;
  o.limits.fields = 10;
  o.limits.body_bytes = 100;
  start(o);
  const std::string much(100'000, 'a');
  std::string fields;
  for (int i = 0; i < 20; ++i)
    fields.append("X: y\r\n");
  const struct {
    std::string text;
    int status;
  } cases[] = {{"GET /" + much + " HTTP/1.1\r\nHost: t\r\n\r\n", 414},
               {"GET / HTTP/1.1\r\nHost: t\r\nX: " + much + "\r\n\r\n", 431},
               {"GET / HTTP/1.1\r\nHost: t\r\n" + fields + "\r\n", 431},
               {"POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n" + much, 413},
               {"POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n186A0\r\n" + much, 413},
               {"GET / HTTP/3.0\r\n\r\n", 505},
               {"garbage\r\n\r\n" + much, 400}};
  for (const auto& each : cases) {
    client c = connect();
    const reply r = c.ask(each.text);
    EXPECT_EQ(r.status, each.status) << each.text.substr(0, 60);
    EXPECT_EQ(r.field("Connection"), "close");
    EXPECT_TRUE(c.is_ended());
  }
}

TEST_P(http_abuse, what_came_before_a_broken_request_is_answered) {
  start();
  client c = connect();
  c.send(std::string(plain) + std::string(plain) + "broken\r\n\r\n" + std::string(plain));
  EXPECT_EQ(c.receive().value_or(reply{}).status, 200);
  EXPECT_EQ(c.receive().value_or(reply{}).status, 200);
  EXPECT_EQ(c.receive().value_or(reply{}).status, 400);
  EXPECT_TRUE(c.is_ended());
}

TEST_P(http_abuse, a_slow_request_is_told_so) {
  server_options o;
  o.limits.request = 100ms;
  start(o);
  std::vector<client> slow;
  for (int i = 0; i < 20; ++i)
    slow.push_back(connect());
  for (std::size_t at = 0; at < 5; ++at) { // a byte now and then does not help
    for (const client& c : slow)
      c.send(plain.substr(at, 1));
    this_thread::sleep_for(5ms);
  }
  client body = connect();
  body.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nabc");
  for (client& c : slow) {
    EXPECT_EQ(c.receive().value_or(reply{}).status, 408);
    EXPECT_TRUE(c.is_ended());
  }
  EXPECT_EQ(body.receive().value_or(reply{}).status, 408);
}

TEST_P(http_abuse, an_idle_connection_is_closed_without_a_word) {
  server_options o;
  o.limits.idle = 50ms;
  start(o);
  client silent = connect();
  client used = connect();
  EXPECT_EQ(used.ask(plain).status, 200);
  EXPECT_TRUE(silent.is_ended());
  EXPECT_TRUE(used.is_ended());
}

TEST_P(http_abuse, who_asks_and_never_reads_is_dropped) {
  directory files;
  files.write("large", std::string(20'000'000, 'x'));
  files.write("small", std::string(60'000, 'x'));
  server_options o;
  o.root = files.path();
  o.limits.send = 50ms;
  start(o);
  std::vector<client> greedy;
  for (const std::string name : {"large", "small"}) {
    greedy.push_back(connect());
    std::string many;
    for (int i = 0; i < 500; ++i)
      many.append("GET /" + name + " HTTP/1.1\r\nHost: t\r\n\r\n");
    greedy.back().send(many);
  }
  EXPECT_EQ(connect().ask(plain).status, 200); // others are served meanwhile
  EXPECT_TRUE(eventually([&] { return served().counts().open == 0; }));
}

TEST_P(http_abuse, hundreds_end_abruptly) {
  directory files;
  files.write("large", std::string(5'000'000, 'x'));
  server_options o;
  o.root = files.path();
  start(o);
  std::mt19937 random(7);
  for (int round = 0; round < 3; ++round) {
    std::vector<client> all;
    for (int i = 0; i < 300; ++i) {
      all.push_back(connect());
      switch (random() % 5) {
      case 0:
        break; // nothing at all
      case 1:
        all.back().send(plain.substr(0, random() % plain.size()));
        break;
      case 2:
        all.back().send(plain);
        break;
      case 3:
        all.back().send("GET /large HTTP/1.1\r\nHost: t\r\n\r\n");
        break;
      default:
        all.back().send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 999999\r\n\r\nabc");
      }
    }
    for (client& c : all)
      c.reset();
    ASSERT_TRUE(eventually([&] { return served().counts().open == 0; }));
  }
  EXPECT_EQ(connect().ask(plain).status, 200);
}

TEST_P(http_abuse, no_more_connections_than_allowed) {
  server_options o;
  o.connections = 3;
  start(o);
  std::vector<client> first;
  for (int i = 0; i < 3; ++i) {
    first.push_back(connect());
    EXPECT_EQ(first.back().ask(plain).status, 200);
  }
  client waiting = connect(); // in the backlog
  waiting.send(plain);
  this_thread::sleep_for(20ms);
  EXPECT_EQ(served().counts().connections, 3U);
  first.pop_back();
  EXPECT_EQ(waiting.receive().value_or(reply{}).status, 200);
  stop(); // while it is full
}

// Whatever comes, there is an answer or an end, and the next client is served.
TEST_P(http_abuse, random_bytes) {
  server_options o;
  o.limits.idle = 50ms;
  o.limits.request = 50ms;
  start(o);
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    client c = connect();
    std::string text = round % 2 == 0 ? std::string(plain) : std::string();
    for (unsigned n = random() % 200; n-- > 0;)
      text.insert(text.begin() + static_cast<long>(random() % (text.size() + 1)),
                  static_cast<char>(random()));
    try {
      c.send(text);
      while (c.receive()) {
      }
    } catch (const std::system_error&) {
    } // reset
  }
  EXPECT_EQ(connect().ask(plain).status, 200);
}

// As many as the limit on open files lets both ends have, 10,000 at most.
TEST_P(http_abuse, ten_thousand_idle_connections) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  const std::size_t wanted = std::min<std::size_t>(10'000, (files.rlim_cur - 200) / 2);
  if (wanted < 1'000)
    GTEST_SKIP() << "the limit on open files is " << files.rlim_cur;
  start();
  std::vector<client> idle;
  idle.reserve(wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    idle.push_back(connect());
    if (i % 1'000 == 0) {
      EXPECT_EQ(idle.back().ask(plain).status, 200);
    }
  }
  ASSERT_TRUE(eventually([&] { return served().counts().open == wanted; }));
  EXPECT_EQ(idle.front().ask(plain).status, 200);
  EXPECT_EQ(idle.back().ask(plain).status, 200);
  for (client& c : idle)
    c.reset();
  EXPECT_TRUE(eventually([&] { return served().counts().open == 0; }));
}

} // namespace
} // namespace weft::http
