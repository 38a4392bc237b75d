// SPDX-License-Identifier: MIT
// What RFC 9110 and RFC 9112 say that a server MUST do with a request, one request each, through a socket:
// the statuses of all answers, and whether the connection goes on afterwards.
#include "apps/http/server_fixture.hpp"

#include <string>

namespace weft::http {
namespace {

using namespace testing;
using namespace std::string_literals;

struct rule {
  const char* where;
  std::string request;
  std::string statuses;
  enum { ends, goes_on } then;
};

const std::string host = "Host: a\r\n";
const std::string get = "GET /plaintext HTTP/1.1\r\n";
const std::string post = "POST /plaintext HTTP/1.1\r\n" + host;
const std::string in_chunks = post + "Transfer-Encoding: chunked\r\n\r\n";

std::string with(const std::string& fields) {
  return get + host + fields + "\r\n";
}

// [what the RFC says, by its section] request, statuses, what becomes of the connection.
const rule request_lines[] = {
    {"9112 2.2: an empty line before the request line is ignored", "\r\n" + with(""), "200", rule::goes_on},
    {"9112 2.2: no blank between the start line and the first field", get + " " + host + "\r\n", "400",
     rule::ends},
    {"9112 2.2: a bare CR is invalid or a blank", get + host + "A: b\rc\r\n\r\n", "400", rule::ends},
    {"9112 2.2: in the request line too", "GET /plaintext\r HTTP/1.1\r\n" + host + "\r\n", "400", rule::ends},
    {"9112 2.3: HTTP's name has capital letters", "GET /plaintext http/1.1\r\n" + host + "\r\n", "400",
     rule::ends},
    {"9110 15.6.6: a major version that is not supported", "GET /plaintext HTTP/4.0\r\n" + host + "\r\n",
     "505", rule::ends},
    {"9112 2.3: a version is two digits", "GET /plaintext HTTP/11\r\n" + host + "\r\n", "400", rule::ends},
    {"9112 3: no start line", "garbage\r\n\r\n", "400", rule::ends},
    {"9112 3: a method is a token", "GE(T /plaintext HTTP/1.1\r\n" + host + "\r\n", "400", rule::ends},
    {"9110 9.1: a method is case-sensitive", "get /plaintext HTTP/1.1\r\n" + host + "\r\n", "501",
     rule::goes_on},
    {"9110 9.1: a method that is not known", "BREW /plaintext HTTP/1.1\r\n" + host + "\r\n", "501",
     rule::goes_on},
    {"9110 9.1: one that is known and not allowed", "DELETE /plaintext HTTP/1.1\r\n" + host + "\r\n", "405",
     rule::goes_on},
    {"9112 3: no blanks in a target", "GET /plain text HTTP/1.1\r\n" + host + "\r\n", "400", rule::ends},
    {"9112 3.2: a fragment is not sent", "GET /plaintext#a HTTP/1.1\r\n" + host + "\r\n", "400", rule::ends},
    {"9112 3.2.1: a path begins with a slash", "GET plaintext HTTP/1.1\r\n" + host + "\r\n", "400",
     rule::ends},
    {"9112 3.2.2: the absolute form is accepted", "GET http://b/plaintext HTTP/1.1\r\n" + host + "\r\n",
     "200", rule::goes_on},
    {"9112 3.2.2: with a scheme in capitals", "GET HTTP://b/plaintext HTTP/1.1\r\n" + host + "\r\n", "200",
     rule::goes_on},
    {"9110 4.2.1: not without a host", "GET http:///plaintext HTTP/1.1\r\n" + host + "\r\n", "400",
     rule::ends},
    {"9110 4.2.4: nor with a user", "GET http://u:p@b/plaintext HTTP/1.1\r\n" + host + "\r\n", "400",
     rule::ends},
    {"9112 3.2.3: the authority form is CONNECT's", "GET a:80 HTTP/1.1\r\n" + host + "\r\n", "400",
     rule::ends},
    {"9112 3.2.3: and CONNECT has no other", "CONNECT /plaintext HTTP/1.1\r\n" + host + "\r\n", "400",
     rule::ends},
    {"9112 3.2.4: the asterisk is OPTIONS'", "GET * HTTP/1.1\r\n" + host + "\r\n", "400", rule::ends},
    {"9112 3.2.4: of which it is a target", "OPTIONS * HTTP/1.1\r\n" + host + "\r\n", "405", rule::goes_on},
    {"9112 3: a NUL", "GET /plain\0text HTTP/1.1\r\n"s + host + "\r\n", "400", rule::ends},
    {"9112 2.1: lines end in CRLF", "GET /plaintext HTTP/1.1\nHost: a\n\n", "400", rule::ends},
};

const rule fields[] = {
    {"9112 3.2: no Host in HTTP/1.1", get + "\r\n", "400", rule::ends},
    {"9112 3.2: two", get + host + host + "\r\n", "400", rule::ends},
    {"9112 3.2: two, in HTTP/1.0", "GET /plaintext HTTP/1.0\r\n" + host + host + "\r\n", "400", rule::ends},
    {"9112 3.2: one that is none", get + "Host: a b\r\n\r\n", "400", rule::ends},
    {"9112 3.2: one that is none, in HTTP/1.0", "GET /plaintext HTTP/1.0\r\nHost: a/b\r\n\r\n", "400",
     rule::ends},
    {"9112 3.2: one with a port that is none", get + "Host: a:b\r\n\r\n", "400", rule::ends},
    {"9112 3.2: one with a user", get + "Host: u@a\r\n\r\n", "400", rule::ends},
    {"9112 3.2: a list of them", get + "Host: a, b\r\n\r\n", "400", rule::ends},
    {"9112 3.2: an IPv6 address that is not closed", get + "Host: [::1\r\n\r\n", "400", rule::ends},
    {"9112 3.2.2: Host is wrong though the target says the host",
     "GET http://b/plaintext HTTP/1.1\r\nHost: a b\r\n\r\n", "400", rule::ends},
    {"9112 3.2: an IPv6 address", get + "Host: [::1]:80\r\n\r\n", "200", rule::goes_on},
    {"9112 3.2: an empty one", get + "Host:\r\n\r\n", "200", rule::goes_on},
    {"9112 5: names are not case-sensitive", get + "hOST: a\r\n\r\n", "200", rule::goes_on},
    {"9112 5.1: no blank before the colon", with("A : b\r\n"), "400", rule::ends},
    {"9112 5: a name is a token", with("A(: b\r\n"), "400", rule::ends},
    {"9112 5: and not empty", with(": b\r\n"), "400", rule::ends},
    {"9112 5: a field has a colon", with("A\r\n"), "400", rule::ends},
    {"9112 5.2: a folded field", with("A: b\r\n c\r\n"), "400", rule::ends},
    {"9112 5.2: folded with a tab", with("A: b\r\n\tc\r\n"), "400", rule::ends},
    {"9110 5.5: a NUL in a value", with("A: b\0c\r\n"s), "400", rule::ends},
    {"9110 5.5: an LF in a value", with("A: b\nc\r\n"), "400", rule::ends},
    {"9110 5.5: others than ASCII in a value", with("A: \xc3\xa4\r\n"), "200", rule::goes_on},
};

const rule bodies[] = {
    {"9112 6.1: chunked and a length",
     post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 6.1: the other way round",
     post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 6.1: in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400",
     rule::ends},
    {"9112 6.1: a coding that is not known", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
     "501", rule::ends},
    {"9112 6.1: chunked twice", post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", "400",
     rule::ends},
    {"9112 6.1: in two fields",
     post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 6.3: chunked is not there", post + "Transfer-Encoding: gzip\r\n\r\n", "400", rule::ends},
    {"9112 6.3: chunked is not the last", post + "Transfer-Encoding: chunked, gzip\r\n\r\n", "400",
     rule::ends},
    {"9112 6.3: nor with something at its end", post + "Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n",
     "400", rule::ends},
    {"9112 6.3: nor nothing", post + "Transfer-Encoding:\r\n\r\n", "400", rule::ends},
    {"9112 6.3: something like it",
     post + "Transfer-Encoding: \x0b"
            "chunked\r\n\r\n0\r\n\r\n",
     "400", rule::ends},
    {"9112 7: codings are not case-sensitive", post + "Transfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n", "405",
     rule::goes_on},
    {"9110 5.6.1: empty elements of a list are ignored",
     post + "Transfer-Encoding: , chunked\r\n\r\n0\r\n\r\n", "405", rule::goes_on},
    {"9112 6.3: a length that is none", post + "Content-Length: a\r\n\r\n", "400", rule::ends},
    {"9112 6.3: with a sign", post + "Content-Length: +5\r\n\r\nabcde", "400", rule::ends},
    {"9112 6.3: below nothing", post + "Content-Length: -1\r\n\r\n", "400", rule::ends},
    {"9112 6.3: in hexadecimal", post + "Content-Length: 0x5\r\n\r\nabcde", "400", rule::ends},
    {"9112 6.3: empty", post + "Content-Length:\r\n\r\n", "400", rule::ends},
    {"9112 6.3: two that differ", post + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcde", "400",
     rule::ends},
    {"9112 6.3: a list of two that differ", post + "Content-Length: 5, 6\r\n\r\nabcde", "400", rule::ends},
    {"9110 8.6: more than 64 bits hold", post + "Content-Length: 18446744073709551621\r\n\r\nabcde", "400",
     rule::ends},
    {"9112 6.3: a body that nobody wants is still none of the next request",
     post + "Content-Length: 14\r\n\r\nGET / HTTP/1.1", "405", rule::goes_on},
    {"9112 6.3: a GET may have one", get + host + "Content-Length: 3\r\n\r\nabc", "200", rule::goes_on},
};

const rule chunks[] = {
    {"9112 7.1: a body in chunks", in_chunks + "3\r\nabc\r\n0\r\n\r\n", "405", rule::goes_on},
    {"9112 7.1: a size that overflows", in_chunks + "10000000000000000\r\n\r\n", "400", rule::ends},
    {"9112 7.1: a size that is none", in_chunks + "xyz\r\n", "400", rule::ends},
    {"9112 7.1: no size", in_chunks + "\r\nabc\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 7.1: 0x", in_chunks + "0x3\r\nabc\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 7.1: a blank after the size", in_chunks + "3 \r\nabc\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 7.1: a bare LF after the size", in_chunks + "3\nabc\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 7.1: more data than the size", in_chunks + "3\r\nabcd\r\n0\r\n\r\n", "400", rule::ends},
    {"9112 7.1: a bare LF after the data", in_chunks + "3\r\nabc\n0\r\n\r\n", "400", rule::ends},
    {"9112 7.1.1: extensions that are not known are ignored",
     in_chunks + "3;a=b;c=\"d\"\r\nabc\r\n0;e\r\n\r\n", "405", rule::goes_on},
    {"9112 7.1.1: and what is blank between them", in_chunks + "3 ; a = b\r\nabc\r\n0\r\n\r\n", "405",
     rule::goes_on},
    {"9112 7.1.1: an LF between quotation marks", in_chunks + "3;a=\"\n\"\r\nabc\r\n0\r\n\r\n", "400",
     rule::ends},
    {"9110 5.6.4: nor behind a backslash", in_chunks + "3;a=\"\\\n\"\r\nabc\r\n0\r\n\r\n", "400", rule::ends},
    {"9110 5.6.4: a NUL", in_chunks + "3;a=\"\0\"\r\nabc\r\n0\r\n\r\n"s, "400", rule::ends},
    {"9112 7.1.1: an LF without quotation marks", in_chunks + "3;a=\n\r\nabc\r\n0\r\n\r\n", "400",
     rule::ends},
    {"9112 7.1.2: a trailer", in_chunks + "0\r\nA: b\r\n\r\n", "405", rule::goes_on},
    {"9112 7.1.2: an LF in it", in_chunks + "0\r\nA: b\nC: d\r\n\r\n", "400", rule::ends},
    {"9112 7.1.2: a NUL in it", in_chunks + "0\r\nA: \0\r\n\r\n"s, "400", rule::ends},
    {"9112 5.2: a folded line in it", in_chunks + "0\r\nA: b\r\n c\r\n\r\n", "400", rule::ends},
    {"9112 5.1: a blank before its colon", in_chunks + "0\r\nA : b\r\n\r\n", "400", rule::ends},
    {"9112 7.1.2: it ends in CRLF", in_chunks + "0\r\nA: b\r\n\n", "400", rule::ends},
    {"9110 6.5.1: it does not say where the body ends", in_chunks + "0\r\nContent-Length: 1\r\n\r\n", "400",
     rule::ends},
};

const rule connections[] = {
    {"9112 9.3: HTTP/1.1 goes on", with(""), "200", rule::goes_on},
    {"9112 9.6: until it is told", with("Connection: close\r\n"), "200", rule::ends},
    {"9110 7.6.1: in a list, in any case", with("Connection: x, CLOSE\r\n"), "200", rule::ends},
    {"9112 9.3: HTTP/1.0 does not", "GET /plaintext HTTP/1.0\r\n\r\n", "200", rule::ends},
    {"9112 9.3: unless it is told", "GET /plaintext HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "200",
     rule::goes_on},
    {"9112 9.3.2: answers come in the order of the requests",
     with("") + "DELETE / HTTP/1.1\r\n" + host + "\r\n" + "BREW / HTTP/1.1\r\n" + host + "\r\n",
     "200 405 501", rule::goes_on},
    {"9112 9.6: nothing after a close is read", with("Connection: close\r\n") + with(""), "200", rule::ends},
    {"9110 10.1.1: none in HTTP/1.0",
     "POST / HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc",
     "405", rule::goes_on},
    {"9110 7.8: an upgrade may be ignored", with("Connection: upgrade\r\nUpgrade: h2c\r\n"), "200",
     rule::goes_on},
    {"9110 13.1.1: If-Match that does not hold", with("If-Match: \"x\"\r\n"), "412", rule::goes_on},
    {"9110 13.1.3: a date that is none is ignored", with("If-Modified-Since: today\r\n"), "200",
     rule::goes_on},
    {"9110 14.2: a range in other units is ignored", with("Range: lines=1-2\r\n"), "200", rule::goes_on},
};

// The statuses of all answers; what is not there, asked for behind the request, tells whether it went on.
std::string statuses_of(client& c, const std::string& request, bool& goes_on) {
  goes_on = false;
  std::string all;
  try {
    c.send(request + "GET /marker HTTP/1.1\r\nHost: a\r\n\r\n");
    while (const std::optional<reply> r = c.receive()) {
      if (r->status == 404) {
        goes_on = true;
        break;
      }
      all.append(all.empty() ? "" : " ").append(std::to_string(r->status));
    }
  } catch (const std::system_error&) {
  } // reset
  return all;
}

// With one source and one worker: it is about bytes.
class http_rules : public server_fixture {
 protected:
  template <std::size_t Size>
  void obey(const rule (&table)[Size]) {
    start();
    for (const rule& each : table) {
      client c = connect();
      bool goes_on = false;
      EXPECT_EQ(statuses_of(c, each.request, goes_on), each.statuses) << each.where;
      EXPECT_EQ(goes_on, each.then == rule::goes_on) << each.where;
    }
  }
};

INSTANTIATE_TEST_SUITE_P(sources, http_rules,
                         ::testing::Combine(::testing::Values(::weft::io::mechanism::epoll),
                                            ::testing::Values(1U)),
                         ::weft::testing::parameter_name);

TEST_P(http_rules, request_lines) {
  obey(request_lines);
}
TEST_P(http_rules, fields) {
  obey(fields);
}
TEST_P(http_rules, bodies) {
  obey(bodies);
}
TEST_P(http_rules, chunks) {
  obey(chunks);
}
TEST_P(http_rules, connections) {
  obey(connections);
}

// What every answer has, whatever it is (RFC 9110, 6.6.1, 8.6, 9.3.2, 10.2.1).
TEST_P(http_rules, answers) {
  start();
  client c = connect();
  for (const char* text : {"GET /plaintext", "GET /nothing", "DELETE /plaintext", "BREW /plaintext"}) {
    const reply r = c.ask(std::string(text) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(r.field("Date").size(), 29U) << text;
    EXPECT_EQ(r.field("Content-Length"), std::to_string(r.body.size())) << text;
    EXPECT_EQ(r.field("Allow"), r.status == 405 ? "GET, HEAD" : "") << text;
  }
  const reply full = c.get("/plaintext");
  const reply head = c.ask("HEAD /plaintext HTTP/1.1\r\nHost: a\r\n\r\n", false);
  EXPECT_EQ(head.field("Content-Length"), full.field("Content-Length"));
  EXPECT_EQ(c.get("/plaintext").body, full.body); // HEAD's answer had none
}

} // namespace
} // namespace weft::http
