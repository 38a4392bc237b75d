// SPDX-License-Identifier: MIT
// The parts of a message that Boost.Beast does not judge, or not strictly.
#include "apps/http/chunked_body.hpp"
#include "apps/http/grammar.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace weft::http {
namespace {

using namespace std::string_literals;

TEST(http_grammar, hosts) {
  for (const char* host : {"", "a", "a.example", "A-b.example:8080", "a_b", "127.0.0.1", "127.0.0.1:80",
                           "a:", "a:0", "a:65535", "%41", "xn--bcher-kva.example", "[::1]", "[::1]:80",
                           "[2001:db8::1]:", "[::ffff:1.2.3.4]", "[v1.a:b]", "a!$&'()*+;=b"})
    EXPECT_TRUE(is_host(host)) << host;
  for (const std::string& host : {"a b"s,
                                  "a/b"s,
                                  "user@a"s,
                                  "user:pw@a"s,
                                  "a?b"s,
                                  "a#b"s,
                                  "<a>"s,
                                  "[::1"s,
                                  "::1"s,
                                  "[]"s,
                                  "[::g]"s,
                                  "[::1]x"s,
                                  "[::1]80"s,
                                  "[1.2.3.4]"s,
                                  "[::1%eth0]"s,
                                  "[v.a]"s,
                                  "[v1.]"s,
                                  "a:b"s,
                                  "a:-1"s,
                                  "a:+1"s,
                                  "a:65536"s,
                                  "a:99999999"s,
                                  "a:18446744073709551617"s,
                                  "a:80:80"s,
                                  "a:80 "s,
                                  "a,b"s,
                                  "a, b"s,
                                  "\"a\""s,
                                  "a\\b"s,
                                  "a|b"s,
                                  "a^b"s,
                                  "{a}"s,
                                  "%"s,
                                  "%4"s,
                                  "%zz"s,
                                  "b\xc3\xbc"s,
                                  "a\tb"s,
                                  "a\0b"s,
                                  "a\x7f"s,
                                  "[::1\0]"s,
                                  "a]"s,
                                  "[a"s,
                                  "http://a"s})
    EXPECT_FALSE(is_host(host)) << host;
}

TEST(http_grammar, targets) {
  EXPECT_EQ(form_of_target("/"), target_form::origin);
  EXPECT_EQ(form_of_target("/a?b://c"), target_form::origin);
  EXPECT_EQ(form_of_target("*"), target_form::asterisk);
  EXPECT_EQ(form_of_target("http://a"), target_form::absolute);
  EXPECT_EQ(form_of_target("HTTPS://[::1]:80/b?c"), target_form::absolute);
  EXPECT_EQ(form_of_target("a.example:443"), target_form::authority);
  EXPECT_EQ(form_of_target("[::1]:443"), target_form::authority);
  for (const char* target : {"", "a", "/a#b", "a/b", "http:///a", "http://:80/a", "http://u@a/",
                             "http://a b/", "ftp://a/", "://a", "**", "a:", ":80", "http://a:b/", "?a"})
    EXPECT_EQ(form_of_target(target), target_form::wrong) << target;
}

TEST(http_grammar, chunk_extensions) {
  for (const std::string& text :
       {""s, ";a"s, ";a=b"s, ";a=\"b\""s, ";a=\"\""s, ";a=\"\\\"\""s, ";a=\"\t;=\\\\\""s, ";a;b=c;d=\"e\""s,
        " ; a = b"s, "\t;a =\"b\""s, ";a=\"\xc3\xa4\""s})
    EXPECT_TRUE(is_chunk_extension(text)) << text;
  for (const std::string& text :
       {" "s,           "a"s,         ";"s,         ";;a"s,         ";a="s,     ";=b"s,
        ";a b"s,        ";a=b c"s,    ";a=\"b"s,    ";a=\"b\"c"s,   ";a=\"\\"s, ";a=\"\n\""s,
        ";a=\"\\\n\""s, ";a=\"\r\""s, ";a=\"\0\""s, ";a=\"\\\0\""s, ";a\0"s,    ";a=\x01"s,
        ";a=\"\x7f\""s, ";a "s,       ";a=b "s,     ";a\xc3"s,      ";a=b,c"s})
    EXPECT_FALSE(is_chunk_extension(text)) << text;
}

TEST(http_grammar, tokens_and_fields) {
  EXPECT_TRUE(is_token("a-B_9!"));
  for (const char* text : {"", "a b", "a:", "a(", "\xc3"})
    EXPECT_FALSE(is_token(text)) << text;
  EXPECT_TRUE(is_field_text(" a\tb\xff"));
  for (const std::string& text : {"a\rb"s, "a\nb"s, "a\0b"s, "a\x7f"s, "\x1b"s})
    EXPECT_FALSE(is_field_text(text));
  EXPECT_EQ(trimmed(" \ta b \t"), "a b");
  EXPECT_EQ(trimmed(" \t"), "");
}

// What becomes of a body, and the same however it is cut. `left`: what is behind it.
struct ended {
  int status = 0; // 0: complete, -1: more is to come
  std::string left;
  bool operator==(const ended&) const = default;
};
limits small_limits() {
  limits l;
  l.head_bytes = 128;
  l.fields = 3;
  l.body_bytes = 1000;
  return l;
}
ended read_in_steps(const std::string& text, std::size_t step) {
  const limits l = small_limits();
  chunked_body body(l);
  std::string buffer;
  for (std::size_t at = 0; at < text.size(); at += step) {
    buffer.append(text, at, step);
    const auto [what, consumed] = body.step(buffer);
    buffer.erase(0, consumed);
    if (what == chunked_body::outcome::refused)
      return {body.status(), ""};
    if (what == chunked_body::outcome::complete)
      return {0, buffer + (at + step < text.size() ? text.substr(at + step) : "")};
  }
  return {-1, ""};
}
ended read(const std::string& text) {
  const ended whole = read_in_steps(text, text.size());
  for (std::size_t step = 1; step < text.size(); ++step)
    EXPECT_EQ(read_in_steps(text, step), whole) << step << ": " << text;
  return whole;
}

TEST(http_chunked_body, ends_where_it_ends) {
  const std::string next = "GET / HTTP/1.1\r\n";
  for (const std::string& body :
       {"0\r\n\r\n"s, "000\r\n\r\n"s, "3\r\nabc\r\n0\r\n\r\n"s, "3;a=\"b\"\r\n\r\n0\r\n0\r\n\r\n"s,
        "a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"s, "1\r\n\n\r\n0\r\nA: b\r\nC:\r\n\r\n"s,
        "00000000000000000000001\r\nx\r\n0 ;last\r\n\r\n"s})
    EXPECT_EQ(read(body + next), (ended{0, next})) << body;
  EXPECT_EQ(read("3\r\nabc\r\n0\r\nA: b\r\n").status, -1);
}

TEST(http_chunked_body, refused) {
  const std::string end = "\r\nabc\r\n0\r\n\r\n";
  for (const std::string& line : {"3;a=\"\n\""s, "3;a=\"\\\n\""s, "3;a=\"\0\""s, "3;a=\n"s, "3\n"s, "3 "s,
                                  " 3"s, "0x3"s, "+3"s, "-3"s, "3g"s, ""s, "3;"s, "10000000000000003"s,
                                  "ffffffffffffffffffff"s, "3;a=\"\r\nb\""s, "3\r"s, "3;a\0"s, "3\0"s})
    EXPECT_EQ(read(line + end).status, 400) << line;
  EXPECT_EQ(read("3\nabc\r\n0\r\n\r\n").status, 400);
  EXPECT_EQ(read("3\r\nabcd\r\n0\r\n\r\n").status, 400);
  EXPECT_EQ(read("3\r\nabc\n0\r\n\r\n").status, 400);
  EXPECT_EQ(read("3\r\nabc\r0\r\n\r\n").status, 400);
  EXPECT_EQ(read("3e9\r\n").status, 413);
  EXPECT_EQ(read("1f4\r\n" + std::string(500, 'x') + "\r\n1f5\r\n").status, 413);
  EXPECT_EQ(read("fffffffffffffff\r\n").status, 413);
}

TEST(http_chunked_body, trailers) {
  for (const std::string& field :
       {"A: b\n"s, "A: b\nC: d\r\n"s, "A: b\r\n c\r\n"s, "A: b\r\n\tc\r\n"s, " A: b\r\n"s, "A : b\r\n"s,
        "A\r\n"s, ": b\r\n"s, "A: \0\r\n"s, "A: \x01\r\n"s, "A: b\rc\r\n"s, "A\0: b\r\n"s,
        "Content-Length: 1\r\n"s, "transfer-encoding: chunked\r\n"s, "Host: a\r\n"s, "\n"s})
    EXPECT_EQ(read("0\r\n" + field + "\r\n").status, 400) << field;
  EXPECT_EQ(read("0\r\nA:1\r\nB:1\r\nC:1\r\nD:1\r\n\r\n").status, 431);
}

TEST(http_chunked_body, limits_of_lines) {
  const std::size_t most = small_limits().head_bytes;
  EXPECT_EQ(read("0;" + std::string(most - 4, 'a') + "\r\n\r\n").status, 0);
  EXPECT_EQ(read("0;" + std::string(most - 3, 'a') + "\r\n\r\n").status, 431);
  EXPECT_EQ(read("0 " + std::string(most, 'a') + "\r\n\r\n").status, 431); // whatever else is wrong
  // "A:" and the empty line are of the trailer as well.
  EXPECT_EQ(read("0\r\nA:" + std::string(most - 6, 'a') + "\r\n\r\n").status, 0);
  EXPECT_EQ(read("0\r\nA:" + std::string(most - 5, 'a') + "\r\n\r\n").status, 431);
  // All extensions of a body together.
  std::string many;
  for (int i = 0; i < 20; ++i)
    many.append("1;aaaaaaaaaaa\r\nx\r\n");
  EXPECT_EQ(read(many + "0\r\n\r\n").status, 431);
}

} // namespace
} // namespace weft::http
