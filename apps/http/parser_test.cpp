// SPDX-License-Identifier: MIT
// Requests whole, in pieces, in a row, over the limits, and spoilt at random.
#include "apps/http/request_parser.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace weft::http {
namespace {

using outcome = request_parser::outcome;

limits small_limits() {
  limits l;
  l.head_bytes = 512;
  l.fields = 8;
  l.body_bytes = 1000;
  return l;
}

struct seen {
  std::vector<std::string> targets;
  bool keep_alive = false;
  bool expects_continue = false;
  std::string if_modified_since;
  int complete = 0;
  int status = 0; // of a refusal
  std::size_t left = 0;
};

// Feeds `text` so many bytes at a time, the buffer moving each time as a connection's may.
seen parse(const std::string& text, std::size_t step, const limits& l = small_limits()) {
  request_parser parser(l);
  seen s;
  std::string buffer;
  for (std::size_t at = 0; at < text.size() && s.status == 0; at += step) {
    buffer = std::string(buffer).append(text, at, step);
    for (;;) {
      const auto [what, consumed] = parser.step(buffer);
      EXPECT_LE(consumed, buffer.size());
      if (what == outcome::head) {
        const request& head = parser.head();
        s.targets.emplace_back(head.target);
        s.keep_alive = head.keep_alive;
        s.expects_continue = head.expects_continue;
        s.if_modified_since = head.if_modified_since;
      }
      buffer.erase(0, consumed);
      if (what == outcome::complete)
        ++s.complete;
      if (what == outcome::refused)
        s.status = parser.status();
      if (what == outcome::refused || (what == outcome::need_more && (consumed == 0 || buffer.empty())))
        break;
    }
  }
  s.left = buffer.size();
  return s;
}

// The same whatever the pieces.
seen parse_all_ways(const std::string& text) {
  const seen whole = parse(text, text.size());
  for (const std::size_t step :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{64}}) {
    const seen pieces = parse(text, step);
    EXPECT_EQ(pieces.targets, whole.targets) << step;
    EXPECT_EQ(pieces.complete, whole.complete) << step;
    EXPECT_EQ(pieces.status, whole.status) << step;
    EXPECT_EQ(pieces.keep_alive, whole.keep_alive) << step;
  }
  return whole;
}

TEST(request_parser, one_request) {
  const seen s = parse_all_ways("GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(s.targets, std::vector<std::string>{"/a?b=c"});
  EXPECT_EQ(s.complete, 1);
  EXPECT_TRUE(s.keep_alive);
  EXPECT_EQ(s.left, 0U);
}

TEST(request_parser, several_in_a_row_and_empty_lines_between) {
  const seen s = parse_all_ways("\r\nGET /1 HTTP/1.1\r\nHost: x\r\n\r\n\r\n\r\nHEAD /2 HTTP/1.0\r\n\r\n"
                                "GET /3 HTTP/1.1\r\nhost:x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(s.targets, (std::vector<std::string>{"/1", "/2", "/3"}));
  EXPECT_EQ(s.complete, 3);
  EXPECT_FALSE(s.keep_alive);
}

TEST(request_parser, keep_alive_by_version_and_field) {
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n", 99).keep_alive);
  EXPECT_TRUE(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 99).keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nHost: x\r\nConnection: foo, Close\r\n\r\n", 99).keep_alive);
}

TEST(request_parser, bodies_are_dropped) {
  const seen s = parse_all_ways("POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nGET /"
                                "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "3;a=b\r\nGET\r\nA\r\n0123456789\r\n0\r\nTrailer: y\r\n\r\n"
                                "GET /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(s.targets, (std::vector<std::string>{"/1", "/2", "/3"}));
  EXPECT_EQ(s.complete, 3);
  EXPECT_EQ(s.left, 0U);
}

// Byte by byte its last chunk comes in less than Beast takes.
TEST(request_parser, an_empty_chunked_body) {
  const seen s = parse_all_ways("POST /1 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                                "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "0\r\nTrailer: y\r\n\r\n");
  EXPECT_EQ(s.targets, (std::vector<std::string>{"/1", "/2"}));
  EXPECT_EQ(s.complete, 2);
  EXPECT_EQ(s.left, 0U);
}

// The line of a last chunk that is too long, and wrong as well, with the end of a message after it: it is
// refused for its length also where all has come at once.
TEST(request_parser, the_line_of_a_chunk_that_is_too_long) {
  const limits l = small_limits();
  const seen s = parse_all_ways("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0 " +
                                std::string(l.head_bytes, 'a') + "\r\n\r\n");
  EXPECT_EQ(s.status, 431);
}

// One chunk is longer than what is looked at in one piece.
TEST(request_parser, a_long_chunk) {
  limits l = small_limits();
  l.body_bytes = 1000;
  ASSERT_LT(l.head_bytes, 0x300U);
  const std::string text = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n300\r\n" +
                           std::string(0x300, 'a') + "\r\n0\r\n\r\n";
  for (const std::size_t step : {std::size_t{1}, std::size_t{100}, text.size()})
    EXPECT_EQ(parse(text, step, l).complete, 1) << step;
}

TEST(request_parser, fields_that_matter) {
  const seen s = parse_all_ways("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n"
                                "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\nx");
  EXPECT_TRUE(s.expects_continue);
  EXPECT_EQ(s.if_modified_since, "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_FALSE(
      parse("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx", 999).expects_continue);
}

TEST(request_parser, a_partial_request_is_awaited) {
  const seen s = parse_all_ways("GET / HTTP/1.1\r\nHost: x\r\n");
  EXPECT_EQ(s.complete, 0);
  EXPECT_EQ(s.status, 0);
}

TEST(request_parser, refusals) {
  const std::string long_text(600, 'a');
  const struct {
    std::string text;
    int status;
  } cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", 400},                                                      // no Host
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},                                // two
      {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},                                          // two blanks
      {"\x16\x03\x01\x02garbage\r\n\r\n", 400},                                             // TLS, say
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},                                           //
      {"GET / FTP/1.1\r\nHost: a\r\n\r\n", 400},                                            //
      {"GET / HTTP/1.1\nHost: a\n\n", 400},                                                 // no CR
      {"GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n", 400},                             //
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},                                          // RFC 9112, 5.1
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},                     //
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400}, //
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
      {"GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3E9\r\n", 413},
      {"GET /" + long_text + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + long_text + "\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: a\r\nA:1\r\nB:1\r\nC:1\r\nD:1\r\nE:1\r\nF:1\r\nG:1\r\nH:1\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;" + long_text, 431},
  };
  for (const auto& each : cases) {
    const seen s = parse_all_ways(each.text);
    EXPECT_EQ(s.status, each.status) << each.text;
    EXPECT_EQ(s.complete, 0) << each.text;
  }
}

TEST(request_parser, the_limits_themselves_are_allowed) {
  limits l = small_limits();
  std::string text = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
  text.append(l.head_bytes - text.size() - 4, 'a').append("\r\n\r\n");
  EXPECT_EQ(parse(text, 5, l).complete, 1);
  l.head_bytes = text.size() - 1;
  EXPECT_EQ(parse(text, 5, l).status, 431);
  const std::string post =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x');
  EXPECT_EQ(parse(post, 100).complete, 1);
}

// Nothing that a client can send makes the parser read beyond the text, hang or crash (the sanitizers look),
// and how it is cut decides nothing.
TEST(request_parser, spoilt_requests) {
  const std::vector<std::string> good = {
      "GET /a HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n",
      "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n",
      "POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n\r\n",
      "POST /c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
  };
  const std::string pieces[] = {"\r\n",
                                "\r",
                                "\n",
                                ":",
                                " ",
                                "0",
                                "ffffffffffffffff",
                                ",",
                                "\t",
                                "HTTP/1.1",
                                "Content-Length: 9\r\n",
                                "Transfer-Encoding: chunked\r\n",
                                std::string(1, '\0'),
                                ";",
                                "\xff",
                                "%",
                                "Host: y\r\n"};
  const char* given = std::getenv("WEFT_STRESS_SEED");
  const unsigned seed = given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : 1;
  SCOPED_TRACE("WEFT_STRESS_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  int refused = 0;
  int complete = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good[below(good.size())] + good[below(good.size())];
    for (std::size_t change = below(4); change-- > 0;) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text.erase(at, below(8) + 1);
        break;
      case 2:
        text.insert(at, pieces[below(std::size(pieces))]);
        break;
      default:
        text.insert(at, text.substr(below(text.size()), below(32)));
      }
      if (text.empty())
        text = "x";
    }
    const seen whole = parse(text, text.size());
    const seen cut = parse(text, below(20) + 1);
    ASSERT_EQ(whole.targets, cut.targets) << text;
    ASSERT_EQ(whole.complete, cut.complete) << text;
    ASSERT_EQ(whole.status, cut.status) << text;
    refused += whole.status != 0 ? 1 : 0;
    complete += whole.complete;
  }
  EXPECT_GT(refused, 2'000); // it spoils something, and not everything
  EXPECT_GT(complete, 10'000);
}

} // namespace
} // namespace weft::http
