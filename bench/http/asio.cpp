// SPDX-License-Identifier: MIT
// The plaintext route on Boost.Asio: callbacks over one io_context, which as many kernel threads run as there
// are workers. Parser and answers are those of apps/http, so what differs is how a connection waits. No time
// limits.
#include "apps/http/date.hpp"
#include "apps/http/input_buffer.hpp"
#include "apps/http/request_parser.hpp"
#include "apps/http/response.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using outcome = weft::http::request_parser::outcome;

const weft::http::limits limits;

class session : public std::enable_shared_from_this<session> {
 public:
  explicit session(tcp::socket s) : socket_(std::move(s)), parser_(limits), input_(limits.head_bytes) {}

  void read() {
    const std::span<char> room = input_.room();
    socket_.async_read_some(asio::buffer(room.data(), room.size()),
                            [self = shared_from_this()](error_code error, std::size_t got) {
                              if (!error && self->answer(got))
                                self->write();
                            });
  }

 private:
  bool answer(std::size_t got) {
    input_.filled(got);
    for (;;) {
      const auto [what, consumed] = parser_.step(input_.text());
      input_.consume(consumed);
      if (what == outcome::refused)
        return false;
      if (what == outcome::complete)
        append();
      if (what == outcome::need_more && (consumed == 0 || input_.text().empty()))
        return true;
    }
  }
  void append() {
    constexpr std::string_view body = "Hello, World!";
    weft::http::response_head head;
    head.server = "nginx";
    head.date = date_.now();
    head.content_type = "text/plain";
    head.content_length = body.size();
    weft::http::append_head(output_, head);
    output_.append(body);
  }
  void write() {
    asio::async_write(socket_, asio::buffer(output_),
                      [self = shared_from_this()](error_code error, std::size_t) {
                        self->output_.clear();
                        if (!error)
                          self->read();
                      });
  }

  tcp::socket socket_;
  weft::http::request_parser parser_;
  weft::http::input_buffer input_;
  weft::http::date_cache date_;
  std::string output_;
};

void accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&acceptor](error_code error, tcp::socket socket) {
    if (!error) {
      socket.set_option(tcp::no_delay(true));
      std::make_shared<session>(std::move(socket))->read();
    }
    accept(acceptor);
  });
}

} // namespace

int main(int argc, char** argv) {
  const int workers = argc > 1 ? std::atoi(argv[1]) : 1;
  asio::io_context context(workers); // 1: without locks
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  std::printf("port %u\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  accept(acceptor);
  std::vector<std::jthread> others;
  for (int i = 1; i < workers; ++i)
    others.emplace_back([&context] { context.run(); });
  context.run();
}
