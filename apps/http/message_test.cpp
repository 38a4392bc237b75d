// SPDX-License-Identifier: MIT
// Paths, dates and the text of answers.
#include "apps/http/date.hpp"
#include "apps/http/input_buffer.hpp"
#include "apps/http/path.hpp"
#include "apps/http/response.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weft::http {
namespace {

TEST(http_path, of_a_file) {
  EXPECT_EQ(file_path("/a/b.txt"), "a/b.txt");
  EXPECT_EQ(file_path("/a//./b.txt?x=/../y"), "a/b.txt");
  EXPECT_EQ(file_path("/a%20b%2Ec"), "a b.c");
  EXPECT_EQ(file_path("/"), "index.html");
  EXPECT_EQ(file_path("/a/"), "a/index.html");
  EXPECT_EQ(file_path("http://host:80/a?b"), "a");
  EXPECT_EQ(file_path("http://host"), "index.html");
  EXPECT_EQ(file_path("/..a/b.."), "..a/b..");
}

TEST(http_path, refused) {
  for (const char* target : {"/..", "/../etc/passwd", "/a/../../b", "/a/..", "/%2e%2e/b", "/%2E./b",
                             "/a/%2e%2e%2fb", "a", "*", "", "host:443", "/%", "/%4", "/%zz", "/a%00b"})
    EXPECT_EQ(file_path(target), std::nullopt) << target;
}

TEST(http_path, of_a_folder) {
  EXPECT_EQ(folder_location("/a"), "/a/");
  EXPECT_EQ(folder_location("/a/b?c=d?e"), "/a/b/?c=d?e");
  EXPECT_EQ(folder_location("//host/b"), "/host/b/"); // not another host's
  EXPECT_EQ(folder_location("/\\host"), "/%5Chost/"); // which browsers take for a slash
  EXPECT_EQ(folder_location("http://host/a"), "/a/");
  EXPECT_EQ(folder_location("/\xc3\xa4"), "/%C3%A4/");
  EXPECT_EQ(folder_location("/."), "/./");
  EXPECT_EQ(folder_location("//"), "/");
}

TEST(http_path, content_types) {
  EXPECT_EQ(content_type("a/b.html"), "text/html");
  EXPECT_EQ(content_type("html"), "application/octet-stream");
}

TEST(http_date, text) {
  const date_text then = date_of(784111777); // the example of RFC 9110
  EXPECT_EQ(std::string(then.data(), then.size()), "Sun, 06 Nov 1994 08:49:37 GMT");
  const date_text leap = date_of(951782400);
  EXPECT_EQ(std::string(leap.data(), leap.size()), "Tue, 29 Feb 2000 00:00:00 GMT");
  date_cache cache;
  const std::string now(cache.now());
  EXPECT_EQ(now.size(), date_size);
  EXPECT_TRUE(now.ends_with(" GMT"));
}

TEST(http_response, heads) {
  response_head head;
  head.server = "x";
  head.date = "D";
  head.content_type = "text/plain";
  head.content_length = 12345678901;
  std::string text;
  append_head(text, head);
  EXPECT_EQ(text, "HTTP/1.1 200 OK\r\nServer: x\r\nDate: D\r\nContent-Type: text/plain\r\n"
                  "Content-Length: 12345678901\r\nConnection: keep-alive\r\n\r\n");
  head.status = 405;
  head.keep_alive = false;
  text.clear();
  append_head(text, head);
  EXPECT_NE(text.find("\r\nAllow: GET, HEAD\r\n"), text.npos);
  EXPECT_TRUE(text.ends_with("\r\nConnection: close\r\n\r\n"));
  head.status = 304;
  head.last_modified = "L";
  text.clear();
  append_head(text, head);
  EXPECT_EQ(text.find("Content-Length"), text.npos);
  EXPECT_NE(text.find("\r\nLast-Modified: L\r\n"), text.npos);
}

TEST(http_response, reasons) {
  EXPECT_EQ(reason_of(404), "Not Found");
  EXPECT_EQ(reason_of(431), "Request Header Fields Too Large");
  EXPECT_EQ(reason_of(299), "Unknown");
}

TEST(http_input, grows_and_moves) {
  input_buffer buffer(10'000);
  std::string sent;
  std::string got;
  for (int i = 0; i < 1000; ++i) {
    const std::span<char> room = buffer.room();
    ASSERT_FALSE(room.empty());
    const std::size_t part = std::min<std::size_t>(room.size(), static_cast<std::size_t>(i % 97));
    std::fill_n(room.data(), part, static_cast<char>('a' + i % 26));
    sent.append(part, static_cast<char>('a' + i % 26));
    buffer.filled(part);
    const std::size_t taken = buffer.text().size() / 2;
    got.append(buffer.text().substr(0, taken));
    buffer.consume(taken);
  }
  got.append(buffer.text());
  EXPECT_EQ(got, sent);
}

TEST(http_input, holds_what_it_may) {
  input_buffer buffer(10'000);
  std::size_t held = 0;
  while (held < 10'000) {
    const std::size_t room = buffer.room().size();
    ASSERT_GT(room, 0U);
    buffer.filled(room);
    held += room;
  }
  EXPECT_EQ(held, 10'000U);
  EXPECT_EQ(buffer.text().size(), 10'000U);
}

} // namespace
} // namespace weft::http
