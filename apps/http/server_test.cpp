// SPDX-License-Identifier: MIT
// What a well-behaved client sees.
#include "apps/http/server_fixture.hpp"

#include <stdexcept>

namespace weft::http {
namespace {

using namespace testing;

constexpr std::string_view plain = "GET /plaintext HTTP/1.1\r\nHost: test\r\n\r\n";

WEFT_HTTP_SUITE(http_server);

TEST_P(http_server, plaintext) {
  start();
  client c = connect();
  for (int i = 0; i < 3; ++i) { // on one connection
    const reply r = c.get("/plaintext?x=y");
    EXPECT_EQ(r.status, 200);
    EXPECT_EQ(r.body, "Hello, World!");
    EXPECT_EQ(r.field("Content-Type"), "text/plain");
    EXPECT_EQ(r.field("Server"), "weft");
    EXPECT_EQ(r.field("Connection"), "keep-alive");
    EXPECT_EQ(r.field("Date").size(), date_size);
  }
  EXPECT_EQ(served().counts().connections, 1U);
}

TEST_P(http_server, head_has_no_body) {
  start();
  client c = connect();
  const reply r = c.ask("HEAD /plaintext HTTP/1.1\r\nHost: test\r\n\r\n", false);
  EXPECT_EQ(r.status, 200);
  EXPECT_EQ(r.field("Content-Length"), "13");
  EXPECT_EQ(c.ask(plain).body, "Hello, World!"); // and nothing of it came late
}

TEST_P(http_server, connection_close_is_honoured) {
  start();
  client c = connect();
  const reply r = c.get("/plaintext", "Connection: close\r\n");
  EXPECT_EQ(r.field("Connection"), "close");
  EXPECT_TRUE(c.is_ended());
  client old = connect();
  EXPECT_EQ(old.ask("GET /plaintext HTTP/1.0\r\n\r\n").body, "Hello, World!");
  EXPECT_TRUE(old.is_ended());
}

TEST_P(http_server, pipelined_requests_are_answered_in_order) {
  directory files;
  files.write("a", "AAA");
  files.write("b", std::string(100'000, 'b')); // sent in parts, between others that are whole
  server_options o;
  o.root = files.path();
  start(o);
  client c = connect();
  std::string many;
  for (int i = 0; i < 50; ++i)
    many.append("GET /a HTTP/1.1\r\nHost: t\r\n\r\nGET /b HTTP/1.1\r\nHost: t\r\n\r\n").append(plain);
  c.send(many);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(c.receive().value_or(reply{}).body, "AAA");
    EXPECT_EQ(c.receive().value_or(reply{}).body, std::string(100'000, 'b'));
    EXPECT_EQ(c.receive().value_or(reply{}).body, "Hello, World!");
  }
}

TEST_P(http_server, a_request_in_pieces) {
  start();
  client c = connect();
  for (const char each : plain) {
    c.send({&each, 1});
    this_thread::yield();
  }
  EXPECT_EQ(c.receive().value_or(reply{}).status, 200);
}

TEST_P(http_server, bodies_are_read_and_dropped) {
  start();
  client c = connect();
  c.send("POST /plaintext HTTP/1.1\r\nHost: t\r\nContent-Length: 300000\r\n\r\n");
  c.send(std::string(300'000, 'x'));
  c.send("POST /plaintext HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
  c.send(plain);
  EXPECT_EQ(c.receive().value_or(reply{}).status, 405);
  const reply second = c.receive().value_or(reply{});
  EXPECT_EQ(second.status, 405);
  EXPECT_EQ(second.field("Allow"), "GET, HEAD");
  EXPECT_EQ(c.receive().value_or(reply{}).body, "Hello, World!");
}

TEST_P(http_server, expect_100_continue) {
  start();
  client c = connect();
  const reply first =
      c.ask("POST / HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(first.status, 100);
  EXPECT_EQ(c.ask("abc").status, 405);
  EXPECT_EQ(c.ask("PATCHY / HTTP/1.1\r\nHost: t\r\n\r\n").status, 501);
}

TEST_P(http_server, files) {
  directory files;
  files.write("index.html", "<p>");
  files.write("small.txt", "small");
  files.write("empty", "");
  std::string large;
  for (int i = 0; large.size() < 3'000'000; ++i)
    large.append(std::to_string(i)).push_back(' ');
  files.write("large", large);
  fs::create_directory(files.path() / "folder");
  server_options o;
  o.root = files.path();
  start(o);
  client c = connect();
  EXPECT_EQ(c.get("/").body, "<p>");
  const reply small = c.get("/small.txt");
  EXPECT_EQ(small.body, "small");
  EXPECT_EQ(small.field("Content-Type"), "text/plain");
  EXPECT_EQ(c.get("/empty").status, 200);
  EXPECT_EQ(c.get("/large").body, large);
  const reply head = c.ask("HEAD /large HTTP/1.1\r\nHost: t\r\n\r\n", false);
  EXPECT_EQ(head.field("Content-Length"), std::to_string(large.size()));
  EXPECT_EQ(c.get("/folder").status, 301);
  EXPECT_EQ(c.get("/nothing").status, 404);
  const reply same = c.get("/small.txt", "If-Modified-Since: " + small.field("Last-Modified") + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(c.get("/small.txt", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n").body, "small");
}

TEST_P(http_server, nothing_outside_the_root_is_served) {
  directory outside;
  outside.write("secret", "secret");
  directory files;
  fs::create_symlink(outside.path() / "secret", files.path() / "link");
  fs::create_directory_symlink(outside.path(), files.path() / "folder");
  server_options o;
  o.root = files.path();
  start(o);
  client c = connect();
  EXPECT_EQ(c.get("/link").status, 403);
  EXPECT_EQ(c.get("/folder/secret").status, 403);
  const std::string name = outside.path().filename();
  for (const std::string& way :
       {"/../" + name + "/secret", "/%2e%2e/" + name + "/secret", "/a/../../" + name})
    EXPECT_EQ(c.get(way).status, 400) << way;
}

TEST_P(http_server, a_changed_file_is_noticed_within_two_seconds) {
  directory files;
  files.write("a", "before");
  server_options o;
  o.root = files.path();
  start(o);
  client c = connect();
  EXPECT_EQ(c.get("/a").body, "before");
  files.write("a", "and after");
  EXPECT_TRUE(eventually([&] { return c.get("/a").body == "and after"; }));
  fs::remove(files.path() / "a");
  EXPECT_TRUE(eventually([&] { return c.get("/a").status == 404; }));
}

TEST_P(http_server, no_root_no_files) {
  start();
  EXPECT_EQ(connect().get("/etc/passwd").status, 404);
}

TEST_P(http_server, drains) {
  server_options o;
  o.drain = 100ms; // for the one that never sends the rest
  start(o);
  client idle = connect();
  EXPECT_EQ(idle.get("/plaintext").status, 200);
  client half = connect();
  half.send(plain.substr(0, 10));
  ASSERT_TRUE(eventually([&] { return served().counts().open == 2; }));
  stop();
  EXPECT_TRUE(idle.is_ended());
  EXPECT_TRUE(half.is_ended());
  EXPECT_EQ(served().counts().open, 0U);
}

TEST_P(http_server, a_client_that_takes_nothing_is_dropped_when_the_drain_time_is_over) {
  directory files;
  files.write("large", std::string(30'000'000, 'x'));
  server_options o;
  o.root = files.path();
  o.drain = 50ms;
  start(o);
  client c = connect();
  c.send("GET /large HTTP/1.1\r\nHost: t\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return served().counts().open == 1; }));
  this_thread::sleep_for(20ms);
  stop();
  EXPECT_EQ(served().counts().open, 0U);
}

TEST_P(http_server, bad_options) {
  server_options o;
  o.port = 0;
  o.address = "localhost";
  EXPECT_THROW(server{o}, std::invalid_argument);
  o.address = "192.0.2.1"; // not ours (RFC 5737)
  EXPECT_EQ(weft::testing::error_of([&] { server{o}; }), std::errc::address_not_available);
  o.address = "127.0.0.1";
  o.root = "/dev/null";
  EXPECT_EQ(weft::testing::error_of([&] { server{o}; }), std::errc::not_a_directory);
  o.root.clear();
  o.limits.head_bytes = 1;
  EXPECT_THROW(server{o}, std::invalid_argument);
  o.limits = {};
  start();
  o.port = served().port();
  EXPECT_EQ(weft::testing::error_of([&] { server{o}; }), std::errc::address_in_use);
}

TEST_P(http_server, ipv6) {
  server_options o;
  o.address = "::1";
  o.port = 0;
  try {
    const server six(o);
    EXPECT_NE(six.port(), 0);
  } catch (const std::system_error& e) {
    if (e.code() != std::errc::address_not_available && e.code() != std::errc::address_family_not_supported)
      throw;
    GTEST_SKIP() << "no IPv6 here";
  }
}

} // namespace
} // namespace weft::http
