// SPDX-License-Identifier: MIT
#include "apps/http/connection.hpp"

#include "apps/http/conditions.hpp"
#include "apps/http/date.hpp"
#include "apps/http/input_buffer.hpp"
#include "apps/http/path.hpp"
#include "apps/http/request_parser.hpp"
#include "apps/http/response.hpp"
#include "apps/http/send_file.hpp"
#include "apps/http/server.hpp"

#include <weft/io.hpp>
#include <weft/thread.hpp>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/socket.h>

namespace weft::http {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds longest_linger{2};
constexpr std::size_t kept_output = 4096; // bytes of a connection that waits

// What a request gets, decided when its head is there and sent when its body has gone by.
struct answer {
  int status = 200;
  std::string_view text; // in memory
  std::string_view type = "text/plain";
  std::shared_ptr<const file> from; // keeps `text` alive, or is sent itself
  std::string_view modified;
  std::string_view etag;
  std::string location;    // of a 301
  std::uint64_t first = 0; // byte of the file, and how many: all of it, or a part
  std::uint64_t size = 0;
  std::uint64_t whole = 0; // bytes of the file
  bool head_only = false;
  bool keep_alive = false;
};

int status_of_errno(int error) noexcept {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
  case ENAMETOOLONG:
  case EISDIR:
  case ELOOP:
  case ENXIO: // neither a file nor a folder
    return 404;
  case EACCES:
  case EPERM:
  case EXDEV: // a link that leads out of the root
    return 403;
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return 503;
  default:
    return 500;
  }
}

class connection {
 public:
  connection(int descriptor, server& owner, std::atomic<bool>& is_partial)
      : descriptor_(descriptor), owner_(owner), limits_(owner.options().limits), parser_(limits_),
        input_(limits_.head_bytes), told_partial_(is_partial) {}

  // [sample http-serve]
  std::uint64_t serve() {
    for (unsigned reads = 1; receive(); ++reads) {
      if (!answer_what_has_come() || !flush(0))
        break;
      // Somebody who always has more would keep the worker to himself: receive() need not wait then.
      if (reads % 64 == 0)
        weft::this_thread::yield();
    }
    if (must_linger_)
      linger();
    return answered_;
  }
  // [/sample]

 private:
  bool receive();
  bool answer_what_has_come();
  void on_head(bool has_more);
  bool on_complete();
  void refuse(int status);
  [[nodiscard]] answer answer_to(const request& head);
  void find_file(const request& head, answer& a);
  static void apply_conditions(const request& head, answer& a);
  void append(const answer& a);
  bool flush(int flags);
  void linger();

  const int descriptor_;
  server& owner_;
  const limits& limits_;
  request_parser parser_;
  input_buffer input_;
  std::string output_;
  date_cache date_;
  std::optional<answer> next_; // to the request whose body is still to come
  clock::time_point late_{};   // when the request that is under way must be complete
  std::uint64_t answered_ = 0;
  std::atomic<bool>& told_partial_; // to the server
  bool is_partial_ = false;         // a request is under way
  bool must_linger_ = false;
};

// [sample http-receive]
// False: there will be no more.
bool connection::receive() {
  const std::span<char> room = input_.room();
  std::error_code error;
  const weft::io::limit patience = is_partial_ ? weft::io::limit(late_) : weft::io::limit(limits_.idle);
  const std::size_t got = weft::io::recv(descriptor_, room.data(), room.size(), 0, error, patience);
  if (is_partial_ && error == std::errc::timed_out) {
    refuse(408);
    flush(0);
  }
  if (error || got == 0)
    return false;
  input_.filled(got);
  return true;
}
// [/sample]

// False: the connection is at its end, and all that is to be sent has been.
bool connection::answer_what_has_come() {
  for (;;) {
    const auto [what, consumed] = parser_.step(input_.text());
    if (what == request_parser::outcome::head) {
      on_head(input_.text().size() > consumed); // before the text moves
      input_.consume(consumed);
      continue;
    }
    input_.consume(consumed);
    if (what == request_parser::outcome::complete) {
      if (!on_complete())
        return false;
      continue;
    }
    if (what == request_parser::outcome::refused) {
      refuse(parser_.status());
      flush(0);
      return false;
    }
    if (consumed == 0 || input_.text().empty())
      break;
  }
  const bool was_partial = is_partial_;
  is_partial_ = parser_.in_request() || !input_.text().empty();
  if (is_partial_ && !was_partial)
    late_ = clock::now() + limits_.request;
  if (is_partial_ == told_partial_.load(std::memory_order_relaxed) || // ours alone to write
      owner_.set_partial(told_partial_, is_partial_))
    return true;
  flush(0);
  return false;
}

void connection::on_head(bool has_more) {
  const request& head = parser_.head();
  next_ = answer_to(head);
  if (head.has_body && head.expects_continue && !has_more)
    output_.append("HTTP/1.1 100 Continue\r\n\r\n");
}

// False: that was the last one.
bool connection::on_complete() {
  answer a = std::move(*next_);
  next_.reset();
  a.keep_alive = a.keep_alive && !owner_.is_draining(); // which it may not have been at the head
  is_partial_ = false;
  ++answered_;
  append(a);
  if (a.from && !a.from->is_in_memory && !a.head_only) {
    if (!flush(MSG_MORE) || !send_file(descriptor_, *a.from, a.first, a.size, limits_.send))
      return false;
  }
  if (!a.keep_alive) {
    must_linger_ = flush(0) && !input_.text().empty();
    return false;
  }
  return output_.size() < limits_.answer_bytes || flush(0);
}

// Whatever comes from this client now means nothing.
void connection::refuse(int status) {
  answer a;
  a.status = status;
  a.text = reason_of(status);
  append(a);
  ++answered_;
  must_linger_ = true;
}

answer connection::answer_to(const request& head) {
  answer a;
  a.keep_alive = head.keep_alive;
  a.head_only = head.method == method::head;
  if (head.method == method::unknown)
    a.status = 501;
  else if (head.method == method::other)
    a.status = 405;
  else if (target_path(head.target) == "/plaintext")
    a.text = plaintext;
  else
    find_file(head, a);
  if (a.status == 200 && head.is_conditional)
    apply_conditions(head, a);
  if (a.status == 301 || a.status >= 400) {
    a.from.reset();
    a.modified = a.etag = {}; // which were its
    a.type = "text/plain";
    a.text = reason_of(a.status);
  }
  return a;
}

void connection::find_file(const request& head, answer& a) {
  const std::optional<std::string> path = file_path(head.target);
  if (!path) {
    a.status = 400;
    return;
  }
  file_cache::found found =
      owner_.files().find(*path); // SWITCH: the views of `head` stay valid, they are ours
  if (!found.file) {
    a.status = status_of_errno(found.error);
    if (found.error == EISDIR && !target_path(head.target).ends_with('/')) {
      a.status = 301;
      a.location = folder_location(head.target);
    }
    return;
  }
  a.from = std::move(found.file);
  a.type = a.from->type;
  a.text = a.from->content;
  a.size = a.whole = a.from->size;
  a.modified = {a.from->modified.data(), date_size};
  a.etag = a.from->etag;
}

void connection::apply_conditions(const request& head, answer& a) {
  representation what{a.etag, a.modified, 0, a.from ? a.size : a.text.size()};
  if (a.from)
    what.modified = a.from->about.st_mtim.tv_sec;
  const part p = evaluate(head, what);
  if (p.status == 206 && !a.from)
    return; // no ranges of what is no file
  a.status = p.status;
  if (p.status == 206) {
    a.first = p.first;
    a.size = p.size;
    if (a.from->is_in_memory)
      a.text = a.text.substr(p.first, p.size);
  }
  a.head_only = a.head_only || p.status == 304;
}

void connection::append(const answer& a) {
  response_head head;
  head.status = a.status;
  head.server = owner_.options().name;
  head.date = date_.now();
  head.content_type = a.status == 304 ? std::string_view() : a.type;
  head.content_length = a.from ? a.size : a.text.size();
  head.last_modified = a.modified;
  head.etag = a.etag;
  head.location = a.location;
  head.first_byte = a.first;
  head.whole_size = a.whole;
  head.keep_alive = a.keep_alive;
  append_head(output_, head);
  if (!a.head_only)
    output_.append(a.text);
}

// False: the client does not take it.
bool connection::flush(int flags) {
  std::string_view rest = output_;
  std::error_code error;
  while (!rest.empty() && !error) {
    const std::size_t sent =
        weft::io::send(descriptor_, rest.data(), rest.size(), flags, error, limits_.send);
    rest.remove_prefix(sent);
  }
  output_.clear();
  if (output_.capacity() > kept_output) // after a large file, not for every idle connection
    output_.shrink_to_fit();
  return !error;
}

// close(2) with unread bytes resets the connection, and the client might lose the answer that says why.
void connection::linger() {
  ::shutdown(descriptor_, SHUT_WR);
  const auto until = clock::now() + longest_linger;
  std::error_code error;
  do
    input_.clear();
  while (weft::io::recv(descriptor_, input_.room().data(), input_.room().size(), 0, error, until) != 0 &&
         !error);
}

} // namespace

std::uint64_t serve_connection(int descriptor, server& owner, std::atomic<bool>& is_partial) {
  return connection(descriptor, owner, is_partial).serve();
}

} // namespace weft::http
