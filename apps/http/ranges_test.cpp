// SPDX-License-Identifier: MIT
// Parts of files, files that did not change, folders without their slash, and the end with requests under
// way.
#include "apps/http/server_fixture.hpp"

namespace weft::http {
namespace {

using namespace testing;

WEFT_HTTP_SUITE(http_files);

server_options options_of(const directory& files) {
  server_options o;
  o.root = files.path();
  return o;
}

TEST_P(http_files, parts) {
  directory files;
  std::string large;
  for (int i = 0; large.size() < 1'000'000; ++i)
    large.append(std::to_string(i)).push_back(' ');
  files.write("small", large.substr(0, 1000));
  files.write("large", large); // sent from its descriptor
  start(options_of(files));
  client c = connect();
  for (const std::string name : {"/small", "/large"}) {
    const std::string text = name == "/small" ? large.substr(0, 1000) : large;
    const std::string size = std::to_string(text.size());
    const reply whole = c.get(name);
    EXPECT_EQ(whole.field("Accept-Ranges"), "bytes");
    const reply some = c.get(name, "Range: bytes=100-599\r\n");
    EXPECT_EQ(some.status, 206);
    EXPECT_EQ(some.field("Content-Range"), "bytes 100-599/" + size);
    EXPECT_EQ(some.field("ETag"), whole.field("ETag"));
    EXPECT_EQ(some.body, text.substr(100, 500));
    EXPECT_EQ(c.get(name, "Range: bytes=700-\r\n").body, text.substr(700));
    EXPECT_EQ(c.get(name, "Range: bytes=-10\r\n").body, text.substr(text.size() - 10));
    const reply none = c.get(name, "Range: bytes=" + size + "-\r\n");
    EXPECT_EQ(none.status, 416);
    EXPECT_EQ(none.field("Content-Range"), "bytes */" + size);
    EXPECT_EQ(c.get(name, "Range: bytes=0-1,4-5\r\n").body, text);
    EXPECT_EQ(c.get(name, "Range: bytes=0-0\r\nRange: bytes=1-1\r\n").body, text);
    EXPECT_EQ(c.get(name, "Range: bytes=0-0\r\nIf-Range: " + whole.field("ETag") + "\r\n").status, 206);
    EXPECT_EQ(c.get(name, "Range: bytes=0-0\r\nIf-Range: " + whole.field("Last-Modified") + "\r\n").status,
              206);
    EXPECT_EQ(c.get(name, "Range: bytes=0-0\r\nIf-Range: \"other\"\r\n").body, text);
    const reply head = c.ask("HEAD " + name + " HTTP/1.1\r\nHost: t\r\nRange: bytes=0-0\r\n\r\n", false);
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.field("Content-Length"), size);
  }
  EXPECT_EQ(c.get("/plaintext", "Range: bytes=0-0\r\n").body, "Hello, World!");
}

TEST_P(http_files, conditions) {
  directory files;
  files.write("a", "text");
  start(options_of(files));
  client c = connect();
  const std::string tag = c.get("/a").field("ETag");
  const reply same = c.get("/a", "If-None-Match: \"x\"\r\nIf-None-Match: " + tag + "\r\n");
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.field("ETag"), tag);
  EXPECT_EQ(same.field("Content-Length"), "");
  EXPECT_EQ(c.get("/a", "If-Match: \"x\"\r\n").status, 412);
  EXPECT_EQ(c.get("/a", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n").status, 412);
  EXPECT_EQ(c.get("/a", "If-Modified-Since: Sun, 06 Nov 2094 08:49:37 GMT\r\n").status, 304);
  EXPECT_EQ(c.get("/a", "If-None-Match: " + tag + "\r\nRange: bytes=0-0\r\n").status, 304);
  EXPECT_EQ(c.get("/b", "If-None-Match: *\r\n").status, 404);
  EXPECT_EQ(c.get("/plaintext", "If-None-Match: *\r\n").status, 304);
  EXPECT_EQ(c.get("/a").body, "text"); // and nothing of the others came late
}

TEST_P(http_files, a_folder_without_its_slash) {
  directory files;
  fs::create_directories(files.path() / "folder" / "in side");
  files.write("folder/index.html", "<p>");
  start(options_of(files));
  client c = connect();
  const auto location = [&c](const std::string& target) {
    const reply r = c.get(target);
    EXPECT_EQ(r.status, 301) << target;
    EXPECT_EQ(r.body, "Moved Permanently");
    return r.field("Location");
  };
  EXPECT_EQ(location("/folder"), "/folder/");
  EXPECT_EQ(location("/folder?a=b"), "/folder/?a=b");
  EXPECT_EQ(location("/folder/in%20side"), "/folder/in%20side/");
  EXPECT_EQ(location("http://elsewhere/folder"), "/folder/");
  EXPECT_EQ(location("//folder"), "/folder/"); // to no host of that name
  EXPECT_EQ(c.get("/folder/").body, "<p>");
  EXPECT_EQ(c.get("/folder/in%20side/").status, 404);
  EXPECT_EQ(c.ask("HEAD /folder HTTP/1.1\r\nHost: t\r\n\r\n", false).field("Location"), "/folder/");
}

TEST_P(http_files, neither_a_file_nor_a_folder) {
  directory files;
  ASSERT_EQ(::mkfifo((files.path() / "pipe").c_str(), 0600), 0);
  fs::create_directories(files.path() / "a" / "index.html");
  start(options_of(files));
  EXPECT_EQ(connect().get("/pipe").status, 404);
  EXPECT_EQ(connect().get("/a/").status, 404);
}

// A request of which a byte has come is answered, and the answer says that it is the last.
TEST_P(http_files, the_end_waits_for_requests_under_way) {
  start();
  client head = connect();
  head.send("GET /plain");
  client body = connect();
  body.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 6\r\n\r\nabc");
  client idle = connect();
  EXPECT_EQ(idle.get("/plaintext").status, 200);
  ASSERT_TRUE(eventually([&] { return served().counts().partial == 2; }));
  stop_.request_stop();
  EXPECT_TRUE(idle.is_ended());
  head.send("text HTTP/1.1\r\nHost: t\r\n\r\n");
  const reply r = head.receive().value_or(reply{});
  EXPECT_EQ(r.body, "Hello, World!");
  EXPECT_EQ(r.field("Connection"), "close");
  EXPECT_TRUE(head.is_ended());
  body.send("def");
  EXPECT_EQ(body.receive().value_or(reply{}).status, 405);
  EXPECT_TRUE(body.is_ended());
  stop();
  EXPECT_EQ(served().counts().open, 0U);
}

} // namespace
} // namespace weft::http
